// The page /tournaments/new: makes a tournament and goes to it.

import { h } from "../dom.js";
import { Sender } from "../sender.js";
import { AccountPanel } from "./account.js";
import { bodyOf, controlsOf } from "./body.js";
import { botsFor } from "./bots.js";
import { suit } from "./choices.js";
import { complain, forgive } from "./faults.js";

const form = document.querySelector("#tournament");
const notice = form.querySelector(":scope > [data-refused]");
const sender = new Sender();

suit(form);
const account = new AccountPanel(document.querySelector("#account"));
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  forgive(form, notice);
  if (!account.token) return account.ask("An account is needed to make a tournament.");
  try {
    const made = await sender.once(() =>
      sender.post("/v1/tournaments", bodyOf(controlsOf(form)), { token: account.token }),
    );
    if (made) location.assign(`/tournaments/${made.id}`);
  } catch (error) {
    if (error.code === "bad_token") account.forget();
    if (error.status === 401) account.ask(error.message);
    else complain(form, notice, error);
  }
});

// Challengers are looked up when they are asked for.

const isolated = (text) => `\u2068${text}\u2069`; // an option can't hold a <bdi>
let listed = null;

async function listChallengers() {
  const select = form.elements.challenger;
  const ruleset = form.querySelector("input[name='ruleset']:checked").value;
  const wanted = `${ruleset} ${account.token}`;
  if (select.disabled || listed === wanted) return;
  listed = wanted;
  try {
    const bots = await botsFor(ruleset, account.token);
    if (listed !== wanted) return;
    const before = select.value;
    const options = bots.map((bot) => h("option", { value: bot.id }, `${isolated(bot.name)} (${bot.id})`));
    select.replaceChildren(select.options[0], ...options);
    select.value = bots.some((bot) => bot.id === before) ? before : "";
  } catch (error) {
    listed = null;
    complain(form, notice, error);
  }
}

form.addEventListener("change", listChallengers);
