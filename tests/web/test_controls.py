from __future__ import annotations

import re

import pytest
from msgspec.structs import replace
from playwright.sync_api import expect

from service.store.entities import BotState
from tests.web.browsing import WIDTHS, check_page, shots
from tests.web.organising import (
    BOT,
    CODE,
    SLEEPER,
    STRANGE,
    Host,
    arena_for_hosts,
    choose_by_keys,
    fill_by_keys,
    tab_to,
)


@pytest.fixture(scope="module")
def arena(tmp_path_factory):
    with arena_for_hosts(tmp_path_factory.mktemp("web") / "arena") as opened:
        yield opened


@pytest.fixture(scope="module")
def host(arena):
    return Host(arena.api.address, "host")


@pytest.fixture
def open_as_host(open_page, host):
    def begin(path, **how):
        return open_page(path, storage_state=host.remembered(), **how)

    return begin


def test_tournament_is_made_entered_started_and_watched_to_its_end_by_keyboard_alone(open_page, arena):
    page = open_page("/tournaments/new")
    asked_for = []
    page.on("request", lambda each: asked_for.append(each.url))
    fill_by_keys(page, "What to call you", "ann")
    fill_by_keys(page, "Invite code", CODE)
    page.keyboard.press("Enter")
    expect(page.get_by_text("You organise as ann")).to_be_visible()
    token = page.locator("[data-token]").inner_text()
    assert re.fullmatch(r"\S{40,}", token)

    fill_by_keys(page, "Name", "friday <i>night</i>")
    choose_by_keys(page, "Format", re.compile("^Swiss"))
    fill_by_keys(page, "Rounds", "2")
    choose_by_keys(page, "Deals", re.compile("^Fresh"))
    fill_by_keys(page, "Bot's decision, in ms", "30000")
    fill_by_keys(page, "Bot's first decision, in ms", "30000")
    tab_to(page, page.get_by_role("button", name="Make the tournament"))
    page.keyboard.press("Enter")

    page.wait_for_url("**/tournaments/trn_*")
    controls = page.get_by_role("region", name="Organise")
    expect(controls.get_by_text("Open: 0 entries")).to_be_visible()
    expect(controls.get_by_text("it can't start: expected at least 2 entries")).to_be_visible()
    expect(controls.get_by_role("button", name="Start")).to_be_disabled()
    fill_by_keys(page, "Find a bot", "gree")
    tab_to(page, page.get_by_role("checkbox", name="greedy"))
    page.keyboard.press("Space")
    tab_to(page, page.get_by_label("Find a bot"))
    page.keyboard.press("ControlOrMeta+A")
    page.keyboard.type(BOT)
    tab_to(page, page.get_by_role("checkbox", name=STRANGE))
    page.keyboard.press("Space")
    tab_to(page, page.get_by_role("button", name="Enter 2 bots"))
    page.keyboard.press("Enter")
    expect(controls.get_by_text("Open: 2 entries")).to_be_visible()
    expect(controls.get_by_text("it would be 2 games on 2 boards in 2 rounds")).to_be_visible()
    tab_to(page, controls.get_by_role("button", name="Start"))
    page.keyboard.press("Enter")
    expect(controls.get_by_text("Finished: 2 of 2 games")).to_be_visible(timeout=60_000)
    expect(page.locator("#announcer")).to_contain_text("friday <i>night</i> is finished")
    expect(controls.get_by_role("button")).to_have_count(0)

    assert not [each for each in asked_for if token in each]

    made = arena.tournaments.get(page.url.rpartition("/")[2])
    shown = (made.format, made.rounds, made.deals, made.limits.budget_ms, made.limits.first_budget_ms)
    assert shown == ("swiss", 2, "fresh", 30_000, 30_000)


