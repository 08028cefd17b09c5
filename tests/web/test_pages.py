"""What holds of every page. One that is missing from the table below fails a test."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import pytest
from msgspec.structs import replace

from service.app import create_app
from service.config import Settings
from service.services import open_services
from service.web.docs import PAGE_POLICY
from service.web.site import POLICY
from tests.integration.arena import PATIENT_LIMITS, wait_until
from tests.web.browsing import WIDTHS, check_page


class Known(NamedTuple):
    """A page by its rule, a path at which there is one, and another at which there is none."""

    rule: str
    path: Callable[[Evening], str]
    missing: str | None = None


class Evening(NamedTuple):
    """What the pages are about."""

    game: str
    tournament: str
    bot: str


PAGES = [
    Known("/", lambda _: "/"),
    Known("/games/<game:game_id>", lambda on: f"/games/{on.game}", "/games/gam_" + "a" * 26),
    Known("/play", lambda _: "/play"),
    Known("/play/<game:game_id>", lambda on: f"/play/{on.game}", "/play/gam_" + "a" * 26),
    Known("/tournaments", lambda _: "/tournaments", "/tournaments?state=lost"),
    Known("/tournaments/new", lambda _: "/tournaments/new"),
    Known(
        "/tournaments/<tournament:tournament_id>",
        lambda on: f"/tournaments/{on.tournament}",
        "/tournaments/trn_" + "a" * 26,
    ),
    Known("/bots", lambda _: "/bots", "/bots?cursor=x"),
    Known("/bots/<bot:bot_id>", lambda on: f"/bots/{on.bot}", "/bots/bot_" + "c" * 26),
    Known("/leaderboards/<ruleset:name>", lambda _: "/leaderboards/seven_up", "/leaderboards/whist"),
    Known("/docs", lambda _: "/docs"),
]
"""Each page there is. `/openapi.json` and the files that pages load aren't pages."""
RULES = [known.rule for known in PAGES]
STORELESS = {"/docs", "/tournaments/new"}
"""Those that are the same whatever the store holds."""
MARKUP = "<img src=x onerror=alert(1)>\"'&\u202e\u05e9\u05dc\u05d5\u05dd "
NAME = (MARKUP * 20)[:500]


@pytest.fixture(scope="module")
def on(arena):
    """Have something of everything, by names of 500 characters with markup that turn round what follows them."""
    for bot_id in arena.bot_ids:
        arena.store.bots.change(bot_id, lambda bot: replace(bot, name=NAME))
    tournament = arena.launch(NAME, "seven_up", 2, 3, arena.bot_ids, PATIENT_LIMITS)
    game = arena.start_game("seven_up", arena.bot_ids, PATIENT_LIMITS)
    wait_until(lambda: arena.is_finished(tournament), 60, "a tournament that is over")
    wait_until(lambda: arena.store.games.get(game).state.is_end, 60, "a game that is over")
    return Evening(game, tournament, arena.bot_ids[0])


@pytest.fixture
def pages(tmp_path):
    """Give the rules of all pages of the app, which needs no store for that."""
    settings = Settings.from_env({"REDIS_URL": f"unix://{tmp_path}/none"})
    services = open_services(settings, None)
    rules = create_app(services).url_map.iter_rules()
    found = {rule.rule for rule in rules if not rule.rule.startswith(("/v1/", "/health/", "/static/"))}
    services.close()
    return found - {"/openapi.json"}


def test_every_page_is_known_here(pages):
    assert pages == set(RULES)


each = pytest.mark.parametrize("known", PAGES, ids=RULES)


@each
@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_everybody_can_use_it_whatever_strangers_are_called(open_page, on, known, width, dark):
    page = open_page(known.path(on), width=width, dark=dark)
    page.wait_for_load_state("networkidle")
    check_page(page)
    assert page.locator("h1").count() == 1
    assert page.evaluate("document.querySelectorAll('img[src=x]').length") == 0


@each
def test_it_answers_anybody_and_lets_nothing_inline_run(browser, arena, on, known):
    with browser.new_context() as context:
        answer = context.request.get(arena.api.address + known.path(on))
        assert answer.status == 200
        policy = answer.headers["content-security-policy"]
        assert policy == (PAGE_POLICY if known.rule == "/docs" else POLICY)
        assert "unsafe" not in policy
        assert "set-cookie" not in answer.headers
        assert answer.headers["cache-control"] == "no-cache"
        assert "<img src=x" not in answer.text()


@pytest.mark.parametrize("known", [known for known in PAGES if known.missing], ids=lambda known: known.rule)
@pytest.mark.parametrize("width", WIDTHS)
def test_what_is_not_there_is_told_by_a_page(open_page, known, width):
    page = open_page("/", width=width)
    page.faults.expect("404|422")
    answer = page.goto(page.url.rstrip("/") + known.missing)
    assert answer.status in {404, 422}
    assert answer.headers["content-type"].startswith("text/html")
    check_page(page)


def test_they_say_that_the_store_is_away_and_are_back_when_it_is(browser, arena, on):
    away = {known.path(on): 200 if known.rule in STORELESS else 503 for known in PAGES}
    with browser.new_context() as context:

        def statuses():
            return {path: context.request.get(arena.api.address + path, timeout=60_000).status for path in away}

        arena.valkey.kill()
        try:
            assert statuses() == away
            told = context.request.get(arena.api.address + "/", timeout=60_000)
            assert "The store is away" in told.text()
            assert told.headers["retry-after"]
        finally:
            arena.valkey.start()
        wait_until(lambda: set(statuses().values()) == {200}, 60, "pages as before", every_s=0.2)
