"""A bot that is always at its deadline waits alone: others are neither late for it nor asked at a higher price."""

from __future__ import annotations

import pytest

from benchmarks.ground import BotServer, Ground
from benchmarks.harness import FULL
from benchmarks.late_bot import Beside
from bot_sdk.events import Outcome
from tests.integration.arena import Arena, wait_until
from tests.integration.hostile_bots import KINDS, HostileBot

OWN_LIMITS = {"budget_ms": 50, "first_budget_ms": 50, "max_faults": 1_000}
OTHERS_LIMITS = {"budget_ms": 1_000, "first_budget_ms": 5_000}
BOTS = ["house:greedy", "house:random"] * 2


@pytest.fixture
def late():
    bot = HostileBot(KINDS["silent"].misbehave)
    yield bot
    bot.close()


def outcomes(arena: Arena, tournament_id: str) -> set[str]:
    """Tell how decisions of a tournament went."""
    results = arena.store.tournaments.results(tournament_id)
    return {outcome for result in results for of_seat in result.outcomes for outcome in of_seat}


def test_others_are_in_time_beside_a_bot_that_never_answers(tmp_path, late):
    with Arena(tmp_path / "arena", bots=[*BOTS, "house:greedy"]) as arena:
        arena.register("bot_late", "late", late.url, max_games=8)
        arena.start_worker()
        waits = arena.launch("late", "seven_up", 2, 1_000, ["bot_late", "bot_4"], OWN_LIMITS)
        wait_until(lambda: len(late.decisions) >= 8, 30, "a bot that lets us wait")
        before = len(late.decisions)
        entries = [f"bot_{number}" for number in range(len(BOTS))]
        held = arena.launch("beside", "seven_up", 2, 5, entries, OTHERS_LIMITS)
        wait_until(lambda: arena.is_finished(held), 120, "the end of a tournament", every_s=0.02)
        assert outcomes(arena, held) == {Outcome.OK.value}
        assert len(late.decisions) > before
        assert arena.running(waits)


@pytest.mark.attack
def test_a_bot_that_never_answers_makes_decisions_of_others_cost_no_more():
    with BotServer() as bots, Ground(bots) as ground:
        beside = Beside(bots, ground, FULL)
        ratios = sorted(beside.measure().ratio for _ in range(FULL.rounds))
    assert ratios[FULL.rounds // 2] <= 1.05, ratios
