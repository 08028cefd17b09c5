// Events in words, for the log of a table and for screen readers.
//
// A sentence comes in parts, since names are strangers' texts: whoever shows it keeps each name apart from the rest.

import { nameOf, suitName } from "./cards.js";

/** What came of a decision, in words; "ok" isn't here. */
export const OUTCOMES = {
  late: "too late",
  unreachable: "not reachable",
  bad_status: "a wrong HTTP status",
  bad_reply: "an unreadable reply",
  illegal: "an illegal action",
  retired: "no longer asked",
  our_fault: "the arena's own fault",
};

const REASONS = {
  faults: "too many faults",
  left: "it left the game",
  disabled: "the operator disabled it",
};

const ENDINGS = {
  play: "",
  retirement: " by retirement",
  forfeit: " by forfeit",
};

/** What tells players of one name apart, by seat: "#2", or "" where there is no need. */
export function marksOf(seats) {
  const names = seats.map((seat) => seat.name);
  const isShared = (name) => names.indexOf(name) !== names.lastIndexOf(name);
  return names.map((name, seat) => (isShared(name) ? `#${seat + 1}` : ""));
}

/** The players by seat, told apart by their seats where two have one name. */
export function namesOf(seats) {
  const marks = marksOf(seats);
  return seats.map(({ name }, seat) => (marks[seat] ? `${name} ${marks[seat]}` : name));
}

/** An action in words: "play:TH" -> "plays the Ten of Hearts". */
export function actionText(action) {
  return actionParts(action)
    .map((part) => part.name ?? part)
    .join("");
}

function actionParts(action) {
  const [kind, what] = action.split(":");
  if (kind === "play") return ["plays the ", cardPart(what)];
  if (kind === "discard") return ["discards the ", cardPart(what)];
  if (kind === "bid") return [`bids ${what}`];
  return [{ stand: "stands", beg: "begs", run: "runs the cards", give: "gives a point" }[kind] ?? action];
}

/** How long a decision took: "840 ms", "2.1 s". */
export function timeText(ms) {
  return ms < 1000 ? `${Number(ms.toPrecision(2))} ms` : `${Number((ms / 1000).toPrecision(2))} s`;
}

/**
 * Tell an event in a sentence.
 * @param {object} event a public event (docs/contract.md)
 * @param {{name: string}[]} seats
 * @returns {string} "" for what isn't told, such as an event of a later version
 */
export function tell(event, seats) {
  return parts(event, seats)
    .map((part) => part.name ?? part)
    .join("");
}

/**
 * Tell an event in parts: texts of ours, {name, seat} for each player in it, {name, card} for each card.
 * @returns {(string|{name: string, seat: number}|{name: string, card: string})[]}
 */
export function parts(event, seats) {
  const names = namesOf(seats);
  const who = (seat) => ({ name: names[seat], seat });
  return TOLD[event.event]?.(event, who) ?? [];
}

const TOLD = {
  deal(event, who) {
    const size = event.cards === undefined ? "" : ` of ${counted(event.cards, "card")}`;
    return [
      `Deal ${event.deal + 1}${size}: `,
      who(event.dealer),
      " deals, the ",
      cardPart(event.upcard),
      " is turned.",
    ];
  },
  action(event, who) {
    const fault = event.outcome === "ok" ? "" : ` (${OUTCOMES[event.outcome] ?? event.outcome}; played for it)`;
    return [who(event.seat), " ", ...actionParts(event.action), `${fault}.`];
  },
  run: (event) => ["Three more cards each, the ", cardPart(event.upcard), " is turned."],
  trump: (event) => [`${suitName(event.trump)} are trumps.`],
  discarded: () => ["Both have discarded."],
  trick: (event, who) => [who(event.winner), " wins the trick."],
  deal_ended(event, who) {
    const scores = event.points.flatMap((points, seat) => [
      seat === 0 ? "" : ", ",
      who(seat),
      ` +${points} to ${event.totals[seat]}`,
    ]);
    return [`Deal ${event.deal + 1} is ${event.void ? "void" : "over"}: `, ...scores, "."];
  },
  retired: (event, who) => [who(event.seat), ` is retired: ${REASONS[event.reason] ?? event.reason}.`],
  ended(event, who) {
    if (event.places === null) return ["The game is over, without a result."];
    const winners = event.places.flatMap((place, seat) => (place === 1 ? [seat] : []));
    const named = winners.flatMap((seat, at) => [at === 0 ? "" : " and ", who(seat)]);
    const verb = winners.length > 1 ? "share the first place" : "wins";
    return ["The game is over: ", ...named, ` ${verb}${ENDINGS[event.ended_by] ?? ""}.`];
  },
};

function cardPart(card) {
  return { name: nameOf(card), card };
}

function counted(number, noun) {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
