"""Round robins: published Berger tables, and what must be balanced for any number of entries."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot_sdk.results.lots import lot
from bot_sdk.results.values import Round
from service.tournaments.errors import ImpossibleScheduleError, TournamentsError
from service.tournaments.schedule import berger_pairs, round_robin, rounds_per_cycle

# FIDE Handbook C.05, annex 1: white first, players numbered from 1, a line for each round.
FIDE = {
    4: """1-4 2-3
          4-3 1-2
          2-4 3-1""",
    6: """1-6 2-5 3-4
          6-4 5-3 1-2
          2-6 3-1 4-5
          6-5 1-4 2-3
          3-6 4-2 5-1""",
    8: """1-8 2-7 3-6 4-5
          8-5 6-4 7-3 1-2
          2-8 3-1 4-7 5-6
          8-6 7-5 1-4 2-3
          3-8 4-2 5-1 6-7
          8-7 1-6 2-5 3-4
          4-8 5-3 6-2 7-1""",
}

seeds = st.integers(0, 2**63)
fields = st.integers(2, 41).map(lambda n: [f"bot_{number}" for number in range(n)])


def met(schedule: list[Round]) -> Counter[frozenset[str]]:
    return Counter(frozenset(pair) for round_ in schedule for table in round_.tables for pair in combinations(table, 2))


def seated(schedule: list[Round]) -> Counter[tuple[str, int]]:
    return Counter((bot, seat) for round_ in schedule for table in round_.tables for seat, bot in enumerate(table))


@pytest.mark.parametrize("players", FIDE)
def test_berger_pairs_are_those_of_the_fide_handbook(players):
    published = [
        [tuple(int(number) - 1 for number in pair.split("-")) for pair in line.split()]
        for line in FIDE[players].splitlines()
    ]
    assert [berger_pairs(players, number) for number in range(players - 1)] == published


@given(fields, seeds, st.integers(1, 4))
def test_two_seats_each_pair_meets_once_a_cycle(entries, seed, cycles):
    rounds = cycles * rounds_per_cycle(len(entries), 2)
    schedule = round_robin(entries, table_size=2, rounds=rounds, seed=seed)
    assert met(schedule) == {frozenset(pair): cycles for pair in combinations(entries, 2)}


@given(fields, seeds, st.integers(1, 4))
def test_two_seats_are_shared_evenly_after_each_cycle(entries, seed, cycles):
    rounds = cycles * rounds_per_cycle(len(entries), 2)
    seats = seated(round_robin(entries, table_size=2, rounds=rounds, seed=seed))
    assert max(abs(seats[bot, 0] - seats[bot, 1]) for bot in entries) == (
        1 if cycles % 2 and len(entries) % 2 == 0 else 0
    )


@given(fields, seeds, st.integers(1, 90))
def test_two_seats_are_nearly_even_after_any_round(entries, seed, rounds):
    seats = seated(round_robin(entries, table_size=2, rounds=rounds, seed=seed))
    assert max(abs(seats[bot, 0] - seats[bot, 1]) for bot in entries) <= 2


@given(fields, seeds, st.integers(1, 90))
def test_two_seats_everybody_plays_once_a_round_or_has_the_bye(entries, seed, rounds):
    schedule = round_robin(entries, table_size=2, rounds=rounds, seed=seed)
    assert len(schedule) == rounds
    for round_ in schedule:
        assert sorted([*round_.byes, *(bot for table in round_.tables for bot in table)]) == sorted(entries)
        assert len(round_.byes) == len(entries) % 2


@given(fields, seeds)
def test_byes_go_round(entries, seed):
    byes = Counter(bot for r in round_robin(entries, table_size=2, rounds=None, seed=seed) for bot in r.byes)
    assert byes == (dict.fromkeys(entries, 1) if len(entries) % 2 else {})


def test_the_second_cycle_swaps_the_seats_of_the_first():
    schedule = round_robin("abcde", table_size=2, rounds=10, seed=3)
    swapped = [tuple((second, first) for first, second in round_.tables) for round_ in schedule[:5]]
    assert [round_.tables for round_ in schedule[5:]] == swapped
    assert [round_.byes for round_ in schedule[5:]] == [round_.byes for round_ in schedule[:5]]


@given(st.integers(4, 8), st.integers(0, 20), st.integers(1, 3), seeds)
def test_tables_seat_each_entry_once_in_each_seat_a_round(size, more, rounds, seed):
    entries = [f"bot_{number}" for number in range(size + more)]
    schedule = round_robin(entries, table_size=size, rounds=rounds, seed=seed)
    assert len(schedule) == rounds
    for round_ in schedule:
        assert round_.byes == ()
        assert seated([round_]) == {(bot, seat): 1 for bot in entries for seat in range(size)}
        assert all(len(set(table)) == size for table in round_.tables)


@pytest.mark.parametrize("rounds", [1, 2, 4])
@pytest.mark.parametrize(("entries", "size"), [(8, 8), (17, 6), (31, 5), (40, 7), (63, 4), (64, 4), (64, 8)])
def test_tables_give_each_entry_as_many_games_in_each_seat_as_rounds(entries, size, rounds):
    bots = [f"bot_{number}" for number in range(entries)]
    seats = seated(round_robin(bots, table_size=size, rounds=rounds, seed=0))
    assert seats == {(bot, seat): rounds for bot in bots for seat in range(size)}


@pytest.mark.parametrize("size", [4, 5, 6, 7, 8])
def test_one_full_table_plays_every_turn_of_its_seats(size):
    entries = "abcdefgh"[:size]
    (only,) = round_robin(entries, table_size=size, rounds=None, seed=0)
    assert len(set(only.tables)) == size
    assert {frozenset(table) for table in only.tables} == {frozenset(entries)}


@pytest.mark.parametrize(
    ("entries", "size", "rounds"), [(2, 2, 1), (7, 2, 7), (8, 2, 7), (13, 4, 1), (14, 4, 2), (64, 4, 6), (64, 8, 2)]
)
def test_a_cycle_is_the_fewest_rounds_in_which_all_can_meet(entries, size, rounds):
    assert rounds_per_cycle(entries, size) == rounds
    bots = [f"bot_{number}" for number in range(entries)]
    assert len(round_robin(bots, table_size=size, rounds=None, seed=0)) == rounds


@given(st.permutations("abcdefg"), st.sampled_from([2, 4]), seeds)
def test_a_schedule_depends_on_the_field_and_the_seed_alone(entries, size, seed):
    expected = round_robin("abcdefg", table_size=size, rounds=None, seed=seed)
    assert round_robin(entries, table_size=size, rounds=None, seed=seed) == expected


@pytest.mark.parametrize("size", [2, 4])
def test_seeds_give_different_schedules(size):
    drawn = {repr(round_robin("abcdefgh", table_size=size, rounds=None, seed=seed)) for seed in range(20)}
    assert len(drawn) == 20


def test_lots_are_the_published_hash():
    # printf '7\0bot_a' | sha256sum
    assert lot(7, "bot_a").hex() == "33ae5d7a35645f343653b8c074897adc7457812097a814f7e47f4515d4be6535"


def test_a_round_survives_json():
    schedule = round_robin("abcde", table_size=2, rounds=None, seed=1)
    assert msgspec.json.decode(msgspec.json.encode(schedule), type=list[Round]) == schedule


@pytest.mark.parametrize(
    ("entries", "size", "rounds", "message"),
    [
        ("a", 2, None, "expected at least 2 entries for tables of 2, got 1"),
        ("abc", 4, 1, "expected at least 4 entries for tables of 4, got 3"),
        ("abcb", 4, 1, "expected each entry once, got 'b' 2 times"),
        ("abcd", 4, 0, "expected at least 1 round, got 0"),
        ("abcd", 2, -3, "expected at least 1 round, got -3"),
        ("abcd", 1, None, "expected a table of at least 2 seats, got 1"),
    ],
)
def test_an_impossible_schedule_says_what_would_do(entries, size, rounds, message):
    with pytest.raises(ImpossibleScheduleError) as refused:
        round_robin(entries, table_size=size, rounds=rounds, seed=0)
    assert str(refused.value) == message
    assert isinstance(refused.value, TournamentsError)
