"""Whatever is killed, and whenever: tournaments go on as if nothing had happened."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from bot_sdk.client import Arena as Client
from bot_sdk.games.record import read, verify
from tests.integration.arena import PATIENT_LIMITS, Arena, wait_until
from tests.integration.chaos import drawn_seed, fixed_seed, plan, told_of_failure, unleash
from tests.integration.doctoring import check_well
from tests.integration.peeking import Peeker
from tests.integration.played import check_recomputed, check_records, check_settled, check_whole, played, rated, to_do
from tests.integration.readers import LOOK_S, Onlooker, Person, ResultsSeen, look_once_more

RULES = {"SLAGVELD_TRUST_ACCOUNTS": "1", "SLAGVELD_RATINGS_MS": "1000"}
"""The bots of the arena are of one account, and their games are rated all the same."""
FITTED_S = 240.0
"""How long ratings take at most: when a kill has hit a fit, the next waits until that one is given up."""


@dataclass(frozen=True)
class Size:
    """How many bots and rounds there are, how often who is killed, and how long a run may take after that."""

    bots: int
    swiss: int
    river: int
    victims: dict[str, int]
    finish_s: float
    waits_for_ratings: bool = False

    @property
    def names(self) -> list[str]:
        return ["house:greedy", "house:random"] * (self.bots // 2)


SMALL = Size(bots=6, swiss=3, river=1, victims={"worker": 4, "api": 2, "valkey": 3}, finish_s=60.0)

LARGE = Size(
    bots=32,
    swiss=6,
    river=5,
    victims={"worker": 30, "api": 10, "valkey": 20},
    finish_s=600.0,
    waits_for_ratings=True,
)


def launch(arena: Arena, size: Size) -> dict[str, int]:
    """Start the tournaments; give how many games each has."""
    entries = [f"bot_{n}" for n in range(size.bots)]
    pairs = arena.launch("everybody", "seven_up", 2, None, entries, PATIENT_LIMITS, deals="field")
    swiss = arena.launch("swiss", "seven_up", 2, size.swiss, entries, PATIENT_LIMITS, format="swiss", deals="field")
    short = {"start_cards": 6}
    river = arena.launch("river", "river", 4, size.river, entries[:4], PATIENT_LIMITS, short, deals="rotate")
    tables = size.bots // 2
    return {pairs: tables * (size.bots - 1), swiss: tables * size.swiss, river: 4 * size.river}


def came_to(arena: Arena, games: dict[str, int]) -> dict[str, object]:
    return {name: played(arena.store, name) for name in games} | {"rated": rated(arena.store, "seven_up")}


def undisturbed(folder, size: Size):
    with Arena(folder, bots=size.names, max_games=6, **RULES) as arena:
        games = launch(arena, size)
        arena.start_worker()
        wait_until(lambda: all(map(arena.is_finished, games)), size.finish_s, "an undisturbed end", every_s=0.05)
        return came_to(arena, games), arena.bots.journal.count()


def disturbed(folder, size: Size, seed: int, decisions: int):
    happened = []
    with Arena(folder, bots=size.names, max_games=6, **RULES) as arena, told_of_failure(arena, seed, happened):
        arena.start_api()
        person = Person(lambda: arena.api.address)
        with Client(arena.api.address) as client:
            person.sit_down(client, "river", 4, {"start_cards": 6})
        games = launch(arena, size)
        reader = ResultsSeen(lambda: arena.api.address, list(games))
        peeker = Peeker(lambda: arena.api.address, list(games), arena.bots.told.names)
        arena.bots.gate.shut()
        for _ in range(2):
            arena.start_worker()
        moments = plan(seed, size.victims, {"decisions": decisions, "results": sum(games.values())})
        counters = {
            "decisions": arena.bots.journal.count,
            "results": lambda: sum(map(arena.store.tournaments.count_results, games)),
        }
        is_over = lambda: all(map(arena.is_finished, games))  # noqa: E731 - a condition to be waited for
        with Onlooker(reader.look), Onlooker(peeker.look, pause_s=0.1), Onlooker(person.move):
            wait_until(lambda: peeker.covered, LOOK_S, "a look at an open board", every_s=0.02)
            look_once_more(reader)
            arena.bots.gate.open()
            happened += unleash(arena, moments, counters, lambda: arena.lengths(games))
            look_once_more(reader)
            wait_until(lambda: is_over() and person.is_done, size.finish_s, "an end after all", every_s=0.05)
        check_all(arena, games, person, size)
        return came_to(arena, games)


def check_all(arena: Arena, games: dict[str, int], person: Person, size: Size) -> None:
    wait_until(lambda: not to_do(arena.store), 10, "nothing to do any more")
    check_settled(arena.store, [f"bot_{n}" for n in range(size.bots)])
    if size.waits_for_ratings:
        check_rated_once(arena, len(rated(arena.store, "seven_up")), size)
        wait_until(lambda: arena.store.due.count() == 0, FITTED_S, "each tournament's own ratings", every_s=0.1)
    with Client(arena.api.address) as client:
        for name, scheduled in games.items():
            check_whole(arena.store, name, scheduled)
            check_records(arena.store, name, client.records(name))
            check_recomputed(client, name)
        shown = read(client.record(person.game_id))
    check_well(arena)
    verify(shown)
    person.check(shown)


def check_rated_once(arena: Arena, games: int, size: Size) -> None:
    """Check that the leaderboard comes to be made from each game once."""
    board = arena.store.ratings.leaderboard
    is_fitted = lambda: (shown := board("seven_up")) is not None and shown.results == games  # noqa: E731 - a condition to be waited for
    wait_until(is_fitted, FITTED_S, "ratings of all games", every_s=0.1)
    assert sum(row.games for row in board("seven_up").rows) == 2 * games
    assert len(board("seven_up").rows) == size.bots


def test_killed_at_any_moment_everything_is_played_once_and_as_undisturbed(tmp_path):
    expected, decisions = undisturbed(tmp_path / "undisturbed", SMALL)
    seed = fixed_seed()
    assert disturbed(tmp_path / "disturbed", SMALL, seed, decisions) == expected, f"seed {seed}"


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    return undisturbed(tmp_path_factory.mktemp("undisturbed") / "arena", LARGE)


@pytest.mark.soak
@pytest.mark.parametrize("number", range(4))
def test_killed_again_and_again_for_minutes(tmp_path, expected, number):
    (came, decisions), seed = expected, drawn_seed() + number
    assert disturbed(tmp_path / "disturbed", LARGE, seed, decisions) == came, f"seed {seed}"
