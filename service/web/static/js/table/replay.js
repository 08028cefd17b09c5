// The replay of a game: its record, face up, to be gone through in any way.
//
// All that can be shown is made when it begins, so that the slider never waits. What is shown is in the page's address
// too: ?deal=3&event=12, counted from 0 as `slagbot replay --at 3.12` counts.

import { h } from "../dom.js";
import { Clock } from "../replay/clock.js";
import { Controls } from "../replay/controls.js";
import { Decision } from "../replay/decision.js";
import { Fairness } from "../replay/fairness.js";
import { load } from "../replay/load.js";
import { Moves } from "../replay/moves.js";
import { placeOf, Timeline } from "../replay/timeline.js";
import { troublesOf } from "../replay/troubles.js";
import { Refused } from "../verifier/expecting.js";
import { read } from "../verifier/record.js";
import { addressed, addressOf, Story } from "./story.js";
import { TableView } from "./view.js";
import { tell } from "./words.js";

const FRAME_MS = 1000;
const TRICK_MS = 1600;
const DEAL_MS = 3000;
const SETTLED_MS = 250; // browsers take only so many new addresses in a while

/**
 * Turn an element into the replay of a game that has ended and may be read.
 * @param {HTMLElement} root what was in it goes, unless there is no record
 * @param {string} gameId
 * @throws {import("../api.js").ApiError} if there is no record to be had
 */
export async function replay(root, gameId) {
  if (root.ariaBusy === "true") return; // asked twice
  root.ariaBusy = "true";
  const loaded = await load(gameId).finally(() => {
    root.ariaBusy = null;
  });
  const { record, story, fault } = storyIn(loaded.bytes);
  const fairness = new Fairness(gameId, loaded, record);
  if (fault !== null) root.prepend(h("p", { class: "notice bad", role: "alert" }, `This record is broken: ${fault}.`));
  if (story === null || story.frames.length === 0) return root.append(fairness.root);
  const wasHere = root.contains(document.activeElement); // on the button that asked for the replay
  const begun = new Replay(root, record, story, fairness);
  begun.begin();
  if (wasHere) begun.controls.toggle.focus({ preventScroll: true });
}

function storyIn(bytes) {
  try {
    const record = read(bytes);
    const story = new Story(record);
    return { record, story, fault: story.fault };
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return { record: null, story: null, fault: error.message };
  }
}

class Replay {
  constructor(root, record, story, fairness) {
    const { seats } = record;
    const broken = root.querySelector(":scope > [role='alert']");
    this.root = root;
    this.story = story;
    this.seats = seats;
    this.at = 0;
    this.drawing = null;
    this.view = new TableView(root);
    this.timeline = new Timeline(story, seats, (number) => this.jump(number));
    this.decision = new Decision(seats);
    this.moves = new Moves(story, seats);
    this.clock = new Clock(() => this.tick());
    this.controls = new Controls({
      dealBack: () => this.step(this.dealing(-1)),
      back: () => this.step(this.at - 1),
      toggle: () => this.toggle(),
      on: () => this.step(this.at + 1),
      dealOn: () => this.step(this.dealing(1)),
    });
    this.view.controls.append(this.timeline.root, this.controls.root, this.decision.root, this.moves.root);
    this.view.side.append(troublesOf(story, seats), fairness.root);
    if (broken) this.view.controls.prepend(broken);
  }

  begin() {
    this.controls.listen(document);
    this.root.addEventListener("click", (event) => this.follow(event));
    document.addEventListener("visibilitychange", () => document.hidden && this.pause());
    this.jump(this.addressed() ?? this.last);
  }

  get last() {
    return this.story.frames.length - 1;
  }

  /** The frame that the page's address names; null if it names none, the last if the game doesn't have that one. */
  addressed() {
    const number = addressed(this.story, location.search);
    if (number !== -1) return number;
    this.view.controls.prepend(h("p", { class: "notice warn", role: "alert" }, "This game has no such deal or event."));
    return this.last;
  }

  /** Stand at a frame. It is drawn when the browser next draws: a slider that is pulled passes many between. */
  show(number) {
    this.at = number;
    this.drawing ??= requestAnimationFrame(() => this.draw());
    clearTimeout(this.settling);
    this.settling = setTimeout(() => this.settle(), SETTLED_MS);
  }

  draw() {
    this.drawing = null;
    const frame = this.story.frames[this.at];
    this.view.show(frame.state);
    this.timeline.show(this.at);
    this.decision.show(frame);
    this.moves.show(this.at);
    this.showControls();
  }

  /** Write into the page's address where it stands. */
  settle() {
    history.replaceState(history.state, "", addressOf(this.story.frames[this.at]));
  }

  showControls() {
    const { at, last } = this;
    const frame = this.story.frames[at];
    const deals = this.story.dealings.length;
    const place = `Deal ${frame.deal + 1} of ${deals}, event ${placeOf(frame)}`;
    this.controls.show(place, { isFirst: at === 0, isLast: at === last, isRunning: this.clock.isRunning });
  }

  /** Go to a frame without a word: the slider says itself where it is. */
  jump(number) {
    this.pause();
    this.show(number);
  }

  /** Go to a frame and tell what happened there; beyond the ends is at them. */
  step(number) {
    this.jump(Math.max(0, Math.min(this.last, number)));
    const { events } = this.story.frames[this.at];
    this.announce(events.map((event) => tell(event, this.seats)).join(" "));
  }

  /** The dealing that is so many before or after the current one; in the midst of a deal its own comes first. */
  dealing(by) {
    const { dealings } = this.story;
    const isWithin = by < 0 ? (number) => number < this.at : (number) => number > this.at;
    const found = dealings.filter(isWithin);
    return (by < 0 ? found.at(-1) : found[0]) ?? (by < 0 ? 0 : this.last);
  }

  toggle() {
    if (this.clock.isRunning) {
      this.pause();
      return;
    }
    if (this.at === this.last) this.show(0);
    this.clock.start(FRAME_MS / this.controls.speed);
    this.showControls();
  }

  pause() {
    if (!this.clock.isRunning) return;
    this.clock.stop();
    this.showControls();
  }

  tick() {
    const next = this.at + 1;
    if (next < this.last) this.clock.start(staysMs(this.story.frames[next]) / this.controls.speed);
    this.show(next);
  }

  follow(event) {
    const link = event.target.closest("a[href^='?deal=']");
    const isPlain = !(event.altKey || event.ctrlKey || event.metaKey || event.shiftKey);
    const number = link && isPlain ? addressed(this.story, link.getAttribute("href")) : -1;
    if (number === -1) return;
    event.preventDefault();
    this.step(number);
  }

  announce(text) {
    document.getElementById("announcer").textContent = text;
  }
}

function staysMs({ events }) {
  const kinds = events.map(({ event }) => event);
  if (kinds.includes("deal_ended")) return DEAL_MS;
  return kinds.includes("trick") ? TRICK_MS : FRAME_MS;
}
