"""The classes into which times are counted: none lies in two, and each is found in the one that says so."""

from __future__ import annotations

import pytest

from bot_sdk.events import quantised
from service.referee.appearing import EDGES, class_of


def test_edges_ascend_and_lie_on_times_that_a_log_may_hold():
    assert list(EDGES) == sorted(set(EDGES))
    assert [quantised(edge) for edge in EDGES] == list(EDGES)
    assert (EDGES[0], EDGES[-1]) == (0.1, 70_000)


@pytest.mark.parametrize("ms", [0.0, 0.05, 0.1, 0.14, 0.15, 1.0, 1.4, 1.5, 6.9, 7.0, 99, 1_000, 30_000, 70_000, 9e9])
def test_a_time_lies_in_the_class_whose_edges_are_around_it(ms):
    bounds = (0.0, *EDGES, float("inf"))
    number = class_of(ms)
    assert bounds[number] <= ms < bounds[number + 1]
