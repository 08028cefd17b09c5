// How fast a table shows what has happened. Bots decide faster than anybody reads: each event stays for a while, but
// the table never falls far behind.

const REST_MS = { deal: 700, run: 900, action: 380, trick: 900, deal_ended: 1_800, retired: 900 };
const BEHIND_MS = 4_000;

/**
 * How long to rest at an event before the next is shown, in milliseconds.
 * @param {object} event that is shown
 * @param {object[]} waiting those that are to follow
 */
export function restAt(event, waiting) {
  const behind = waiting.reduce((sum, each) => sum + restOf(each), 0);
  return restOf(event) * Math.min(1, BEHIND_MS / Math.max(behind, 1));
}

function restOf(event) {
  return REST_MS[event.event] ?? 0;
}
