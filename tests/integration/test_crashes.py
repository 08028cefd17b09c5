"""Whatever is killed, and whenever: tournaments go on as if nothing had happened."""

from __future__ import annotations

import contextlib
import os
import random
from dataclasses import dataclass

import pytest

from tests.integration.arena import PATIENT_LIMITS, Arena, wait_until
from tests.integration.chaos import plan, unleash
from tests.integration.played import check_settled, check_whole, played
from tests.integration.readers import Onlooker, ResultsSeen

BOTS = ["house:greedy", "house:random", "house:greedy", "house:random"]
FINISH_S = 60.0


@dataclass(frozen=True)
class Size:
    """How many rounds the two tournaments have, and how often who is killed."""

    seven_up: int
    river: int
    victims: dict[str, int]
    decisions: int
    results: int


SMALL = Size(seven_up=40, river=6, victims={"worker": 10, "api": 5, "valkey": 7}, decisions=500, results=3)


def launch(arena: Arena, size: Size) -> dict[str, int]:
    """Start both tournaments; give how many games each has."""
    ids = arena.store.bots.get_many([f"bot_{n}" for n in range(len(BOTS))])
    entries = [bot.id for bot in ids]
    seven_up = arena.launch("seven up", "seven_up", 2, size.seven_up, entries[:2], PATIENT_LIMITS)
    river = arena.launch("river", "river", 4, size.river, entries, PATIENT_LIMITS)
    return {seven_up: size.seven_up, river: size.river * len(BOTS)}


def undisturbed(folder, size: Size):
    with Arena(folder, bots=BOTS, max_games=6) as arena:
        games = launch(arena, size)
        arena.start_worker()
        wait_until(lambda: all(map(arena.is_finished, games)), FINISH_S, "an undisturbed end", every_s=0.05)
        return {name: played(arena.store, name) for name in games}


def disturbed(folder, size: Size, seed: int):
    moments = plan(seed, size.victims, decisions=size.decisions, results=size.results)
    happened = []
    with Arena(folder, bots=BOTS, max_games=6) as arena:
        games = launch(arena, size)
        arena.start_api()
        for _ in range(2):
            arena.start_worker()
        counters = {
            "decisions": arena.bots.journal.count,
            "results": lambda: sum(map(arena.store.tournaments.count_results, games)),
        }
        reader = ResultsSeen(arena.store, list(games))
        try:
            with Onlooker(reader.look):
                happened += unleash(arena, moments, counters, lambda: all(map(arena.is_finished, games)))
                wait_until(lambda: all(map(arena.is_finished, games)), FINISH_S, "an end after all", every_s=0.05)
            for name, scheduled in games.items():
                check_whole(arena.store, name, scheduled)
            wait_until(lambda: arena.store.due.count() == 0, 10, "nothing due any more")
            check_settled(arena.store, [f"bot_{n}" for n in range(len(BOTS))])
        except BaseException as error:
            error.add_note(f"seed {seed}; happened: {'; '.join(map(str, happened))}\n{arena.said()}")
            raise
        return {name: played(arena.store, name) for name in games}


def test_killed_at_any_moment_everything_is_played_once_and_as_undisturbed(tmp_path):
    seed = int(os.environ.get("SLAGVELD_TEST_SEED") or random.SystemRandom().randrange(2**32))
    expected = undisturbed(tmp_path / "undisturbed", SMALL)
    assert disturbed(tmp_path / "disturbed", SMALL, seed) == expected, f"seed {seed}"
