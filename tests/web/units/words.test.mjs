import assert from "node:assert/strict";
import { test } from "node:test";

import { nameOf, shortName, sorted } from "../../../service/web/static/js/table/cards.js";
import { namesOf, parts, tell, timeText } from "../../../service/web/static/js/table/words.js";

const SEATS = [{ name: "ann" }, { name: "greedy" }, { name: "greedy" }, { name: "<b>\u202Ebob" }];

test("cards are read as people say them", () => {
  assert.equal(nameOf("TH"), "Ten of Hearts");
  assert.equal(nameOf("2C"), "Two of Clubs");
  assert.equal(nameOf("AS"), "Ace of Spades");
  assert.equal(shortName("TD"), "10♦\uFE0E");
});

test("hands are sorted as the rules sort them", () => {
  assert.deepEqual(sorted(["AS", "TH", "9H", "2S", "KC", "QD"]), ["KC", "QD", "9H", "TH", "2S", "AS"]);
});

test("players of one name are told apart by their seats", () => {
  assert.deepEqual(namesOf(SEATS), ["ann", "greedy #2", "greedy #3", "<b>\u202Ebob"]);
});

test("a name is a part of its own, as it was given", () => {
  const event = { event: "action", seat: 3, action: "play:TH", outcome: "ok", ms: 3.1 };
  assert.deepEqual(parts(event, SEATS), [
    { name: "<b>\u202Ebob", seat: 3 },
    " ",
    "plays the ",
    { name: "Ten of Hearts", card: "TH" },
    ".",
  ]);
});

test("every public event is told in a sentence", () => {
  const told = [
    { event: "deal", deal: 0, dealer: 0, cards: 1, upcard: "8D", trump: "D" },
    { event: "deal", deal: 4, dealer: 0, upcard: "JS", totals: [1, 0] },
    { event: "action", seat: 0, action: "bid:2", outcome: "late", ms: 1000 },
    { event: "action", seat: 0, action: "give", outcome: "ok", ms: 1000 },
    { event: "run", deal: 0, dealer: 0, upcard: "9S", totals: [0, 0] },
    { event: "trump", trump: "S", totals: [0, 0] },
    { event: "discarded" },
    { event: "trick", winner: 1 },
    { event: "deal_ended", deal: 0, void: false, points: [11, 0, 1, 2], totals: [11, 0, 1, 2] },
    { event: "retired", seat: 0, reason: "faults" },
    { event: "ended", ended_by: "play", totals: [11, 11, 1, 0], places: [1, 1, 3, 4] },
    { event: "ended", ended_by: "forfeit", totals: [0, 1, 0, 0], places: [2, 1, 3, 4] },
    { event: "ended", ended_by: null, totals: [0, 0, 0, 0], places: null },
  ].map((event) => tell(event, SEATS));
  assert.deepEqual(told, [
    "Deal 1 of 1 card: ann deals, the Eight of Diamonds is turned.",
    "Deal 5: ann deals, the Jack of Spades is turned.",
    "ann bids 2 (too late; played for it).",
    "ann gives a point.",
    "Three more cards each, the Nine of Spades is turned.",
    "Spades are trumps.",
    "Both have discarded.",
    "greedy #2 wins the trick.",
    "Deal 1 is over: ann +11 to 11, greedy #2 +0 to 0, greedy #3 +1 to 1, <b>\u202Ebob +2 to 2.",
    "ann is retired: too many faults.",
    "The game is over: ann and greedy #2 share the first place.",
    "The game is over: greedy #2 wins by forfeit.",
    "The game is over, without a result.",
  ]);
});

test("an event of a later version is passed over", () => {
  assert.equal(tell({ event: "applause", seat: 0 }, SEATS), "");
});

test("times have two digits that count", () => {
  assert.deepEqual([0, 3.1, 84, 950, 1234, 61000].map(timeText), [
    "0 ms",
    "3.1 ms",
    "84 ms",
    "950 ms",
    "1.2 s",
    "61 s",
  ]);
});
