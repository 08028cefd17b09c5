import assert from "node:assert/strict";
import { test } from "node:test";

import { fieldOf, orderOf } from "../../../service/web/static/js/play/order.js";

test("what is chosen becomes an order, whoever orders in the first seat", () => {
  const order = orderOf({
    ruleset: "river",
    name: "ann",
    budgetMs: 30_000,
    opponents: ["house greedy", "bot bot_x", "open"],
    options: [
      ["start_cards", "3"],
      ["bidding", '"simultaneous"'],
    ],
  });
  assert.deepEqual(order, {
    ruleset: "river",
    options: { start_cards: 3, bidding: "simultaneous" },
    seats: [
      { kind: "human", name: "ann" },
      { kind: "house", name: "greedy" },
      { kind: "bot", bot_id: "bot_x" },
      { kind: "open" },
    ],
    human_budget_ms: 30_000,
  });
});

test("a value that is none goes to the arena as it is", () => {
  const chosen = { ruleset: "seven_up", name: "ann", budgetMs: 1, opponents: [] };
  assert.deepEqual(
    orderOf({
      ...chosen,
      options: [
        ["target", ""],
        ["gift", "true"],
      ],
    }).options,
    { target: "", gift: true },
  );
});

test("what the arena refuses is shown at the field that it came from", () => {
  const fields = [
    "seats.0.name",
    "seats.2.bot_id",
    "seats",
    "options.start_cards",
    "human_budget_ms",
    "options",
    "start",
  ];
  assert.deepEqual(
    fields.map((path) => fieldOf(path, "river")),
    ["player", "river-seat-2", "river-seats", "river-start_cards", "budget", null, null],
  );
});
