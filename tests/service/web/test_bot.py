"""The pages of bots and leaderboards as the server sends them: complete without scripts, nothing hidden in them."""

from __future__ import annotations

import html
import re

import pytest
from msgspec.structs import replace

from bot_sdk.events import Outcome
from service.web.bot import SAID
from service.web.site import POLICY
from tests.service.api.conftest import make_app  # noqa: F401 (a fixture)
from tests.web.career import BACKWARDS, BOTS, HERO, LONG, MARKUP, NEVER, NEWCOMER, PRIVATE, Career, full


@pytest.fixture
def queue():
    return None


@pytest.fixture
def app(make_app):  # noqa: F811 (the fixture)
    return make_app()


@pytest.fixture
def store(app):
    return app.extensions["slagveld"].store


@pytest.fixture
def get(app):
    def get(path, status=200):
        answer = app.test_client().get(path, headers={"Accept": "text/html"})
        assert answer.status_code == status, answer.text
        assert answer.headers["Content-Security-Policy"] == POLICY
        assert answer.mimetype == "text/html"
        return answer.text

    return get


@pytest.fixture(scope="module")
def past():
    """What `career` has left in the store, once it was led."""
    return {}


@pytest.fixture
def career(store, redis, past):
    """Fill the store with a past, which is led once and then copied."""
    for key, value in past.items():
        redis.restore(key, 0, value)
    if not past:
        full(store, fits=6, games=25)
        past |= {key: redis.dump(key) for key in redis.scan_iter()}


def text_of(page):
    """Give what a page says, without its markup."""
    return " ".join(html.unescape(re.sub(r"<[^>]*>", " ", page)).split())


# --- one bot ----------------------------------------------------------------------------------------------------------


def test_page_of_a_bot_tells_without_scripts_all_that_is_drawn(career, get, app):
    page = get(f"/bots/{HERO}")
    said = text_of(page)
    for heading in ("Seven Up", "Up and Down the River", "Rating over time", "How it answered", "How long it took",
                    "Head to head", "Last games"):  # fmt: skip
        assert heading in said
    assert page.count("data-chart=") == 4
    assert page.count("<h1>") == 1
    assert "version 3.1-beta" in said
    assert re.search(r"\d+ decisions in its last \d+ games, since", said)
    assert re.search(r"Half of its decisions took less than \d", said)
    for each in app.test_client().get(f"/v1/bots/{HERO}/statistics").get_json()["items"]:
        assert all(f" {name} {SAID[name]} {count} " in said for name, count in each["outcomes"].items())
    assert page.count('href="/games/gam_') == 20


def test_last_games_go_on_where_the_page_before_ended(career, get, app):
    page, seen = get(f"/bots/{HERO}"), []
    while True:
        seen += re.findall(r'href="/games/(gam_\w+)"', page)
        older = re.search(r'href="(/bots/[^"]*\?games=[^"#]*)', page)
        if older is None:
            break
        page = get(html.unescape(older[1]))
    assert len(seen) == len(set(seen)) == 25
    assert ">Newest</a>" in page


def test_names_of_strangers_are_text_and_stay_within_themselves(career, get):
    for path in (f"/bots/{BOTS[1]}", f"/bots/{BOTS[2]}", f"/bots/{BOTS[3]}", f"/bots/{HERO}", "/leaderboards/river"):
        page = get(path)
        assert "<img src=x" not in page
        for each in (MARKUP, BACKWARDS, LONG):
            shown = html.escape(each, quote=False).replace('"', "&#34;")
            outside = re.sub(r"<bdi[^>]*>[^<]*</bdi>|<title>.*?</title>", "", page)
            assert shown not in outside


def test_bot_that_never_played_has_an_empty_page_that_says_so(career, get):
    page = get(f"/bots/{NEVER}")
    assert "No game of this bot has ended lately." in page
    assert "data-chart" not in page
    assert "Last games" not in page


