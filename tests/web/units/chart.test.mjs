import assert from "node:assert/strict";
import { test } from "node:test";

import { dated, days, rangeOf, roomy, thinned } from "../../../service/web/static/js/chart.js";

test("labels that have no room are left out, evenly, the first one never", () => {
  assert.deepEqual(thinned(5, 1000), [0, 1, 2, 3, 4]);
  assert.deepEqual(thinned(10, 300), [0, 2, 4, 6, 8]);
  for (const width of [0, 1, 59, 360, 4000]) {
    const shown = thinned(37, width);
    assert.equal(shown[0], 0);
    assert.ok(shown.length === 1 || shown.length * 60 <= width + 60);
    assert.ok(shown.every((edge) => edge < 37));
  }
});

test("a range leaves room at both ends, around a single value too", () => {
  for (const [low, high] of [
    [0, 10],
    [1500, 1500],
    [0, 0],
    [-5, -5],
  ]) {
    const [from, to] = roomy(null, low, high);
    assert.ok(from < low && high < to);
  }
  assert.deepEqual(roomy(null, null, null), [0, 1]);
});

test("a single moment stands in the midst of its day", () => {
  const noon = Date.parse("2026-03-01T12:00Z") / 1000;
  assert.deepEqual(dated(days(null, noon, noon)), ["1 Mar", "2 Mar"]);
  assert.deepEqual(days(null, 0, 1000), [-60, 1060]);
});

test("a band that says little may reach beyond the chart, a value never does", () => {
  const loose = { low: 500, value: 1700, high: 2900, isFirm: false };
  const firm = { low: 1400, value: 1500, high: 1600, isFirm: true };
  assert.deepEqual(rangeOf([loose, firm]), [1400, 1700]);
  assert.deepEqual(rangeOf([loose]), [500, 2900]);
});

test("moments are told apart by what differs, in UTC", () => {
  const at = (text) => Date.parse(text) / 1000;
  assert.deepEqual(dated([at("2026-03-01T22:00Z"), at("2026-03-01T23:30Z")]), ["22:00", "23:30"]);
  assert.deepEqual(dated([at("2026-03-01T00:00Z"), at("2026-03-04T00:00Z")]), ["1 Mar", "4 Mar"]);
  assert.deepEqual(dated([at("2025-03-01T00:00Z"), at("2026-03-01T00:00Z")]), ["Mar 2025", "Mar 2026"]);
});
