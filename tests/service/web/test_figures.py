"""Numbers as people read them, and where they lie on a scale."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot_sdk.results.intervals import Interval
from service.web.tournament.figures import (
    MARGIN,
    SHARES,
    WIDTH,
    count,
    decimal,
    halves,
    percent,
    scale_of,
    signed,
    span,
)


@pytest.mark.parametrize(("points", "written"), [(0, "0"), (0.5, "½"), (12, "12"), (12.5, "12½")])
def test_points_are_whole_or_half(points, written):
    assert halves(points) == written


@pytest.mark.parametrize(
    ("share", "written"), [(None, "–"), (0.0, "0%"), (0.004, "<1%"), (0.5, "50%"), (0.998, ">99%"), (1.0, "100%")]
)
def test_what_isnt_quite_sure_is_never_called_so(share, written):
    assert percent(share) == written


@pytest.mark.parametrize(
    ("seconds", "written"),
    [(0.2, "1 second"), (75, "75 seconds"), (600, "10 minutes"), (7_200, "2 hours"), (900_000, "10 days")],
)
def test_times_are_told_in_the_unit_that_says_enough(seconds, written):
    assert span(seconds) == written


def test_numbers_have_their_signs_and_nouns():
    assert (decimal(-0.5), signed(-0.5), signed(2), decimal(None)) == ("−0.50", "−0.50", "+2.00", "–")
    assert (count(1, "entry", "entries"), count(1_200, "game")) == ("1 entry", "1,200 games")


finite = st.floats(-1e6, 1e6)


@given(st.lists(st.tuples(finite, finite, finite).map(sorted), min_size=1, max_size=8))
def test_all_whiskers_lie_on_their_scale_in_order(ends):
    intervals = [Interval(mean, low, high) for low, mean, high in ends]
    scale = scale_of(intervals)
    assert scale.least <= min(each.low for each in intervals)
    assert scale.most >= max(each.high for each in intervals)
    for each in intervals:
        drawn = scale.whisker(each)
        assert MARGIN <= drawn.low <= drawn.at <= drawn.high <= WIDTH - MARGIN


def test_shares_are_drawn_from_0_to_1():
    assert (SHARES.at(0), SHARES.at(0.5), SHARES.at(1)) == (MARGIN, WIDTH / 2, WIDTH - MARGIN)
    assert SHARES.whisker(Interval(0.5)).low is None
    assert SHARES.whisker(Interval(None)) is None
