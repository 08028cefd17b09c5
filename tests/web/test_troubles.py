"""Answers that are lost, seats and games that can't be had at the moment: nothing is done twice or forgotten."""

from __future__ import annotations

import json

import pytest
from playwright.sync_api import expect

from tests.web.playing import Party

LOST = "ERR_FAILED"
ASKED = ".own-hand.asked button[aria-disabled=false], .choices-row:not([hidden]) button"


def lose_answers(page, pattern, method):
    """Let requests get there and their answers never come back; gives the requests' headers."""
    seen = []

    def lose(route):
        if route.request.method != method:
            route.fallback()
            return
        seen.append(route.request.headers)
        route.fetch()
        route.abort()

    page.faults.expect(LOST)
    page.route(pattern, lose)
    return seen


def refuse(page, pattern, method, times=1):
    """Answer requests with 429, so many times."""
    page.faults.expect("429")
    problem = json.dumps({"status": 429, "code": "too_many_requests", "detail": "too many requests"})

    def answer(route):
        if route.request.method == method:
            route.fulfill(status=429, content_type="application/problem+json", body=problem)
        else:
            route.fallback()

    page.route(pattern, answer, times=times)


@pytest.fixture
def seat(open_page, arena):
    """Open the page of a person's seat, in a game against another."""

    def begin(names="ann bob", **order):
        game = Party(arena.api.address, names.split(), ruleset="seven_up", **order)
        page = open_page("/play", reduced_motion="reduce")
        kept = json.dumps([{"seat": 0, "token": game.tokens[0], "name": "ann"}])
        page.evaluate("([id, seat]) => localStorage.setItem(`slagveld.seats.${id}`, seat)", [game.id, kept])
        page.goto(f"{arena.api.address}/play/{game.id}")
        return page, game

    return begin


def test_a_decision_whose_answer_is_lost_is_taken_once_and_not_called_unplayed(seat):
    page, game = seat(options={"first_dealer": 1})
    sent = lose_answers(page, "**/actions", "POST")
    page.get_by_role("button", name="Stand").click()
    expect(page.locator(".question")).to_contain_text("Lead a card")
    for _ in range(600):
        page.wait_for_timeout(20)
        if len(sent) == 3:
            break
    page.unroute_all(behavior="wait")
    page.wait_for_timeout(300)
    expect(page.locator(".notice.bad")).to_be_hidden()
    assert [event["action"] for event in game.events() if event["event"] == "action"] == ["stand"]
    page.locator(ASKED).first.click()
    expect(page.locator(".question")).to_contain_text("Waiting for bob")


def test_a_game_whose_order_had_no_answer_is_ordered_once(open_page, arena):
    page = open_page("/play")
    page.get_by_label("Your name").fill("ann once")
    sent = lose_answers(page, "**/v1/games", "POST")
    page.get_by_role("button", name="Deal the cards").click()
    expect(page.locator("#refusal")).to_be_visible()
    expect(page.get_by_role("button", name="Deal the cards")).to_be_focused()
    page.unroute("**/v1/games")
    with page.expect_request(lambda each: each.url.endswith("/v1/games") and each.method == "POST") as again:
        page.get_by_role("button", name="Deal the cards").click()
    page.wait_for_url("**/play/gam_*")
    assert {each["idempotency-key"] for each in sent} == {again.value.headers["idempotency-key"]}
    page.locator(".own-hand button").first.wait_for()


def test_a_table_that_takes_long_to_come_is_not_ordered_again(open_page):
    page = open_page("/play")
    held, orders = [], []
    page.on("request", lambda each: orders.append(each) if each.method == "POST" else None)
    page.route("**/play/gam_*", lambda route: held.append(route))  # noqa: PLW0108 - a bound one takes no mark
    page.get_by_label("Your name").fill("ann")
    page.locator("#order").evaluate("form => setInterval(() => form.requestSubmit(), 5)")
    while not held:
        page.wait_for_timeout(20)
    page.wait_for_timeout(300)
    held[0].continue_()
    page.wait_for_url("**/play/gam_*")
    assert len(orders) == 1


def test_a_seat_whose_token_was_lost_on_the_way_is_had_by_asking_again(open_page, arena):
    game = Party(arena.api.address, ["ann", ""], ruleset="seven_up")
    page = open_page(f"/play/{game.id}", reduced_motion="reduce")
    page.get_by_label("Your name").fill("bob")
    lose_answers(page, "**/seats/*", "PUT")
    page.get_by_role("button", name="Sit down").click()
    expect(page.locator("#player-wrong")).to_contain_text("can't be reached")
    page.unroute("**/seats/*")
    page.get_by_role("button", name="Sit down").click()
    expect(page.locator(".own-hand button").first).to_be_visible()
    assert [each["name"] for each in game.ask("GET").json()["seats"]] == ["ann", "bob"]


def test_a_seat_that_could_not_be_left_is_kept(seat):
    page, game = seat()
    page.locator(".own-hand button").first.wait_for()
    refuse(page, "**/seats/*", "DELETE")
    page.get_by_role("button", name="Leave the game").click()
    page.get_by_role("button", name="Leave", exact=True).click()
    expect(page.get_by_role("dialog")).to_contain_text("You sit there still: too many requests.")
    assert page.evaluate("localStorage.length") == 1
    assert game.ask("GET").json()["seats"][0]["retired"] is None


