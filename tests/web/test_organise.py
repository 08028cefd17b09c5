from __future__ import annotations

import re

import pytest
from playwright.sync_api import expect

from tests.web.browsing import WIDTHS, check_page, shots
from tests.web.organising import BOT, STRANGE, Host, arena_for_hosts


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


def test_what_the_arena_refuses_stands_at_its_field(open_as_host):
    page = open_as_host("/tournaments/new")
    page.faults.expect("422")
    page.get_by_label("Name", exact=True).fill("y" * 65)
    page.get_by_text("Options of the rules").click()
    page.get_by_label("Target").fill("99")
    page.get_by_text("Options of the rules").click()
    page.get_by_label("Seed of the draw").fill("seven")
    page.get_by_label("Invited").fill(f"{BOT}\nnobody")
    page.get_by_role("button", name="Make the tournament").click()

    wrong = page.get_by_label("Name", exact=True)
    expect(wrong).to_be_focused()
    expect(wrong).to_have_attribute("aria-invalid", "true")
    expect(wrong).to_have_accessible_description(re.compile("to 64"))
    expect(page.get_by_label("Seed of the draw")).to_have_accessible_description(re.compile("integer"))
    expect(page.get_by_label("Invited")).to_have_accessible_description(re.compile("entry 2: expected the id of a bot"))
    check_page(page)
    shots(page, "organise-refused")

    page.get_by_label("Name", exact=True).fill("y" * 64)
    page.get_by_label("Seed of the draw").fill("7")
    page.get_by_label("Invited").fill("")
    page.get_by_role("button", name="Make the tournament").click()
    expect(page.get_by_label("Target")).to_be_focused()
    expect(page.get_by_label("Target")).to_have_accessible_description(re.compile("from 1 to at most 50"))
    expect(page.locator(".wrong:visible")).to_have_count(1)


def test_bad_token_and_wrong_code_stand_at_their_fields(open_page):
    page = open_page("/tournaments/new")
    page.faults.expect("401|422")
    page.get_by_role("button", name="Make the tournament").click()
    expect(page.get_by_role("alert").filter(visible=True)).to_have_text("An account is needed to make a tournament.")
    expect(page.get_by_label("What to call you")).to_be_focused()
    page.get_by_label("What to call you").fill("ben")
    page.get_by_label("Invite code").fill("guessed")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Invite code")).to_have_accessible_description(re.compile("code of an invitation"))
    page.get_by_label("Token").fill("slg_nonsense")
    page.keyboard.press("Enter")
    expect(page.get_by_label("Token")).to_have_accessible_description(re.compile("isn't known here"))
    expect(page.get_by_label("Token")).to_be_focused()


def test_account_whose_token_is_known_no_more_is_forgotten_and_asked_for(open_page, host):
    storage = host.remembered()
    storage["origins"][0]["localStorage"][0]["value"] = '{"name":"gone","token":"slg_nonsense"}'
    page = open_page("/tournaments/new", storage_state=storage)
    page.faults.expect("401")
    page.get_by_label("Name", exact=True).fill("a cup")
    page.get_by_role("button", name="Make the tournament").click()
    expect(page.get_by_role("alert").filter(visible=True)).to_contain_text("isn't known here")
    expect(page.get_by_label("What to call you")).to_be_focused()
    expect(page.get_by_label("Name", exact=True)).to_have_value("a cup")
    page.get_by_label("Token").fill(host.me["token"])
    page.keyboard.press("Enter")
    expect(page.get_by_text("You organise as host")).to_be_visible()


def test_settings_follow_game_and_format(open_as_host):
    page = open_as_host("/tournaments/new")
    rounds, deals = page.get_by_label("Rounds"), page.get_by_role("radiogroup", name="Deals")
    page.get_by_role("radio", name=re.compile("^Match")).check()
    expect(page.get_by_label("Challenger", exact=True).locator("option")).to_contain_text(["none", "random", STRANGE])
    expect(deals.get_by_role("radio", checked=True)).to_have_accessible_name(re.compile("^Fresh"))
    expect(deals.get_by_role("radio", name=re.compile("^Field"))).to_be_disabled()
    expect(page.get_by_label("Alpha")).to_be_hidden()
    page.get_by_label("Stop as soon as it is clear").check()
    expect(page.get_by_label("Alpha")).to_be_visible()
    page.get_by_role("radio", name=re.compile("^Knockout")).check()
    expect(rounds).to_be_hidden()
    expect(page.get_by_label("How many of a table go on")).to_be_hidden()
    page.get_by_role("radio", name=re.compile("River")).check()
    expect(page.get_by_role("radio", name=re.compile("^Match"))).to_be_disabled()
    page.get_by_label("Seats at a table").select_option("7")
    expect(page.get_by_label("How many of a table go on")).to_be_visible()
    page.get_by_text("Options of the rules").click()
    expect(page.get_by_label("Start cards")).to_have_accessible_description(re.compile("1 to 7. Left blank: 7"))
    shots(page, "organise-river")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("dark", [False, True])
def test_form_can_be_used_by_everybody(open_as_host, width, dark):
    page = open_as_host("/tournaments/new", width=width, dark=dark)
    page.get_by_text("Options of the rules").click()
    check_page(page)


def test_form_looks(open_page):
    shots(open_page("/tournaments/new"), "organise-new")
