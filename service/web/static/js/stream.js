// Follows a stream of the arena (server-sent events) as long as somebody looks: it is taken up where it broke off, left
// while the tab is hidden, and shared out among the tabs, since a browser opens only six connections to one host.
//
// It reads the stream itself rather than by EventSource, which can't be told where to go on after it was closed, nor
// tell "nothing will follow" from "the server is away".

import { ApiError, api } from "./api.js";

const STREAMS = 3; // at once in one browser; tabs that get none of them ask again and again
const POLL_MS = 2_000;
const RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 15_000;
const SILENT_MS = 40_000; // the server says something at least every 15 s
const SLOTS = Array.from({ length: STREAMS }, (_, at) => `slagveld.stream.${at}`);

/**
 * Follow a stream until it is over or closed. Each message comes once, in order.
 * @param {string} path of the stream
 * @param {object} options
 * @param {(id: number, data: object) => void} options.message
 * @param {(text: "live"|"waiting"|"polling"|"over") => void} [options.state] is told how it is followed, when that changes
 * @param {(after: number) => Promise<{messages: [number, object][], isOver: boolean}|void>} [options.poll] asks for what
 *   came after a message, in a tab that gets no stream; without it the tab waits until it gets one
 * @returns {{close: () => void}}
 */
export function follow(path, { message, state = () => {}, poll = null }) {
  const following = new Following(path, { message, state, poll });
  following.run();
  return { close: () => following.close() };
}

/** What `poll` is for the events of a game. */
export function pollEvents(gameId) {
  return async (after) => {
    const messages = [];
    for (let last = after; ; last = messages.at(-1)[0]) {
      const page = await api.get(`/v1/games/${gameId}/events?after=${last}`).catch(covered);
      messages.push(...page.items.map((item) => [item.id, item]));
      if (page.next_cursor === null) return { messages, isOver: page.is_last };
    }
  };
}

/** What there is to see of a game while others are played on its board. */
function covered(error) {
  if (error.code !== "board_open") throw error;
  return { items: [], next_cursor: null, is_last: false };
}

class Following {
  constructor(path, { message, state, poll }) {
    Object.assign(this, { path, message, tell: state, poll, seen: 0, failed: 0, told: null, restMs: POLL_MS });
    this.closing = new AbortController();
    this.round = this.closing; // what is under way ends with it
    document.addEventListener("visibilitychange", () => this.look(), { signal: this.closing.signal });
  }

  close() {
    this.closing.abort();
    this.round.abort();
  }

  /** Leave off while the tab is hidden. */
  look() {
    if (isHidden()) this.round.abort();
  }

  get isClosed() {
    return this.closing.signal.aborted;
  }

  async run() {
    for (;;) {
      if (isHidden()) await isShown(this.closing.signal);
      if (this.isClosed) return;
      this.round = new AbortController();
      const { signal } = this.round;
      const isOver = await this.once(signal).catch((error) => this.note(error, signal));
      if (isOver && !this.isClosed) {
        this.state("over");
        this.close();
      }
      await pause(this.restMs, signal);
    }
  }

  /** Follow over one connection, or ask once; tells whether nothing will follow. */
  async once(round) {
    const slot = await takeSlot();
    if (slot === null && this.poll === null) this.state("waiting");
    else if (slot === null) return this.ask();
    else return this.read(round).finally(slot);
  }

  async ask() {
    this.restMs = POLL_MS;
    const found = await this.poll(this.seen);
    this.failed = 0;
    this.state("polling");
    for (const [id, data] of found?.messages ?? []) this.take(id, data);
    return found?.isOver ?? false;
  }

