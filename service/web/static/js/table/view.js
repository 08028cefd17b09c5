// Draws a table: seats around the felt, what they hold and said, the trick, the upcard, the scores. It is given whole
// states and changes only what is different, so that nothing flickers and the focus stays.
//
// Where seats lie is worked out here and handed to the style sheet as custom properties; on a narrow screen it lists
// the seats instead (css/table.css).

import { h, name } from "../dom.js";
import { cardElement, nameOf, suitName } from "./cards.js";
import { keyed, say } from "./keyed.js";
import { Scoreboard } from "./scores.js";
import { marksOf, namesOf } from "./words.js";

const PHASES = { beg: "stands or begs", gift: "gives or runs", discard: "discards", bid: "bids", play: "plays" };
const SAID = { stand: "stands", beg: "begs", run: "runs", give: "gives" };

export class TableView {
  /**
   * Lay a table into an element; what was in it goes.
   * @param {Element} root
   * @param {{seatAtBottom?: number|null, onChoose?: (action: string) => void}} [options] whose seat is nearest; with
   *   `onChoose` its cards are buttons, and one that may be played or discarded is chosen by it
   */
  constructor(root, { seatAtBottom = null, onChoose = null } = {}) {
    this.root = root;
    this.onChoose = onChoose;
    this.seatAtBottom = seatAtBottom;
    this.bar = h("div", { class: "felt-bar" });
    this.seats = h("ol", { class: "seats", "aria-label": "Players" });
    this.trick = h("div", { class: "trick", role: "group" });
    this.felt = h("div", { class: "felt" }, this.bar, h("div", { class: "ring" }, this.trick, this.seats));
    /** Belongs to whoever uses the table: buttons, a time line. */
    this.controls = h("div", { class: "table-controls" });
    this.ownHand = h("div", { class: "own-hand", role: "group", "aria-label": "Your hand", hidden: onChoose === null });
    if (onChoose !== null) this.ownHand.addEventListener("keydown", (event) => walk(this.ownHand, event));
    const scores = h("div", { class: "table-scores" });
    /** Beside the table: the scores, and what else is put there. */
    this.side = h("div", { class: "table-side" }, scores);
    this.scoreboard = new Scoreboard(scores);
    root.classList.add("table-view");
    root.replaceChildren(h("div", { class: "table-stage" }, this.felt, this.ownHand, this.controls), this.side);
  }

  /**
   * Show a state.
   * @param {import("./state.js").State} state
   */
  show(state) {
    this.felt.dataset.seats = state.seats.length;
    this.felt.dataset.phase = state.phase ?? "";
    this.felt.classList.toggle(
      "open",
      state.hands.some((hand, seat) => hand !== null && !this.isOwn(seat)),
    );
    this.showBar(state);
    this.showSeats(state);
    this.showTrick(state);
    if (this.onChoose !== null) this.showOwnHand(state);
    this.scoreboard.show(state);
  }

  showBar(state) {
    const facts = [
      { key: "deal", text: dealText(state) },
      { key: "trump", text: state.trump ? `${suitName(state.trump)} are trumps` : "" },
      { key: "turn", text: turnText(state) },
    ].filter((fact) => fact.text !== "");
    const turned = state.upcards.length > 0 ? [{ key: "turned", cards: state.upcards }] : [];
    const items = [...facts.slice(0, 1), ...turned, ...facts.slice(1)];
    keyed(this.bar, items, (item) => item.key, makeFact, updateFact);
  }

  showSeats(state) {
    const marks = marksOf(state.seats);
    const order = state.seats.map((_, at) => (this.bottom + at) % state.seats.length);
    keyed(
      this.seats,
      order,
      (seat) => `${seat}`,
      () => makeSeat(),
      (element, seat) => {
        placeAround(element, order.indexOf(seat), order.length);
        updateSeat(element, state, seat, { mark: marks[seat], isOwn: this.isOwn(seat) });
      },
    );
  }

