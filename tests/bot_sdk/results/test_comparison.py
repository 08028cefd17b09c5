"""How sure it is that one bot is better, against scipy, Laplace's rule, and simulated boards."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from bot_sdk.results.comparison import Opponent, opponents, superiority
from bot_sdk.results.intervals import t_within
from bot_sdk.results.rated import Rated


@given(st.floats(0, 50), st.integers(1, 500))
def test_the_distribution_is_students(t, freedom):
    assert t_within(t, freedom) == pytest.approx(2 * special.stdtr(freedom, t) - 1, abs=1e-12)


@pytest.mark.parametrize("means", [[], [1.0]])
def test_under_two_boards_nothing_is_likely(means):
    assert superiority(means) is None


def test_superiority_is_students():
    means = [0.75, 0.5, 1.0, 0.25, 0.75, 0.5]
    expected = stats.ttest_1samp(means, 0.5, alternative="greater")
    assert superiority(means) == pytest.approx(1 - expected.pvalue)


@pytest.mark.parametrize(
    ("means", "expected"),
    [
        ([0.5, 0.5], 0.5),
        ([0.0, 1.0], 0.5),
        ([1.0, 1.0], 7 / 8),
        ([0.0, 0.0], 1 / 8),
        ([0.75] * 5, 63 / 64),
        ([1.0] * 9, 1 - 2**-10),
    ],
)
def test_equal_boards_are_as_sure_as_laplaces_rule(means, expected):
    assert superiority(means) == expected


@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), min_size=2, max_size=30))
def test_what_one_is_likely_to_be_the_other_isnt(means):
    mine, others = superiority(means), superiority([1 - mean for mean in means])
    assert mine + others == pytest.approx(1)
    assert 0 < mine < 1


@given(st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), min_size=2, max_size=30))
def test_the_likelier_side_is_the_one_ahead(means):
    assert (superiority(means) > 0.5) == (sum(means) > len(means) / 2)


@pytest.mark.parametrize("boards", [3, 8, 30])
def test_of_level_bots_few_look_surely_better(boards):
    rng = Random(boards)
    sure = [superiority([rng.choice([0.0, 0.5, 0.5, 1.0]) for _ in range(boards)]) >= 0.95 for _ in range(4000)]
    assert sum(sure) / len(sure) < 0.065


def test_opponents_are_counted_over_versions_and_boards():
    rated = [
        Rated("t/1", (("a", "1"), ("b", None), ("c", None)), (1, 2, 2)),
        Rated("t/1", (("b", None), ("a", "2")), (1, 2)),
        Rated("t/2", (("a", "2"), ("b", None)), (1, 2)),
        Rated("t/3", (("a", "1"), ("c", None)), (2, 1), (1,)),
    ]
    against = opponents(rated)
    assert against["a"] == [
        Opponent(bot_id="b", games=3, points=2.0, superiority=superiority([0.5, 1.0])),
        Opponent(bot_id="c", games=1, points=1.0, superiority=None),
    ]
    assert against["b"] == [
        Opponent(bot_id="a", games=3, points=1.0, superiority=superiority([0.5, 0.0])),
        Opponent(bot_id="c", games=1, points=0.5, superiority=None),
    ]
    assert [row.bot_id for row in against["c"]] == ["a", "b"]


def test_a_bot_is_no_opponent_of_its_older_self():
    assert opponents([Rated("t/1", (("a", "1"), ("a", "2")), (1, 2))]) == {}
