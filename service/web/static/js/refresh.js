// Keeps what the server renders up to date: every element with `data-refresh` and an id is replaced by its newer self
// when the page is fetched again. <main> says when: `data-stream="/v1/…/stream"` at each news of that stream,
// `data-every="5"` every so many seconds, or both. Only while somebody looks, and never twice at once.

const SOONEST_MS = 1_000;
const LATEST_MS = 30_000;
const PATIENCE_MS = 30_000;
/** So many times as long as the last look took there is none, so that a page that is dear isn't asked for all the time. */
const REST = 4;

const GONE = new Error("expected the page, which isn't there any more");
const GONE_TEXT = "What this page is about isn’t there any more, or not for everybody.";
const AWAY_TEXT = "This page isn’t up to date: the arena can’t be reached. Trying again.";

const known = new Map();
const main = document.querySelector("main");
const stale = document.querySelector("#stale");

let isWanted = false;
let isLooking = false;
let notBefore = 0;
let failures = 0;
let timer;

for (const element of document.querySelectorAll("[data-refresh][id]")) known.set(element.id, element.outerHTML);
if (main.dataset.stream || main.dataset.every) begin();

async function begin() {
  document.addEventListener("visibilitychange", plan);
  again();
  if (!main.dataset.stream) return;
  const { follow } = await import("./stream.js");
  follow(main.dataset.stream, { message: refresh, state: () => {}, poll: refresh });
}

/** Look as soon as that may be: at once, unless the page was looked at just now or is hidden. */
export function refresh() {
  isWanted = true;
  plan();
}

function again() {
  if (!main.dataset.every) return; // nothing more will happen
  setTimeout(() => {
    refresh();
    again();
  }, Number(main.dataset.every) * 1_000);
}

function plan() {
  clearTimeout(timer);
  if (!isWanted || isLooking || document.hidden) return;
  timer = setTimeout(look, Math.max(0, notBefore - performance.now()));
}

async function look() {
  isWanted = false;
  isLooking = true;
  const began = performance.now();
  try {
    take(await fetched());
    failures = 0;
    stale.hidden = true;
  } catch (error) {
    failures += 1;
    isWanted = error !== GONE;
    stale.textContent = isWanted ? AWAY_TEXT : GONE_TEXT;
    stale.hidden = false;
  }
  isLooking = false;
  const took = performance.now() - began;
  notBefore = began + Math.min(Math.max(SOONEST_MS * 2 ** failures, took * REST), LATEST_MS);
  plan();
}

async function fetched() {
  const answer = await fetch(location.href, {
    headers: { Accept: "text/html" },
    signal: AbortSignal.timeout(PATIENCE_MS),
  });
  if (answer.status === 404) throw GONE;
  if (!answer.ok) throw new Error(`expected the page, got ${answer.status}`);
  return new DOMParser().parseFromString(await answer.text(), "text/html");
}

/** Replace what has changed since the server sent it last; modules may have changed what is shown of it. */
function take(newer) {
  main.dataset.every = newer.querySelector("main").dataset.every ?? "";
  for (const element of document.querySelectorAll("[data-refresh][id]")) {
    const fresh = newer.getElementById(element.id);
    if (!fresh || fresh.outerHTML === known.get(element.id) || isTypedIn(element)) continue;
    known.set(element.id, fresh.outerHTML);
    exchange(element, document.adoptNode(fresh));
  }
}

/** Whether somebody is about to write there: what he wrote would be lost. */
function isTypedIn(element) {
  return element.contains(document.activeElement) && document.activeElement.matches("input, select, textarea");
}

function exchange(old, fresh) {
  const focus = old.contains(document.activeElement) ? whereIs(document.activeElement, old) : null;
  const opened = every("details", old).map((each) => [whereIs(each, old), each.open]);
  const scrolled = every("*", old)
    .filter((each) => each.scrollLeft || each.scrollTop)
    .map((each) => [whereIs(each, old), each.scrollLeft, each.scrollTop]);
  const page = [scrollX, scrollY];
  old.replaceWith(fresh);
  for (const [where, is] of opened) if (find(where, fresh)) find(where, fresh).open = is;
  for (const [where, left, top] of scrolled) find(where, fresh)?.scrollTo({ left, top, behavior: "instant" });
  if (focus) find(focus, fresh)?.focus({ preventScroll: true });
  scrollTo({ left: page[0], top: page[1], behavior: "instant" });
  fresh.dispatchEvent(new CustomEvent("refreshed", { bubbles: true }));
}

/** Name an element within a root, so that it is found in the root's newer self: by id, link or else its kind; and which. */
function whereIs(element, root) {
  const kind = element.localName;
  const link = element.getAttribute("href");
  let selector = kind;
  if (element.id) selector = `#${CSS.escape(element.id)}`;
  else if (link) selector = `${kind}[href="${CSS.escape(link)}"]`;
  return [selector, every(selector, root).indexOf(element)];
}

function find([selector, which], root) {
  return every(selector, root)[which];
}

function every(selector, root) {
  return [root, ...root.querySelectorAll("*")].filter((each) => each.matches(selector));
}
