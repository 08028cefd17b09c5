"""Bots without a URL play as all others do, whoever is killed meanwhile."""

from __future__ import annotations

from collections import Counter

import pytest
from msgspec.structs import replace

from bot_sdk.client import Arena as Client
from service.store.entities import BotState
from tests.integration.arena import PATIENT_LIMITS, Arena, wait_until
from tests.integration.played import check_settled, check_whole, is_settled, played
from tests.integration.pulling import TOKEN, PullArena, bot_id

NAMES = ["house:greedy", "house:random", "house:greedy", "house:random"]
SEVEN_UP, RIVER = {"target": 3}, {"start_cards": 2}
END_S = 90.0


def launch(arena, ids, limits):
    """Start a tournament of each game; give how many games each has."""
    pairs = arena.launch("pairs", "seven_up", 2, len(ids) - 1, ids, limits, SEVEN_UP)
    tables = arena.launch("tables", "river", 4, 1, ids, limits, RIVER, deals="rotate")
    return {pairs: (len(ids) - 1) * len(ids) // 2, tables: 4}


def finish(arena, games):
    def said():
        return f"{arena.left()} {arena.said()}"

    wait_until(lambda: all(map(arena.is_finished, games)), END_S, said(), every_s=0.05)
    for name, scheduled in games.items():
        check_whole(arena.store, name, scheduled)


def came_to(arena, games):
    return [played(arena.store, name) for name in games]


@pytest.fixture(scope="module")
def by_http(tmp_path_factory):
    """Give what the tournaments come to when the same bots are called at URLs."""
    with Arena(tmp_path_factory.mktemp("http") / "arena", bots=NAMES) as arena:
        ids = [bot_id(number) for number in range(len(NAMES))]
        for number, name in enumerate(NAMES):
            arena.register(ids[number], name.removeprefix("house:"), arena.bots.urls[number])
        arena.start_worker()
        games = launch(arena, ids, PATIENT_LIMITS)
        finish(arena, games)
        return came_to(arena, games)


@pytest.mark.parametrize("batch", [1, 8])
def test_tournaments_come_to_what_they_come_to_by_http(tmp_path, by_http, batch):
    with PullArena(tmp_path / "arena", pull=NAMES, batch=batch) as arena:
        arena.start_api()
        arena.start_worker()
        copies = arena.copies()
        games = launch(arena, arena.ids, PATIENT_LIMITS)
        finish(arena, games)
        assert came_to(arena, games) == by_http
        assert set(copies.journal.names().values()) == {1}, "no decision is asked twice"
        ended = 2 * 6 + 4 * 4
        wait_until(lambda: copies.told.count() >= ended, 20, "news of every end, to each who played")
        wait_until(lambda: is_settled(arena.store, arena.ids), 20, "nothing left to do")
        check_settled(arena.store, arena.ids)


def test_two_copies_share_the_work_and_what_a_killed_one_had_is_late_and_nothing_else(tmp_path):
    with PullArena(tmp_path / "arena", pull=NAMES[:2]) as arena:
        arena.start_api()
        arena.start_worker()
        first, second = arena.copies(think_ms=3), arena.copies(think_ms=3)
        limits = {"budget_ms": 3_000, "first_budget_ms": 5_000}
        held = arena.launch("pairs", "seven_up", 2, 20, arena.ids, limits, SEVEN_UP)
        wait_until(lambda: min(first.journal.count(), second.journal.count()) >= 40, 60, "work for both")
        first.kill()
        before = second.journal.count()
        wait_until(lambda: arena.is_finished(held), END_S, f"an end {arena.left()} {arena.said()}", every_s=0.05)
        check_whole(arena.store, held, 20)
        assert second.journal.count() > before
        outcomes = arena.outcomes(held)
        assert set(outcomes) <= {"ok", "late"}, outcomes
        assert outcomes["late"] <= 2 * 8 + 2 * 16, "what it had in hand, and what was on its way to it"
        assert set((first.journal.names() + second.journal.names()).values()) == {1}, "no decision is asked twice"


def test_games_of_a_killed_worker_are_asked_on_by_another(tmp_path, by_http):
    with PullArena(tmp_path / "arena", pull=NAMES) as arena:
        arena.start_api()
        for _ in range(2):
            arena.start_worker()
        copies = arena.copies(think_ms=2)
        games = launch(arena, arena.ids, PATIENT_LIMITS)
        for more in (50, 150):
            wait_until(lambda: copies.journal.count() >= more, 60, "decisions")  # noqa: B023 - called at once
            arena.restart_worker(0)
        finish(arena, games)
        assert came_to(arena, games) == by_http


def test_tournaments_outlast_store_and_api(tmp_path):
    with PullArena(tmp_path / "arena", pull=NAMES) as arena:
        arena.start_api()
        arena.start_worker()
        copies = arena.copies(think_ms=2)
        games = launch(arena, arena.ids, PATIENT_LIMITS)
        for more, restart in ((50, arena.restart_valkey), (150, arena.restart_api)):
            wait_until(lambda: copies.journal.count() >= more, 60, f"decisions {arena.left()} {arena.said()}")  # noqa: B023 - called at once
            restart()
        finish(arena, games)
        assert copies.journal.count() > 150
        outcomes = sum((arena.outcomes(name) for name in games), Counter())
        assert set(outcomes) <= {"ok", "late"}, "what isn't fetched waits, what isn't sent is sent again"
        assert outcomes["late"] <= 2 * 16, "what was on its way to who polled"


def test_an_api_that_is_away_for_longer_than_bots_may_be_silent_costs_them_no_game(tmp_path):
    limits = {"budget_ms": 1_000, "first_budget_ms": 5_000, "max_faults": 3}
    with PullArena(tmp_path / "arena", pull=NAMES[:2]) as arena:
        arena.start_api()
        arena.start_worker()
        copies = arena.copies(think_ms=5)
        held = arena.launch("pairs", "seven_up", 2, 8, arena.ids, limits, SEVEN_UP)
        wait_until(lambda: copies.journal.count() >= 40, 60, "decisions")
        arena.restart_api(after_s=7.0)
        wait_until(lambda: arena.is_finished(held), END_S, f"an end {arena.left()} {arena.said()}", every_s=0.05)
        outcomes = arena.outcomes(held)
        assert set(outcomes) <= {"ok", "late"}, outcomes
        assert outcomes["late"] <= 2 * 8, "what was on its way, before it could be known that the API is away"
        assert not any(any(result.retired) for result in arena.store.tournaments.results(held))


@pytest.fixture(scope="module")
def idle(tmp_path_factory):
    """Give an arena none of whose bots is connected."""
    with PullArena(tmp_path_factory.mktemp("idle") / "arena", pull=NAMES[:3], batch=4) as arena:
        arena.start_api()
        arena.start_worker()
        yield arena


def test_a_bot_that_is_not_connected_is_unreachable_at_once_and_one_that_comes_back_plays_on(idle):
    players = idle.ids[:2]
    game = idle.start_game("seven_up", players, {"budget_ms": 30_000, "first_budget_ms": 30_000, "max_faults": 3})
    wait_until(lambda: idle.store.games.get(game).state.is_end, 20, "an end long before the budgets'")
    _, log, _ = idle.store.games.load(game)
    assert {event.outcome for _, event in log if hasattr(event, "outcome")} == {"unreachable"}
    idle.copies(only=players)
    back = idle.launch("back", "seven_up", 2, 1, players, PATIENT_LIMITS, SEVEN_UP)
    wait_until(lambda: idle.is_finished(back), END_S, f"an end {idle.left()} {idle.said()}")
    assert set(idle.outcomes(back)) == {"ok"}


def test_a_bot_is_checked_over_its_own_connection(idle):
    *_, number = idle.ids
    idle.store.bots.change(number, lambda bot: replace(bot, state=BotState.PENDING, max_batch=1))
    with Client(idle.api.address, TOKEN) as client:
        offline = client.wait_for_check(number, client.start_check(number).id)
        assert offline.state == "failed"
        assert "doesn't poll" in offline.steps[0].detail
        idle.copies(only=[number])
        online = client.wait_for_check(number, client.start_check(number).id)
        assert online.state == "passed", online
        names = [step.name for step in online.steps]
        assert {"card", "challenge", "batch", "wrong signature", "no signature"} <= set(names)
    bot = idle.store.bots.get(number)
    assert (bot.state, bot.max_batch) == (BotState.ACTIVE, 4)
    assert bot.rulesets
