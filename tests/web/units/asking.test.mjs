import assert from "node:assert/strict";
import { test } from "node:test";

import { choicesOf, leftText, promptOf, resultOf } from "../../../service/web/static/js/play/asking.js";
import { apply, begin } from "../../../service/web/static/js/table/state.js";

const SEATS = [{ name: "ann" }, { name: "bot" }];
const DEAL = { id: 1, event: "deal", deal: 0, dealer: 1, upcard: "8S", totals: [0, 0] };

function asked(legalActions, { phase = "beg", hand = [] } = {}) {
  const state = apply(begin({ ruleset: "seven_up", options: {}, seats: SEATS }), DEAL);
  const observation = { deal: 0, hand };
  const view = {
    version: 1,
    phase,
    observation,
    legal_actions: legalActions,
    decision_id: "g.0.0",
    deadline: 1,
    turn: [0],
  };
  return { ...apply(state, { event: "seat", seat: 0, view }), phase };
}

test("what is no card is answered by a button", () => {
  assert.deepEqual(choicesOf(asked(["stand", "beg"])), [
    ["stand", "Stand", "Stand"],
    ["beg", "Beg", "Beg"],
  ]);
  assert.deepEqual(choicesOf(asked(["bid:0", "bid:2"], { phase: "bid" })), [
    ["bid:0", "0", "bid 0"],
    ["bid:2", "2", "bid 2"],
  ]);
  assert.deepEqual(choicesOf(asked(["play:QH"], { phase: "play" })), []);
});

test("the question says how many cards have to go yet", () => {
  const hand = ["2C", "3C", "4C", "5C", "6C", "7C", "8C"];
  assert.deepEqual(promptOf(asked(["discard:2C"], { phase: "discard", hand }), 0), [
    "Throw away 1 card, one at a time.",
  ]);
});

test("it is said for whom one waits", () => {
  const state = apply(begin({ ruleset: "seven_up", options: {}, seats: SEATS }), { ...DEAL, dealer: 0 });
  assert.deepEqual(promptOf(state, 0), ["Waiting for ", { name: "bot" }, "."]);
});

test("a result is told from the own seat", () => {
  const ended = { endedBy: "play", places: [1, 2], totals: [7, 3] };
  assert.equal(resultOf(ended, 0), "You win, 7 to 3.");
  assert.equal(resultOf(ended, 1), "You lose, 3 to 7.");
  assert.equal(resultOf({ ...ended, endedBy: "retirement" }, 0), "You win by retirement, 7 to 3.");
  const river = { endedBy: "play", places: [1, 2, 4, 2], totals: [30, 20, 5, 20] };
  assert.equal(resultOf(river, 0), "You win with 30 points.");
  assert.equal(resultOf(river, 3), "You came second of 4 with 20 points.");
  assert.equal(resultOf(river, 2), "You came last of 4 with 5 points.");
  assert.equal(resultOf({ places: null, totals: [0, 0] }, 0), "The game is over, without a result.");
});

test("time that is left fits its size", () => {
  assert.deepEqual([-1, 900, 65_000, 3_600_000 * 3.5, 86_400_000 * 2].map(leftText), [
    "0:00",
    "0:01",
    "1:05",
    "3 h 30 min",
    "2 days",
  ]);
});
