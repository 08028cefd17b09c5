import assert from "node:assert/strict";
import { test } from "node:test";

import { apply, begin } from "../../../service/web/static/js/table/state.js";

const SEATS = ["ann", "bo", "cy", "di"].map((name) => ({ name }));
const RIVER = { start_cards: 2, bidding: "sequential" };
const DEAL = { id: 1, event: "deal", deal: 0, dealer: 3, cards: 2, upcard: "8D", trump: "D" };

const fold = (events, from = begin({ ruleset: "river", options: RIVER, seats: SEATS })) => events.reduce(apply, from);
const bid = (id, seat, number, more = {}) => ({
  id,
  event: "action",
  seat,
  action: `bid:${number}`,
  outcome: "ok",
  ms: 1,
  ...more,
});
const view = (version, more = {}) => ({
  version,
  phase: "bid",
  turn: [0],
  decision_id: "gam_1.0.0",
  legal_actions: ["bid:0", "bid:1"],
  deadline: 99,
  observation: { deal: 0, hand: ["2C", "AS"], bids: [null, null, null, null] },
  ...more,
});

function assertFrozen(value) {
  if (value === null || typeof value !== "object") return;
  assert.ok(Object.isFrozen(value));
  Object.values(value).forEach(assertFrozen);
}

test("a state is frozen all the way down, and the one before it stays what it was", () => {
  const before = fold([DEAL]);
  const text = JSON.stringify(before);
  assertFrozen(apply(before, bid(2, 0, 1)));
  assert.equal(JSON.stringify(before), text);
});

test("an event that was seen changes nothing", () => {
  const state = fold([DEAL, bid(2, 0, 1)]);
  assert.equal(apply(state, bid(2, 0, 0)), state);
  assert.equal(apply(state, DEAL), state);
});

test("an event of a later version only counts", () => {
  const state = fold([DEAL]);
  assert.deepEqual(apply(state, { id: 2, event: "applause", seat: 1 }), { ...state, eventId: 2 });
});

test("what the own seat owes is there until a newer event says that it was decided", () => {
  const asked = fold([DEAL, { event: "seat", seat: 0, view: view(1) }]);
  assert.deepEqual(asked.owed, { seat: 0, decisionId: "gam_1.0.0", legalActions: ["bid:0", "bid:1"], deadline: 99 });
  assert.equal(apply(asked, bid(2, 0, 0, { outcome: "late" })).owed, null);
});

test("what the own seat owes next stays when the event of its answer before comes after it", () => {
  const next = view(3, { decision_id: "gam_1.0.1" });
  const asked = fold([DEAL, { event: "seat", seat: 0, view: next }, bid(2, 0, 0)]);
  assert.equal(asked.owed.decisionId, "gam_1.0.1");
});

test("a view older than the one seen last changes nothing", () => {
  const newer = fold([DEAL, { event: "seat", seat: 0, view: view(5, { decision_id: null }) }]);
  assert.equal(apply(newer, { event: "seat", seat: 0, view: view(1) }).owed, null);
});

test("a view of the next deal waits for the event that deals it", () => {
  const next = view(30, { observation: { deal: 1, hand: ["KH"], bids: [null, null, null, null] } });
  const early = fold([DEAL, { event: "seat", seat: 0, view: view(1) }, { event: "seat", seat: 0, view: next }]);
  assert.deepEqual(early.hands[0], ["2C", "AS"]);
  const dealt = apply(early, { ...DEAL, id: 2, deal: 1, cards: 1 });
  assert.deepEqual(dealt.hands, [["KH"], null, null, null]);
  assert.deepEqual(dealt.held, [1, 1, 1, 1]);
});

test("a note and a fault are there, the fault with its place in the record", () => {
  const state = fold([DEAL, bid(2, 0, 0), bid(3, 1, 0, { outcome: "late", note: "asleep" })]);
  assert.deepEqual(state.last, { seat: 1, action: "bid:0", outcome: "late", ms: 1, note: "asleep" });
  assert.deepEqual(state.faults, [{ deal: 0, at: 1, seat: 1, outcome: "late", action: "bid:0" }]);
});

const SEVEN_UP = { target: 7, gift: true, turned_jack: "final" };
const sevenUp = (events) =>
  events.reduce(apply, begin({ ruleset: "seven_up", options: SEVEN_UP, seats: SEATS.slice(0, 2) }));
const act = (seat, action, outcome = "ok") => ({ event: "action", seat, action, outcome, ms: 1 });
const given = (totals) => [
  { event: "deal", deal: 0, dealer: 0, upcard: "JD", totals: [6, 0] },
  act(1, "beg"),
  act(0, "give"),
  { event: "trump", trump: "D", totals },
];

test("a gift is scored when trump is fixed, but not if the Jack of trumps has just won", () => {
  assert.deepEqual(sevenUp(given([6, 0])).totals, [6, 1]);
  assert.deepEqual(sevenUp(given([7, 0])).totals, [7, 0]);
});

test("discards that were hidden count for the places of faults after them", () => {
  const state = sevenUp([
    { event: "deal", deal: 0, dealer: 0, upcard: "8D", totals: [0, 0] },
    act(1, "beg"),
    act(0, "run"),
    { event: "run", deal: 0, dealer: 0, upcard: "8C", totals: [0, 0] },
    { event: "trump", trump: "C", totals: [0, 0] },
    { event: "discarded" },
    act(1, "play:2C", "late"),
  ]);
  assert.equal(state.faults[0].at, 8);
});
