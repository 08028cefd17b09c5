"""Playing in the browser: the form, and whole games by keyboard, by mouse and by touch."""

from __future__ import annotations

import itertools
import json
import re

import pytest

from service.arena.caller import ALL_SCOPES
from service.arena.minting import token_hash
from service.store.accounts import Token
from service.store.entities import Account
from tests.web.browsing import WIDTHS, check_page, shots

IS_SEAT = "**/play/gam_*"


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("dark", [False, True])
def test_form_can_be_used_by_everybody(open_page, width, dark):
    page = open_page("/play", width=width, dark=dark)
    page.get_by_text("Options of the rules").first.click()
    check_page(page)
    page.get_by_label("Up and Down the River").check()
    page.get_by_label("Seats", exact=True).select_option("8")
    check_page(page)
    if width == WIDTHS[0] and not dark:
        shots(page, "play")


def test_options_follow_the_number_of_seats(open_page):
    page = open_page("/play")
    page.get_by_label("Up and Down the River").check()
    cards = page.locator("#river-start_cards")
    assert (cards.get_attribute("max"), cards.input_value()) == ("12", "8")
    page.get_by_label("Seats", exact=True).select_option("8")
    page.wait_for_function("document.querySelector('#river-start_cards').max === '6'")
    assert cards.input_value() == "6"
    assert page.get_by_label("Seat 8").is_hidden() is False


def test_what_is_wrong_is_said_at_its_field(open_page):
    page = open_page("/play")
    page.faults.expect("422")
    page.get_by_role("button", name="Deal the cards").click()
    assert page.locator("#player-wrong").inner_text() == "A name is needed."
    page.get_by_label("Your name").fill("ann")
    page.locator("#seven_up-target").evaluate("field => { field.value = 51; }")
    page.get_by_role("button", name="Deal the cards").click()
    page.get_by_text("from 1 to at most 50").wait_for()
    assert page.evaluate("document.activeElement.id") == "seven_up-target"
    assert page.locator("#seven_up-target").get_attribute("aria-invalid") == "true"


def test_registered_bots_are_played_with_an_account(open_page, arena):
    token, account = "slt_" + "a" * 43, Account(id="acc_" + "p" * 26, name="ann", created_at=1)
    arena.store.accounts.create(account)
    held = Token(id="tok_" + "p" * 26, account_id=account.id, scopes=[*ALL_SCOPES], created_at=1)
    arena.store.accounts.add_token(held, token_hash(token), most=1)
    page = open_page("/play", reduced_motion="reduce")
    page.faults.expect("40[13]")
    page.get_by_label("Your name").fill("ann")
    assert page.get_by_label("Your account's token").is_hidden()
    page.locator("#seven_up-seat-1").select_option(f"bot {arena.bot_ids[0]}")
    check_page(page)
    deal = page.get_by_role("button", name="Deal the cards")
    deal.click()
    page.get_by_text("An account's token is needed for this.").wait_for()
    page.get_by_label("Your account's token").fill("slt_wrong")
    deal.click()
    page.locator("#token-wrong", has_text="token").wait_for()
    page.get_by_label("Your account's token").fill(token)
    deal.click()
    page.wait_for_url(IS_SEAT)
    assert play_on(page, click_first, most=1) == 1
    page.goto(f"{arena.api.address}/play")
    assert page.locator("#known").inner_text().startswith("The game will be that of your account, ann.")
    page.get_by_role("button", name="Forget the account").click()
    assert page.evaluate("localStorage.getItem('slagveld.account')") is None


# --- playing ----------------------------------------------------------------------------------------------------------

CARD = ".own-hand.asked button[aria-disabled=false]"
BUTTON = ".choices-row:not([hidden]) button"
IS_OVER = """document.querySelector(".felt")?.dataset.phase === "over\""""
ASKED_OR_OVER = f"""() => document.querySelector("{CARD}, {BUTTON}") ?? ({IS_OVER})"""


def order_by_form(page, options=None):
    """Fill in the form, with options by the ids of their fields, and sit down."""
    page.get_by_label("Your name").fill("ann")
    if options:
        page.get_by_text("Options of the rules").locator("visible=true").click()
    for field, value in (options or {}).items():
        element = page.locator(f"#{field}")
        if element.evaluate("field => field.tagName") == "INPUT":
            element.fill(value)
        else:
            element.select_option(value)
    page.get_by_role("button", name="Deal the cards").click()
    page.wait_for_url(IS_SEAT)


