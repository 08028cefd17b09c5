// What a player is asked, in words, and what he may answer that is no card.

import { namesOf } from "../table/words.js";

const HAND = 6;
const LABELS = { stand: "Stand", beg: "Beg", run: "Run the cards", give: "Give a point" };
const ORDINALS = ["", "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "last"];

/**
 * What is to be done at a table by who sits at `seat`: texts, and {name} for a player in them.
 * @param {import("../table/state.js").State} state
 * @returns {(string|{name: string})[]}
 */
export function promptOf(state, seat) {
  if (state.isOver) return [resultOf(state, seat)];
  if (state.deal === null) return ["The cards are being dealt."];
  if (state.retired[seat] !== null) return ["You have retired: the first legal action is played for you."];
  if (state.owed !== null) return [QUESTIONS[state.phase]?.(state, seat) ?? "It is your turn."];
  if (state.turn.length > 1) return ["Waiting for the others, who decide in secret."];
  const [other] = state.turn;
  return other === undefined || other === seat
    ? ["One moment…"]
    : ["Waiting for ", { name: namesOf(state.seats)[other] }, "."];
}

const QUESTIONS = {
  beg: () => "Do you accept the turned suit as trumps, or beg for another?",
  gift: () => "You are begged for another suit: run the cards, or give a point to keep this one?",
  discard(state, seat) {
    const left = state.held[seat] - HAND;
    return `Throw away ${left} ${left === 1 ? "card" : "cards"}, one at a time.`;
  },
  bid: (state) => `How many of the ${state.cards} ${state.cards === 1 ? "trick" : "tricks"} will you win?`,
  play: (state) => (state.trick?.cards.length ? "Play a card." : "Lead a card."),
};

/** How the game ended for a seat, in a sentence. */
export function resultOf({ places, totals, endedBy }, seat) {
  if (places === null) return "The game is over, without a result.";
  const others = totals.filter((_, other) => other !== seat);
  const how = endedBy === "retirement" ? " by retirement" : "";
  if (others.length === 1) return `You ${places[seat] === 1 ? "win" : "lose"}${how}, ${totals[seat]} to ${others[0]}.`;
  if (places[seat] === 1) return `You win${how} with ${totals[seat]} points.`;
  const place = places[seat] === places.length ? "last" : ORDINALS[places[seat]];
  return `You came ${place} of ${places.length} with ${totals[seat]} points.`;
}

/** The answers to give by buttons: [action, label, how it is read aloud]. Cards are chosen in the hand. */
export function choicesOf(state) {
  const actions = state.owed?.legalActions ?? [];
  return actions.filter((action) => !/^(play|discard):/.test(action)).map(choice);
}

function choice(action) {
  const [kind, number] = action.split(":");
  return kind === "bid" ? [action, number, `bid ${number}`] : [action, LABELS[kind] ?? action, LABELS[kind] ?? action];
}

/** Time that is left, in words that fit its size: "1:05", "3 h 20 min". */
export function leftText(ms) {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  if (seconds < 3600) return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 2880) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return `${Math.floor(minutes / 1440)} days`;
}
