// The decisions of a deal in a table, each a link to its frame; the one that is shown is marked.

import { h, name, replace } from "../dom.js";
import { nameOf } from "../table/cards.js";
import { shown } from "../table/log.js";
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
    this.row = null;
    this.caption = h("caption", {});
    this.body = h("tbody", {});
    const columns = ["Event", "Player", "Decision"].map((title) => h("th", { scope: "col" }, title));
    columns.push(h("th", { scope: "col", class: "number" }, "Time"));
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
    this.row?.classList.remove("shown");
    this.row?.querySelector("a").removeAttribute("aria-current");
    this.row = this.rows.get(number);
    this.row.classList.add("shown");
    this.row.querySelector("a").setAttribute("aria-current", "step");
    this.bringIntoSight();
  }

  fill(deal) {
    this.deal = deal;
    this.rows = new Map(this.story.of(deal).map((number) => [number, this.rowOf(this.story.frames[number])]));
    this.caption.textContent = `Deal ${deal + 1}`;
    replace(this.body, [...this.rows.values()]);
  }

  rowOf(frame) {
    const [event] = frame.events;
    const link = h("a", { href: addressOf(frame) }, placeOf(frame));
    const isDealing = frame.at === null;
    const isDecision = event.event === "action";
    const seat = isDealing ? event.dealer : event.seat;
    const done = isDealing ? "deals" : isDecision ? brief(event.action) : `is retired: ${event.reason}`;
    return h(
      "tr",
      {},
      h("td", { class: "mono" }, link),
      h("td", {}, name(this.names[seat])),
      h("td", {}, done, isDecision ? remarks(event) : null),
      h("td", { class: "number took" }, isDecision && event.outcome !== "retired" ? timeText(event.ms) : null),
    );
  }

  /** Scroll the table to the marked row; the page stays. */
  bringIntoSight() {
    const { scroller, row } = this;
    const head = scroller.querySelector("thead").offsetHeight;
    if (row.offsetTop - head < scroller.scrollTop) scroller.scrollTop = row.offsetTop - head;
    const bottom = row.offsetTop + row.offsetHeight;
    if (bottom > scroller.scrollTop + scroller.clientHeight) scroller.scrollTop = bottom - scroller.clientHeight;
  }
}

/** An action where there is little room: the card alone stands for playing it. */
function brief(action) {
  const [kind, card] = action.split(":");
  if (kind === "play") return shown({ card, name: actionText(action) });
  return kind === "discard" ? ["discards ", shown({ card, name: nameOf(card) })] : actionText(action);
}

function remarks({ outcome, note }) {
  return [
    outcome === "ok" ? null : [" ", outcomeChip(outcome)],
    note ? h("q", { class: "note" }, h("bdi", {}, note)) : null,
  ];
}