  showTrick(state) {
    const { trick, lastTrick } = state;
    const isPast = (trick === null || trick.cards.length === 0) && lastTrick !== null;
    const shown = isPast ? lastTrick : trick;
    const names = namesOf(state.seats);
    const cards = (shown?.cards ?? []).map((card, at) => ({ card, seat: (shown.leader + at) % state.seats.length }));
    this.trick.classList.toggle("past", isPast);
    this.trick.setAttribute("aria-label", isPast ? "Last trick" : "Trick");
    keyed(
      this.trick,
      cards,
      ({ card }) => card,
      ({ card }) => h("div", { class: "laid" }, cardElement(card), h("span", { class: "laid-by" })),
      (element, { card, seat }) => {
        placeAround(element, (seat - this.bottom + state.seats.length) % state.seats.length, state.seats.length);
        element.classList.toggle("winning", isPast && seat === lastTrick.winner);
        element.firstChild.setAttribute("aria-label", `${nameOf(card)}, played by ${names[seat]}`);
        say(element.lastChild, names[seat]);
        element.lastChild.title = names[seat];
      },
    );
  }

  showOwnHand(state) {
    const hand = state.hands[this.bottom] ?? [];
    const owed = state.owed?.seat === this.bottom ? state.owed.legalActions : [];
    const actions = new Map(
      owed.filter((action) => /^(play|discard):/.test(action)).map((action) => [action.split(":")[1], action]),
    );
    this.choosable = actions;
    keyed(
      this.ownHand,
      hand,
      (card) => card,
      (card) => {
        const button = cardElement(card, { tag: "button" });
        button.addEventListener("click", () => this.choose(card));
        return button;
      },
      (button, card) => button.setAttribute("aria-disabled", `${!actions.has(card)}`),
    );
    rove(this.ownHand, actions);
    this.ownHand.classList.toggle("asked", actions.size > 0);
  }

  choose(card) {
    const action = this.choosable.get(card);
    if (action !== undefined) this.onChoose(action);
  }

  get bottom() {
    return this.seatAtBottom ?? 0;
  }

  isOwn(seat) {
    return this.onChoose !== null && seat === this.seatAtBottom;
  }
}

function dealText(state) {
  if (state.isOver) return endText(state);
  if (state.deal === null) return "Before the first deal";
  const size = state.ruleset === "river" ? `, ${state.cards} card${state.cards === 1 ? "" : "s"}` : "";
  return `Deal ${state.deal + 1}${size}`;
}

function endText({ places, endedBy }) {
  if (places === null) return "Over, without a result";
  return { retirement: "Over by retirement", forfeit: "Over by forfeit" }[endedBy] ?? "Over";
}

function turnText(state) {
  if (state.turn.length === 0 || !(state.phase in PHASES)) return "";
  if (state.turn.length > 1) return state.phase === "bid" ? "all bid in secret" : "both discard in secret";
  return `\u2068${namesOf(state.seats)[state.turn[0]]}\u2069 ${PHASES[state.phase]}`; // whatever way the name runs
}

function makeFact({ key }) {
  if (key === "turned") return h("span", { class: "turned" }, "Turned", h("span", { class: "turned-cards" }));
  return h("bdi", { class: `fact fact-${key}` });
}

function updateFact(element, { key, text, cards }) {
  if (key !== "turned") {
    say(element, text);
    element.title = text;
    return;
  }
  keyed(
    element.lastChild,
    cards,
    (card) => card,
    (card) => cardElement(card),
  );
}

function makeSeat() {
  return h(
    "li",
    { class: "seat" },
    h(
      "div",
      { class: "seat-head" },
      h("span", { class: "dealer", role: "img", "aria-label": "dealer", title: "Dealer" }, "D"),
      name(""),
      h("span", { class: "seat-mark" }),
      h("span", { class: "seat-total" }),
      h("span", { class: "unseen" }, "points"),
    ),
    h("div", { class: "seat-facts" }, h("span", { class: "seat-said" }), h("span", { class: "seat-won" })),
    h("div", { class: "hand" }),
  );
}

