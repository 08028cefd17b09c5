// Chooses bots to enter.

import { h, name } from "../dom.js";
import { rows } from "./rows.js";

/** A form with the bots that aren't entered yet; `enter(bots, entropy)` gets those chosen and gives those it entered. */
export class Picker {
  isOffered = false;
  #bots = [];
  #entered = new Set();
  #chosen = new Set();

  constructor(enter) {
    this.find = h("input", { type: "search", id: "find-bot", autocomplete: "off", oninput: () => this.show() });
    this.list = h("ul", { class: "picks" });
    this.empty = h("p", { class: "soft", hidden: true });
    this.entropy = h("input", { id: "entropy", autocomplete: "off", "aria-describedby": "entropy-hint" });
    this.button = h("button", {}, "Enter");
    this.form = this.#built(enter);
  }

  /** Take the bots there are; `chosen` is the id of one to begin with. */
  offer(bots, chosen) {
    this.isOffered = true;
    this.#bots = bots;
    if (chosen && !this.#entered.has(chosen)) this.#chosen.add(chosen);
    this.show();
  }

  /** Leave out those that are entered. */
  without(entered) {
    this.#entered = new Set(entered);
    for (const each of entered) this.#chosen.delete(each);
    this.show();
  }

  /** Show what is left of them: those that are found, and those that are chosen. */
  show() {
    const sought = this.find.value.trim().toLowerCase();
    const left = this.#bots.filter((bot) => !this.#entered.has(bot.id));
    const is = (bot) => this.#chosen.has(bot.id) || `${bot.name} ${bot.id}`.toLowerCase().includes(sought);
    const shown = left.filter(is);
    rows(
      this.list,
      shown,
      (bot) => bot.id,
      (bot) => this.#row(bot),
    );
    this.list.hidden = shown.length === 0;
    this.empty.hidden = shown.length > 0;
    this.empty.textContent = left.length ? "No bot is called that." : "No bot is left that could be entered.";
    this.#count();
  }

  #built(enter) {
    const send = async (event) => {
      event.preventDefault();
      const chosen = this.#bots.filter((bot) => this.#chosen.has(bot.id));
      await enter(chosen, this.entropy.value);
    };
    return h(
      "form",
      { novalidate: true, onsubmit: send, "aria-label": "Enter bots" },
      h("div", { class: "field" }, h("label", { for: "find-bot" }, "Find a bot"), this.find),
      this.list,
      this.empty,
      h(
        "details",
        {},
        h("summary", {}, "Entropy"),
        h(
          "div",
          { class: "field" },
          h("label", { for: "entropy" }, "Goes into the shuffle of every board"),
          this.entropy,
          h(
            "p",
            { class: "hint", id: "entropy-hint" },
            "For house bots and your own, at most 256 bytes. Others' owners give theirs.",
          ),
        ),
      ),
      h("p", {}, this.button),
    );
  }

  #row(bot) {
    const toggle = (event) => {
      if (event.target.checked) this.#chosen.add(bot.id);
      else this.#chosen.delete(bot.id);
      this.#count();
    };
    const box = h("input", { type: "checkbox", value: bot.id, checked: this.#chosen.has(bot.id), onchange: toggle });
    const about = bot.kind === "house" ? "house" : bot.version && `version ${bot.version}`;
    return h(
      "li",
      {},
      h("label", { class: "choice" }, box, name(bot.name), about && h("span", { class: "hint" }, about)),
    );
  }

  #count() {
    const chosen = this.#chosen.size;
    this.button.textContent = chosen > 1 ? `Enter ${chosen} bots` : "Enter the bot";
  }
}
