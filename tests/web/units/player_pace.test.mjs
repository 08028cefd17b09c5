import assert from "node:assert/strict";
import { beforeEach, mock, test } from "node:test";

import { Pace } from "../../../service/web/static/js/play/pace.js";
import { restAt } from "../../../service/web/static/js/table/pace.js";

const OWN = 0;
const CARD_MS = restAt({ event: "action" }, []);
const TRICK_MS = restAt({ event: "trick" }, []);
let shown;
let rests;

beforeEach(() => {
  mock.timers.reset();
  mock.timers.enable({ apis: ["setTimeout", "Date"], now: 1_000_000 });
  shown = [];
  rests = 0;
});

function pace({ isHurried = false } = {}) {
  const show = (event) => shown.push([Date.now() - 1_000_000, event.event]);
  return new Pace({ seat: OWN, show, rest: () => rests++, isHurried: () => isHurried, now: () => Date.now() });
}

function add(to, ...events) {
  for (const [event, seat] of events) to.add({ event, seat });
}

/** Let time pass as it does, not in one leap. */
function pass(ms) {
  for (let at = 0; at < ms; at++) mock.timers.tick(1);
}

const TRICK = [["action", OWN], ["action", 1], ["trick"], ["action", 1], ["action", OWN]];

test("cards of others come one after the other, and a trick stays", () => {
  add(pace(), ...TRICK);
  pass(3_000);
  assert.deepEqual(shown, [
    [0, "action"],
    [CARD_MS, "action"],
    [2 * CARD_MS, "trick"],
    [2 * CARD_MS + TRICK_MS, "action"],
    [2 * CARD_MS + TRICK_MS, "action"],
  ]);
});

test("who waited long enough isn't kept waiting", () => {
  const paced = pace();
  add(paced, ["action", 1]);
  pass(CARD_MS);
  add(paced, ["action", 2]);
  assert.deepEqual(shown, [
    [0, "action"],
    [CARD_MS, "action"],
  ]);
});

test("rest comes once all have been shown, and after what comes together", () => {
  const paced = pace();
  add(paced, ["action", 1], ["trick"]);
  pass(CARD_MS - 1);
  assert.deepEqual([rests, paced.isBusy], [0, true]);
  pass(2);
  assert.deepEqual([rests, paced.isBusy], [1, false]);
});

test("nothing waits where nobody looks", () => {
  add(pace({ isHurried: true }), ...TRICK);
  assert.deepEqual(
    shown.map(([at]) => at),
    [0, 0, 0, 0, 0],
  );
});
