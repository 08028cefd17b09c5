// What has happened at a table, in sentences, the latest last. Whoever reads further up isn't pulled down.

import { h, name } from "../dom.js";
import { shortName } from "./cards.js";
import { parts, timeText } from "./words.js";

const CLOSE = 24; // px from the end that still count as reading the end

export class EventLog {
  /**
   * Begin a list in an element.
   * @param {Element} root
   * @param {{name: string}[]} seats
   */
  constructor(root, seats) {
    this.seats = seats;
    this.list = h("ol", { class: "log" });
    this.scroller = h(
      "div",
      { class: "log-scroll", tabindex: "0", role: "region", "aria-label": "What happened", "data-scrolls": true },
      this.list,
    );
    root.replaceChildren(h("h2", {}, "What happened"), this.scroller);
  }

  /** Tell events (docs/contract.md) that came after those told before; what isn't told in words is left out. */
  add(...events) {
    const isAtEnd = this.scroller.scrollHeight - this.scroller.scrollTop - this.scroller.clientHeight < CLOSE;
    this.list.append(...events.map((event) => this.line(event)).filter((line) => line !== null));
    if (isAtEnd) this.scroller.scrollTop = this.scroller.scrollHeight;
  }

  /** Tell these events instead. */
  set(events) {
    this.list.replaceChildren();
    this.add(...events);
  }

  line(event) {
    const said = parts(event, this.seats);
    if (said.length === 0) return null;
    const isFault = event.event === "action" && !["ok", "retired"].includes(event.outcome);
    const took = event.event === "action" && event.ms > 0 ? h("span", { class: "log-time" }, timeText(event.ms)) : null;
    return h(
      "li",
      { class: `log-${event.event}${isFault ? " log-fault" : ""}` },
      h("span", {}, said.map(shown)),
      took,
      event.note ? h("q", { class: "log-note" }, h("bdi", {}, event.note)) : null,
    );
  }
}

/** Give a part of a sentence: names as they are, cards as they are seen and as they are read aloud. */
export function shown(part) {
  if (part.card === undefined) return part.name === undefined ? part : name(part.name);
  const suit = part.card[1].toLowerCase();
  const look = h("span", { class: `named-card card-${suit}`, "aria-hidden": "true" }, shortName(part.card));
  return [look, h("span", { class: "unseen" }, part.name)];
}
