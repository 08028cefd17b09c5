"""A bot that is always at its deadline waits alone: others are neither late for it nor asked at a higher price."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bot_sdk.events import Outcome
from tests.integration.arena import Arena, wait_until
from tests.integration.hostile_bots import KINDS, HostileBot

OWN_LIMITS = {"budget_ms": 50, "first_budget_ms": 50, "max_faults": 1_000}
OTHERS_LIMITS = {"budget_ms": 1_000, "first_budget_ms": 5_000}
SETTINGS = {"SLAGVELD_LEASE_MS": "15000", "SLAGVELD_RENEW_MS": "5000", "SLAGVELD_SWEEP_MS": "200"}
BOTS = ["house:greedy", "house:random"] * 2


def cpu_s(pid: int) -> float:
    """Give the processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def outcomes(arena: Arena, tournament_id: str) -> dict[str, int]:
    """Count the decisions of a tournament by outcome."""
    counted: dict[str, int] = {}
    for result in arena.store.tournaments.results(tournament_id):
        for of_seat in result.outcomes:
            for outcome, count in of_seat.items():
                counted[outcome] = counted.get(outcome, 0) + count
    return counted


def play(arena: Arena, name: str, rounds: int) -> tuple[float, int]:
    """Hold a tournament of good bots; give the worker's processor time meanwhile, and how many decisions it had."""
    before = cpu_s(arena.workers[0].child.pid)
    entries = [f"bot_{number}" for number in range(len(BOTS))]
    held = arena.launch(name, "seven_up", 2, rounds, entries, OTHERS_LIMITS)
    wait_until(lambda: arena.is_finished(held), 120, "the end of a tournament", every_s=0.02)
    counted = outcomes(arena, held)
    assert counted.keys() == {Outcome.OK.value}
    return cpu_s(arena.workers[0].child.pid) - before, sum(counted.values())


def beside(folder, rounds: int) -> float:
    """Give the processor time of good bots and one that never answers, as a ratio to what both cost apart."""
    bot = HostileBot(KINDS["silent"].misbehave)
    try:
        with Arena(folder, bots=[*BOTS, "house:greedy"], **SETTINGS) as arena:
            late = arena.register("bot_late", "late", bot.url, max_games=8)
            arena.start_worker()
            play(arena, "warm", 3)
            alone_s, alone = play(arena, "alone", rounds)
            waits = arena.launch("late", "seven_up", 2, 1_000, [late.id, "bot_4"], OWN_LIMITS)
            wait_until(lambda: len(bot.decisions) >= 8, 30, "a bot that lets us wait")
            before_s, before = cpu_s(arena.workers[0].child.pid), len(bot.decisions)
            wait_until(lambda: len(bot.decisions) >= before + 40 * rounds, 120, "waiting for nobody else")
            waiting_s, waited = cpu_s(arena.workers[0].child.pid) - before_s, len(bot.decisions) - before
            together_s, others = play(arena, "together", rounds)
            late_ones = len(bot.decisions) - before - waited
            assert late_ones > 0
            assert arena.running(waits)
            return together_s / (alone_s * others / alone + waiting_s * late_ones / waited)
    finally:
        bot.close()


def test_others_are_in_time_beside_a_bot_that_never_answers(tmp_path):
    assert beside(tmp_path / "arena", 5) > 0


@pytest.mark.attack
def test_a_bot_that_never_answers_makes_decisions_of_others_cost_no_more(tmp_path):
    ratios = sorted(beside(tmp_path / str(run), 60) for run in range(3))
    assert ratios[1] <= 1.05, ratios
