import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { test } from "node:test";

import { faultIn } from "../../../service/web/static/js/replay/verdict.js";

const golden = async (name) =>
  JSON.parse(await readFile(new URL(`../../bot_sdk/golden/${name}.json`, import.meta.url))).record;
const bytesOf = (record) => new TextEncoder().encode(JSON.stringify(record));
const digestOf = (bytes) => `sha-256=:${createHash("sha256").update(bytes).digest("base64")}:`;
const gameOf = ({ game_id: id, fairness: { label, commitment } }) => ({ id, label, commitment });

for (const name of ["river-hook-not_one", "seven_up-gift-true"]) {
  test(`${name}: the record as it was sent holds`, async () => {
    const record = await golden(name);
    const bytes = bytesOf(record);
    assert.equal(await faultIn(bytes, digestOf(bytes), gameOf(record)), null);
  });

  test(`${name}: one changed byte anywhere is seen`, async () => {
    const record = await golden(name);
    const whole = bytesOf(record);
    for (let at = 0; at < whole.length; at += 7) {
      const changed = whole.slice();
      changed[at] ^= 1;
      assert.notEqual(await faultIn(changed, digestOf(whole), gameOf(record)), null, `byte ${at}`);
    }
  });
}

test("what a change means is told, where the rules or the secret see it", async () => {
  const record = await golden("river-hook-not_one");
  const digest = digestOf(bytesOf(record));
  const changed = structuredClone(record);
  [changed.deals[0].deck[0], changed.deals[0].deck[1]] = [changed.deals[0].deck[1], changed.deals[0].deck[0]];
  assert.match(await faultIn(bytesOf(changed), digest, gameOf(record)), /^expected record\.deals\[0\]\.deck to be/);
});

test("a change that would make another possible game is seen by the digest", async () => {
  const record = await golden("river-hook-not_one");
  const digest = digestOf(bytesOf(record));
  const renamed = { ...record, seats: record.seats.map((seat) => ({ ...seat, name: `${seat.name}!` })) };
  assert.equal(await faultIn(bytesOf(renamed), null, gameOf(record)), null);
  assert.match(await faultIn(bytesOf(renamed), digest, gameOf(record)), /^expected the record as it was sent/);
});

test("the record of another game isn't the record of this one, however true", async () => {
  const [record, other] = [await golden("river-hook-not_one"), await golden("river-hook-off")];
  const bytes = bytesOf(other);
  assert.match(await faultIn(bytes, digestOf(bytes), gameOf(record)), /^expected record\.game_id to be/);
  const sameId = { ...gameOf(record), id: other.game_id, label: other.fairness.label };
  assert.match(await faultIn(bytes, digestOf(bytes), sameId), /^expected record\.fairness\.commitment to be/);
});
