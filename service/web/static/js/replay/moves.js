// The decisions of a deal in a table, each a link to its frame; the one that is shown is marked.

import { h, name, replace } from "../dom.js";
import { addressOf } from "../table/story.js";
import { actionText, namesOf, timeText } from "../table/words.js";
import { outcomeChip } from "./decision.js";
import { placeOf } from "./timeline.js";

export class Moves {
  /**
   * @param {import("../table/story.js").Story} story
   * @param {{name: string}[]} seats
   */
  constructor(story, seats) {
    this.story = story;
    this.names = namesOf(seats);
    this.deal = null;
    this.caption = h("caption", {});
    this.body = h("tbody", {});
    const columns = ["Event", "Player", "Decision", "Outcome"].map((title) => h("th", { scope: "col" }, title));
    this.scroller = h(
      "div",
      { class: "scroll moves", tabindex: "0", role: "region", "aria-label": "Decisions of the deal" },
      h("table", {}, this.caption, h("thead", {}, h("tr", {}, columns)), this.body),
    );
    this.root = this.scroller;
  }

  show(number) {
    const { deal } = this.story.frames[number];
    if (deal !== this.deal) this.fill(deal);
    for (const [each, row] of this.rows) {
      row.classList.toggle("shown", each === number);
      const link = row.querySelector("a");
      if (each === number) link.setAttribute("aria-current", "step");
      else link.removeAttribute("aria-current");
    }
    this.bringIntoSight(this.rows.get(number));
  }

  fill(deal) {
    this.deal = deal;
    this.rows = new Map(this.story.of(deal).map((number) => [number, this.row(this.story.frames[number])]));
    this.caption.textContent = `Deal ${deal + 1}`;
    replace(this.body, [...this.rows.values()]);
  }

  row(frame) {
    const [event] = frame.events;
    const link = h("a", { href: addressOf(frame) }, placeOf(frame));
    const isDealing = frame.at === null;
    const isDecision = event.event === "action";
    const seat = isDealing ? event.dealer : event.seat;
    const done = isDealing ? "deals" : isDecision ? actionText(event.action) : `is retired: ${event.reason}`;
    return h(
      "tr",
      {},
      h("td", { class: "mono" }, link),
      h("td", {}, name(this.names[seat])),
      h("td", {}, done, event.note ? h("q", { class: "note" }, h("bdi", {}, event.note)) : null),
      h("td", {}, isDecision ? [outcomeChip(event.outcome), " ", time(event)] : null),
    );
  }

  /** Scroll the table alone, never the page. */
  bringIntoSight(row) {
    const { scroller } = this;
    const head = scroller.querySelector("thead").offsetHeight;
    if (row.offsetTop - head < scroller.scrollTop) scroller.scrollTop = row.offsetTop - head;
    const bottom = row.offsetTop + row.offsetHeight;
    if (bottom > scroller.scrollTop + scroller.clientHeight) scroller.scrollTop = bottom - scroller.clientHeight;
  }
}

function time({ outcome, ms }) {
  return outcome === "retired" ? null : h("span", { class: "soft took" }, timeText(ms));
}
