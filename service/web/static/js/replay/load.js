// Fetches a record, byte for byte, so that it can be verified as it came.

import { ApiError } from "../api.js";

const SECONDS = 30;

/**
 * Fetch the record of a game that has ended.
 * @param {string} gameId
 * @returns {Promise<{bytes: Uint8Array, digest: string|null}>} `digest` is the header Repr-Digest
 */
export async function load(gameId) {
  const answer = await fetch(`/v1/games/${gameId}/record`, { signal: AbortSignal.timeout(SECONDS * 1000) }).catch(
    () => {
      throw new ApiError(0, { code: "away", detail: "the arena can't be reached" });
    },
  );
  if (!answer.ok) throw new ApiError(answer.status, await answer.json().catch(() => ({})));
  return { bytes: new Uint8Array(await answer.arrayBuffer()), digest: answer.headers.get("Repr-Digest") };
}
