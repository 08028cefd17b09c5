// A seat's own view of a game: what is public comes by the stream, what only the seat may know is asked for, and what
// the player chooses is sent. Whatever goes wrong on the way is mended by asking again how things stand.

import { ApiError, api } from "../api.js";
import { h } from "../dom.js";
import { follow, pollEvents } from "../stream.js";
import { EventLog } from "../table/log.js";
import { apply, begin } from "../table/state.js";
import { TableView } from "../table/view.js";
import { actionText, tell } from "../table/words.js";
import { promptOf } from "./asking.js";
import { Controls } from "./controls.js";
import { Pace } from "./pace.js";

const AGAIN_MS = 2_000;
const GONE = new Set([401, 403, 404]);
const MOST_SPOKEN = 8;
const TROUBLES = {
  not_owed: "That was no longer asked.",
  too_late: "Too late: the time for that decision was over.",
  decided: "That decision had been taken already.",
};

export class Player {
  #game;
  #seat;
  #path;
  #state;
  #view;
  #controls;
  #log;
  #pace;
  #announce;
  #lost;
  #meanwhile;
  #after;
  #told = []; // sentences that haven't been announced
  #dealt = true; // whether the hand may have changed since it was asked for
  #sent = null; // the decision that was answered last, or is just being answered
  #again = null;
  #doubted = null; // a decision of which nobody knows whether its answer has come there
  #asking = 0; // how many questions how things stand have had no answer
  #following = null;
  #isStray = false; // whether the focus was lost with what it was on

