// The form at /play: orders a game by the API, keeps the seat's token, and goes to the table.

import { ApiError, api } from "../api.js";
import { replace } from "../dom.js";
import { keep } from "../keep.js";
import { Sender } from "../sender.js";
import { fieldOf, orderOf } from "./order.js";

/** Make the form work. */
function start(form) {
  const page = new OrderForm(form);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    page.send();
  });
  window.addEventListener("pageshow", () => page.busy(false)); // somebody came back from the table
  form.addEventListener("change", () => page.fit());
  form.querySelector("#forget").addEventListener("click", () => page.forget());
  page.fit();
}

class OrderForm {
  #form;
  #fitted = new Map(); // by game: for how many seats its options are
  #sender = new Sender();
  #isBusy = false;

  constructor(form) {
    this.#form = form;
    if (keep.account) this.#at("#player").value = keep.account.name ?? "";
  }

  /** Show what belongs to the choices made so far. */
  fit() {
    for (const each of this.#all("[data-ruleset]")) each.hidden = each !== this.#game();
    const seats = this.#seats();
    for (const each of this.#all("[data-seat]", this.#game())) each.hidden = Number(each.dataset.seat) >= seats;
    const account = keep.account;
    for (const each of this.#all("select[data-option]", this.#game())) {
      if (each.selectedOptions[0].hidden) each.selectedIndex = 0; // a seat that the table hasn't any more
    }
    this.#at("#known").hidden = account === null;
    replace(this.#at("#known bdi"), account?.name ?? "");
    this.#at("#account").hidden = account !== null || !this.#needsAccount();
    this.#fitOptions(seats);
  }

  /** Let the browser know the account no longer. */
  forget() {
    keep.account = null;
    this.fit();
    this.#at("#player").focus();
  }

  /** Order the game, and go there; or say what was wrong. */
  async send() {
    if (this.#isBusy) return;
    this.#clear();
    const name = this.#at("#player");
    if (name.value.trim() === "") return this.#blame("player", "A name is needed.");
    if (!keep.lasts) return this.#refuse("This browser may not store anything here, and would forget your seat.");
    this.busy(true);
    try {
      const token = await this.#token();
      const made = await this.#sender.post("/v1/games", this.#order(), { token });
      keep.sit(made.id, { seat: 0, token: made.seats[0].token, name: made.seats[0].name });
      location.assign(`/play/${made.id}`);
    } catch (error) {
      this.busy(false);
      if (!(error instanceof ApiError)) throw error;
      this.#refused(error);
    }
  }

  /** The account's token: the one that is kept, or a new one, once the arena has said that it is good. */
  async #token() {
    const typed = this.#at("#token").value.trim();
    if (keep.account || !typed || this.#at("#account").hidden) return keep.account?.token;
    const { name } = await api.get("/v1/accounts/me", { token: typed });
    keep.account = { name, token: typed };
    return typed;
  }

  #order() {
    const shown = (selector) =>
      this.#all(selector, this.#game()).filter((each) => !each.closest("[data-seat][hidden]"));
    return orderOf({
      ruleset: this.#game().dataset.ruleset,
      name: this.#at("#player").value.trim(),
      budgetMs: Number(this.#at("#budget").value),
      opponents: shown("[data-opponent]").map((each) => each.value),
      options: shown("[data-option]").map((each) => [each.dataset.option, each.value]),
    });
  }

  /** Say what the arena said, at the field where that is. */
  #refused(error) {
    if (error.status === 401) {
      keep.account = null;
      this.fit();
      this.#at("#account").hidden = false;
      return this.#blame("token", error.message);
    }
    if (error.code === "account_needed" && !keep.account) {
      this.#at("#account").hidden = false;
      return this.#blame("token", "An account's token is needed for this.");
    }
    const [path, said] = Object.entries(error.errors)[0] ?? [];
    const id = path && fieldOf(path, this.#game().dataset.ruleset);
    if (id && this.#at(`#${id}`)) return this.#blame(id, said[0]);
    this.#refuse(error.message);
  }

  #refuse(text) {
    replace(this.#at("#refusal"), text).hidden = false;
    this.#at("#refusal").scrollIntoView({ block: "nearest" });
    this.#at("button[type=submit]").focus({ preventScroll: true }); // which it lost while it was disabled
  }

  #blame(id, text) {
    const field = this.#at(`#${id}`);
    field.setAttribute("aria-invalid", "true");
    replace(this.#at(`#${id}-wrong`), text);
    field.closest("details")?.setAttribute("open", "");
    field.focus();
  }

  #clear() {
    this.#at("#refusal").hidden = true;
    for (const each of this.#all("[aria-invalid]")) each.removeAttribute("aria-invalid");
    for (const each of this.#all(".wrong")) replace(each);
  }

  /** Show whether an order is under way, until the table is there: then no other is taken. */
  busy(is) {
    const button = this.#at("button[type=submit]");
    this.#isBusy = button.disabled = is;
    replace(button, is ? "One moment…" : "Deal the cards");
  }

  #needsAccount() {
    const isBot = (each) => !each.closest("[hidden]") && each.value.startsWith("bot ");
    return this.#form.dataset.needsAccount === "yes" || this.#all("[data-opponent]").some(isBot);
  }

  /** Ask for the limits and defaults that hang on the number of seats. */
  async #fitOptions(seats) {
    const game = this.#game();
    const { ruleset } = game.dataset;
    const tables = game.querySelector("[data-seats]")?.options;
    const fitted = this.#fitted.get(ruleset) ?? Number(tables?.[0].value); // the page as sent is for the smallest
    if (!tables || fitted === seats) return;
    this.#fitted.set(ruleset, seats);
    const found = await api.get(`/v1/rulesets/${ruleset}?seats=${seats}`).catch(unknown);
    if (this.#fitted.get(ruleset) !== seats) return;
    if (found === null) return this.#fitted.delete(ruleset); // with the next choice it is asked again
    const { properties } = found.options;
    for (const field of this.#all("input[data-option]", game)) limit(field, properties[field.dataset.option]);
  }

  #game() {
    const chosen = this.#form.elements.ruleset.value;
    return this.#at(`[data-ruleset="${chosen}"]`);
  }

  #seats() {
    const chosen = this.#game().querySelector("[data-seats]");
    return chosen ? Number(chosen.value) : 1 + this.#all("[data-opponent]", this.#game()).length;
  }

  #at(selector) {
    return this.#form.querySelector(selector);
  }

  #all(selector, within = this.#form) {
    return [...within.querySelectorAll(selector)];
  }
}

/** What can't be had now; the arena will say itself what it doesn't take. */
function unknown(error) {
  if (!(error instanceof ApiError)) throw error;
  return null;
}

/** Give a field the limits of its option, and its default unless somebody has chosen otherwise. */
function limit(field, option) {
  const isChosen = field.value !== field.defaultValue;
  field.max = option.maximum;
  field.defaultValue = option.default;
  if (!isChosen) field.value = option.default;
}

start(document.querySelector("#order"));
