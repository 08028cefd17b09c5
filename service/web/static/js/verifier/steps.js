// A record as a story: the events of docs/contract.md that its decisions make, open to everybody.
//
// It believes the packs that the record shows, so it needs no hashing; whether they are the right ones says `verify`.

import { expect, Refused } from "./expecting.js";
import { CARDS } from "./packs.js";
import { Play } from "./play.js";

/**
 * Replay a record that was read, as far as it can be.
 *
 * A step is an event of the record, number `at` of deal `deal` (both from 0, as `slagbot replay --at` counts), with
 * `events`, all that became known by it; or, with `at` null, the dealing of that deal. Unlike in public, each action is told
 * at its place, sealed bids and discards too, an action with its `note`, and a `deal` or `run` with all `hands`.
 *
 * @returns {{steps: {deal: number, at: number|null, events: object[]}[], fault: string|null}} the steps, and what
 *   keeps the rest from being played
 */
export function stepsOf(record) {
  const steps = [];
  try {
    tellAll(record, steps);
    return { steps, fault: null };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return { steps: steps.filter(({ events }) => events.length > 0), fault: error.message };
  }
}

function tellAll(record, steps) {
  const tell = (event) => {
    if (event.event === "deal") steps.push({ deal: event.deal, at: null, events: [] });
    steps.at(-1).events.push(event);
  };
  const play = new Play(record, (number) => packShown(record, number), tell);
  record.deals.forEach((deal, number) => {
    deal.events.forEach((event, at) => {
      steps.push({ deal: number, at, events: [] });
      play.take(number, at, event);
    });
  });
  tell(endOf(play));
}

function packShown(record, number) {
  const deck = record.deals[number]?.deck;
  expect(deck !== undefined, `a deal ${number}`, record.deals.length);
  expect(deck.length === CARDS.length && CARDS.every((card) => deck.includes(card)), "52 cards", deck);
  return deck;
}

function endOf(play) {
  const isFinished = play.isOver && !play.isVoid;
  return {
    event: "ended",
    ended_by: isFinished ? play.endedBy : null,
    totals: [...play.game.totals],
    places: isFinished ? play.places : null,
  };
}
