// The page of a seat, /play/{game_id}: its player plays here; for anybody else it is an invitation to a free seat, or
// the way to the game's own page.

import { ApiError, api } from "../api.js";
import { h, replace } from "../dom.js";
import { keep } from "../keep.js";
import { clockAhead } from "../play/clock.js";
import { freeSeat, offerSeat, waitForOthers } from "../play/lobby.js";
import { Player } from "../play/player.js";

const root = document.querySelector("#seat");
const announcer = document.querySelector("#announcer");
const AGAIN_MS = 5_000;

/** Show what this browser has to do with the game. */
async function open() {
  const game = await api.get(`/v1/games/${root.dataset.game}`);
  const seat = keep.seats(game.id).at(-1);
  if (seat) await play(game, seat);
  else if (freeSeat(game) >= 0) offerSeat(root, game, begin);
  else tell(game.state === "running" ? "All seats of this game are taken." : "This game is over.", game);
}

async function play(game, seat) {
  const leave = leaving(game, seat);
  const begun = game.state === "open" ? await waitForOthers(root, game, { leave, announce }) : game;
  if (begun.started_at === null) return tell("The game ended before it began.", begun);
  const lost = () => lose(begun, seat);
  const meanwhile = h(
    "p",
    { class: "row" },
    leave,
    h("a", { class: "button", href: `/games/${game.id}` }, "Watch only"),
  );
  const after = ways(`/games/${game.id}`, "Look at the replay");
  after.tabIndex = -1; // it is given the focus when the game is over: not its first link, for keys are held down
  await new Player(root, { game: begun, seat, ahead: await clockAhead(), announce, lost, meanwhile, after }).run();
}

/** The seat's token is good no longer: it was left, elsewhere maybe. */
function lose(game, seat) {
  keep.leave(game.id, seat.seat);
  tell("This seat is no longer yours.", game);
}

/** A button that gives up the seat, once more asked. */
function leaving(game, seat) {
  const wrong = h("p", { class: "wrong", role: "alert" });
  const sure = h(
    "dialog",
    { "aria-labelledby": "sure" },
    h("h2", { id: "sure" }, "Leave the game?"),
    h(
      "p",
      {},
      "Once the game has begun you can't come back: the first legal action is played for you, or the others win.",
    ),
    h(
      "p",
      { class: "row" },
      h("button", { type: "button", class: "first", onclick: () => leave() }, "Leave"),
      h("button", { type: "button", onclick: () => sure.close() }, "Stay"),
    ),
    wrong,
  );
  const refused = ({ message }) => replace(wrong, `You sit there still: ${message}.`);
  const leave = async () => {
    try {
      await api.del(`/v1/games/${game.id}/seats/${seat.seat}`, { token: seat.token });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.isPassing) return refused(error);
    }
    keep.leave(game.id, seat.seat);
    location.assign(`/games/${game.id}`);
  };
  return [h("button", { type: "button", onclick: () => sure.showModal() }, "Leave the game"), sure];
}

/** Say what is the matter, where there is nothing to play. */
function tell(text, game) {
  const shown = ways(`/games/${game.id}`, game.state === "running" ? "Watch it" : "See how it went");
  replace(root, h("section", { class: "empty" }, h("p", { class: "lead" }, text), shown));
}

/** Where to go from here. */
function ways(path, text) {
  const first = h("a", { class: "button first", href: path }, text);
  return h("p", { class: "row" }, first, h("a", { class: "button", href: "/play" }, "Play another"));
}

function announce(text) {
  announcer.textContent = text;
}

/** Open the page; again after a while if the arena is away. */
async function begin() {
  try {
    await open();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    replace(root, h("p", { class: "notice bad", role: "alert" }, `The game can't be shown now: ${error.message}.`));
    if (error.isPassing) setTimeout(begin, AGAIN_MS);
  }
}

begin();
