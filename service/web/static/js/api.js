// Speaks to the arena's HTTP API. Every call ends: with JSON, or with an ApiError that says why.

const SECONDS = 30;
const TRIES = 3;
const AWAY = new Set([502, 503, 504]);
const TOKEN = /^[\x21-\x7e]+$/; // what a header can carry

/** A call that failed: `status` is 0 when no answer came; `errors` says by field what was expected. */
export class ApiError extends Error {
  constructor(status, problem) {
    super(problem.detail ?? "the arena gave no reason");
    this.status = status;
    this.code = problem.code ?? "unknown";
    this.errors = problem.errors ?? {};
    this.members = problem;
  }

  /** Whether it may go well a little later, without anything being changed. */
  get isPassing() {
    return this.status < 400 || this.status >= 500 || this.status === 429 || this.code === "in_flight";
  }
}

/** Fail as a call does that got no answer. */
export function away() {
  throw new ApiError(0, { code: "away", detail: "the arena can't be reached" });
}

export const api = {
  get: (path, options) => call("GET", path, undefined, options),
  put: (path, body, options) => call("PUT", path, body, options),
  patch: (path, body, options) => call("PATCH", path, body, options),
  del: (path, options) => call("DELETE", path, undefined, options),
  /** Send a POST; `key` is its Idempotency-Key, so that trying again does nothing twice. */
  post: (path, body, { key = crypto.getRandomValues(new Uint32Array(4)).join("-"), ...options } = {}) =>
    call("POST", path, body, { ...options, headers: { "Idempotency-Key": key, ...options.headers } }),
};

/** Send a request, again while the arena is away; `seconds` is how long one answer may take. */
async function call(method, path, body, { token, headers = {}, signal, seconds = SECONDS } = {}) {
  if (token && !TOKEN.test(token)) throw new ApiError(401, { code: "unauthorized", detail: "that is no token" });
  const sent = {
    method,
    headers: {
      Accept: "application/json",
      ...(body === undefined ? {} : { "Content-Type": "application/json" }),
      ...(token ? { Authorization: `Bearer ${token}` } : {}),
      ...headers,
    },
    body: body === undefined ? undefined : JSON.stringify(body),
  };
  for (let tried = 1; ; tried++) {
    const answer = await once(path, sent, signal, seconds);
    if (tried === TRIES || !(answer.status === 0 || AWAY.has(answer.status))) return read(answer);
    await pause(answer, tried, signal);
  }
}

/** Send a request once: an answer that breaks off amid its body is none. */
async function once(path, sent, signal, seconds) {
  const ends = AbortSignal.timeout(seconds * 1000);
  try {
    const answer = await fetch(path, { ...sent, signal: signal ? AbortSignal.any([signal, ends]) : ends });
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  } catch (error) {
    if (signal?.aborted) throw error;
    return { status: 0, headers: new Headers(), text: "" };
  }
}

function pause(answer, tried, signal) {
  const seconds = Math.min(Number(answer.headers.get("Retry-After")) || tried, 10);
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, seconds * 1000);
    signal?.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(signal.reason);
    });
  });
}

function read({ status, text }) {
  if (status === 0) away();
  if (status === 204 || status === 304) return null;
  const body = parsed(text);
  if (status < 200 || status > 299) throw new ApiError(status, body ?? {});
  if (body === null) throw new ApiError(status, { code: "unreadable", detail: "the arena's answer can't be read" });
  return body;
}

/** The JSON in a text, or null. */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