def test_match_with_a_test_is_made_as_it_was_filled_in(open_as_host, arena):
    page = open_as_host("/tournaments/new")
    page.get_by_label("Name", exact=True).fill("new against old")
    page.get_by_role("radio", name=re.compile("^Match")).check()
    page.get_by_label("Challenger", exact=True).select_option(BOT)
    page.get_by_label("Stop as soon as it is clear").check()
    page.get_by_label("Elo of H1").fill("35.5")
    page.get_by_role("radio", name=re.compile("^Rotate")).check()
    page.get_by_role("button", name="Make the tournament").click()
    page.wait_for_url("**/tournaments/trn_*")
    made = arena.tournaments.get(page.url.rpartition("/")[2])
    assert (made.sprt.elo0, made.sprt.elo1, made.challenger, made.deals) == (0, 35.5, BOT, "rotate")
    expect(page.get_by_role("checkbox", name=STRANGE)).to_be_checked()


def test_ladder_is_paused_resumed_and_finished(open_as_host, host):
    page = open_as_host(host.tournament("house:random", "house:greedy", format="ladder"))
    controls = page.get_by_role("region", name="Organise")
    controls.get_by_role("button", name="Start").click()
    controls.get_by_role("button", name="Pause").click()
    expect(controls.get_by_text("Paused:")).to_be_visible()
    controls.get_by_role("button", name="Resume").click()
    expect(controls.get_by_text("Running:")).to_be_visible()
    controls.get_by_role("button", name="Finish").click()
    page.get_by_role("dialog").get_by_role("button", name="Let it go on").click()
    expect(controls.get_by_role("button", name="Finish")).to_be_focused()
    controls.get_by_role("button", name="Finish").click()
    page.get_by_role("dialog").get_by_role("button", name="Finish it").click()
    expect(controls.get_by_text("Finished:")).to_be_visible(timeout=60_000)


def test_bot_is_withdrawn_from_a_running_tournament_only_after_a_question(open_as_host, host):
    path = host.tournament("house:random", "house:greedy", "house:counting", format="ladder")
    host("PUT", f"{path}/state", {"state": "running"})
    page = open_as_host(path)
    controls = page.get_by_role("region", name="Organise")
    controls.get_by_role("button", name="Withdraw counting").click()
    expect(page.get_by_role("dialog")).to_contain_text("Withdraw counting for good?")
    page.get_by_role("dialog").get_by_role("button", name="Withdraw it").click()
    expect(controls.get_by_role("listitem").filter(has_text="counting")).to_contain_text("withdrawn")
    expect(controls.get_by_role("button", name="Withdraw random")).to_be_visible()
    expect(controls.get_by_role("button", name="Withdraw counting")).to_have_count(0)


def test_entropy_is_given_for_those_bots_alone_that_the_host_may_give_it_for(open_as_host, host, arena):
    path = host.tournament()
    page = open_as_host(path)
    controls = page.get_by_role("region", name="Organise")
    for name in (STRANGE, "greedy"):
        controls.get_by_role("checkbox", name=name).check()
    controls.get_by_text("Entropy", exact=True).click()
    controls.get_by_label("Goes into the shuffle").fill("alice")
    controls.get_by_role("button", name="Enter 2 bots").click()
    expect(controls.get_by_text("Open: 2 entries")).to_be_visible()
    entries = arena.tournaments.entries(path.rpartition("/")[2])
    assert {each.bot_id: each.entropy for each in entries} == {"house:greedy": "alice", BOT: ""}


def test_tournament_is_called_off_only_after_a_question(open_as_host, host):
    page = open_as_host(host.tournament())
    controls = page.get_by_role("region", name="Organise")
    cancel = controls.get_by_role("button", name="Cancel")
    cancel.click()
    check_page(page)
    shots(page, "organise-question")
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(cancel).to_be_focused()
    cancel.click()
    page.get_by_role("button", name="Call it off").click()
    expect(controls.get_by_text("Cancelled: 0 of 0 games: cancelled by its host")).to_be_visible()
    expect(controls.get_by_role("heading", name="Organise")).to_be_focused()