def play_on(page, choose, most=1_000):
    """Choose whenever something is asked, at most so often; tell how often that was."""
    for done in range(most):
        page.wait_for_function(ASKED_OR_OVER)
        if page.locator(".felt").get_attribute("data-phase") == "over":
            return done
        choose(page)
    return most


def click_first(page):
    page.locator(f"{BUTTON}, {CARD}").first.click()


def click_last(page):
    """Answer by mouse so that there is much to answer: beg rather than stand."""
    page.locator(f"{BUTTON}, {CARD}").last.click()


def tap_last(page):
    page.locator(f"{BUTTON}, {CARD}").last.tap()


def press_to_first(page):
    """Answer by the keyboard alone: Tab to the buttons or the hand, arrows to a card that may be played, Enter."""
    asked = BUTTON if page.locator(BUTTON).count() else ".own-hand button"
    press_until(page, "Tab", f"document.activeElement.matches('{asked}')")
    press_until(page, "ArrowRight", "document.activeElement.getAttribute('aria-disabled') !== 'true'")
    page.keyboard.press("Enter")


def press_until(page, key, is_there):
    for _ in range(60):
        if page.evaluate(is_there):
            return
        page.keyboard.press(key)
    raise AssertionError(f"{key} never led to {is_there}")


def record_of(page, arena):
    """Give the record of the game on a page."""
    return page.request.get(f"{arena.api.address}/v1/games/{page.url.rpartition('/')[2]}/record").json()


def outcomes(record):
    """List how the decisions of the first seat went."""
    assert record["status"] == "finished"
    events = [event for deal in record["deals"] for event in deal["events"]]
    return [event["outcome"] for event in events if event["seat"] == 0 and "outcome" in event]


@pytest.mark.parametrize("choose", [click_last, press_to_first])
def test_whole_game_of_seven_up_is_played(open_page, arena, choose):
    page = open_page("/play", reduced_motion="reduce")
    order_by_form(page)
    done = play_on(page, choose)
    assert re.fullmatch(r"You (win|lose), \d+ to \d+\.", page.locator(".question").inner_text())
    assert outcomes(record_of(page, arena)) == ["ok"] * done


@pytest.mark.parametrize("choose", [click_first, press_to_first])
@pytest.mark.parametrize("bidding", ["sequential", "simultaneous"])
def test_rounds_of_river_are_played(open_page, arena, choose, bidding):
    page = open_page("/play", reduced_motion="reduce")
    page.get_by_label("Up and Down the River").check()
    order_by_form(page, {"river-start_cards": "2", "river-bidding": f'"{bidding}"'})
    done = play_on(page, choose)
    assert re.search(r"You (win|came)", page.locator(".question").inner_text())
    assert done == 3 + 5  # bids and cards of rounds of 2, 1 and 2
    assert outcomes(record_of(page, arena)) == ["ok"] * done


def test_game_is_played_by_touch_on_a_phone(open_page, arena):
    page = open_page("/play", width=360, height=740, has_touch=True, is_mobile=True, reduced_motion="reduce")
    order_by_form(page, {"seven_up-target": "1"})
    done = play_on(page, tap_last)
    assert outcomes(record_of(page, arena)) == ["ok"] * done


# --- what goes on around it -------------------------------------------------------------------------------------------

SEVEN_UP = {"ruleset": "seven_up", "options": {"target": 1}, "human_budget_ms": 600_000}
GREEDY = {"kind": "house", "name": "greedy"}
RIVER_8 = {"ruleset": "river", "seats": [{"kind": "human", "name": "ann"}, *[GREEDY] * 7], "human_budget_ms": 600_000}
ASKED_OR_WAITING = f"""() => ({ASKED_OR_OVER})() || /^Waiting/.test(document.querySelector(".question")?.textContent)"""


@pytest.fixture
def sit(open_page, arena):
    """Order a game by the API, its first seat a person's, and open that seat's page."""

    def make(order=SEVEN_UP, opponent=GREEDY, **more):
        seats = [{"kind": "human", "name": "ann"}, opponent]
        page = open_page("/play", reduced_motion="reduce", **more)
        made = page.request.post(f"{arena.api.address}/v1/games", data={"seats": seats} | order).json()
        page.game = made
        seat = json.dumps([{"seat": 0, "token": made["seats"][0]["token"], "name": "ann"}])
        page.evaluate("([key, seat]) => localStorage.setItem(key, seat)", [f"slagveld.seats.{made['id']}", seat])
        page.goto(f"{arena.api.address}/play/{made['id']}")
        return page

    return make


