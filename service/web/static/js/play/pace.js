// Lets what happens at a table come no faster than its player can follow, whom nothing keeps from his own moves.

import { restAt } from "../table/pace.js";

export class Pace {
  #queue = [];
  #before = null;
  #shownAt = 0;
  #timer = null;
  #resting = null;
  #options;

  /**
   * @param {object} options
   * @param {(event: object) => void} options.show is given each event in its time
   * @param {() => void} options.rest is called when all have been shown
   * @param {number} options.seat one's own
   * @param {() => boolean} options.isHurried whether nobody looks, or wants nothing to move
   * @param {() => number} [options.now] a clock that only goes forward, in ms
   */
  constructor({ now = () => performance.now(), ...options }) {
    this.#options = { ...options, now };
  }

  /** Whether events wait to be shown. */
  get isBusy() {
    return this.#queue.length > 0;
  }

  /** Take an event to be shown after those before it. */
  add(event) {
    this.#queue.push(event);
    clearTimeout(this.#timer); // the more wait, the less each does
    this.#next();
  }

  #next() {
    while (this.#queue.length > 0) {
      const wait = this.#shownAt + this.#gap() - this.#options.now();
      if (wait > 0) {
        this.#timer = setTimeout(() => this.#next(), wait);
        return;
      }
      this.#before = this.#queue.shift();
      this.#shownAt = this.#options.now();
      this.#options.show(this.#before);
    }
    this.#resting ??= setTimeout(() => this.#rest()); // what came with it is to be added yet
  }

  #rest() {
    this.#resting = null;
    if (!this.isBusy) this.#options.rest();
  }

  /** How long the next event waits after the one before it. */
  #gap() {
    const { seat, isHurried } = this.#options;
    const [next] = this.#queue;
    const isOwn = next.event === "action" && next.seat === seat;
    return this.#before === null || isOwn || isHurried() ? 0 : restAt(this.#before, this.#queue);
  }
}
