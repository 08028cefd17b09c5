// Before the cards are dealt: sitting down on a free seat, and waiting for those who are invited.

import { ApiError, api } from "../api.js";
import { h, name, replace } from "../dom.js";
import { keep } from "../keep.js";

const LOOK_MS = 2_000;

/** The number of the first free seat, or -1. */
export function freeSeat(game) {
  return game.state === "open" ? game.seats.findIndex((seat) => seat.kind === "open") : -1;
}

/** Offer a free seat; `joined` is called when somebody has sat down. */
export function offerSeat(root, game, joined) {
  const player = h("input", {
    id: "player",
    maxlength: 64,
    required: true,
    autocomplete: "nickname",
    "aria-describedby": "player-wrong",
  });
  player.value = keep.account?.name ?? "";
  const wrong = h("span", { class: "wrong", id: "player-wrong", role: "alert" });
  const submit = h("button", { class: "first", type: "submit" }, "Sit down");
  const tried = {};
  const sit = async (event) => {
    event.preventDefault();
    submit.disabled = true;
    const failed = await sitDown(game, player.value.trim(), tried);
    submit.disabled = false;
    player.setAttribute("aria-invalid", `${failed !== ""}`);
    replace(wrong, failed);
    if (failed === "") joined();
    else player.focus();
  };
  replace(
    root,
    h(
      "section",
      { class: "panel waiting" },
      h("h2", {}, "A seat is free for you"),
      seatsOf(game),
      h(
        "form",
        { onsubmit: sit, novalidate: true },
        h("div", { class: "field" }, h("label", { for: "player" }, "Your name"), player, wrong),
        h("p", { class: "row" }, submit, watch(game, "Just watch")),
      ),
    ),
  );
}

/**
 * Sit down on the first free seat and remember it; gives what was wrong, or "".
 *
 * `tried` is what was sent before without an answer, if anything was: the seat may be taken by that very try, and the
 * same once more gives its token.
 */
async function sitDown(game, player, tried) {
  if (player === "") return "A name is needed.";
  try {
    if (tried.name !== player) {
      const seat = freeSeat(await api.get(`/v1/games/${game.id}`));
      if (seat < 0) return "The seat has been taken meanwhile.";
      Object.assign(tried, { name: player, seat, key: crypto.getRandomValues(new Uint32Array(4)).join("-") });
    }
    const path = `/v1/games/${game.id}/seats/${tried.seat}`;
    const { seat, token } = await api.put(path, { name: player }, { headers: { "Idempotency-Key": tried.key } });
    keep.sit(game.id, { seat, token, name: player });
    return "";
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    if (!error.isPassing) tried.name = null;
    return error.code === "seat_taken" ? "The seat has been taken meanwhile." : error.message;
  }
}

/** Show who is there and how to invite others, until the game has begun or ended; gives it as it is then. */
export async function waitForOthers(root, game, { leave, announce }) {
  const seats = h("div", {});
  const hasFree = freeSeat(game) >= 0;
  replace(
    root,
    h(
      "section",
      { class: "panel waiting" },
      h("h2", {}, hasFree ? "Waiting for others" : "Waiting for the start"),
      seats,
      hasFree ? invitation(announce) : h("p", {}, "The game begins when its maker starts it."),
      h("p", { class: "row" }, leave, watch(game, "Watch")),
    ),
  );
  for (let shown = game; ; shown = await looked(shown)) {
    if (shown.state !== "open") return shown;
    if (names(shown) !== seats.dataset.names) {
      if (seats.dataset.names) announce(freeText(shown));
      seats.dataset.names = names(shown);
      replace(seats, seatsOf(shown));
    }
  }
}

/** The game after a while, or as it was if it can't be asked for. */
async function looked(game) {
  await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  if (document.hidden) return game;
  try {
    return await api.get(`/v1/games/${game.id}`);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    return game;
  }
}

/** The link to this page, which is the invitation, with a button that copies it. */
function invitation(announce) {
  const link = h("input", { id: "link", readonly: true, class: "mono", onfocus: () => link.select() });
  link.value = location.origin + location.pathname;
  const copy = h("button", { type: "button", class: "first" }, "Copy the link");
  copy.addEventListener("click", async () => {
    replace(copy, (await copied(link)) ? "Copied" : "Copy it by hand");
    announce(copy.textContent);
  });
  return h(
    "div",
    { class: "field" },
    h("label", { for: "link" }, "Invite somebody by this link"),
    h("div", { class: "row link-row" }, link, copy),
  );
}

/** Copy what a field holds; over plain HTTP only the old way is there. */
async function copied(field) {
  try {
    await navigator.clipboard.writeText(field.value);
    return true;
  } catch {
    field.select();
    return document.execCommand("copy");
  }
}

function seatsOf(game) {
  const who = (seat) => (seat.kind === "open" ? h("span", { class: "soft" }, "free") : name(seat.name));
  return h(
    "ol",
    { class: "places", "aria-label": "Seats" },
    game.seats.map((seat) => h("li", {}, who(seat))),
  );
}

function freeText({ seats }) {
  const free = seats.filter((seat) => seat.kind === "open").length;
  return free === 1 ? "1 seat is free." : `${free || "No"} seats are free.`;
}

function names(game) {
  return game.seats.map((seat) => (seat.kind === "open" ? "" : seat.name)).join("\n");
}

function watch(game, text) {
  return h("a", { class: "button", href: `/games/${game.id}` }, text);
}
