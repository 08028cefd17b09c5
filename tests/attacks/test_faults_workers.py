"""Workers whose store, or whose bots, are in trouble: they wait, go on by themselves, and nothing is done twice."""

from __future__ import annotations

import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor

import pytest

from bot_sdk.client import Arena as Client
from bot_sdk.events import Outcome
from bot_sdk.games.record import read
from tests.faults import troubles
from tests.faults.behind import Behind, asks, decision_ids
from tests.faults.traps import UP
from tests.integration.arena import PATIENT_LIMITS, Arena, wait_until
from tests.integration.played import check_settled, check_whole
from tests.integration.readers import Person

BOTS = ["house:greedy", "house:random", "house:greedy", "house:random"]
NAMES = [f"bot_{number}" for number in range(4)]
TROUBLE_S = 1.0
"""Longer than leases, the sweeper's lock and the queue's heartbeat last here."""


@pytest.fixture
def arena(tmp_path):
    made = Arena(tmp_path / "arena", bots=BOTS, think_ms=10)
    made.valkey._program = troubles.large_files_fail(tmp_path)
    with made:
        yield made


def launch(arena, rounds):
    return arena.launch("river", "river", 4, rounds, NAMES, PATIENT_LIMITS, {"start_cards": 4})


def has_gone_on(arena, decisions=40, seconds=30):
    goal = arena.bots.journal.count() + decisions
    wait_until(lambda: arena.bots.journal.count() >= goal, seconds, f"more decisions: {arena.left()} {arena.said()}")


def finish(arena, tournament_id, scheduled):
    wait_until(lambda: arena.is_finished(tournament_id), 60, f"the end: {arena.left()} {arena.said()}", every_s=0.02)
    check_whole(arena.store, tournament_id, scheduled)
    wait_until(lambda: arena.store.due.count() == 0, 30, f"nothing to do: {arena.left()}")
    check_settled(arena.store, NAMES)
    asked = arena.bots.journal.names()
    outcomes = Counter()
    for result in arena.store.tournaments.results(tournament_id):
        for seat in result.outcomes:
            outcomes.update(seat)
    assert set(outcomes) == {"ok"}
    assert sum(outcomes.values()) == len(asked), "decisions that were made, and those that bots were asked for"
    return asked


@pytest.mark.parametrize(
    ("wrong", "rounds"),
    [
        ((troubles.out_of_memory, troubles.read_only), 4),
        pytest.param(troubles.REFUSING * 2, 10, marks=pytest.mark.attack),
    ],
    ids=["short", "long"],
)
def test_workers_wait_while_the_store_takes_no_writes_and_go_on_by_themselves(arena, wrong, rounds):
    """Out of memory, read-only, without replicas, on a full disk, one after the other; the same processes all along."""
    tournament = launch(arena, rounds)
    workers = [arena.start_worker() for _ in range(2)]
    for trouble in wrong:
        has_gone_on(arena)
        with trouble(arena.valkey):
            before = arena.store.tournaments.count_results(tournament)
            time.sleep(TROUBLE_S)
            assert arena.store.tournaments.count_results(tournament) == before
    finish(arena, tournament, 4 * rounds)
    assert all(worker.is_alive for worker in workers)


@pytest.mark.attack
@pytest.mark.parametrize("trouble", [troubles.stopped, troubles.dead], ids=["stopped", "dead"])
def test_a_store_that_answers_nobody_for_seven_seconds_applies_no_write_twice(arena, trouble):
    """Longer than a client waits for an answer: each has sent its command again by the time the store goes on."""
    arena.start_api()
    person = Person(lambda: arena.api.address)
    with Client(arena.api.address) as client:
        person.sit_down(client, "river", 4, {"start_cards": 5})
    tournament = launch(arena, 6)
    workers = [arena.start_worker() for _ in range(2)]
    has_gone_on(arena)
    with ThreadPoolExecutor(1) as pool, trouble(arena.valkey):
        moved = pool.submit(person.move)
        time.sleep(7)
    moved.result(60)
    while not person.is_done:
        person.move()
    finish(arena, tournament, 24)
    with Client(arena.api.address) as client:
        person.check(read(client.record(person.game_id)))
    assert all(worker.is_alive for worker in workers)
    assert arena.api.is_alive


# --- between a worker and a bot ---------------------------------------------------------------------------------------


@pytest.fixture
def behind(tmp_path):
    with Behind(tmp_path / "arena") as made:
        yield made


@pytest.mark.attack
def test_bot_on_the_other_side_of_a_partition_is_late_until_it_heals(behind):
    """Each decision costs it its time and no more; nobody else's game waits, and once it is back it plays on."""
    limits = {"budget_ms": 300, "first_budget_ms": 600, "max_faults": 20}
    game_id, games = behind.arena.start_game("seven_up", ["far_0", "far_1"], limits), behind.arena.store.games
    trap = behind.to_bots[0].catch(UP, asks(game_id))
    behind.arena.start_worker()
    trap.wait()
    length = games.length(game_id)
    behind.to_bots[0].partition()
    trap.release()
    other = behind.finish(behind.arena.start_game("seven_up", ["bot_0", "bot_1"], PATIENT_LIMITS))
    assert {event.outcome for event in other.game.log} == {Outcome.OK}
    wait_until(lambda: games.length(game_id) > length, 20, "a decision that was late")
    behind.to_bots[0].heal()
    table = behind.finish(game_id)
    mine = [event.outcome for event in table.game.log if event.seat == 0]
    late = mine.count(Outcome.LATE)
    assert mine == [Outcome.LATE] * late + [Outcome.OK] * (len(mine) - late)
    assert 0 < late < len(mine)
    assert len(set(decision_ids(table))) == len(decision_ids(table))
