"""How pages write numbers, and where these lie on a scale."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.web.scale import MARGIN, SHARES, Scale
from service.web.writing import count, decimal, duration, halves, percent, signed, span


@pytest.mark.parametrize(("points", "written"), [(0, "0"), (0.5, "½"), (12, "12"), (12.5, "12½")])
def test_points_are_whole_or_half(points, written):
    assert halves(points) == written


def test_what_isnt_quite_sure_is_never_called_so():
    assert [percent(share) for share in (None, 0, 0.0001, 0.001, 0.5, 0.9876, 0.9999, 1)] == [
        "–", "0%", "< 0.1%", "0.1%", "50%", "98.8%", "> 99.9%", "100%",
    ]  # fmt: skip


def test_durations_are_in_the_unit_that_people_compare_in():
    assert [duration(ms) for ms in (0.15, 3, 70.0, 1_000, 1_500, 70_000)] == [
        "0.15 ms", "3 ms", "70 ms", "1 s", "1.5 s", "70 s",
    ]  # fmt: skip


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


@given(st.lists(finite, min_size=1, max_size=8))
def test_all_values_lie_within_the_margins_of_a_rounded_scale_in_order(values):
    scale = Scale.rounded(values)
    assert scale.low <= min(values) <= max(values) <= scale.high
    places = [scale.at(value) for value in sorted(values)]
    assert places == sorted(places)
    assert MARGIN <= places[0] <= places[-1] <= 100 - MARGIN


def test_scale_puts_values_where_they_belong_and_leaves_room_at_its_ends():
    scale = Scale.around([1_000, 1_500, 1_250])
    assert [scale.at(value) for value in (1_000, 1_250, 1_500, 0, 9_999)] == [4, 50, 96, 0, 100]
    assert [Scale.around(values).at(7) for values in ([7, 7], [])] == [50, 50]


def test_ticks_are_round_numbers():
    assert Scale.rounded([-3.2, 8.9]).ticks == ("−10", "0", "10")
    assert SHARES.ticks == ("0", "0.5", "1")
