"""A history of a run in which processes are killed at random, checked against what the arena has kept of it.

Everybody writes down what was acknowledged to him: people what was answered 201 or 200, bots what they said to each
decision that another followed, readers what they were shown.
"""

from __future__ import annotations

from collections import Counter
from contextlib import ExitStack

import pytest

from bot_sdk.client import Arena as Client
from bot_sdk.events import Decided, Outcome
from bot_sdk.games.record import read, verify
from service.referee.table import Table
from tests.integration.arena import PATIENT_LIMITS, Arena, wait_until
from tests.integration.chaos import drawn_seed, fixed_seed, plan, told_of_failure, unleash
from tests.integration.played import check_records, check_settled, check_whole, to_do
from tests.integration.readers import Follower, Onlooker, Person, ResultsSeen, look_once_more

BOTS = 6
NAMES = [f"bot_{number}" for number in range(BOTS)]
FEW = {"worker": 1, "api": 1}
MANY = {"worker": 26, "api": 12, "valkey": 16}


class Run:
    """A run of tournaments and games of people, while those of `victims` are killed, each so many times."""

    def __init__(self, arena: Arena, seed: int, rounds: int) -> None:
        self.arena = arena
        self.seed = seed
        self.happened = []
        arena.start_api()
        self.people = [Person(lambda: arena.api.address) for _ in range(2)]
        with Client(arena.api.address) as client:
            self.people[0].sit_down(client, "river", 4, {"start_cards": 3})
            self.people[1].sit_down(client, "seven_up", 2, {"target": 3})
        pairs = arena.launch("pairs", "seven_up", 2, rounds, NAMES, PATIENT_LIMITS)
        tables = arena.launch(
            "tables", "river", 4, rounds, NAMES[:4], PATIENT_LIMITS, {"start_cards": 3}, deals="rotate"
        )
        self.games = {pairs: rounds * BOTS // 2, tables: rounds * 4}
        self.results = ResultsSeen(lambda: arena.api.address, list(self.games))
        self.follower = Follower(lambda: arena.api.address, self.readable)
        arena.bots.gate.shut()
        for _ in range(2):
            arena.start_worker()

    def readable(self) -> list[str]:
        """Name games that everybody may read while they are played, and a few that have just begun."""
        running = self.arena.running(next(iter(self.games)))
        return [person.game_id for person in self.people] + [game.id for game in running[:3]]

    def go(self, victims: dict[str, int], decisions: int, finish_s: float) -> None:
        arena = self.arena
        moments = plan(self.seed, victims, {"decisions": decisions, "results": sum(self.games.values())})
        counters = {
            "decisions": arena.bots.journal.count,
            "results": lambda: sum(map(arena.store.tournaments.count_results, self.games)),
        }
        with ExitStack() as stack:
            for look in (*(person.move for person in self.people), self.results.look, self.follower.look):
                stack.enter_context(Onlooker(look))
            look_once_more(self.results, self.follower)
            arena.bots.gate.open()
            self.happened += unleash(arena, moments, counters, lambda: arena.lengths(self.games))
            look_once_more(self.results, self.follower)
            wait_until(self._is_over, finish_s, "an end after all", every_s=0.05)
        wait_until(lambda: not to_do(arena.store), 20, "nothing to do any more")

    def _is_over(self) -> bool:
        return all(map(self.arena.is_finished, self.games)) and all(person.is_done for person in self.people)

    # --- the checks ---------------------------------------------------------------------------------------------------

    def check(self) -> None:
        """Check everything; the arena is at rest."""
        check_settled(self.arena.store, NAMES)
        with Client(self.arena.api.address) as client:
            for name, scheduled in self.games.items():
                check_whole(self.arena.store, name, scheduled)
                check_records(self.arena.store, name, client.records(name))
            for person in self.people:
                shown = read(client.record(person.game_id))
                verify(shown)
                person.check(shown)
            self.check_seen(client)
        tables = [
            self.table(result.game_id) for name in self.games for result in self.arena.store.tournaments.results(name)
        ]
        self.check_answers(tables)

    def table(self, game_id: str) -> Table:
        return Table.replayed(*self.arena.store.games.load(game_id))

    def check_seen(self, client: Client) -> None:
        """Check that what readers were shown is how each game began."""
        for game_id, seen in self.follower.seen.items():
            assert list(client.events(game_id))[: len(seen)] == seen

    def check_answers(self, tables: list[Table]) -> None:
        """Check that every bot's decision that was acknowledged stands at its place, and none that nobody made."""
        answers: dict[str, set[str]] = {}
        for line in self.arena.bots.answered.names():
            name, _, action = line.partition("=")
            answers.setdefault(name, set()).add(action)
        logged = {name: action for table in tables for name, action in made(table)}
        assert len(logged) > 0
        for name, action in logged.items():
            assert action in answers[name], f"{action} stands for {name}, which was answered {answers[name]}"
        asked = self.arena.bots.journal.names()
        for name in asked:
            place, _, number = name.rpartition(".")
            if f"{place}.{int(number) + 1}" in asked:
                assert name in logged, f"{name} was followed by another, and isn't in the log"
        assert set(logged) == set(asked), "bots were asked for what isn't in a log"


def made(table: Table) -> list[tuple[str, str]]:
    """Give the decisions of a game, each by its id with its action; all of them must be good."""
    count: Counter[int] = Counter()
    found = []
    for event in table.game.log:
        assert isinstance(event, Decided), f"{event} in {table.id}"
        assert event.outcome is Outcome.OK, f"{event} in {table.id}"
        found.append((f"{table.id}.{event.seat}.{count[event.seat]}", event.action))
        count[event.seat] += 1
    return found


def history(folder, seed: int, victims: dict[str, int], *, rounds: int, finish_s: float) -> None:
    arena = Arena(folder, bots=["house:greedy", "house:random"] * (BOTS // 2), max_games=3)
    arena.valkey._fsync = "always"  # a disk that is slow for a second would lose what the promise leaves out
    happened: list = []
    with arena, told_of_failure(arena, seed, happened):
        run = Run(arena, seed, rounds)
        run.happened = happened
        run.go(victims, decisions=rounds * 100, finish_s=finish_s)
        run.check()
        assert len(happened) == sum(victims.values())


def test_what_was_acknowledged_stands_after_a_few_kills(tmp_path):
    history(tmp_path / "arena", fixed_seed(), FEW, rounds=1, finish_s=60)


@pytest.mark.attack
def test_what_was_acknowledged_stands_after_many_kills(tmp_path):
    assert sum(MANY.values()) >= 50
    history(tmp_path / "arena", drawn_seed(), MANY, rounds=30, finish_s=600)