def hand_of(page):
    return page.locator(".own-hand button").evaluate_all("cards => cards.map((card) => card.dataset.card)")


def test_reload_amid_the_game_keeps_seat_and_hand(sit, arena):
    page = sit()
    assert play_on(page, click_first, most=3) == 3
    page.wait_for_function(ASKED_OR_OVER)
    before = hand_of(page), page.locator(".question").inner_text()
    page.reload()
    page.wait_for_function(ASKED_OR_OVER)
    assert (hand_of(page), page.locator(".question").inner_text()) == before
    play_on(page, click_first)
    assert set(outcomes(record_of(page, arena))) == {"ok"}


def test_only_legal_cards_can_be_chosen(sit):
    page = sit(SEVEN_UP | {"options": {"target": 7}})
    sent = []
    page.on("request", lambda request: request.method == "POST" and sent.append(request.post_data_json["action"]))
    tried = False
    for _ in range(200):
        page.wait_for_function(ASKED_OR_OVER)
        closed = page.locator(".own-hand.asked button[aria-disabled=true]")
        if closed.count():
            before = list(sent)
            closed.first.click(force=True)
            closed.first.press("Enter")
            assert sent == before
            tried = True
        if tried or page.locator(".felt").get_attribute("data-phase") == "over":
            break
        click_first(page)
    assert tried


HEAR = """
window.heard = [];
const real = window.fetch;
window.fetch = async (path, sent) => {
  window.heard.push(JSON.stringify(sent ?? {}));
  const answer = await real(path, sent);
  answer.clone().body?.pipeThrough(new TextDecoderStream()).pipeTo(
    new WritableStream({ write: (part) => window.heard.push(part) })).catch(() => {});
  return answer;
};
"""
"""Keeps all that a page sends and is sent."""


def test_nothing_hidden_reaches_a_spectator_beside_the_player(sit, open_page, arena):
    page = sit(SEVEN_UP | {"options": {"target": 2}})
    page.wait_for_function(ASKED_OR_OVER)
    page.context.add_init_script(HEAR)
    watcher = open_page(f"/games/{page.game['id']}", profile=page)
    watcher.locator(".felt").wait_for()
    hidden = set(hand_of(page))
    for _ in range(4):  # the first deal isn't over after these
        page.wait_for_function(ASKED_OR_OVER)
        click_first(page)
        page.wait_for_function(ASKED_OR_OVER)
        hidden &= set(hand_of(page))
        assert hidden
        heard = "".join(watcher.evaluate("window.heard"))
        known = heard + watcher.content() + watcher.request.get(watcher.url).text()
        assert [card for card in hidden if re.search(rf'[":]{card}"', known)] == []
        assert watcher.locator(".seat .card:not(.card-down)").count() == 0
    assert '"event":"deal"' in heard
    assert page.game["seats"][0]["token"] not in heard


def test_second_person_sits_down_by_the_link(sit, open_page, arena):
    ann = sit(SEVEN_UP | {"human_budget_ms": 600_000}, opponent={"kind": "open"})
    ann.get_by_role("heading", name="Waiting for others").wait_for()
    check_page(ann)
    shots(ann, "play-waiting")
    link = ann.get_by_label("Invite somebody by this link").input_value()
    assert link == ann.url
    bob = open_page(link.removeprefix(arena.api.address), reduced_motion="reduce")
    bob.get_by_role("button", name="Sit down").wait_for()
    check_page(bob)
    shots(bob, "play-invited")
    bob.get_by_role("button", name="Sit down").click()
    bob.get_by_text("A name is needed.").wait_for()
    bob.get_by_label("Your name").fill("bob")
    bob.get_by_role("button", name="Sit down").click()
    for _ in range(1_000):
        bob.wait_for_function(ASKED_OR_WAITING)
        ann.wait_for_function(ASKED_OR_WAITING)
        if ann.locator(".felt").get_attribute("data-phase") == "over":
            break
        for page in (ann, bob):
            if page.locator(f"{BUTTON}, {CARD}").count():
                click_first(page)
    results = [page.locator(".question").inner_text() for page in (ann, bob)]
    assert sorted(each.partition(",")[0] for each in results) == ["You lose", "You win"]
    third = open_page(link.removeprefix(arena.api.address))
    third.get_by_text("This game is over.").wait_for()
    check_page(third)
    assert third.get_by_role("link", name="See how it went").get_attribute("href") == f"/games/{ann.game['id']}"


