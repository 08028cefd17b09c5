// What happened at a frame: the decision with its outcome, time and note, and what followed from it.

import { h, replace } from "../dom.js";
import { shown } from "../table/log.js";
import { OUTCOMES, parts, timeText } from "../table/words.js";
import { placeOf } from "./timeline.js";

export class Decision {
  constructor(seats) {
    this.seats = seats;
    this.root = h("div", { class: "decision" });
  }

  /** @param {import("../table/story.js").Frame} frame */
  show(frame) {
    const [first, ...followed] = frame.events;
    const after = followed.map((event) => this.told(event)).filter((said) => said.length > 0);
    replace(
      this.root,
      h("p", { class: "decision-said" }, this.told(first)),
      first.event === "action" ? h("p", { class: "decision-facts" }, facts(first), place(frame)) : null,
      first.note ? h("blockquote", { class: "note" }, h("bdi", {}, first.note)) : null,
      after.map((said) => h("p", { class: "soft" }, said)),
    );
  }

  told(event) {
    const bare = event.event === "action" ? { ...event, outcome: "ok" } : event; // the outcome stands below
    return parts(bare, this.seats).map(shown);
  }
}

function facts({ outcome, ms }) {
  return [outcomeChip(outcome), outcome === "retired" ? null : h("span", {}, timeText(ms))];
}

function place(frame) {
  const place = placeOf(frame);
  return h("code", { title: `slagbot replay FILE --at ${place}` }, place);
}

/** An outcome in words; one that isn't well also says what was played. */
export function outcomeChip(outcome) {
  if (outcome === "ok") return h("span", { class: "chip outcome-ok" }, "ok");
  const why = OUTCOMES[outcome] ?? outcome;
  const title = "the first legal action was played";
  return h("span", { class: `chip ${outcome === "retired" ? "" : "outcome-fault"}`, title }, why);
}
