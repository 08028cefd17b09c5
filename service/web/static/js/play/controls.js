// What a player has below the table: the question, the buttons that answer it, the time that is left.

import { h, name, replace } from "../dom.js";
import { keyed } from "../table/keyed.js";
import { choicesOf, leftText, promptOf } from "./asking.js";

const SHORT_MS = 20_000; // so little time left is worth a warning

export class Controls {
  #question = h("p", { class: "question" });
  #choices = h("div", { class: "choices-row", role: "group", "aria-label": "Your answer" });
  #left = h("span", { class: "left", role: "timer" });
  #trouble = h("p", { class: "notice bad", role: "alert", hidden: true });
  #deadline = null;
  #clock;
  #options;

  /**
   * @param {Element} root
   * @param {object} options
   * @param {number} options.seat
   * @param {(action: string) => void} options.choose
   * @param {() => number} options.now by the arena's clock, in ms
   * @param {(text: string) => void} options.announce
   * @param {() => void} options.expired is called while a decision stays owed beyond its time
   */
  constructor(root, options) {
    this.#options = options;
    replace(root, this.#trouble, h("div", { class: "asked-row" }, this.#question, this.#left), this.#choices);
    this.#clock = setInterval(() => this.#tick(), 1000);
  }

  /** Ask what a state asks. */
  show(state) {
    const { seat, choose } = this.#options;
    replace(
      this.#question,
      promptOf(state, seat).map((part) => (typeof part === "string" ? part : name(part.name))),
    );
    keyed(
      this.#choices,
      choicesOf(state),
      ([action]) => action,
      ([action, label, spoken]) =>
        h("button", { type: "button", "aria-label": spoken, onclick: () => choose(action) }, label),
    );
    this.#choices.hidden = this.#choices.children.length === 0;
    if (this.#deadline?.id !== state.owed?.decisionId) {
      this.#deadline = state.owed && { id: state.owed.decisionId, at: state.owed.deadline, isWarned: false };
    }
    this.#tick();
  }

  /** Let the time go by unseen. */
  close() {
    clearInterval(this.#clock);
  }

  /** The first of the buttons that answer, or null. */
  get first() {
    return this.#choices.querySelector("button");
  }

  /** Say what goes wrong, or with "" that nothing does any more. */
  trouble(text) {
    this.#trouble.hidden = text === "";
    replace(this.#trouble, text);
  }

  #tick() {
    const ms = this.#deadline === null ? null : this.#deadline.at - this.#options.now();
    this.#left.hidden = ms === null;
    if (ms === null) return;
    replace(this.#left, `${leftText(ms)} left`);
    this.#left.classList.toggle("warn", ms < SHORT_MS);
    if (ms < SHORT_MS && !this.#deadline.isWarned) {
      this.#deadline.isWarned = true;
      this.#options.announce(`${leftText(ms)} left.`);
    }
    if (ms < -1000) this.#options.expired();
  }
}
