"""How players sit round a table: whatever there is to see of one, no other and no card that was laid lies on it."""

from __future__ import annotations

import pytest

from tests.web.browsing import check_page
from tests.web.playing import Party

WIDTHS = (360, 620, 640, 700, 760, 900, 1024, 1100, 1440)
SHOW = """async ([seats, cards, isOpen]) => {
  const base = document.querySelector("script[src*='js/table/live']").src;
  const { TableView } = await import(new URL("view.js", base));
  const { apply, begin } = await import(new URL("state.js", base));
  const players = Array.from({ length: seats }, () => ({ name: "W".repeat(64) }));
  const pack = ["2C", "TD", "AS", "QH", "KD", "7C", "8S", "9D", "3H", "4S", "6C", "JH"];
  const laid = ["2H", "3D", "4D", "5S", "6S", "7H", "8C", "9C"].map((card) => `play:${card}`);
  const hands = players.map(() => pack.slice(0, cards));
  const dealt = { event: "deal", deal: 0, dealer: 0, cards, upcard: "5C", trump: "C", ...(isOpen ? { hands } : {}) };
  const done = (action, at) => ({ event: "action", seat: (at + 1) % seats, action, outcome: "ok", ms: 1 });
  const events = [dealt, ...players.map((_, at) => done("bid:1", at)), ...players.map((_, at) => done(laid[at], at))];
  const table = begin({ ruleset: "river", options: { bidding: "sequential" }, seats: players });
  new TableView(document.querySelector("#table")).show(events.reduce(apply, table));
}"""
COVERED = """() => {
  const seats = [...document.querySelectorAll(".seat")].map((each) => each.getBoundingClientRect());
  const overlaps = (one, other) =>
    Math.min(one.right, other.right) - Math.max(one.left, other.left) > 1 &&
    Math.min(one.bottom, other.bottom) - Math.max(one.top, other.top) > 1;
  const felt = document.querySelector(".felt").getBoundingClientRect();
  const isOut = (one) => one.left < felt.left - 1 || one.right > felt.right + 1 || one.bottom > felt.bottom + 1;
  const laid = [...document.querySelectorAll(".laid .card")].map((each) => each.getBoundingClientRect());
  return seats.flatMap((one, at) => [
    ...laid.flatMap((card, from) => (overlaps(one, card) ? [[at, "laid", from]] : [])),
    ...seats.slice(at + 1).flatMap((other, after) => (overlaps(one, other) ? [[at, at + 1 + after]] : [])),
    ...(isOut(one) ? [[at, "felt"]] : []),
    ...(document.querySelectorAll(".seat")[at].scrollWidth > one.width + 1 ? [[at, "wide"]] : []),
  ]);
}"""


@pytest.mark.parametrize(("seats", "cards"), [(4, 12), (5, 10), (6, 8), (7, 7), (8, 6)])
@pytest.mark.parametrize("is_open", [False, True])
def test_no_player_and_no_trick_lies_on_a_player(open_page, arena, seats, cards, is_open):
    game = Party(arena.api.address, ["ann", ""], ruleset="seven_up")
    page = open_page(game.page, reduced_motion="reduce")
    page.evaluate(SHOW, [seats, cards, is_open])
    wrong = {}
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 800})
        if found := page.evaluate(COVERED):
            wrong[width] = found
    assert not wrong
    check_page(page)
