"""Legs: every entry in every seat, and neighbours that change from leg to leg."""

from __future__ import annotations

from collections import Counter

import pytest

from service.tournaments.errors import ImpossibleScheduleError
from service.tournaments.legs import legs

SIZES = [2, 4, 5, 6, 7, 8]


def followed(size: int) -> Counter[tuple[str, str]]:
    """Return how often each entry acted right before each other one, over all legs of a table."""
    return Counter(pair for leg in legs("abcdefgh"[:size]) for pair in zip(leg, leg[1:] + leg[:1], strict=True))


@pytest.mark.parametrize("size", SIZES)
def test_each_entry_sits_once_in_each_seat(size):
    table = "abcdefgh"[:size]
    played = legs(table)
    assert all(sorted(leg) == sorted(table) for leg in played)
    assert all(sorted(seat) == sorted(table) for seat in zip(*played, strict=True))


@pytest.mark.parametrize("size", [2, 4, 6, 8])
def test_with_even_seats_each_acts_right_before_each_other_once_and_before_one_twice(size):
    times = followed(size)
    for bot in "abcdefgh"[:size]:
        counts = sorted(times[bot, other] for other in "abcdefgh"[:size] if other != bot)
        assert counts == [1] * (size - 2) + [2]


@pytest.mark.parametrize("size", [5, 7])
def test_with_odd_seats_nobody_acts_right_before_the_same_other_more_than_twice(size):
    assert max(followed(size).values()) == 2
    assert all(sum((bot, other) in followed(size) for other in "abcdefg") >= size // 2 + 1 for bot in "abcdefg"[:size])


def test_the_first_two_legs_of_four_seats_are_the_published_order():
    assert legs("abcd")[:2] == [tuple("abdc"), tuple("bcad")]


def test_two_seats_are_swapped():
    assert legs(["x", "y"]) == [("x", "y"), ("y", "x")]


@pytest.mark.parametrize("table", ["", "a", "abc", "abcdefghi"])
def test_a_table_no_ruleset_has_is_refused(table):
    with pytest.raises(ImpossibleScheduleError, match=f"expected a table of 2 or 4 to 8 entries, got {len(table)}"):
        legs(table)
