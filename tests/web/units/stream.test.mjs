import assert from "node:assert/strict";
import { afterEach, beforeEach, mock, test } from "node:test";

import { follow, messagesOf } from "../../../service/web/static/js/stream.js";

const wire = (...parts) => new Blob(parts).stream();
const event = (id) => `id: ${id}\ndata: {"id":${id}}\n\n`;

/** A browser's tab, and an arena that answers a request for the stream as `answers` says, one after the other. */
class Tab extends EventTarget {
  visibilityState = "visible";
  asked = [];
  answers = [];

  show(isShown) {
    this.visibilityState = isShown ? "visible" : "hidden";
    this.dispatchEvent(new Event("visibilitychange"));
  }

  fetch(_path, { headers, signal }) {
    this.asked.push(headers["Last-Event-ID"] ?? "");
    const answer = this.answers.shift() ?? "204";
    if (answer instanceof Error) return Promise.reject(answer);
    if (answer === "204") return Promise.resolve(new Response(null, { status: 204 }));
    if (/^[45]\d\d$/.test(answer)) return Promise.resolve(new Response("{}", { status: Number(answer) }));
    return Promise.resolve(new Response(answer.endsWith("…") ? open(answer.slice(0, -1), signal) : answer));
  }
}

/** A body that goes on until it is left. */
function open(text, signal) {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(text));
      signal.addEventListener("abort", () => controller.error(signal.reason));
    },
  });
}

/** Let time go by, and everything happen that has to. */
async function pass(ms) {
  mock.timers.tick(ms);
  for (let turns = 0; turns < 5; turns++) await new Promise(setImmediate);
}

/** Follow, and give what is told; `until` lets time go by until it is so. */
function followed(options = {}) {
  const told = { ids: [], states: [] };
  told.until = async (isSo) => {
    for (let turns = 0; !isSo(told); turns++) {
      assert.ok(turns < 1_000, `expected something else than ${JSON.stringify(told)}`);
      await pass(100);
    }
  };
  told.following = follow("/v1/games/gam_1/stream", {
    message: (id) => told.ids.push(id),
    state: (text) => told.states.push(text),
    ...options,
  });
  return told;
}

let tab;
const { fetch } = globalThis;

beforeEach(() => {
  mock.timers.enable({ apis: ["setTimeout"] });
  tab = new Tab();
  globalThis.document = tab;
  globalThis.fetch = (...request) => tab.fetch(...request);
});

afterEach(() => {
  mock.timers.reset();
  globalThis.fetch = fetch;
});

test("messages are read wherever the bytes are cut, and one that isn't whole is left", async () => {
  const text = `retry: 1000\n\n${event(1)}:\n\n${event(2)}id: 3\nda`;
  for (let cut = 0; cut <= text.length; cut++) {
    const read = [];
    for await (const [id, data] of messagesOf(wire(text.slice(0, cut), text.slice(cut)), () => {}))
      read.push([id, data.id]);
    assert.deepEqual(read, [
      [1, 1],
      [2, 2],
    ]);
  }
});

test("a stream that breaks off is taken up after its last message, and what comes again is dropped", async () => {
  tab.answers = [event(1) + event(2), new TypeError("away"), "503", event(2) + event(3)];
  const told = followed();
  await told.until(({ states }) => states.at(-1) === "over");
  assert.deepEqual(told.ids, [1, 2, 3]);
  assert.deepEqual(tab.asked, ["", "2", "2", "2", "3"]);
  assert.deepEqual(told.states, ["live", "waiting", "live", "over"]);
});

test("a stream that isn't there is over", async () => {
  tab.answers = ["404"];
  const told = followed();
  await told.until(({ states }) => states.at(-1) === "over");
  assert.equal(tab.asked.length, 1);
});

test("a hidden tab leaves its stream, and takes it up when it is shown", async () => {
  tab.answers = [`${event(1)}…`];
  const told = followed();
  await told.until(({ ids }) => ids.length === 1);
  tab.show(false);
  for (let turns = 0; turns < 100; turns++) await pass(100);
  assert.equal(tab.asked.length, 1);
  tab.show(true);
  await told.until(({ states }) => states.at(-1) === "over");
  assert.deepEqual(tab.asked, ["", "1"]);
});

test("a tab that was opened in the background opens its stream when it is shown", async () => {
  tab.show(false);
  tab.answers = [`${event(1)}…`];
  const told = followed();
  for (let turns = 0; turns < 100; turns++) await pass(100);
  assert.deepEqual(tab.asked, []);
  tab.show(true);
  await told.until(({ ids }) => ids.length === 1);
  told.following.close();
});

test("nothing is told after closing", async () => {
  tab.answers = [`${event(1)}…`];
  const told = followed();
  await told.until(({ ids }) => ids.length === 1);
  told.following.close();
  for (let turns = 0; turns < 100; turns++) await pass(100);
  assert.deepEqual(told.states, ["live"]);
  assert.equal(tab.asked.length, 1);
});

test("three streams are open in a browser at once, and a fourth tab asks again and again until one is free", async () => {
  tab.answers = Array(3).fill(`${event(1)}…`);
  const first = [followed(), followed(), followed()];
  await Promise.all(first.map((each) => each.until(({ ids }) => ids.length === 1)));
  const asked = [];
  const poll = async (after) => {
    asked.push(after);
    return { messages: [[1, {}]], isOver: false };
  };
  const fourth = followed({ poll });
  await fourth.until(({ ids }) => ids.length === 1);
  assert.deepEqual(asked, [0]);
  assert.equal(tab.asked.length, 3);
  first[0].following.close();
  await fourth.until(({ states }) => states.at(-1) === "over");
  assert.deepEqual(tab.asked, ["", "", "", "1"]);
  for (const each of first) each.following.close();
});

test("a tab that asks is told when nothing will follow", async () => {
  tab.answers = Array(3).fill("…");
  const first = [followed(), followed(), followed()];
  await Promise.all(first.map((each) => each.until(({ states }) => states.at(-1) === "live")));
  const fourth = followed({ poll: async () => ({ messages: [[7, {}]], isOver: true }) });
  await fourth.until(({ states }) => states.at(-1) === "over");
  assert.deepEqual(fourth.ids, [7]);
  for (const each of first) each.following.close();
});

test("a connection on which nothing comes is given up", async () => {
  tab.answers = [`${event(1)}…`];
  const told = followed();
  await told.until(({ states }) => states.at(-1) === "over");
  assert.deepEqual(told.states, ["live", "waiting", "over"]);
  assert.deepEqual(tab.asked, ["", "1"]);
});
