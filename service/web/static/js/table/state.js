// What a table looks like after each event: one reducer for the live view, the replay and the play in the browser.
//
// The events are the public ones of docs/contract.md. A replay adds to them what only a record tells: `hands` after a
// deal or a run, `note` and `at` of an action, and discards. Who plays adds the view of the own seat, as
// {event: "seat", seat, view}. Nothing here knows the rules beyond whose turn it is: points and winners are told.

/**
 * @typedef {object} State
 * @property {string} ruleset
 * @property {object} options resolved, as the API shows them
 * @property {{name: string}[]} seats
 * @property {number|null} deal the number of the deal that is on, null before the first
 * @property {number|null} dealer
 * @property {number} cards dealt to each seat at first
 * @property {string[]} upcards
 * @property {string|null} trump a suit
 * @property {string|null} phase "beg gift discard bid play over", null before the first deal
 * @property {number[]} turn the seats that owe a decision, as far as it is known
 * @property {(string[]|null)[]} hands by seat, null where it is hidden
 * @property {number[]} held how many cards each seat holds
 * @property {(number|null)[]} bids
 * @property {boolean} begged
 * @property {(string|null)[]} said by seat: its last action of this deal that was no card
 * @property {{leader: number, cards: string[]}|null} trick the open one
 * @property {{leader: number, cards: string[], winner: number}|null} lastTrick of this deal
 * @property {{leader: number, cards: string[], winner: number}[]} tricks of this deal
 * @property {number[]} won tricks of this deal, by seat
 * @property {number[]} totals
 * @property {object[]} deals that have ended: {number, dealer, void, points, totals, bids, won}
 * @property {number[]|null} places
 * @property {string|null} endedBy
 * @property {boolean} isOver
 * @property {(string|null)[]} retired why, by seat
 * @property {{seat: number, action: string, outcome: string, ms: number, note: string|null}|null} last
 * @property {{deal: number, at: number, seat: number, outcome: string, action: string}[]} faults
 * @property {{seat: number, decisionId: string, legalActions: string[], deadline: number|null}|null} owed
 * @property {number} eventId of the last event that had one
 * @property {number} at how many events of its record this deal has had
 * @property {{seat: number, version: number, deal: number, hand: string[]}|null} seen the latest view of the own seat
 */

const HAND = 6;
const RUN = 3;
const NO_FAULTS = new Set(["ok", "retired", "our_fault"]);

/**
 * The table before anything has happened.
 * @returns {State}
 */
export function begin({ ruleset, options, seats }) {
  const each = (value) => seats.map(() => value);
  return frozen({
    ruleset,
    options,
    seats,
    ...noDeal(seats),
    deal: null,
    dealer: null,
    cards: 0,
    phase: null,
    turn: [],
    totals: each(0),
    deals: [],
    places: null,
    endedBy: null,
    isOver: false,
    retired: each(null),
    last: null,
    faults: [],
    owed: null,
    eventId: 0,
    seen: null,
  });
}

/**
 * The table after one event more. An event whose id has been seen, and one of a kind that isn't known, changes nothing.
 * @param {State} state
 * @returns {State}
 */
export function apply(state, event) {
  if (event.id !== undefined && event.id <= state.eventId) return state;
  const changes = APPLY[event.event]?.(state, event) ?? {};
  return frozen({ ...state, ...changes, eventId: event.id ?? state.eventId });
}

function noDeal(seats) {
  const each = (value) => seats.map(() => value);
  return {
    upcards: [],
    trump: null,
    hands: each(null),
    held: each(0),
    bids: each(null),
    begged: false,
    said: each(null),
    trick: null,
    lastTrick: null,
    tricks: [],
    won: each(0),
    at: 0,
  };
}

const APPLY = {
  deal(state, event) {
    const cards = event.cards ?? HAND;
    const begun = { ...noDeal(state.seats), deal: event.deal, dealer: event.dealer, cards };
    const dealt = { ...state, ...begun, held: state.seats.map(() => cards) };
    return {
      ...begun,
      ...served(dealt, event),
      upcards: [event.upcard],
      trump: event.trump ?? null,
      totals: event.totals ?? state.totals,
      phase: state.ruleset === "river" ? "bid" : "beg",
      turn: areBidsSealed(state) ? all(state) : [eldest(dealt)],
    };
  },

  run(state, event) {
    const more = { ...state, held: state.held.map((count) => count + RUN) };
    return { ...served(more, event), upcards: [...state.upcards, event.upcard], totals: event.totals, turn: [] };
  },

  trump(state, event) {
    const opened = state.upcards.length > 1 ? { phase: "discard", turn: all(state) } : toPlay(state);
    return { ...opened, trump: event.trump, totals: withGift(state, event.totals) };
  },

  discarded(state) {
    const hidden = state.held.reduce((sum, count) => sum + count - HAND, 0);
    return { ...toPlay(state), held: state.held.map(() => HAND), at: state.at + hidden };
  },

  action(state, event) {
    const [kind, what] = event.action.split(":");
    const done = ACTED[kind]?.(state, event.seat, what) ?? {};
    return {
      ...done,
      said: kind in SILENT ? state.said : set(state.said, event.seat, event.action),
      last: {
        seat: event.seat,
        action: event.action,
        outcome: event.outcome,
        ms: event.ms,
        note: event.note ?? null,
      },
      faults: NO_FAULTS.has(event.outcome) ? state.faults : [...state.faults, faultOf(state, event)],
      owed: isTaken(state, event) ? null : state.owed,
      at: state.at + 1,
    };
  },

  trick(state, event) {
    const trick = { ...state.trick, winner: event.winner };
    const isLast = state.held.every((count) => count === 0);
    return {
      lastTrick: trick,
      tricks: [...state.tricks, trick],
      won: set(state.won, event.winner, state.won[event.winner] + 1),
      trick: isLast ? null : { leader: event.winner, cards: [] },
      turn: isLast ? [] : [event.winner],
    };
  },

  deal_ended(state, event) {
    const { deal: number, void: isVoid, points, totals } = event;
    const ended = { number, dealer: state.dealer, void: isVoid, points, totals, bids: state.bids, won: state.won };
    return { deals: [...state.deals, ended], totals, trick: null, turn: [] };
  },

  retired(state, event) {
    const isOfDealBefore = event.reason === "faults" && state.at === 0; // its fault ended that deal
    return { retired: set(state.retired, event.seat, event.reason), at: state.at + (isOfDealBefore ? 0 : 1) };
  },

  ended(_state, event) {
    const { totals, places, ended_by: endedBy } = event;
    return { totals, places, endedBy, isOver: true, phase: "over", turn: [], owed: null };
  },

  seat(state, { seat, view }) {
    if (state.seen !== null && view.version < state.seen.version) return {};
    const shown = view.observation;
    const seen = { seat, version: view.version, deal: shown?.deal ?? null, hand: shown?.hand ?? [] };
    const legalActions = view.legal_actions;
    const owes = view.decision_id !== null && !state.isOver;
    const owed = owes ? { seat, decisionId: view.decision_id, legalActions, deadline: view.deadline } : null;
    if (state.isOver || seen.deal === null || seen.deal !== state.deal) return { seen, owed };
    return { seen, owed, ...known(state, seen), ...(isSealed(state) ? ownSealed(state, seat, view) : {}) };
  },
};

