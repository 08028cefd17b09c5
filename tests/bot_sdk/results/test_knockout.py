"""How far entries came: read from the rounds, one more for the winner."""

from __future__ import annotations

import pytest

from bot_sdk.results.knockout import reached
from bot_sdk.results.values import Round

FIRST = Round((("d", "e"),), ("a", "b", "c"))
SECOND = Round((("a", "d"), ("b", "c")))
FINAL = Round((("a", "b"),))


def test_the_last_round_with_a_table_or_a_bye_is_the_one_reached():
    assert reached([FIRST, SECOND], [["de"]]) == {"a": 2, "b": 2, "c": 2, "d": 2, "e": 1}


def test_the_winner_of_the_final_reached_one_more():
    assert reached([FIRST, SECOND, FINAL], [["de"], ["ad", "bc"], ["ba"]]) == {"b": 4, "a": 3, "c": 2, "d": 2, "e": 1}


@pytest.mark.parametrize("rankings", [[], [["de"]], [["de"], ["ad", "bc"]]])
def test_nobody_has_won_before_the_final_is_played(rankings):
    assert max(reached([FIRST, SECOND, FINAL], rankings).values()) == 3


def test_who_is_left_alone_has_won_without_a_final():
    assert reached([FIRST, SECOND], [["de"], ["ad", "bc"]], gone={"b", "c"}) == {"a": 3, "b": 2, "c": 2, "d": 2, "e": 1}
    assert reached([Round((("b", "c"),), ("a",))], [["bc"]], gone={"b", "c"}) == {"a": 2, "b": 1, "c": 1}


def test_if_the_winner_is_gone_the_next_at_the_table_has_won():
    assert reached([FINAL], [["ab"]], gone={"a"}) == {"a": 1, "b": 2}


def test_nobody_has_won_if_all_are_gone():
    assert reached([FINAL], [["ab"]], gone={"a", "b"}) == {"a": 1, "b": 1}


def test_a_final_of_tables_has_one_winner():
    assert reached([Round((tuple("abcd"),))], [["cdab"]]) == {"c": 2, "a": 1, "b": 1, "d": 1}


def test_no_round_no_entry():
    assert reached([], []) == {}
