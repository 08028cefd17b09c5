import assert from "node:assert/strict";
import { test } from "node:test";

import { bodyOf } from "../../../service/web/static/js/organise/body.js";
import { steps } from "../../../service/web/static/js/organise/steering.js";
import { plan, progress } from "../../../service/web/static/js/organise/words.js";

const said = (path, kind, value) => ({ path, kind, value });

test("a body holds what was said, in the types of JSON, and nothing that was left blank", () => {
  const body = bodyOf([
    said("name", "text", "  a cup "),
    said("rounds", "number", "12"),
    said("seed", "number", " "),
    said("options.gift", "json", "true"),
    said("options.target", "number", "7"),
    said("sprt", "object", "on"),
    said("sprt.elo1", "number", "-2.5"),
    said("invited", "lines", "acc_1\n\n  bot_2 "),
  ]);
  assert.deepEqual(body, {
    name: "a cup",
    rounds: 12,
    options: { gift: true, target: 7 },
    sprt: { elo1: -2.5 },
    invited: ["acc_1", "bot_2"],
  });
});

test("a number that is none goes as it was written, for the arena to refuse", () => {
  for (const text of ["seven", "1e999", "0x10", "--1", "1 2", "Infinity"])
    assert.deepEqual(bodyOf([said("rounds", "number", text)]), { rounds: text });
});

test("a test without a word in it is still asked for", () => {
  assert.deepEqual(bodyOf([said("sprt", "object", "on"), said("sprt.elo0", "number", "")]), { sprt: {} });
});

test("progress tells state, games and what is left", () => {
  const at = { planned: 1_200, finished: 1_000, running: 3, seconds_left: 61 };
  assert.equal(
    progress({ state: "running", entries: 5, progress: at }),
    "running: 1,000 of 1,200 games, 3 running, about 1 minute 1 second left",
  );
  assert.equal(
    progress({ state: "running", progress: { ...at, planned: null, running: 0, seconds_left: null } }),
    "running: 1,000 games",
  );
  assert.equal(progress({ state: "open", entries: 1, progress: at }), "open: 1 entry");
});

test("a plan tells what it would be, or why it can't", () => {
  const shown = { can_start: true, games: 1, boards: 1, rounds: 1, games_per_entry: 0.66, decisions: 58, seconds: 1 };
  assert.equal(
    plan(shown),
    "it would be 1 game on 1 board in 1 round, about 0.7 for each entry: about 58 decisions, about 1 second",
  );
  assert.equal(plan({ can_start: false, why_not: "nobody came" }), "it can't start: nobody came");
});

test("steps follow the state, and only a ladder is finished by hand", () => {
  const keys = (state, format = "swiss") => steps({ state, format }, { can_start: true }).map((step) => step.key);
  assert.deepEqual(keys("open", "ladder"), ["start", "cancel"]);
  assert.deepEqual(keys("running"), ["pause", "cancel"]);
  assert.deepEqual(keys("running", "ladder"), ["pause", "finish", "cancel"]);
  assert.deepEqual(keys("paused", "ladder"), ["resume", "finish", "cancel"]);
  assert.deepEqual([keys("finished"), keys("cancelled")], [[], []]);
  assert.equal(steps({ state: "open" }, { can_start: false })[0].isOff, true);
});
