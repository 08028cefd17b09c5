"""What isn't a crash: a worker that is told to stop, a store that stands still for a while."""

from __future__ import annotations

import os
import signal
import time

import pytest

from tests.integration.arena import PATIENT_LIMITS, Arena, wait_until
from tests.integration.played import check_whole

BOTS = ["house:greedy", "house:random", "house:greedy", "house:random"]
LONG = {"SLAGVELD_LEASE_MS": "30000", "SLAGVELD_RENEW_MS": "5000", "SLAGVELD_HEARTBEAT_MS": "30000"}
"""With these, whoever waits for a lease or a job of somebody who has gone waits longer than any test."""
PROMPT_S = 20.0
GONE_S = 10.0
"""How soon a worker that is told to stop is gone."""
BRISK = {"budget_ms": 2_500, "first_budget_ms": 3_000}
"""Bots answer in time on a busy machine, and would be late if what stands still that long cost them their time."""
BRISK_STILL_S = 3.5


def launch(arena, rounds=2, limits=PATIENT_LIMITS):
    entries = [f"bot_{n}" for n in range(4)]
    return arena.launch("river", "river", 4, rounds, entries, limits, {"start_cards": 4}), rounds * 4


def ask_more(arena, decisions):
    goal = arena.bots.journal.count() + decisions
    wait_until(lambda: arena.bots.journal.count() >= goal, 20, f"{decisions} more decisions", every_s=0.001)


def finish(arena, tournament_id, scheduled, seconds=PROMPT_S):
    wait_until(lambda: arena.is_finished(tournament_id), seconds, f"the end: {arena.said()}")
    check_whole(arena.store, tournament_id, scheduled)


def stand_still(pid, seconds=2.0):
    os.kill(pid, signal.SIGSTOP)
    try:
        time.sleep(seconds)
    finally:
        os.kill(pid, signal.SIGCONT)


def asked_twice(arena):
    return {name: times for name, times in arena.bots.journal.names().items() if times > 1}


def outcomes(arena, tournament_id):
    return {
        name for result in arena.store.tournaments.results(tournament_id) for seat in result.outcomes for name in seat
    }


def test_a_worker_told_to_stop_hands_its_games_to_another_at_once(tmp_path):
    """Its bots are answering when it is told: their answers count, and no decision is asked twice."""
    with Arena(tmp_path / "arena", bots=BOTS, think_ms=15, **LONG) as arena:
        name, scheduled = launch(arena)
        arena.start_worker()
        arena.start_worker()
        ask_more(arena, 200)
        assert arena.workers[0].terminate() < GONE_S
        finish(arena, name, scheduled)
        assert asked_twice(arena) == {}
        assert outcomes(arena, name) == {"ok"}


def test_what_the_last_worker_hands_back_the_next_one_goes_on_with_at_once(tmp_path):
    with Arena(tmp_path / "arena", bots=BOTS, think_ms=15, **LONG) as arena:
        name, scheduled = launch(arena)
        for _ in range(3):
            arena.start_worker()
            ask_more(arena, 120)
            assert arena.workers.pop().terminate() < GONE_S
        arena.start_worker()
        finish(arena, name, scheduled)
        assert asked_twice(arena) == {}
        assert outcomes(arena, name) == {"ok"}


def test_a_worker_told_to_stop_while_the_store_is_away_stops(tmp_path):
    with Arena(tmp_path / "arena", bots=BOTS, think_ms=15) as arena:
        name, scheduled = launch(arena, rounds=1)
        worker = arena.start_worker()
        ask_more(arena, 100)
        arena.valkey.kill()
        assert worker.terminate() < 15
        arena.valkey.start()
        arena.start_worker()
        finish(arena, name, scheduled, 20)


def test_a_store_that_stands_still_costs_nobody_anything(tmp_path):
    """Some seconds pass for everybody: bots have answered meanwhile, and their answers are taken."""
    with Arena(tmp_path / "arena", bots=BOTS, think_ms=15, **LONG) as arena:
        name, scheduled = launch(arena, rounds=1, limits=BRISK)
        arena.start_worker()
        arena.start_worker()
        ask_more(arena, 200)
        stand_still(arena.valkey.pid, BRISK_STILL_S)
        finish(arena, name, scheduled, 20)
        assert asked_twice(arena) == {}
        assert outcomes(arena, name) == {"ok"}


def test_a_store_that_stands_still_longer_than_a_lease_loses_nothing(tmp_path):
    """All leases have run out when it goes on; who asked may take his games again, or another does."""
    with Arena(tmp_path / "arena", bots=BOTS, think_ms=15) as arena:
        name, scheduled = launch(arena, rounds=1)
        arena.start_worker()
        arena.start_worker()
        ask_more(arena, 200)
        stand_still(arena.valkey.pid)
        finish(arena, name, scheduled, 20)
        assert outcomes(arena, name) == {"ok"}


@pytest.mark.parametrize(("workers", "timings"), [(1, LONG), (2, {})], ids=["alone", "overtaken"])
def test_a_worker_that_stands_still_charges_nobody(tmp_path, workers, timings):
    """The time it lost is its own, though bots' budgets passed in it; alone it asks again, else others have."""
    with Arena(tmp_path / "arena", bots=BOTS, think_ms=15, **timings) as arena:
        name, scheduled = launch(arena, limits=BRISK)
        for _ in range(workers):
            arena.start_worker()
        ask_more(arena, 200)
        stand_still(arena.workers[0].child.pid, BRISK_STILL_S)
        finish(arena, name, scheduled, 20)
        assert outcomes(arena, name) == {"ok"}
