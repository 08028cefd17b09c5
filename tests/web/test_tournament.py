"""The page of a tournament in a browser: usable by everybody, followed as it is played, long ones gone through."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace

from service.store.entities import Sprt, TournamentState
from tests.integration.arena import PATIENT_LIMITS
from tests.service.web.penned import Pen
from tests.web.browsing import WIDTHS, check_page, shots

NASTY = "<b>bold</b>\u202eevil" + "n" * 500


def wrong(result):
    """Let something go wrong in some games."""
    if result.slot.round % 3:
        return result
    faulty = [{"ok": 20, "late": 3, "bad_reply": 2}, *({"ok": 30} for _ in result.bots[1:])]
    return replace(result, outcomes=faulty, retired=[True, *[False] * (len(result.bots) - 1)], ended_by="retirement")


KINDS = {
    "round robin": {"entries": 12, "result": wrong, "state": TournamentState.FINISHED},
    "field": {"entries": 64, "deals": "field", "rounds": 20, "games": 32 * 9 + 5, "shut": lambda each: int(each) < 10},
    "river": {"entries": 16, "ruleset": "river", "deals": "field", "rounds": 6, "result": wrong},
    "knockout": {"entries": 13, "format": "knockout", "state": TournamentState.FINISHED},
    "test": {
        "entries": 2,
        "format": "match",
        "deals": "rotate",
        "rounds": 60,
        "games": 90,
        "sprt": Sprt(elo0=0, elo1=20),
    },
    "crowd": {"entries": 15, "names": lambda number: f"{number} {NASTY}", "name": NASTY, "rounds": 1},
    "nasty": {"entries": 5, "names": lambda number: f"{number} {NASTY}", "name": NASTY, "format": "swiss", "rounds": 3},
}


@pytest.fixture(scope="module")
def tournaments(arena):
    """Give the id of a tournament of each kind."""
    pen = Pen(arena.store)
    made = {kind: pen.play(**changes) for kind, changes in KINDS.items()}
    return made | {"open": pen.open(5).id, "empty": pen.open(0).id}


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("kind", ["field", "knockout", "nasty"])
def test_page_can_be_used_by_everybody(open_page, tournaments, kind, width, dark):
    check_page(open_page(f"/tournaments/{tournaments[kind]}", width=width, dark=dark))


@pytest.mark.parametrize("kind", [*KINDS, "open", "empty"])
def test_page_looks(open_page, tournaments, kind):
    page = open_page(f"/tournaments/{tournaments[kind]}", width=360)
    for details in page.locator("main details").all():
        details.evaluate("each => { each.open = true; }")
    check_page(page)
    shots(page, f"tournament-{kind.replace(' ', '-')}")


def test_round_is_gone_to_by_its_number(open_page, tournaments):
    page = open_page(f"/tournaments/{tournaments['field']}")
    page.get_by_label("To round").fill("17")
    page.get_by_label("To round").press("Enter")
    page.wait_for_url(re.compile("rounds=17"))
    assert page.get_by_role("rowheader", name="Round 17").is_visible()


def test_pages_of_rounds_are_links(open_page, tournaments):
    page = open_page(f"/tournaments/{tournaments['field']}?rounds=5")
    page.get_by_role("link", name="Next", exact=True).click()
    page.wait_for_url(re.compile("rounds=6"))
    assert page.get_by_role("rowheader", name="Round 6 ").is_visible()


def test_page_follows_a_tournament_to_its_end(open_page, arena):
    """From its first games to the last, without a hand on it; what was opened stays open."""
    tournament_id = arena.launch("followed", "seven_up", 2, 3, arena.bot_ids, PATIENT_LIMITS, deals="fresh")
    page = open_page(f"/tournaments/{tournament_id}")
    page.get_by_text("How scores and places come about").click()
    page.locator("#head").get_by_text("finished").wait_for(timeout=60_000)
    page.locator("#standings caption").get_by_text("By 3 games").wait_for()
    page.locator("#rounds").get_by_role("link", name="game 3.1").wait_for()
    assert page.locator("#meetings").get_by_role("rowheader").count() == 2
    assert page.get_by_text("ranked by points").is_visible()
    check_page(page)
