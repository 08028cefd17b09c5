// The host's own part of a tournament's page: start, pause, cancel it, enter and withdraw bots. Others never see it.

import { api } from "../api.js";
import { h, name, replace } from "../dom.js";
import { keep } from "../keep.js";
import { Sender } from "../sender.js";
import { botsFor } from "./bots.js";
import { confirm } from "./confirm.js";
import { Picker } from "./picker.js";
import { Plan } from "./plan.js";
import { rows } from "./rows.js";
import { steps } from "./steering.js";
import { progress } from "./words.js";

const EVERY_MS = 3_000;
const ENDS = new Set(["finished", "cancelled"]);

class Controls {
  #sender = new Sender();
  #looking = null;
  #shown = null;

  constructor(section, token, me) {
    this.section = section;
    this.path = `/v1/tournaments/${section.dataset.tournament}`;
    this.token = token;
    this.me = me;
    this.title = h("h2", { id: "organiser-title", tabindex: "-1" }, "Organise");
    this.state = h("p", { class: "state" });
    this.refused = h("p", { class: "notice bad", role: "alert", hidden: true });
    this.away = h("p", { class: "notice warn", hidden: true });
    this.buttons = h("div", { class: "row" });
    this.plan = new Plan();
    this.entries = h("ul", { class: "entered" });
    this.none = h("p", { class: "soft" }, "None yet.");
    this.picker = new Picker((bots, entropy) => this.act(() => this.enter(bots, entropy)));
    this.entering = h("div", {}, h("h3", {}, "Enter bots"), this.picker.form);
    section.setAttribute("aria-labelledby", "organiser-title");
    const entries = h("div", {}, h("h3", { id: "entered-title", tabindex: "-1" }, "Entries"), this.none, this.entries);
    replace(
      section,
      this.title,
      this.state,
      this.away,
      this.refused,
      this.plan.element,
      this.buttons,
      h("div", { class: "columns" }, this.entering, entries),
    );
  }

