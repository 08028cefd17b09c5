"""Gauntlets and matches: everybody meets the challenger, and the seats come out level."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.tournaments.errors import ImpossibleScheduleError
from service.tournaments.gauntlet import MATCH_ROUNDS, gauntlet, match_rounds

seeds = st.integers(0, 2**63)
fields = st.integers(2, 41).map(lambda n: [f"bot_{number}" for number in range(n)])


@given(fields, st.integers(1, 6), seeds)
def test_each_round_the_challenger_meets_every_other_once(entries, rounds, seed):
    schedule = gauntlet(entries, challenger="bot_1", rounds=rounds, seed=seed)
    assert len(schedule) == rounds
    for round_ in schedule:
        assert Counter(frozenset(table) for table in round_.tables) == {
            frozenset(["bot_1", other]): 1 for other in entries if other != "bot_1"
        }
        assert round_.byes == ()


@given(fields, st.integers(1, 6), seeds)
def test_the_challenger_has_either_seat_in_turn(entries, rounds, seed):
    schedule = gauntlet(entries, challenger="bot_0", rounds=rounds, seed=seed)
    seats = Counter(table.index("bot_0") for round_ in schedule for table in round_.tables)
    assert abs(seats[0] - seats[1]) <= (len(entries) - 1) % 2 * (rounds % 2)
    for before, after in pairwise(schedule):
        assert {table[::-1] for table in before.tables} == set(after.tables)


def test_a_gauntlet_is_one_round_unless_said_otherwise():
    assert len(gauntlet("abc", challenger="b", rounds=None, seed=0)) == 1


@given(st.permutations("abcdefg"), seeds)
def test_a_gauntlet_depends_on_the_field_and_the_seed_alone(entries, seed):
    expected = gauntlet("abcdefg", challenger="d", rounds=2, seed=seed)
    assert gauntlet(entries, challenger="d", rounds=2, seed=seed) == expected


@pytest.mark.parametrize(
    ("entries", "challenger", "rounds", "message"),
    [
        ("abc", "x", None, "expected the challenger among the entries, got 'x'"),
        ("a", "a", 1, "expected at least 2 entries for tables of 2, got 1"),
        ("abb", "a", 1, "expected each entry once, got 'b' 2 times"),
        ("abc", "a", 0, "expected at least 1 round, got 0"),
    ],
)
def test_an_impossible_gauntlet_says_what_would_do(entries, challenger, rounds, message):
    with pytest.raises(ImpossibleScheduleError) as refused:
        gauntlet(entries, challenger=challenger, rounds=rounds, seed=0)
    assert str(refused.value) == message


@given(st.permutations("ab"), st.integers(1, 50), seeds)
def test_the_first_seat_of_a_match_alternates(entries, rounds, seed):
    schedule = match_rounds(entries, rounds=rounds, seed=seed)
    (first,) = schedule[0].tables
    assert [round_.tables for round_ in schedule] == [
        ((first,) if number % 2 == 0 else (first[::-1],)) for number in range(rounds)
    ]
    assert sorted(first) == ["a", "b"]


def test_who_begins_a_match_is_drawn():
    assert {match_rounds("ab", rounds=1, seed=seed)[0].tables[0][0] for seed in range(20)} == {"a", "b"}


def test_a_match_has_a_default_length():
    assert len(match_rounds("ab", rounds=None, seed=0)) == MATCH_ROUNDS


@pytest.mark.parametrize(
    ("entries", "rounds", "message"),
    [
        ("a", 1, "expected exactly 2 entries for a match, got 1"),
        ("abc", 1, "expected exactly 2 entries for a match, got 3"),
        ("aa", 1, "expected each entry once, got 'a' 2 times"),
        ("ab", -1, "expected at least 1 round, got -1"),
    ],
)
def test_an_impossible_match_says_what_would_do(entries, rounds, message):
    with pytest.raises(ImpossibleScheduleError) as refused:
        match_rounds(entries, rounds=rounds, seed=0)
    assert str(refused.value) == message
