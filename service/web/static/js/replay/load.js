// Fetches a record, byte for byte, so that it can be verified as it came.

import { ApiError, away } from "../api.js";

const SECONDS = 30;

/**
 * Fetch the record of a game that has ended.
 * @param {string} gameId
 * @returns {Promise<{bytes: Uint8Array, digest: string|null}>} `digest` is the header Repr-Digest
 */
export async function load(gameId) {
  const answer = await fetch(`/v1/games/${gameId}/record`, { signal: AbortSignal.timeout(SECONDS * 1000) }).catch(away);
  if (!answer.ok) throw new ApiError(answer.status, await answer.json().catch(() => ({})));
  const bytes = new Uint8Array(await answer.arrayBuffer().catch(away));
  return { bytes, digest: answer.headers.get("Repr-Digest") };
}
