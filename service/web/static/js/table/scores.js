// The scoreboard of a game: a row for each player, with a column for each deal that has ended, the latest first.

import { h, name, replace } from "../dom.js";
import { marksOf } from "./words.js";

const RETIRED = { faults: "retired for faults", left: "left", disabled: "disabled" };

export class Scoreboard {
  /** Draw into an element. */
  constructor(root) {
    this.root = root;
    this.drawn = null;
  }

  /** Show the scores of a state; nothing is touched while they stay the same. */
  show(state) {
    const { deals, totals, places, retired } = state;
    const scores = JSON.stringify([deals.length, totals, places, retired]);
    if (scores === this.drawn) return;
    this.drawn = scores;
    const left = this.root.querySelector(".scroll")?.scrollLeft ?? 0;
    replace(this.root, tableOf(state));
    this.root.querySelector(".scroll").scrollLeft = left;
  }
}

function tableOf(state) {
  const deals = [...state.deals].reverse();
  const head = deals.map((deal) => h("th", { scope: "col", class: "number" }, `${deal.number + 1}`));
  return h(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": "Scores" },
    h(
      "table",
      { class: "scores" },
      h("caption", {}, captionOf(state)),
      h(
        "thead",
        {},
        h("tr", {}, h("th", { scope: "col" }, "Player"), h("th", { scope: "col", class: "number" }, "Points"), head),
      ),
      h(
        "tbody",
        {},
        state.seats.map((_, seat) => rowOf(state, deals, seat, marksOf(state.seats)[seat])),
      ),
    ),
  );
}

function captionOf({ ruleset, deals }) {
  if (deals.length === 0) return "Points, before the first deal is over";
  return ruleset === "river" ? "Points by deal, with tricks won of those bid" : "Points by deal";
}

function rowOf(state, deals, seat, mark) {
  const place = state.places?.[seat];
  const why = state.retired[seat];
  return h(
    "tr",
    { class: place === 1 ? "first-place" : null },
    h(
      "th",
      { scope: "row" },
      place ? h("span", { class: "place" }, `${place}.`) : null,
      name(state.seats[seat].name),
      mark ? h("span", { class: "seat-mark" }, mark) : null,
      why ? h("span", { class: "retired" }, RETIRED[why] ?? why) : null,
    ),
    h("td", { class: "number total" }, `${state.totals[seat]}`),
    deals.map((deal) => h("td", { class: "number" }, cellOf(state, deal, seat))),
  );
}

function cellOf({ ruleset }, deal, seat) {
  if (deal.void) return h("span", { class: "soft" }, "void");
  const points = `+${deal.points[seat]}`;
  if (ruleset !== "river" || deal.bids[seat] === null) return points;
  const isExact = deal.won[seat] === deal.bids[seat];
  return [points, h("small", { class: isExact ? "exact" : "missed" }, `${deal.won[seat]} of ${deal.bids[seat]}`)];
}
