"""The lobby's live table: it stays with its game, and goes on to another when that is over."""

from __future__ import annotations

import requests

from tests.web.browsing import check_page, shots, wait_for

PEOPLE = [{"kind": "human", "name": "ann"}, {"kind": "human", "name": "bob"}]


def game_of_people(arena):
    """Begin a game that waits for people, and give its id and what stops it."""
    order = {"ruleset": "seven_up", "seats": PEOPLE, "human_budget_ms": 600_000}
    made = requests.post(f"{arena.api.address}/v1/games", json=order, timeout=10).json()
    headers = {"Authorization": f"Bearer {made['seats'][0]['token']}"}
    path = f"{arena.api.address}/v1/games/{made['id']}/seats/0"
    return made["id"], lambda: requests.delete(path, headers=headers, timeout=10).raise_for_status()


def test_live_table_stays_with_its_game_and_goes_on_to_another_when_that_is_over(arena, open_page):
    first, stop = game_of_people(arena)
    page = open_page("/")
    page.wait_for_selector(f'[data-table="{first}"] .seat')
    shots(page, "lobby")
    second, _ = game_of_people(arena)
    wait_for(page, f"document.querySelector('#running a[href=\"/games/{second}\"]')", seconds=30)
    assert page.locator(f'[data-table="{first}"]').count() == 1
    stop()
    wait_for(page, f"document.querySelector('[data-table=\"{second}\"]')?.dataset.event > 0", seconds=30)
    assert page.locator(f'.spotlight a[href="/games/{second}"]').count() == 1


def test_page_that_quotes_what_was_asked_for_breaks_it_into_lines(open_page):
    page = open_page("/", width=360)
    page.faults.expect("422")
    page.goto(page.url + "bots?cursor=" + "z" * 80)
    check_page(page)
