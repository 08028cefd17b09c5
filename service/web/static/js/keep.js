// What this browser remembers: an account's token, and the seats that are played from here.

const memory = new Map();

/** Keep it in the browser; where that is forbidden or full, as long as the page lives. */
function write(key, value) {
  memory.set(key, value);
  try {
    if (value === null) localStorage.removeItem(key);
    else localStorage.setItem(key, JSON.stringify(value));
  } catch {
    // memory has it
  }
}

function read(key) {
  try {
    const text = localStorage.getItem(key);
    if (text !== null) return JSON.parse(text);
  } catch {
    // nothing is kept, or nonsense
  }
  return memory.get(key) ?? null;
}

const ACCOUNT = "slagveld.account";
const PROBE = "slagveld.probe";
const seatsKey = (gameId) => `slagveld.seats.${gameId}`;

export const keep = {
  /** Whether what is kept outlives the page. */
  get lasts() {
    try {
      localStorage.setItem(PROBE, "");
      localStorage.removeItem(PROBE);
      return true;
    } catch {
      return false;
    }
  },
  /** `{name, token}`, or null. */
  get account() {
    return read(ACCOUNT);
  },
  set account(value) {
    write(ACCOUNT, value);
  },
  /** The seats of a game that are played from this browser: `[{seat, token, name}]`. */
  seats(gameId) {
    const kept = read(seatsKey(gameId));
    return Array.isArray(kept) ? kept : [];
  },
  /** Remember a seat, in the place of what was known of it. */
  sit(gameId, seat) {
    write(seatsKey(gameId), [...keep.seats(gameId).filter((each) => each.seat !== seat.seat), seat]);
  },
  /** Forget a seat. */
  leave(gameId, number) {
    const others = keep.seats(gameId).filter((each) => each.seat !== number);
    write(seatsKey(gameId), others.length ? others : null);
  },
};