  /**
   * @param {Element} root
   * @param {object} options
   * @param {object} options.game as GET /v1/games/{id} shows it
   * @param {{seat: number, token: string}} options.seat
   * @param {number} options.ahead how far this machine's clock is ahead of the arena's, in ms
   * @param {(text: string) => void} options.announce
   * @param {() => void} options.lost is called when the seat is no longer one's own
   * @param {Element} options.meanwhile what to put beside the table until the game is over
   * @param {Element} options.after what to put below it then
   */
  constructor(root, { game, seat, ahead, announce, lost, meanwhile, after }) {
    this.#game = game;
    this.#seat = seat;
    this.#path = `/v1/games/${game.id}/seats/${seat.seat}`;
    this.#announce = announce;
    this.#lost = lost;
    this.#meanwhile = meanwhile;
    this.#after = after;
    this.#state = begin(game);
    const choose = (action) => this.choose(action);
    this.#view = new TableView(root, { seatAtBottom: seat.seat, onChoose: choose });
    this.#controls = new Controls(this.#view.controls, {
      seat: seat.seat,
      choose,
      announce,
      now: () => Date.now() - ahead,
      expired: () => this.#asking === 0 && this.#look(),
    });
    const log = h("section", { class: "table-log" });
    this.#view.side.append(log, meanwhile);
    this.#view.controls.append(after);
    this.#log = new EventLog(log, game.seats);
    this.#pace = new Pace({
      seat: seat.seat,
      isHurried: () => document.hidden || matchMedia("(prefers-reduced-motion: reduce)").matches,
      show: (event) => this.#take(event),
      rest: () => this.#settle(),
    });
  }

  /** Show how the game stands, and go on with it. */
  async run() {
    const { messages } = await pollEvents(this.#game.id)(0);
    const past = messages.map(([, event]) => event);
    this.#state = past.reduce(apply, this.#state);
    this.#log.set(past);
    await this.#look();
    if (this.#state.isOver) return;
    this.#following = follow(`/v1/games/${this.#game.id}/stream`, {
      message: (id, event) => id > this.#state.eventId && this.#pace.add(event),
      poll: pollEvents(this.#game.id),
      state: (how) => this.#controls.trouble(how === "waiting" ? "The connection is lost; trying again." : ""),
    });
  }

  /** Answer the decision that is owed. */
  async choose(action) {
    const { owed } = this.#shown;
    if (owed === null) return;
    this.#sent = owed.decisionId;
    this.#show();
    try {
      const body = { decision_id: owed.decisionId, action };
      const { view } = await api.post(`${this.#path}/actions`, body, { token: this.#seat.token });
      this.#controls.trouble("");
      if (isSealed(this.#state)) this.#see(view); // no event tells it
    } catch (error) {
      await this.#failed(error, owed.decisionId);
    }
  }

  async #failed(error, decisionId) {
    if (!(error instanceof ApiError)) throw error;
    if (GONE.has(error.status)) return this.#stop();
    if (this.#sent === decisionId) this.#sent = null;
    this.#doubted = error.isPassing ? decisionId : null;
    this.#controls.trouble(TROUBLES[error.code] ?? `That wasn't played: ${error.message}.`);
    await this.#look();
  }

  /** The state as the player is shown it: what he has just answered isn't asked any more. */
  get #shown() {
    const { owed } = this.#state;
    return owed !== null && owed.decisionId === this.#sent ? { ...this.#state, owed: null } : this.#state;
  }

  #take(event) {
    this.#state = apply(this.#state, event);
    this.#dealt ||= event.event === "deal" || event.event === "run";
    this.#log.add(event);
    this.#told.push(tell(event, this.#game.seats));
    this.#show();
  }

  /** All that has happened is shown: see what comes of it for the own seat. */
  #settle() {
    const { turn, owed, isOver } = this.#state;
    if (!isOver && (this.#dealt || owed !== null || turn.includes(this.#seat.seat))) this.#look();
    else this.#speak();
  }

  /** Ask how things stand for the seat; again after a while if there is no answer. */
  async #look() {
    clearTimeout(this.#again);
    this.#asking += 1;
    try {
      this.#see(await api.get(this.#path, { token: this.#seat.token }));
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (GONE.has(error.status)) return this.#stop();
      clearTimeout(this.#again);
      this.#again = setTimeout(() => this.#look(), AGAIN_MS);
    } finally {
      this.#asking -= 1;
    }
  }

  /** The seat is another's: nothing is followed or asked any more. */
  #stop() {
    this.#following?.close();
    this.#controls.close();
    this.#lost();
  }

  #see(view) {
    if (this.#pace.isBusy) return; // it is asked for again when all before it has been shown
    this.#dealt = false;
    this.#state = apply(this.#state, { event: "seat", seat: this.#seat.seat, view });
    if (view.last?.outcome === "late") {
      this.#controls.trouble(`Your time was over, so the arena ${actionText(view.last.action)} for you.`);
    }
    this.#show();
    this.#speak();
  }

  #show() {
    const had = this.#view.root.contains(document.activeElement);
    const state = this.#shown;
    if (this.#doubted !== null && this.#doubted !== state.owed?.decisionId) this.#believe();
    this.#view.show(state);
    this.#controls.show(state);
    this.#view.ownHand.hidden = this.#meanwhile.hidden = state.isOver;
    this.#after.hidden = !state.isOver;
    this.#isStray = (this.#isStray || had) && document.activeElement === document.body;
    if (state.owed !== null) this.#focus();
    else if (state.isOver && this.#isStray) this.#after.focus({ preventScroll: true });
  }

  /** The decision was taken after all: its answer had come there. */
  #believe() {
    this.#doubted = null;
    this.#controls.trouble("");
  }

  /** Give the focus to what answers, if it was lost with what it was on, or is in the hand and the answer isn't. */
  #focus() {
    const { first } = this.#controls;
    if (!this.#isStray && (first === null || !this.#view.ownHand.contains(document.activeElement))) return;
    const next = first ?? this.#view.ownHand.querySelector('[aria-disabled="false"][tabindex="0"]');
    next?.focus({ preventScroll: true });
    this.#isStray = false;
  }

  #speak() {
    const { owed, isOver } = this.#shown;
    const asked = owed !== null || isOver ? promptOf(this.#shown, this.#seat.seat).join("") : "";
    const said = [...this.#told.splice(0).slice(-MOST_SPOKEN), asked].filter(Boolean).join(" ");
    if (said) this.#announce(said);
  }
}

function isSealed({ phase, options }) {
  return phase === "discard" || (phase === "bid" && options.bidding === "simultaneous");
}
