// Whether a record is what it claims to be.

import { expect, expectSame, Refused } from "../verifier/expecting.js";
import { read, verify } from "../verifier/record.js";

/**
 * Hold the record of a game against all that there is to hold it against: the digest that came with it, what the arena
 * has published of the game since its creation, and what follows from its secret by the rules.
 * @param {Uint8Array} bytes the record as it came
 * @param {string|null} digest its header Repr-Digest (RFC 9530)
 * @param {{id: string, label: string, commitment: string}} game
 * @returns {Promise<string|null>} the first thing that doesn't hold; null if all does
 */
export async function faultIn(bytes, digest, game) {
  try {
    const record = read(bytes);
    await verify(record);
    expectSame("record.game_id", game.id, record.game_id);
    expectSame("record.fairness.label", game.label, record.fairness.label);
    expectSame("record.fairness.commitment", game.commitment, record.fairness.commitment);
    if (digest !== null) await expectDigest(bytes, digest);
    return null;
  } catch (error) {
    if (error instanceof Refused) return error.message;
    throw error;
  }
}

async function expectDigest(bytes, digest) {
  const hash = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  const got = `sha-256=:${btoa(String.fromCharCode(...hash))}:`;
  expect(digest === got, `the record as it was sent, whose digest is ${digest}`, got);
}
