"""Whatever is killed, and whenever: tournaments go on as if nothing had happened."""

from __future__ import annotations

import contextlib
import os
import random
from dataclasses import dataclass

import pytest

from bot_sdk.client import Arena as Client
from bot_sdk.games.record import read, verify
from tests.integration.arena import PATIENT_LIMITS, Arena, wait_until
from tests.integration.chaos import plan, unleash
from tests.integration.played import check_records, check_settled, check_whole, played
from tests.integration.readers import Onlooker, Person, ResultsSeen

BOTS = ["house:greedy", "house:random", "house:greedy", "house:random"]


@dataclass(frozen=True)
class Size:
    """How many rounds the two tournaments have, how often who is killed, and how long a run may take after that."""

    seven_up: int
    river: int
    victims: dict[str, int]
    finish_s: float


SMALL = Size(seven_up=60, river=5, victims={"worker": 10, "api": 5, "valkey": 7}, finish_s=60.0)

LARGE = Size(seven_up=400, river=30, victims={"worker": 80, "api": 30, "valkey": 50}, finish_s=600.0)


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
        wait_until(lambda: all(map(arena.is_finished, games)), size.finish_s, "an undisturbed end", every_s=0.05)
        return {name: played(arena.store, name) for name in games}, arena.bots.journal.count()


def disturbed(folder, size: Size, seed: int, decisions: int):
    happened = []
    with Arena(folder, bots=BOTS, max_games=6) as arena, told_of_failure(arena, seed, happened):
        arena.start_api()
        person = Person(lambda: arena.api.address)
        with Client(arena.api.address) as client:
            person.sit_down(client, "river", 4, {"start_cards": 6})
        games = launch(arena, size)
        reader = ResultsSeen(lambda: arena.api.address, list(games))
        for _ in range(2):
            arena.start_worker()
        moments = plan(seed, size.victims, {"decisions": decisions, "results": sum(games.values())})
        counters = {
            "decisions": arena.bots.journal.count,
            "results": lambda: sum(map(arena.store.tournaments.count_results, games)),
        }
        is_over = lambda: all(map(arena.is_finished, games))  # noqa: E731
        with Onlooker(reader.look), Onlooker(person.move):
            happened += unleash(arena, moments, counters)
            wait_until(lambda: is_over() and person.is_done, size.finish_s, "an end after all", every_s=0.05)
        check_all(arena, games, person)
        assert reader.looks > len(moments)
        return {name: played(arena.store, name) for name in games}


@contextlib.contextmanager
def told_of_failure(arena, seed, happened):
    try:
        yield
    except BaseException as error:
        error.add_note(f"seed {seed}; happened: {'; '.join(map(str, happened))}\n{arena.left()}\n{arena.said()}")
        raise


def check_all(arena: Arena, games: dict[str, int], person: Person) -> None:
    with Client(arena.api.address) as client:
        for name, scheduled in games.items():
            check_whole(arena.store, name, scheduled)
            check_records(arena.store, name, client.records(name))
        shown = read(client.record(person.game_id))
    verify(shown)
    person.check(shown)
    wait_until(lambda: arena.store.due.count() == 0, 10, "nothing due any more")
    check_settled(arena.store, [f"bot_{n}" for n in range(len(BOTS))])


def check_same_as_undisturbed(folder, size: Size, seed: int) -> None:
    expected, decisions = undisturbed(folder / "undisturbed", size)
    assert disturbed(folder / "disturbed", size, seed, decisions) == expected, f"seed {seed}"


def test_killed_at_any_moment_everything_is_played_once_and_as_undisturbed(tmp_path):
    seed = int(os.environ.get("SLAGVELD_TEST_SEED") or random.SystemRandom().randrange(2**32))
    check_same_as_undisturbed(tmp_path, SMALL, seed)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(4))
def test_killed_again_and_again_for_minutes(tmp_path, seed):
    check_same_as_undisturbed(tmp_path, LARGE, seed)