const ACTED = {
  beg: (state) => ({ begged: true, ...(state.options.gift ? { phase: "gift", turn: [state.dealer] } : { turn: [] }) }),
  stand: () => ({ turn: [] }),
  run: () => ({ turn: [] }),
  give: () => ({ turn: [] }),
  bid(state, seat, bid) {
    const bids = set(state.bids, seat, Number(bid));
    if (areBidsSealed(state)) {
      // The bids come all together, by seat: the last of them opens the play.
      return { bids, ...(seat === state.seats.length - 1 ? toPlay(state) : {}) };
    }
    return { bids, ...(seat === state.dealer ? toPlay(state) : { turn: [after(state, seat)] }) };
  },
  discard: (state, seat, card) => taken(state, seat, card),
  play(state, seat, card) {
    const trick = { leader: state.trick.leader, cards: [...state.trick.cards, card] };
    const isFull = trick.cards.length === state.seats.length;
    return { ...taken(state, seat, card), trick, turn: isFull ? [] : [after(state, seat)] };
  },
};

const SILENT = { play: true, discard: true };

function toPlay(state) {
  const leader = eldest(state);
  return { phase: "play", trick: { leader, cards: [] }, turn: [leader] };
}

function eldest(state) {
  return after(state, state.dealer);
}

function after(state, seat) {
  return (seat + 1) % state.seats.length;
}

function all(state) {
  return state.seats.map((_, seat) => seat);
}

function areBidsSealed(state) {
  return state.options.bidding === "simultaneous";
}

function isSealed(state) {
  return state.phase === "discard" || (state.phase === "bid" && areBidsSealed(state));
}

/** What a gift adds, which no event tells: eldest's point, unless the Jack of trumps has just won the game. */
function withGift(state, totals) {
  const isWon = Math.max(...totals) >= state.options.target && totals[0] !== totals[1];
  if (state.said[state.dealer] !== "give" || isWon) return totals;
  return set(totals, eldest(state), totals[eldest(state)] + 1);
}

/** The hands after cards were dealt: face up if the event tells them, else the own hand if its view is here already. */
function served(state, event) {
  if (event.hands) return { hands: event.hands, held: event.hands.map((hand) => hand.length) };
  const { hands, held, seen } = state;
  return seen !== null && seen.deal === state.deal ? { held, ...known(state, seen) } : { hands, held };
}

/** The own hand by the latest view, which may be a little older than the last card on the table. */
function known(state, { seat, hand }) {
  const played = new Set([...state.tricks, ...(state.trick ? [state.trick] : [])].flatMap((trick) => trick.cards));
  const cards = hand.filter((card) => !played.has(card));
  return { hands: set(state.hands, seat, cards), held: set(state.held, seat, cards.length) };
}

/** What a seat knows of itself while all decide in secret: its own bid, and that it owes no more. */
function ownSealed(state, seat, view) {
  if (view.phase !== state.phase) return {};
  const bid = view.observation.bids?.[seat] ?? null;
  return { turn: view.turn, bids: bid === null ? state.bids : set(state.bids, seat, bid) };
}

function taken(state, seat, card) {
  const hand = state.hands[seat];
  if (hand === null) return { held: set(state.held, seat, state.held[seat] - 1) };
  const left = hand.filter((each) => each !== card); // the own view may have told it before
  return { hands: set(state.hands, seat, left), held: set(state.held, seat, left.length) };
}

/** Whether an action is surely the answer to the decision that the own seat owes: it came after the latest view. */
function isTaken(state, event) {
  return state.owed?.seat === event.seat && event.id !== undefined && event.id > state.seen.version;
}

function faultOf(state, event) {
  const { seat, outcome, action } = event;
  return { deal: state.deal, at: event.at ?? state.at, seat, outcome, action };
}

function set(list, at, value) {
  return list.with(at, value);
}

/** Freeze what is new in a value, all the way down; what is frozen already is so all the way down. */
function frozen(value) {
  if (value === null || typeof value !== "object" || Object.isFrozen(value)) return value;
  for (const part of Object.values(value)) frozen(part);
  return Object.freeze(value);
}