  async read(round) {
    this.restMs = RETRY_MS;
    const silence = new Silence();
    const headers = { Accept: "text/event-stream", ...(this.seen > 0 ? { "Last-Event-ID": `${this.seen}` } : {}) };
    try {
      const signal = AbortSignal.any([round, silence.signal]);
      const answer = await fetch(this.path, { headers, signal, cache: "no-store" });
      if (answer.status === 204) return true;
      if (!answer.ok) throw new ApiError(answer.status, await answer.json().catch(() => ({})));
      this.failed = 0;
      this.state("live");
      for await (const [id, data] of messagesOf(answer.body, () => silence.broken())) this.take(id, data);
      return false;
    } finally {
      silence.over();
    }
  }

  take(id, data) {
    if (id <= this.seen || this.isClosed) return;
    this.seen = id;
    try {
      this.message(id, data);
    } catch (error) {
      reportError(error); // a fault of ours is no fault of the connection
    }
  }

  /** Keep in mind that it failed; tells whether it will for good. */
  note(error, round) {
    if (round.aborted) return false;
    this.failed += 1;
    this.restMs = Math.min(RETRY_MS * 2 ** (this.failed - 1), LONGEST_RETRY_MS) * (0.75 + Math.random() / 2);
    this.state("waiting");
    return error instanceof ApiError && !error.isPassing;
  }

  state(text) {
    if (text === this.told || this.isClosed) return;
    this.told = text;
    this.tell(text);
  }
}

/** Tells by its signal when nothing has come for so long that the connection must be dead. */
class Silence {
  constructor() {
    const controller = new AbortController();
    this.signal = controller.signal;
    this.end = () => controller.abort(new Error("the stream is silent"));
    this.broken();
  }

  broken() {
    clearTimeout(this.timer);
    this.timer = setTimeout(this.end, SILENT_MS);
  }

  over() {
    clearTimeout(this.timer);
  }
}

/** Read messages, [id, data] each, and say when bytes came; a message that the stream breaks off in is left to the next. */
export async function* messagesOf(body, heard) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  let id = 0;
  let data = [];
  try {
    for (let part = await reader.read(); !part.done; part = await reader.read()) {
      heard();
      const lines = (text + part.value).split("\n");
      text = lines.pop();
      for (const line of lines.map((each) => each.replace(/\r$/, ""))) {
        const [field, value] = fieldOf(line);
        if (field === "id") id = Number(value);
        else if (field === "data") data.push(value);
        else if (line === "" && data.length > 0) {
          yield [id, JSON.parse(data.join("\n"))];
          data = [];
        }
      }
    }
  } finally {
    reader.cancel().catch(() => {}); // a stream that broke can't be cancelled, and needn't be
  }
}

function fieldOf(line) {
  const at = line.indexOf(":");
  return at < 0 ? [line, ""] : [line.slice(0, at), line.slice(at + 1).replace(/^ /, "")];
}

/** Take one of the streams that this browser may open: what gives it back, or null if there is none. */
async function takeSlot() {
  if (!("locks" in navigator)) return () => {}; // over plain HTTP; then only hidden tabs are spared
  for (const name of SLOTS) {
    const given = await new Promise((resolve) => {
      // A lock is held as long as the promise that is returned; what keeps that promise is handed out.
      const hold = (lock) => (lock === null ? resolve(null) : new Promise(resolve));
      navigator.locks.request(name, { ifAvailable: true }, hold).catch(() => resolve(null));
    });
    if (given !== null) return given;
  }
  return null;
}

function isHidden() {
  return document.visibilityState === "hidden";
}

/** Wait until the tab is shown, or the signal. */
function isShown(signal) {
  return new Promise((resolve) => {
    const waiting = new AbortController();
    const look = () => {
      if (isHidden() && !signal.aborted) return;
      waiting.abort();
      resolve();
    };
    document.addEventListener("visibilitychange", look, { signal: waiting.signal });
    signal.addEventListener("abort", look, { signal: waiting.signal });
  });
}

function pause(ms, signal) {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const timer = setTimeout(resolve, ms);
    const leave = () => {
      clearTimeout(timer);
      resolve();
    };
    signal.addEventListener("abort", leave, { once: true });
  });
}
