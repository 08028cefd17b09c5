"""Rounds of disjoint tables: level in games and seats at any moment, in pairs over the whole schedule."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, permutations
from time import process_time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot_sdk.results.values import Round
from service.tournaments import disjoint
from service.tournaments.disjoint import disjoint_rounds, rounds_per_disjoint_cycle
from service.tournaments.errors import ImpossibleScheduleError

SIZES = [4, 5, 6, 7, 8]


def field(n: int) -> list[str]:
    return [f"bot_{number}" for number in range(n)]


def schedule(n: int, size: int, rounds: int | None = None, seed: int = 0) -> list[Round]:
    return disjoint_rounds(field(n), table_size=size, rounds=rounds, seed=seed)


def pair_counts(n: int, rounds: list[Round]) -> list[int]:
    met = Counter(frozenset(pair) for round_ in rounds for table in round_.tables for pair in combinations(table, 2))
    return [met[frozenset(pair)] for pair in combinations(field(n), 2)]


def excess(n: int, rounds: list[Round]) -> int:
    """Return how far the spread of the pair counts is from the least that the number of meetings allows."""
    counts = pair_counts(n, rounds)
    return max(counts) - min(counts) - (sum(counts) % len(counts) > 0)


def assert_level(n: int, size: int, rounds: list[Round]) -> None:
    """Check what must hold after each round: who plays, how often, and in which seats."""
    games: Counter[str] = Counter(dict.fromkeys(field(n), 0))
    seats: Counter[tuple[int, str]] = Counter()
    for round_ in rounds:
        assert len(round_.tables) == n // size
        assert all(len(table) == size for table in round_.tables)
        assert sorted([*round_.byes, *(bot for table in round_.tables for bot in table)]) == sorted(field(n))
        for table in round_.tables:
            games.update(table)
            seats.update(enumerate(table))
        assert max(games.values()) - min(games.values()) <= 1
    for bot in field(n):
        times = [seats[seat, bot] for seat in range(size)]
        assert max(times) - min(times) <= 1


@pytest.mark.parametrize("size", SIZES)
def test_games_and_seats_are_level_after_any_round(size):
    for n in (size, size + 1, 2 * size - 1, 22):
        assert_level(n, size, schedule(n, size))


@settings(max_examples=6, deadline=None)
@given(st.integers(4, 8), st.integers(0, 12), st.integers(1, 25))
def test_any_number_of_rounds_is_level(size, more, rounds):
    drawn = schedule(size + more, size, rounds)
    assert len(drawn) == rounds
    assert_level(size + more, size, drawn)


@pytest.mark.soak
@pytest.mark.parametrize("size", SIZES)
def test_every_field_is_level_in_games_seats_and_pairs(size):
    beyond = Counter()
    for n in range(size, 65):
        rounds = schedule(n, size, (1 + n % 2) * rounds_per_disjoint_cycle(n, size))
        assert_level(n, size, rounds)
        beyond[excess(n, rounds)] += 1
    assert max(beyond) <= (2 if size < 7 else 4)
    assert beyond[0] + beyond[1] >= beyond.total() // 2


@pytest.mark.parametrize(
    ("n", "size", "rounds", "beyond"), [(16, 4, 5, 0), (9, 4, 9, 0), (13, 4, 20, 0), (64, 4, 40, 1), (40, 5, 20, 1)]
)
def test_pairs_meet_nearly_as_evenly_as_arithmetic_allows(n, size, rounds, beyond):
    assert excess(n, schedule(n, size, rounds)) <= beyond


@pytest.mark.parametrize(("n", "size", "most"), [(8, 8, 3), (12, 4, 3), (24, 6, 2)])
def test_neighbours_change(n, size, most):
    rounds = schedule(n, size, 12)
    after = Counter(
        pair for round_ in rounds for table in round_.tables for pair in zip(table, table[1:] + table[:1], strict=True)
    )
    times = [after[pair] for pair in permutations(field(n), 2)]
    assert max(times) - min(times) <= most


@pytest.mark.parametrize(
    ("n", "size", "rounds"),
    [(4, 4, 1), (5, 4, 2), (7, 4, 4), (13, 4, 5), (16, 4, 5), (64, 4, 21), (64, 8, 9), (15, 8, 4)],
)
def test_a_cycle_is_the_fewest_rounds_in_which_all_can_meet(n, size, rounds):
    assert rounds_per_disjoint_cycle(n, size) == rounds
    meetings_a_round = (n // size) * size * (size - 1) // 2
    assert (rounds - 1) * meetings_a_round < n * (n - 1) // 2 <= rounds * meetings_a_round
    assert len(schedule(n, size)) == rounds


@given(st.permutations(field(6)), st.integers(0, 2**63))
def test_a_schedule_depends_on_the_field_and_the_seed_alone(entries, seed):
    assert disjoint_rounds(entries, table_size=4, rounds=3, seed=seed) == schedule(6, 4, 3, seed)


def test_seeds_give_different_schedules():
    assert len({repr(schedule(8, 4, 2, seed)) for seed in range(20)}) == 20


def test_the_same_schedule_comes_out_each_time():
    found = schedule(11, 4, 6)
    disjoint._plan.cache_clear()
    assert schedule(11, 4, 6) == found


@pytest.mark.parametrize(("n", "size", "rounds"), [(64, 4, 40), (64, 8, 40), (15, 8, 30)])
def test_a_schedule_takes_less_than_a_second(n, size, rounds):
    disjoint._plan.cache_clear()
    before = process_time()
    schedule(n, size, rounds)
    assert process_time() - before < 1


@pytest.mark.parametrize(
    ("entries", "size", "rounds", "message"),
    [
        ("abc", 4, 1, "expected at least 4 entries for tables of 4, got 3"),
        ("abcb", 4, 1, "expected each entry once, got 'b' 2 times"),
        ("abcd", 4, 0, "expected at least 1 round, got 0"),
    ],
)
def test_an_impossible_schedule_says_what_would_do(entries, size, rounds, message):
    with pytest.raises(ImpossibleScheduleError) as refused:
        disjoint_rounds(entries, table_size=size, rounds=rounds, seed=0)
    assert str(refused.value) == message
