// A recorded game as frames, one for each event of the record and each dealing: the table as it was after it.

import { FAULTS } from "../verifier/play.js";
import { stepsOf } from "../verifier/steps.js";
import { apply, begin } from "./state.js";

/**
 * @typedef {object} Frame
 * @property {number} deal
 * @property {number|null} at the number of the event in its deal, from 0; null where the deal is dealt
 * @property {object[]} events what became known by it, the decision or the retirement itself first
 * @property {import('./state.js').State} state
 */

/** All frames are made at once, so that going to any of them costs nothing. */
export class Story {
  /** @param {object} record one that `read` of the verifier has passed */
  constructor(record) {
    const { steps, fault } = stepsOf(record);
    /** @type {string|null} what keeps the rest of the record from being played */
    this.fault = fault;
    let state = begin(record);
    /** @type {Frame[]} */
    this.frames = steps.map((step) => {
      state = step.events.reduce(apply, state);
      return { ...step, state };
    });
  }

  /** The number of the frame of an event, or of the dealing if `at` is null; -1 where the game has none. */
  find(deal, at) {
    return this.frames.findIndex((frame) => frame.deal === deal && frame.at === at);
  }

  /** The numbers of the frames in which a deal is dealt. */
  get dealings() {
    return this.numbered(({ at }) => at === null);
  }

  /** The numbers of the frames of a deal. */
  of(deal) {
    return this.numbered((frame) => frame.deal === deal);
  }

  /** The numbers of the frames in which a seat failed to answer well, or was retired. */
  get troubles() {
    return this.numbered(({ events: [first] }) => first.event === "retired" || FAULTS.includes(first.outcome));
  }

  numbered(isMeant) {
    return this.frames.flatMap((frame, number) => (isMeant(frame) ? [number] : []));
  }
}

/** Write the address of a frame, to be joined to that of its page. */
export function addressOf({ deal, at }) {
  return at === null ? `?deal=${deal}` : `?deal=${deal}&event=${at}`;
}

/** Find the frame that an address names: its number, null if it names none, -1 if the game doesn't have that one. */
export function addressed(story, search) {
  const named = new URLSearchParams(search);
  if (!named.has("deal")) return null;
  const at = named.get("event");
  return story.find(counted(named.get("deal")), at === null ? null : counted(at));
}

function counted(text) {
  return /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
}
