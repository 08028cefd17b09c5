"""Intervals against published quantiles, closed forms and scipy."""

from __future__ import annotations

from math import comb, pi, sqrt, tan
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import special, stats

from bot_sdk.results.intervals import Interval, share_interval, t_interval, t_quantile

# Two-sided 95% points of Student's t. The tables in print (the NIST/SEMATECH e-Handbook, 1.3.6.7.2) give their first
# three decimals; the rest comes from bisecting the finite series in decimal arithmetic of 60 digits.
PUBLISHED = {
    1: 12.70620473617470,
    2: 4.302652729749464,
    3: 3.182446305283710,
    4: 2.776445105197794,
    5: 2.570581835636316,
    10: 2.228138851986275,
    30: 2.042272456301238,
    100: 1.983971518523552,
    1000: 1.962339080826408,
}


@pytest.mark.parametrize("freedom", PUBLISHED)
def test_quantiles_are_the_published_ones(freedom):
    assert t_quantile(freedom) == pytest.approx(PUBLISHED[freedom], abs=1e-9)


@given(st.floats(0.01, 0.999))
def test_quantiles_of_one_and_two_degrees_have_closed_forms(level):
    assert t_quantile(1, level) == pytest.approx(tan(pi * level / 2), rel=1e-11)
    assert t_quantile(2, level) == pytest.approx(level * sqrt(2 / (1 - level**2)), rel=1e-11)


@given(st.integers(1, 20_000), st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99, 0.999]))
def test_quantiles_agree_with_scipy(freedom, level):
    assert t_quantile(freedom, level) == pytest.approx(special.stdtrit(freedom, (1 + level) / 2), abs=1e-9, rel=1e-11)


@pytest.mark.parametrize(("freedom", "level"), [(0, 0.95), (-1, 0.95), (3, 0.0), (3, 1.0)])
def test_nonsense_is_refused(freedom, level):
    with pytest.raises(ValueError, match="expected freedom >= 1 and 0 < level < 1"):
        t_quantile(freedom, level)


def test_under_two_values_there_is_no_interval():
    assert t_interval([]) == Interval(None, None, None)
    assert t_interval([3]) == Interval(3.0, None, None)


def test_equal_values_have_an_interval_of_no_width():
    assert t_interval([0.5, 0.5, 0.5]) == Interval(0.5, 0.5, 0.5)


def test_an_interval_worked_by_hand():
    # mean 2, variance 1, t(2 degrees) 4.30265..., margin 4.30265.../sqrt(3)
    interval = t_interval([1, 2, 3])
    assert interval.mean == 2
    assert interval.low == pytest.approx(2 - 2.484137711, abs=1e-9)
    assert interval.high == pytest.approx(2 + 2.484137711, abs=1e-9)


@given(st.lists(st.floats(-1000, 1000), min_size=2, max_size=60))
def test_intervals_agree_with_scipy(values):
    interval = t_interval(values)
    margin = float(stats.sem(values)) * special.stdtrit(len(values) - 1, 0.975)
    assert (interval.high - interval.low) / 2 == pytest.approx(margin, rel=1e-9, abs=1e-9)
    assert interval.mean == pytest.approx(sum(values) / len(values), abs=1e-9)


@pytest.mark.parametrize("boards", [2, 8, 60])
def test_intervals_cover_the_truth_as_often_as_they_say(boards):
    rng = Random(boards)
    intervals = [t_interval([rng.gauss(7, 3) for _ in range(boards)]) for _ in range(4000)]
    covered = sum(interval.low <= 7 <= interval.high for interval in intervals) / len(intervals)
    assert 0.94 < covered < 0.96


def test_half_width_reaches_both_ways():
    made = t_interval([1.0, 2.0, 3.0, 4.0])
    assert made.half_width == pytest.approx(2.0542603, abs=1e-6)
    assert t_interval([3.0]).half_width is None


def coverage(boards, chance):
    """How often the interval over games won and lost holds the true mean, exactly."""
    held = 0.0
    for won in range(boards + 1):
        found = share_interval([1.0] * won + [0.0] * (boards - won))
        if found.low <= chance <= found.high:
            held += comb(boards, won) * chance**won * (1 - chance) ** (boards - won)
    return held


@pytest.mark.parametrize("boards", [8, 12, 20, 40, 60])
@pytest.mark.parametrize("chance", [0.05, 0.2, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95])
def test_interval_of_a_share_of_games_won_holds_the_true_one_at_least_94_times_in_100(boards, chance):
    assert coverage(boards, chance) >= 0.94


@pytest.mark.parametrize("chance", [0.4, 0.5, 0.6])
def test_interval_of_a_share_is_no_wider_than_it_must_be(chance):
    assert all(coverage(boards, chance) <= 0.97 for boards in (12, 20, 40, 60))


def test_mean_of_shares_is_theirs_and_few_of_them_have_no_interval():
    assert share_interval([]) == Interval(None)
    assert share_interval([1.0]) == Interval(1.0)
    swept = share_interval([1.0, 1.0, 1.0])
    assert (swept.mean, swept.low < 0.5 < swept.high) == (1.0, True)
