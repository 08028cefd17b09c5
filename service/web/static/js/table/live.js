// A game as it is played, for those who watch: every element with `data-table` shows the game of that id. With
// `data-replay` it becomes the replay when the game is over. No token is ever sent, so nothing hidden ever comes. A part
// of the page that is kept up to date (`data-refresh`) stays as it is while the game in it goes on.

import { ApiError, api, away } from "../api.js";
import { h } from "../dom.js";
import { follow, pollEvents } from "../stream.js";
import { EventLog } from "./log.js";
import { restAt } from "./pace.js";
import { apply, begin } from "./state.js";
import { TableView } from "./view.js";
import { tell } from "./words.js";

const ANNOUNCED = new Set(["deal_ended", "retired", "ended"]); // every card would be too much to listen to
const STREAM_WORDS = {
  live: "live",
  waiting: "connecting again …",
  polling: "every few seconds",
  over: "",
};
const NEVER_BEGUN = "The game ended before it began; there is nothing to see.";
const AGAIN_MS = 5_000;

class Live {
  constructor(root) {
    this.root = root;
    this.id = root.dataset.table;
    this.part = root.closest("[data-refresh]");
    this.waiting = [];
    this.isShowing = false;
  }

  /** Show the game, or say why that can't be. */
  async run() {
    this.part?.removeAttribute("data-refresh");
    await this.begin().catch((error) => this.fail(error));
  }

  async begin() {
    const view = await this.look();
    const hasEnded = !["open", "running"].includes(view.state);
    if (hasEnded && view.readable && this.root.hasAttribute("data-replay")) {
      if (view.observation !== null) await this.replay();
      return;
    }
    this.following = follow(`/v1/games/${this.id}/stream`, {
      message: (_id, event) => this.take(event),
      state: (text) => showStream(STREAM_WORDS[text]),
      poll: pollEvents(this.id),
    });
  }

  /** Read the game, however long the arena is away. */
  async look() {
    for (;;) {
      try {
        return await api.get(`/v1/games/${this.id}`);
      } catch (error) {
        if (!(error instanceof ApiError) || !error.isPassing) throw error;
        showStream(STREAM_WORDS.waiting);
        await rest(AGAIN_MS);
      }
    }
  }

  take(event) {
    this.waiting.push(event);
    if (!this.isShowing) this.showAll().catch((error) => this.fail(error));
  }

  async showAll() {
    this.isShowing = true;
    if (this.table === undefined) await this.lay();
    while (this.waiting.length > 0) {
      const events = this.next();
      this.show(events);
      if (events.at(-1).id > this.known) await rest(restAt(events.at(-1), this.waiting));
    }
    this.isShowing = false;
    if (this.state.isOver) await this.end();
  }

  /** Lay the table: who plays is known for sure once something has happened. */
  async lay() {
    const view = await this.look();
    this.known = view.version;
    this.state = begin(view);
    this.table = new TableView(this.root);
    const log = h("section", { "aria-label": "Log" });
    this.table.side.append(log);
    this.log = new EventLog(log, view.seats);
    showState(view.state);
  }

  /** Give what is shown next: all at once of what had happened before anybody looked, or went by in a hidden tab. */
  next() {
    const isPast = (event) => event.id <= this.known || document.visibilityState === "hidden";
    const count = this.waiting.findIndex((event) => !isPast(event));
    return this.waiting.splice(0, count === 0 ? 1 : count < 0 ? this.waiting.length : count);
  }

  show(events) {
    this.state = events.reduce(apply, this.state);
    this.table.show(this.state);
    this.log.add(...events);
    this.root.dataset.event = this.state.eventId;
    const said = events.filter((event) => event.id > this.known && ANNOUNCED.has(event.event));
    if (said.length > 0) announce(said.map((event) => tell(event, this.state.seats)).join(" "));
  }

  async end() {
    this.following.close();
    this.part?.setAttribute("data-refresh", "");
    showStream("");
    const view = await this.look();
    showState(view.state);
    if (this.state.deal === null) {
      this.root.replaceChildren(h("p", { class: "notice warn" }, NEVER_BEGUN));
      return;
    }
    const record = document.getElementById("record");
    if (record) record.hidden = false;
    if (!this.root.hasAttribute("data-replay")) return;
    this.table.controls.replaceChildren(
      h("button", { type: "button", class: "first", onclick: () => this.replay() }, "Look at the replay"),
    );
  }

  async replay() {
    try {
      const module = await import("./replay.js").catch(away);
      this.said?.remove();
      await module.replay(this.root, this.id);
    } catch (error) {
      this.say("The record can't be read now", error);
    }
  }

  /** Give up: the game is gone, or may not be seen by those who watch. */
  fail(error) {
    this.following?.close();
    this.part?.setAttribute("data-refresh", "");
    showStream("");
    this.say("The game can't be shown now", error);
  }

  /** Say above the table what went wrong, in the place of what was said before. */
  say(what, error) {
    if (!(error instanceof ApiError)) throw error;
    this.said?.remove();
    this.said = h("p", { class: "notice bad", role: "alert" }, `${what}: ${error.message}.`);
    this.root.prepend(this.said);
  }
}

function rest(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function announce(text) {
  const announcer = document.getElementById("announcer");
  if (announcer) announcer.textContent = text;
}

function showState(text) {
  const chip = document.getElementById("game-state");
  if (!chip) return;
  chip.textContent = text;
  chip.classList.toggle("live", text === "running");
}

function showStream(text) {
  const chip = document.getElementById("game-stream");
  if (!chip) return;
  chip.textContent = text;
  chip.hidden = text === "";
}

function beginAll(within) {
  for (const root of within.querySelectorAll("[data-table]")) new Live(root).run();
}

document.addEventListener("refreshed", (event) => beginAll(event.target)); // another game is shown there now
beginAll(document);
