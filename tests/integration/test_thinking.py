"""House bots that think, in an arena of real processes: whatever is killed, games go on and no process is left over."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

import pytest

from bot_sdk.results.values import GameState
from tests.integration.arena import PATIENT_LIMITS, Arena, wait_until
from tests.integration.running import command_of, state_of

ENTRIES = ["house:search", "house:counting", "house:greedy", "bot_0"]
ROUNDS = 8
FINISH_S = 120.0


@pytest.fixture
def arena(tmp_path):
    with Arena(tmp_path / "arena", bots=["house:greedy"]) as arena:
        yield arena


def launch(arena):
    return arena.launch("river", "river", 4, ROUNDS, ENTRIES, PATIENT_LIMITS, {"start_cards": 4})


def thinkers_of(pid):
    """Give the processes in which a worker has bots think: any of its threads may have started them."""
    found = []
    with suppress(FileNotFoundError, ProcessLookupError):  # it ends while we look
        for thread in Path(f"/proc/{pid}/task").iterdir():
            children = map(int, (thread / "children").read_text().split())
            found += [child for child in children if "service.thinking" in command_of(child)]
    return found


def are_gone(pids):
    return all(state_of(pid) == "Z" for pid in pids)


def has_thinkers(worker):
    return lambda: bool(thinkers_of(worker.child.pid))


def games_of(arena, tournament):
    found, _ = arena.store.games.list_for_tournament(tournament, limit=1_000)
    return found


def test_killed_processes_are_replaced_and_no_game_is_the_worse_for_it(arena):
    worker = arena.start_worker()
    tournament = launch(arena)
    killed = set()

    def kill_and_look():
        for pid in set(thinkers_of(worker.child.pid)) - killed if len(killed) < 4 else ():
            with suppress(ProcessLookupError):  # it has just ended by itself
                os.kill(pid, signal.SIGKILL)
            killed.add(pid)
        return arena.is_finished(tournament)

    wait_until(kill_and_look, FINISH_S, f"a tournament that ends\n{arena.left()}", every_s=0.1)
    assert len(killed) == 4
    assert {game.state for game in games_of(arena, tournament)} == {GameState.FINISHED}


def test_a_worker_that_stops_leaves_no_process_and_its_games_to_others(arena):
    worker = arena.start_worker()
    tournament = launch(arena)
    wait_until(has_thinkers(worker), 60, "a process that thinks")
    pids = thinkers_of(worker.child.pid)
    worker.terminate()
    assert are_gone(pids)
    arena.start_worker()
    wait_until(lambda: arena.is_finished(tournament), FINISH_S, "a tournament that ends")


def test_a_worker_that_is_killed_takes_its_processes_along(arena):
    worker = arena.start_worker()
    tournament = launch(arena)
    wait_until(has_thinkers(worker), 60, "a process that thinks")
    pids = thinkers_of(worker.child.pid)
    os.kill(worker.child.pid, signal.SIGKILL)
    wait_until(lambda: are_gone(pids), 20, "no process without its worker")
    arena.start_worker()
    wait_until(lambda: arena.is_finished(tournament), FINISH_S, "a tournament that ends")