def test_withdrawn_bot_can_be_entered_again_before_the_start(open_as_host, host):
    page = open_as_host(host.tournament("house:random", BOT))
    controls = page.get_by_role("region", name="Organise")
    expect(controls.get_by_role("checkbox", name=STRANGE)).to_have_count(0)
    controls.get_by_role("button", name=f"Withdraw {STRANGE}").click()
    expect(controls.get_by_text("Open: 1 entry")).to_be_visible()
    controls.get_by_role("checkbox", name=STRANGE).check()
    controls.get_by_role("button", name="Enter the bot").click()
    expect(controls.get_by_text("Open: 2 entries")).to_be_visible()


def test_refused_entry_is_told_by_name_and_stays_chosen(open_as_host, host, arena):
    page = open_as_host(host.tournament())
    page.faults.expect("409")
    controls = page.get_by_role("region", name="Organise")
    controls.get_by_role("button", name="Enter the bot").click()
    expect(controls.get_by_role("alert")).to_have_text("choose a bot to enter first")
    controls.get_by_role("checkbox", name="sleeper").check()
    arena.store.bots.change(SLEEPER, lambda bot: replace(bot, state=BotState.PAUSED))
    controls.get_by_role("button", name="Enter the bot").click()
    expect(controls.get_by_role("alert")).to_contain_text(re.compile(r"^sleeper \S+ isn't entered: .+ is paused$"))
    expect(controls.get_by_role("checkbox", name="sleeper")).to_be_checked()


def test_what_happens_elsewhere_is_shown_and_keeps_the_focus(open_as_host, host):
    path = host.tournament("house:random")
    page = open_as_host(path)
    controls = page.get_by_role("region", name="Organise")
    withdraw = controls.get_by_role("button", name="Withdraw random")
    withdraw.focus()
    host("PUT", f"{path}/entries/house:greedy", {})
    expect(controls.get_by_text("Open: 2 entries")).to_be_visible()
    expect(withdraw).to_be_focused()


def test_others_see_no_controls(open_page, host, arena):
    path = host.tournament("house:random")
    visitor = open_page(path)
    assert asked(visitor, visitor.reload) == []
    stranger = open_page(path, storage_state=Host(arena.api.address, "stranger").remembered())

    def reload():
        with stranger.expect_response("**/v1/accounts/me"), stranger.expect_response(f"**/v1{path}"):
            stranger.reload()

    assert asked(stranger, reload) == ["/v1/accounts/me", f"/v1{path}"]
    for page in (visitor, stranger):
        expect(page.locator("#organiser")).to_be_hidden()


def asked(page, reload):
    """Give the paths of the API that a page asks for while it is loaded anew, streams aside."""
    seen = []
    page.on("request", lambda each: seen.append("/" + each.url.split("/", 3)[3]))
    reload()
    page.evaluate("fetch('/health/live').then((answer) => answer.status)")  # what came before has been taken in by now
    return sorted(each for each in seen if each.startswith("/v1/") and not each.endswith("/stream"))


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("dark", [False, True])
def test_controls_can_be_used_by_everybody(open_as_host, host, width, dark):
    page = open_as_host(host.tournament("house:random", BOT), width=width, dark=dark)
    expect(page.get_by_role("checkbox", name="greedy")).to_be_visible()
    check_page(page)


def test_controls_look(open_as_host, host):
    page = open_as_host(host.tournament("house:random", BOT))
    expect(page.get_by_role("checkbox", name="greedy")).to_be_visible()
    shots(page, "organise-controls")


def test_controls_say_that_the_arena_is_away_and_go_on_when_it_is_back(open_as_host, host, arena):
    path = host.tournament("house:random")
    page = open_as_host(path)
    page.faults.expect("ERR_|Failed to load|503")
    controls = page.get_by_role("region", name="Organise")
    expect(controls.get_by_text("Open: 1 entry")).to_be_visible()
    port = int(arena.api.address.rpartition(":")[2])
    arena.api.kill()
    expect(controls.get_by_text("the arena can't be reached")).to_be_visible(timeout=60_000)
    arena.start_api(port)
    assert arena.api.address == host.address
    host("PUT", f"{path}/entries/house:greedy", {})
    expect(controls.get_by_text("Open: 2 entries")).to_be_visible(timeout=60_000)
    expect(controls.get_by_text("the arena can't be reached")).to_be_hidden()