  /** Show it, and look again for as long as something can change and somebody looks. */
  async open() {
    await this.read();
    this.section.hidden = false;
    this.look();
    const timer = setInterval(() => {
      if (ENDS.has(this.#shown.tournament.state)) clearInterval(timer);
      else if (!document.hidden && !this.#sender.busy) this.look();
    }, EVERY_MS);
  }

  /** Read all that is shown, and show it, or that it can't be read just now. Two looks at once are one. */
  look() {
    this.#looking ??= this.read()
      .then(
        () => "",
        (error) => `This may be out of date: ${error.message}.`,
      )
      .then((why) => {
        this.#looking = null;
        this.away.hidden = !why;
        this.away.textContent = why;
      });
    return this.#looking;
  }

  async read() {
    if (this.#shown?.tournament.state === "open" && !this.picker.isOffered) await this.offer(this.#shown.tournament);
    const [tournament, entries] = await Promise.all([api.get(this.path), this.readEntries()]);
    const ahead = tournament.state === "open" ? await api.get(`${this.path}/plan`) : null;
    const shown = { tournament, entries, ahead };
    if (JSON.stringify(shown) === JSON.stringify(this.#shown)) return;
    const before = this.#shown?.tournament.state;
    this.#shown = shown;
    this.show(shown);
    if (before && before !== tournament.state) announce(`${tournament.name} is ${progress(tournament)}`);
  }

  async readEntries() {
    const found = [];
    for (let cursor = ""; cursor !== null; ) {
      const page = await api.get(`${this.path}/entries?limit=100${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
      found.push(...page.items);
      cursor = page.next_cursor;
    }
    return found;
  }

  show({ tournament, entries, ahead }) {
    this.state.textContent = [progress(tournament), tournament.reason].filter(Boolean).join(": ");
    this.plan.show(ahead);
    rows(
      this.buttons,
      steps(tournament, ahead),
      (step) => `${step.key} ${step.isOff}`,
      (step) => this.button(step),
    );
    const isOver = ENDS.has(tournament.state);
    rows(
      this.entries,
      entries,
      (entry) => `${entry.bot_id} ${entry.withdrawn_at} ${isOver}`,
      (entry) => this.entry(entry, isOver),
    );
    this.none.hidden = entries.length > 0;
    this.entering.hidden = tournament.state !== "open";
    this.picker.without(entries.map((entry) => entry.bot_id));
  }

  button(step) {
    const steer = () => this.act(() => this.steer(step));
    return h(
      "button",
      { type: "button", class: step.first && "first", disabled: step.isOff, onclick: steer },
      step.label,
    );
  }

  entry(entry, isOver) {
    const isGone = entry.withdrawn_at !== null;
    const withdraw = () => this.act(() => this.withdraw(entry));
    return h(
      "li",
      {},
      name(entry.name),
      isGone && h("span", { class: "hint" }, "withdrawn"),
      !isGone &&
        !isOver &&
        h(
          "button",
          { type: "button", onclick: withdraw },
          "Withdraw",
          h("span", { class: "unseen" }, ` ${entry.name}`),
        ),
    );
  }

  /** Do one thing at a time, then look; what is refused is said in the arena's words. */
  async act(what) {
    this.refused.hidden = true;
    const isDone = await this.#sender.once(async () => {
      await what().catch((error) => this.refuse(error));
      return true;
    });
    if (!isDone) return;
    await this.#looking; // that look may have begun before
    await this.look();
    if (document.activeElement === document.body) this.title.focus(); // its button has gone
  }

  async steer({ to, ask }) {
    if (ask && !(await confirm(...ask))) return;
    await api.put(`${this.path}/state`, { state: to }, { token: this.token });
  }

  async withdraw(entry) {
    const question = [
      "Withdraw ",
      name(entry.name),
      " for good? Its games that run go on, those that wait are forfeited.",
    ];
    const isBegun = this.#shown.tournament.state !== "open";
    if (isBegun && !(await confirm(question, "Withdraw it", "Keep it"))) return;
    await api.del(`${this.path}/entries/${entry.bot_id}`, { token: this.token });
  }

  /** Enter bots, up to the first that is refused. */
  async enter(bots, entropy) {
    if (bots.length === 0) throw new Error("choose a bot to enter first");
    for (const bot of bots) {
      const isMine = bot.kind === "house" || bot.account_id === this.me.id;
      const body = entropy && isMine ? { entropy } : {};
      await api.put(`${this.path}/entries/${bot.id}`, body, { token: this.token }).catch((error) => {
        throw Object.assign(error, { said: [name(bot.name), ` isn't entered: ${error.message}`] });
      });
    }
    announce(bots.length === 1 ? `entered ${bots[0].name}` : `entered ${bots.length} bots`);
  }

  async offer({ ruleset, challenger }) {
    this.picker.offer(await botsFor(ruleset, this.token), challenger);
  }

  refuse(error) {
    replace(this.refused, ...(error.said ?? [error.message]));
    this.refused.hidden = false;
  }
}

function announce(sentence) {
  document.querySelector("#announcer").textContent = sentence;
}

/** Let whichever page they are on wear their looks. */
function dress(section) {
  section.classList.add("panel");
  if (document.querySelector("link[href$='/css/organise.css']")) return null;
  const link = h("link", { rel: "stylesheet", href: new URL("../../css/organise.css", import.meta.url).pathname });
  document.head.append(link);
  return new Promise((resolve) => {
    for (const end of ["load", "error"]) link.addEventListener(end, resolve);
  });
}

/** Open the controls of a section that names a tournament, if this browser's account made it. */
export async function organise(section) {
  const token = keep.account?.token;
  if (!token) return;
  const [me, tournament] = await Promise.all([
    api.get("/v1/accounts/me", { token }),
    api.get(`/v1/tournaments/${section.dataset.tournament}`),
  ]);
  if (tournament.owner !== me.id) return;
  await dress(section);
  await new Controls(section, token, me).open();
}

const here = document.querySelector("#organiser[data-tournament]");
if (here) organise(here).catch(() => {}); // a token that is known no more shows no controls, and hides no page