def test_house_bot_has_a_page(career, get):
    said = text_of(get("/bots/house:greedy"))
    assert "house bot" in said
    assert "Last games" in said
    assert "Registered" not in said


@pytest.mark.parametrize("path", [f"/bots/{PRIVATE}", "/bots/bot_" + "y" * 26, "/bots/house:nobody", "/bots/7"])
def test_bot_that_nobody_may_see_is_not_found(career, get, path):
    assert "To the lobby" in get(path, 404)


def test_cursor_that_no_page_gave_is_told_on_a_page(career, get):
    assert "next_cursor" in get(f"/bots/{HERO}?games=Z2FtXzE", 422)


def test_open_board_leaves_no_trace_on_the_pages_of_its_bots(store, get):
    career = Career(store)
    before = get(f"/bots/{HERO}")
    career.play(HERO, BOTS[1], slot=career.desk.shared_slot())
    assert get(f"/bots/{HERO}") == before


def test_deleted_bot_has_no_page_and_is_named_in_the_games_of_others(career, store, get):
    store.bots.delete(store.bots.get(BOTS[1]))
    get(f"/bots/{BOTS[1]}", 404)
    assert f"/bots/{BOTS[1]}" in get(f"/bots/{HERO}")


def test_every_outcome_that_a_log_may_hold_is_said_in_words():
    assert set(SAID) == set(Outcome) - {Outcome.OUR_FAULT}


# --- leaderboards -----------------------------------------------------------------------------------------------------


def test_leaderboard_lists_bots_best_first_with_their_intervals(career, get, app):
    page = get("/leaderboards/river")
    items = app.test_client().get("/v1/leaderboards/river").get_json()["items"]
    assert re.findall(r'<th scope="row">\s*<a href="/bots/([^"]*)"', page) == [item["bot_id"] for item in items]
    said = text_of(page)
    for item in items:
        assert f"{item['low']:.0f} to {item['high']:.0f}" in said
    assert page.count('class="whisker"') == len(items)
    assert said.index("Provisional: fewer than 10 games") < said.rindex("newcomer")
    assert "suspended" in said
    assert "How a rating comes about" in said
    assert re.search(r'aria-current="page">Up and Down the River', page)


def test_leaderboard_by_versions_has_a_row_for_each(career, get):
    one, all_of_them = get("/leaderboards/river"), get("/leaderboards/river?versions=all")
    assert one.count(f'href="/bots/{HERO}"') == 1
    assert all_of_them.count(f'href="/bots/{HERO}"') == 2
    assert "?versions=all" in one


def test_leaderboard_without_ratings_says_where_they_come_from(get):
    page = get("/leaderboards/seven_up")
    assert "Nobody is rated in Seven Up yet." in page
    assert "<table" not in page


@pytest.mark.parametrize("path", ["/leaderboards/whist", "/leaderboards/River", "/leaderboards"])
def test_leaderboard_of_no_game_is_not_found(get, path):
    assert "To the lobby" in get(path, 404)


@pytest.mark.parametrize(("asked", "shown"), [("", 1), ("0", 1), ("2", 2), ("3", 3), ("99", 3), ("x", 1)])
def test_long_leaderboard_is_cut_into_pages(career, get, monkeypatch, asked, shown):
    monkeypatch.setattr("service.web.leaderboards.ROWS", 4)
    page = get(f"/leaderboards/river?page={asked}")
    assert f"Page {shown} of 3" in page
    assert ('rel="prev"' in page, 'rel="next"' in page) == (shown > 1, shown < 3)


def test_private_bot_stands_by_the_name_it_took_part_by_and_says_no_state(career, store, get):
    store.bots.change(PRIVATE, lambda bot: replace(bot, name="what it is called now"))
    assert "what it is called now" not in get("/leaderboards/river")
    assert f"/bots/{NEWCOMER}" in get("/leaderboards/river")
