// Sends things once, however often somebody presses a button.

import { api } from "./api.js";

/** Sends one thing at a time. What is sent again, because nobody knows what became of it, is made once. */
export class Sender {
  busy = false;
  #text = null;
  #key = null;

  /** Do something, unless this sender is still at something: then nothing. Gives what `send` gave. */
  async once(send) {
    if (this.busy) return undefined;
    this.busy = true;
    try {
      return await send();
    } finally {
      this.busy = false;
    }
  }

  /** Send a POST; the same body as last time goes under the same key, until it has been answered with a success. */
  async post(path, body, options = {}) {
    const text = JSON.stringify([path, body]);
    if (text !== this.#text) this.#key = crypto.getRandomValues(new Uint32Array(4)).join("-");
    this.#text = text;
    const made = await api.post(path, body, { ...options, key: this.#key });
    this.#text = null;
    return made;
  }
}
