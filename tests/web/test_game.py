"""The page of a game while it runs: what spectators see of it, and that they see all of it and no more."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import expect

from bot_sdk.results.values import Slot
from tests.service.bench import Desk
from tests.web.browsing import WIDTHS, check_page, shots
from tests.web.playing import Party

MARKUP = "<img src=x onerror=alert(1)><b>"
HEBREW = "\u05e9\u05dc\u05d5\u05dd"
LONGEST = "W" * 64
AWAY = "ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED|ERR_EMPTY_RESPONSE|ERR_CONNECTION_RESET|ERR_SOCKET_NOT_CONNECTED"
CARD = re.compile(r"\b[2-9TJQKA][CDHS]\b")
RANKS = {
    "2": "Two", "3": "Three", "4": "Four", "5": "Five", "6": "Six", "7": "Seven", "8": "Eight", "9": "Nine",
    "T": "Ten", "J": "Jack", "Q": "Queen", "K": "King", "A": "Ace",
}  # fmt: skip
SUITS = {"C": "Clubs", "D": "Diamonds", "H": "Hearts", "S": "Spades"}
READ_ALOUD = re.compile(rf"\b(?:{'|'.join(RANKS.values())}) of (?:{'|'.join(SUITS.values())})\b")


def party(arena, names="ann bob cyd dan", **order):
    return Party(arena.api.address, names.split() if isinstance(names, str) else names, **order)


def shows(page, game):
    """Wait until the page has shown all there is to see, each thing once."""
    events = game.events()
    expect(page.locator("[data-table]")).to_have_attribute("data-event", str(len(events)), timeout=30_000)
    expect(page.locator(".log > li")).to_have_count(len(events))


def read_aloud(card):
    return f"{RANKS[card[0]]} of {SUITS[card[1]]}"


def test_a_table_follows_its_game_from_wherever_it_was(open_page, arena):
    game = party(arena, options={"start_cards": 2})
    game.act(6)
    page = open_page(game.page)
    shows(page, game)
    game.act(3)
    shows(page, game)
    state = game.ask("GET").json()
    seen = state["observation"]
    expect(page.locator(".fact-deal")).to_have_text(f"Deal {seen['deal'] + 1}, {seen['cards']} cards")
    expect(page.locator(".trick.past .card, .trick .card")).to_have_count(
        len(seen["trick"]["cards"]) or (4 if seen["tricks"] else 0)
    )
    expect(page.locator(".seat.on-turn .name")).to_have_text(state["seats"][state["turn"][0]]["name"])
    expect(page.locator("#game-stream")).to_have_text("live")


def test_a_table_shows_the_end_of_its_game_and_offers_the_replay(open_page, arena):
    game = party(arena, options={"start_cards": 1})
    page = open_page(game.page)
    game.finish()
    shows(page, game)
    expect(page.locator("#game-state")).to_have_text("finished")
    expect(page.get_by_role("button", name="Look at the replay")).to_be_visible()
    expect(page.get_by_role("link", name="Download the record")).to_be_visible()
    expect(page.locator("#announcer")).to_contain_text("The game is over")
    places = game.ask("GET").json()["places"]
    expect(page.locator(".table-scores .place")).to_have_text([f"{place}." for place in places])
    page.get_by_role("button", name="Look at the replay").click()
    expect(page.get_by_role("button", name="Verify")).to_be_visible()
    expect(page.locator(".felt.open")).to_be_visible()


def test_a_table_loses_and_doubles_nothing_when_the_server_is_killed_and_comes_back(open_page, arena):
    game = party(arena, options={"start_cards": 3})
    page = open_page(game.page)
    page.faults.expect(AWAY)
    game.act(7)
    shows(page, game)
    port = urlsplit(arena.api.address).port
    arena.api.kill()
    expect(page.locator("#game-stream")).to_have_text("connecting again …")
    arena.start_api(port)
    game.address = arena.api.address
    game.act(9)
    shows(page, game)
    expect(page.locator("#game-stream")).to_have_text("live")
    game.act(2)
    shows(page, game)


def test_seven_tabs_of_one_browser_all_follow(open_page, arena):
    game = party(arena, options={"start_cards": 2})
    first = open_page(game.page)
    tabs = [first, *(open_page(game.page, profile=first) for _ in range(6))]
    for tab in tabs:
        shows(tab, game)
    game.act(5)
    for tab in tabs:
        shows(tab, game)
    told = sorted(tab.locator("#game-stream").text_content() for tab in tabs)
    assert told == ["every few seconds"] * 4 + ["live"] * 3


def test_spectators_are_sent_no_card_that_is_hidden(open_page, arena):
    game = party(arena, "ann bob", ruleset="seven_up", options={"target": 3})
    page = open_page("/play")  # which asks for nothing by itself
    bodies = []
    page.on("response", lambda answer: bodies.append(answer) if "/static/" not in answer.url else None)
    page.goto(arena.api.address + game.page, wait_until="load")
    for _ in range(12):
        shows(page, game)
        hidden = {card for view in game.views() for card in view["observation"]["hand"]}
        discarded = {card for view in game.views() for card in view["observation"]["discards"]}
        seen = page.content()
        assert not (hidden | discarded) & set(CARD.findall(seen))
        assert not {read_aloud(card) for card in hidden | discarded} & set(READ_ALOUD.findall(seen))
        game.act()
    game.finish()
    shows(page, game)
    sent = [answer.text() for answer in bodies if not answer.url.endswith("/stream")]  # which browsers don't keep
    sent.append(game.ask("GET", "/stream").text)
    assert {card for text in sent for card in CARD.findall(text)} == set(CARD.findall(str(game.events())))
    assert not any(answer.url.endswith("/record") for answer in bodies)


def test_a_game_that_waits_begins_on_the_page_when_somebody_sits_down(open_page, arena):
    game = party(arena, ["ann", ""], ruleset="seven_up")
    page = open_page(game.page)
    expect(page.locator("#table")).to_contain_text("There is a free seat")
    expect(page.get_by_role("link", name="sit down and play")).to_have_attribute("href", f"/play/{game.id}")
    check_page(page)
    shots(page, "game-open")
    game.sit(1, "bob")
    shows(page, game)
    expect(page.locator(".seat .name")).to_have_text(["ann", "bob"])
    expect(page.locator("#game-state")).to_have_text("running")


def test_who_sits_down_is_seen_while_others_are_waited_for(open_page, arena):
    game = party(arena, ["ann", "", "", "dan"])
    page = open_page(game.page)
    expect(page.locator(".players .name")).to_have_text(["ann", "dan"])
    game.sit(1, MARKUP)
    expect(page.locator(".players .name")).to_have_text(["ann", MARKUP, "dan"])
    expect(page.locator("#versus .name")).to_have_text(["ann", MARKUP, "dan"])


def test_a_game_that_is_stopped_says_so(open_page, arena):
    game = party(arena, "ann house:greedy", ruleset="seven_up")
    page = open_page(game.page)
    expect(page.locator(".seat")).to_have_count(2)
    game.ask("PUT", "/state", 0, json={"state": "cancelled"})
    shows(page, game)
    expect(page.locator("#game-state")).to_have_text("cancelled")
    expect(page.locator(".fact-deal")).to_have_text("Over, without a result")
    expect(page.locator("#announcer")).to_have_text("The game is over, without a result.")


def test_a_covered_game_is_shown_when_its_board_is_closed(open_page, arena):
    desk = Desk(arena.store)
    tournament = "trn_" + "t" * 26
    slot = Slot(tournament_id=tournament, round=1, table=1, board="1", is_shared=True)
    game_id = desk.game("human:ann", "human:bob", id="gam_" + "c" * 26, slot=slot)
    page = open_page(f"/games/{game_id}")
    expect(page.locator("#table")).to_contain_text("Other games are still played on this board")
    check_page(page)
    shots(page, "game-covered")
    arena.store.tournaments.close_board(tournament, "1")
    desk.commit(game_id, 1, "stand")
    expect(page.locator(".log > li")).to_have_count(3)
    expect(page.locator(".seat.on-turn .name")).to_have_text("bob")


@pytest.mark.parametrize("seats", [2, 4, 5, 6, 7, 8])
def test_tables_of_all_sizes_can_be_used_by_everybody(open_page, arena, seats):
    names = [MARKUP, LONGEST, HEBREW, "dan", "dan", "fay", "gus", "hal"][:seats]
    game = party(arena, names, ruleset="seven_up" if seats == 2 else "river")
    page = open_page(game.page, dark=seats % 2 == 1, reduced_motion="reduce")
    for decisions in (0, 10 if seats == 2 else 2 * seats + seats // 2):
        game.act(decisions)
        shows(page, game)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 800})
            check_page(page)
    expect(page.locator(".seat .name")).to_have_text(names)
    shots(page, f"game-{seats}")