def test_a_seat_is_shown_when_the_arena_has_time_again(seat):
    page, _ = seat()
    page.locator(".own-hand button").first.wait_for()
    refuse(page, "**/v1/games/gam_*", "GET")
    page.reload()
    expect(page.get_by_role("alert")).to_contain_text("The game can't be shown now: too many requests.")
    expect(page.locator(".own-hand button").first).to_be_visible(timeout=15_000)


def test_a_table_is_shown_when_the_arena_has_time_again(open_page, arena):
    game = Party(arena.api.address, ["ann", "bob"], ruleset="seven_up")
    page = open_page("/play")
    refuse(page, "**/v1/games/gam_*", "GET")
    page.goto(arena.api.address + game.page)
    expect(page.locator(".seat")).to_have_count(2, timeout=15_000)


def test_a_record_that_breaks_off_is_told_and_can_be_had_later(open_page, arena):
    game = Party(arena.api.address, ["ann", "bob"], ruleset="seven_up", options={"target": 3})
    page = open_page(game.page)
    game.finish()
    page.faults.expect(LOST)
    page.route("**/record", lambda route: route.abort(), times=2)
    for _ in range(2):
        page.get_by_role("button", name="Look at the replay").click()
        expect(page.get_by_role("alert")).to_have_text("The record can't be read now: the arena can't be reached.")
    page.get_by_role("button", name="Look at the replay").click()
    expect(page.get_by_role("button", name="Verify")).to_be_visible()
    expect(page.get_by_role("alert")).to_have_count(0)


def test_the_lobby_goes_on_being_brought_up_to_date_beside_its_table(open_page, arena):
    Party(arena.api.address, ["ann", "bob"], ruleset="seven_up")
    page = open_page("/")
    page.locator("[data-table] .seat").first.wait_for()
    assert page.locator("main").get_attribute("data-every") == "10"


def test_form_gives_up_a_seat_that_the_table_has_no_more_and_asks_again_for_limits_it_did_not_get(open_page):
    page = open_page("/play")
    refuse(page, "**/v1/rulesets/river?*", "GET")
    page.get_by_label("Up and Down the River").check()
    seats = page.get_by_label("Seats", exact=True)
    seats.select_option("8")
    page.get_by_text("Options of the rules").locator("visible=true").click()
    page.get_by_label("First dealer").locator("visible=true").select_option("7")
    expect(page.locator("#river-start_cards")).to_have_attribute("max", "6")
    seats.select_option("4")
    assert page.locator("#river-first_dealer").input_value() == "0"


def test_a_browser_that_keeps_nothing_is_not_dealt_a_seat_it_would_forget(open_page):
    page = open_page("/play")
    orders = []
    page.on("request", lambda each: orders.append(each) if each.method == "POST" else None)
    page.evaluate("Object.defineProperty(window, 'localStorage', { get() { throw new DOMException(); } })")
    page.get_by_label("Your name").fill("ann")
    page.get_by_role("button", name="Deal the cards").click()
    expect(page.locator("#refusal")).to_contain_text("would forget your seat")
    assert not orders


def test_a_game_that_is_called_off_before_it_began_leaves_no_table_of_nobody(open_page, arena):
    game = Party(arena.api.address, ["ann", "", "", ""])
    page = open_page(game.page)
    expect(page.locator("#game-stream")).to_have_text("live")
    game.ask("PUT", "/state", 0, json={"state": "cancelled"})
    expect(page.locator("#table")).to_have_text("The game ended before it began; there is nothing to see.")
    expect(page.locator("#game-state")).to_have_text("cancelled")


def test_the_focus_goes_on_to_the_replay_and_its_keys_work_wherever_it_is(open_page, arena):
    game = Party(arena.api.address, ["ann", "bob"], ruleset="seven_up", options={"target": 3})
    page = open_page(game.page)
    game.finish()
    page.get_by_role("button", name="Look at the replay").press("Enter")
    expect(page.get_by_role("button", name="Play", exact=True)).to_be_focused()
    page.get_by_role("slider").press("Home")  # the moves are those of the deal that is shown
    page.locator(".moves a", has_text="0.1").first.click()
    expect(page.locator(".replay-place")).to_contain_text("event 0.1")
    page.keyboard.press("ArrowLeft")
    expect(page.locator(".replay-place")).to_contain_text("event 0.0")
    page.keyboard.press(" ")
    expect(page.get_by_role("button", name="Pause")).to_be_visible()


def test_the_focus_is_not_lost_when_the_last_card_is_played(seat):
    page, game = seat(options={"target": 3})
    while game.ask("GET").json()["state"] == "running":
        theirs = game.view(1)
        if theirs["decision_id"]:
            decided = {"decision_id": theirs["decision_id"], "action": theirs["legal_actions"][0]}
            game.ask("POST", "/seats/1/actions", 1, json=decided)
        elif page.locator(ASKED).count():
            page.locator(ASKED).first.press("Enter")
        page.wait_for_timeout(50)
    expect(page.locator(".question")).to_contain_text("You ")
    assert page.evaluate("document.activeElement.textContent") == "Look at the replayPlay another"
