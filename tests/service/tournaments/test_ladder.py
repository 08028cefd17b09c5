"""Ladders: near ratings meet more often, everybody plays about as much, and nobody is cut off."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, pairwise
from random import Random
from statistics import correlation, mean

import pytest

from bot_sdk.results.values import Round
from service.tournaments.ladder import AT_ONCE, elo, ladder_tables


def field(n: int) -> list[str]:
    return [f"bot_{number}" for number in range(n)]


class Ladder:
    """A ladder among bots of known strength, in Elo; what is drawn is played at once."""

    def __init__(self, n: int, seed: int = 1) -> None:
        self.seed = seed
        self.rng = Random(f"{n}/{seed}")
        self.entries = field(n)
        self.strength = {bot: self.rng.gauss(1500, 200) for bot in self.entries}
        self.rounds: list[Round] = []
        self.results: list[tuple[str, str, float]] = []

    def draw(self, count: int = 1, busy: dict[str, int] | None = None) -> list[tuple[str, ...]]:
        return ladder_tables(self.entries, self.rounds, self.results, busy=busy or {}, count=count, seed=self.seed)

    def play(self, tables: int, at_once: int = 1, busy: dict[str, int] | None = None) -> Ladder:
        for _ in range(tables // at_once):
            for one, other in self.draw(at_once, busy):
                self.rounds.append(Round(((one, other),)))
                chance = 1 / (1 + 10 ** ((self.strength[other] - self.strength[one]) / 400))
                self.results.append((one, other, float(self.rng.random() < chance)))
        return self

    @property
    def tables(self) -> list[tuple[str, ...]]:
        return [round_.tables[0] for round_ in self.rounds]

    @property
    def games(self) -> Counter[str]:
        return Counter(bot for table in self.tables for bot in table)


@pytest.mark.parametrize(("n", "at_once"), [(3, 1), (7, 1), (40, 1), (40, 20)])
def test_everybody_plays_about_as_much_at_any_time(n, at_once):
    ladder = Ladder(n)
    for _ in range(5):
        games = ladder.play(100, at_once).games
        assert max(games.values()) - min(games[bot] for bot in ladder.entries) <= 2


def test_near_strengths_meet_more_often():
    ladder = Ladder(40).play(500, 5)
    gap = mean(abs(ladder.strength[one] - ladder.strength[other]) for one, other in ladder.tables[200:])
    anyone = mean(abs(ladder.strength[one] - ladder.strength[other]) for one, other in combinations(ladder.entries, 2))
    assert gap < 0.8 * anyone
    both = [pair for one, other in ladder.tables[200:] for pair in ((one, other), (other, one))]
    assert correlation([ladder.strength[bot] for bot, _ in both], [ladder.strength[bot] for _, bot in both]) > 0.3


def test_anyone_can_be_reached_from_anyone():
    ladder = Ladder(40).play(200, 5)
    reached, before = {"bot_0"}, set()
    while reached != before:
        before = set(reached)
        reached |= {bot for table in ladder.tables if reached & set(table) for bot in table}
    assert reached == set(ladder.entries)


def test_even_unlike_bots_meet_in_a_small_field():
    assert len({frozenset(table) for table in Ladder(8).play(400).tables}) == 28


def test_nobody_meets_at_once_whom_it_has_just_met():
    last: dict[str, str] = {}
    for one, other in Ladder(10).play(300).tables:
        assert last.get(one) != other
        assert last.get(other) != one
        last[one], last[other] = other, one


def test_two_play_each_other_and_change_seats():
    tables = Ladder(2).play(6).tables
    assert all(after == before[::-1] for before, after in pairwise(tables))


def test_seats_are_shared_evenly():
    ladder = Ladder(20).play(400, 4)
    seats = Counter((bot, seat) for table in ladder.tables for seat, bot in enumerate(table))
    assert all(abs(seats[bot, 0] - seats[bot, 1]) <= 3 for bot in ladder.entries)


def test_drawing_several_is_drawing_one_after_another_without_results():
    ladder = Ladder(9).play(30)
    at_once = ladder.draw(3)
    for table in at_once:
        assert ladder.draw() == [table]
        ladder.rounds.append(Round((table,)))


def test_the_order_of_entries_says_nothing_and_the_seed_much():
    ladder = Ladder(12).play(50)
    drawn = ladder.draw(6)
    ladder.entries.reverse()
    assert ladder.draw(6) == drawn
    ladder.seed += 1
    assert ladder.draw(6) != drawn


def test_who_has_enough_tables_under_way_waits_and_catches_up_later():
    ladder = Ladder(6).play(60, busy={"bot_3": AT_ONCE})
    assert ladder.games["bot_3"] == 0
    assert max(ladder.games.values()) - min(ladder.games[bot] for bot in ladder.entries if bot != "bot_3") <= 2
    games = ladder.play(60).games
    assert max(games.values()) - min(games.values()) <= 2


def test_what_is_drawn_makes_busy_too():
    assert len(Ladder(2).draw(100)) == AT_ONCE
    assert len(Ladder(2).draw(100, {"bot_0": 1})) == AT_ONCE - 1


def test_fewer_than_two_play_nothing():
    assert Ladder(1).draw() == []
    assert Ladder(2).draw(busy={"bot_0": AT_ONCE}) == []


def test_elo_takes_from_one_what_it_gives_the_other():
    ratings = elo([("a", "b", 1.0), ("b", "c", 0.5), ("a", "c", 0.0)])
    assert ratings["a"] + ratings["b"] + ratings["c"] == pytest.approx(4500)
    assert elo([("a", "b", 1.0)]) == {"a": 1516, "b": 1484}
    assert ratings["c"] > ratings["b"]