def test_link_is_copied(sit):
    page = sit(opponent={"kind": "open"}, permissions=["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy the link").click()
    page.get_by_role("button", name="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == page.url


def test_who_leaves_gives_the_game_to_the_other(sit, arena):
    page = sit(SEVEN_UP | {"options": {"target": 7}})
    assert play_on(page, click_first, most=6) == 6  # whoever hasn't begun to play leaves a game that is void
    page.get_by_role("button", name="Leave the game").click()
    check_page(page)
    page.get_by_role("button", name="Stay").click()
    page.get_by_role("button", name="Leave the game").click()
    page.get_by_role("button", name="Leave", exact=True).click()
    page.wait_for_url("**/games/gam_*")
    assert record_of(page, arena)["ended_by"] == "retirement"
    assert page.evaluate("localStorage.length") == 0


def test_decision_that_was_taken_elsewhere_is_read_again(sit, open_page):
    page = sit()
    page.faults.expect("409")
    page.wait_for_function(ASKED_OR_OVER)
    held = []

    def hold(route):
        held.append(route)

    page.route("**/actions", hold)
    click_first(page)
    other = open_page(f"/play/{page.game['id']}", profile=page, reduced_motion="reduce")
    other.wait_for_function(ASKED_OR_OVER)
    other.locator(f"{BUTTON}, {CARD}").last.click()
    page.wait_for_function("() => document.querySelectorAll('.log li').length > 1")
    held[0].continue_()
    page.unroute("**/actions")
    page.get_by_text("That decision had been taken already.").wait_for()
    page.wait_for_function(ASKED_OR_OVER)
    click_first(page)
    page.wait_for_function(ASKED_OR_OVER)


def test_time_that_runs_out_is_told_and_the_game_goes_on(sit, arena):
    page = sit(SEVEN_UP | {"human_budget_ms": 5_000})
    page.get_by_text("Your time was over, so the arena").wait_for()
    page.wait_for_function(ASKED_OR_OVER)


def test_seat_that_is_no_longer_ones_own_is_given_up(sit, arena):
    page = sit()
    page.faults.expect("40[13]")
    page.evaluate("""() => {
      for (const [key, seat] of Object.entries(localStorage))
        localStorage.setItem(key, seat.replace(/sst_..../, "sst_aaaa"));
    }""")
    page.reload()
    page.get_by_text("This seat is no longer yours.").wait_for()
    assert page.evaluate("localStorage.length") == 0


@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("width", WIDTHS)
def test_seat_can_be_used_by_everybody(sit, width, dark):
    page = sit(RIVER_8, width=width, dark=dark)
    page.wait_for_function(ASKED_OR_OVER)
    check_page(page)
    shots(page, f"play-river-{'dark' if dark else 'light'}-{width}")
    play_on(page, click_first, most=4)
    page.wait_for_function(ASKED_OR_OVER)
    check_page(page)
    shots(page, f"play-river-later-{'dark' if dark else 'light'}-{width}")


def test_seat_looks(sit):
    page = sit()
    page.wait_for_function(ASKED_OR_OVER)
    shots(page, "play-seven-up")
    play_on(page, click_first, most=3)
    page.wait_for_function(ASKED_OR_OVER)
    shots(page, "play-seven-up-later")
    play_on(page, click_first)
    check_page(page)
    shots(page, "play-seven-up-over")


def test_cards_of_bots_come_one_after_the_other(sit):
    page = sit(RIVER_8 | {"seats": RIVER_8["seats"][:4], "options": {"start_cards": 1, "first_dealer": 3}})
    page.emulate_media(reduced_motion="no-preference")
    page.wait_for_function(ASKED_OR_OVER)
    page.evaluate("""() => {
      window.seen = [];
      new MutationObserver(() => window.seen.push(performance.now()))
        .observe(document.querySelector(".log"), { childList: true });
    }""")
    click_first(page)
    page.wait_for_function("() => window.seen.length >= 4")
    times = page.evaluate("window.seen")[:4]  # the own bid, and those of three bots
    assert min(later - earlier for earlier, later in itertools.pairwise(times)) > 300


def test_what_is_chosen_while_the_arena_is_away_can_be_chosen_again(sit, arena):
    page = sit()
    page.faults.expect("ERR_INTERNET_DISCONNECTED")
    page.wait_for_function(ASKED_OR_OVER)
    page.context.set_offline(True)
    click_first(page)
    page.get_by_text("That wasn't played: the arena can't be reached.").wait_for()
    page.context.set_offline(False)
    done = play_on(page, click_first)
    assert outcomes(record_of(page, arena)) == ["ok"] * done
