import assert from "node:assert/strict";
import { test } from "node:test";

import { restAt } from "../../../service/web/static/js/table/pace.js";

const action = { event: "action" };
const queue = (length) => Array.from({ length }, () => action);

test("a card stays for a while, a trick longer, and what isn't seen not at all", () => {
  assert.ok(restAt(action, []) > 0);
  assert.ok(restAt({ event: "trick" }, []) > restAt(action, []));
  assert.equal(restAt({ event: "discarded" }, []), 0);
});

test("a table is seconds behind at most, however much has happened meanwhile", () => {
  for (const length of [1, 10, 100, 1_000]) {
    const rests = queue(length).map((event, at, all) => restAt(event, all.slice(at + 1)));
    const behind = rests.reduce((sum, each) => sum + each, 0);
    assert.ok(behind < 25_000, `${length} events take ${behind} ms`);
    assert.ok(Math.max(...rests) <= restAt(action, []));
  }
});