function updateSeat(element, state, seat, { mark, isOwn }) {
  const player = state.seats[seat].name;
  element.classList.toggle("on-turn", state.turn.includes(seat));
  element.classList.toggle("out", state.retired[seat] !== null);
  element.classList.toggle("own", isOwn);
  element.classList.toggle("winner", state.places?.[seat] === 1);
  if (state.turn.includes(seat)) element.setAttribute("aria-current", "true");
  else element.removeAttribute("aria-current");
  element.querySelector(".dealer").hidden = state.dealer !== seat;
  const named = element.querySelector(".name");
  say(named, player);
  named.title = player;
  say(element.querySelector(".seat-mark"), mark);
  say(element.querySelector(".seat-total"), `${state.totals[seat]}`);
  say(element.querySelector(".seat-said"), saidText(state, seat));
  say(element.querySelector(".seat-won"), wonText(state, seat));
  showHand(element.querySelector(".hand"), state, seat, isOwn);
}

function saidText(state, seat) {
  if (state.retired[seat] !== null) return "retired";
  if (state.bids[seat] !== null) return `bid ${state.bids[seat]}`;
  return SAID[state.said[seat]] ?? "";
}

function wonText(state, seat) {
  if (state.phase !== "play" && state.won.every((won) => won === 0)) return "";
  const won = state.won[seat];
  return `${won} trick${won === 1 ? "" : "s"}`;
}

/** The cards before a seat: face up where they are known, else so many backs, which count as one thing. */
function showHand(element, state, seat, isOwn) {
  const hand = isOwn ? null : state.hands[seat];
  const count = isOwn ? 0 : state.held[seat];
  element.hidden = count === 0;
  element.style.setProperty("--held", count);
  element.classList.toggle("closed", hand === null);
  if (hand === null) {
    element.setAttribute("role", "img");
    element.setAttribute("aria-label", `${count} face-down card${count === 1 ? "" : "s"}`);
  } else {
    element.setAttribute("role", "group");
    element.setAttribute("aria-label", "Hand");
  }
  const cards = hand ?? Array.from({ length: count }, (_, at) => at);
  keyed(
    element,
    cards,
    (card) => `${card}`,
    (card) => (typeof card === "string" ? cardElement(card) : h("span", { class: "card card-down" })),
  );
}

/** Say where on the ellipse something lies: 0 is nearest, then clockwise, as the play goes. */
function placeAround(element, at, seats) {
  const angle = Math.PI / 2 + (2 * Math.PI * at) / seats;
  element.style.setProperty("--x", Math.cos(angle).toFixed(4));
  element.style.setProperty("--y", Math.sin(angle).toFixed(4));
}

/** Let one card of the hand be reached by Tab: the one that was, else the first that may be chosen. */
function rove(hand, actions) {
  const buttons = [...hand.children];
  const reached =
    buttons.find((each) => each === document.activeElement) ??
    buttons.find((each) => each.tabIndex === 0 && actions.has(each.dataset.card));
  const first = reached ?? buttons.find((each) => actions.has(each.dataset.card)) ?? buttons[0];
  for (const each of buttons) each.tabIndex = each === first ? 0 : -1;
}

const STEPS = { ArrowLeft: -1, ArrowUp: -1, ArrowRight: 1, ArrowDown: 1 };

/** Arrow keys, Home and End go from card to card. */
function walk(hand, event) {
  const buttons = [...hand.children];
  const at = buttons.indexOf(document.activeElement);
  const to = { Home: 0, End: buttons.length - 1 }[event.key] ?? at + (STEPS[event.key] ?? Number.NaN);
  if (at < 0 || event.altKey || event.ctrlKey || event.metaKey || Number.isNaN(to)) return;
  event.preventDefault();
  const next = buttons[(to + buttons.length) % buttons.length];
  for (const each of buttons) each.tabIndex = each === next ? 0 : -1;
  next.focus();
}
