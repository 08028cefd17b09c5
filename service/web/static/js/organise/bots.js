// The bots that can be entered.

import { api } from "../api.js";

const PAGE = 100;
/** So many pages of registered bots are read at most. */
export const PAGES = 10;

/** Give who plays a game: house bots, then active ones, newest first, as `GET /v1/bots` shows them to the token. */
export async function botsFor(ruleset, token, signal) {
  const houses = await api.get(`/v1/bots?kind=house&limit=${PAGE}`, { token, signal });
  const found = houses.items.filter((each) => each.rulesets.includes(ruleset));
  const query = `/v1/bots?ruleset=${ruleset}&state=active&limit=${PAGE}`;
  for (let page = 0, cursor = ""; page < PAGES && cursor !== null; page++) {
    const one = await api.get(query + (cursor && `&cursor=${encodeURIComponent(cursor)}`), { token, signal });
    found.push(...one.items);
    cursor = one.next_cursor;
  }
  return found;
}
