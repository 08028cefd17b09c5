"""Seats dealt to tables whose company is settled: level after any number of tables, whatever the company."""

from __future__ import annotations

from collections import Counter
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from service.tournaments.seating import Seats, seated


@st.composite
def companies(draw) -> list[list[int]]:
    size = draw(st.integers(2, 8))
    company = st.lists(st.integers(0, size + 4), min_size=size, max_size=size, unique=True)
    return draw(st.lists(company, min_size=1, max_size=40))


def neighbours(tables: list[Seats]) -> Counter[tuple[int, int]]:
    return Counter(pair for seats in tables for pair in zip(seats, seats[1:] + seats[:1], strict=True))


@settings(max_examples=30, deadline=None)
@given(companies())
def test_each_table_keeps_its_company(tables):
    assert [sorted(seats) for seats in seated(tables, Random("a"))] == [sorted(company) for company in tables]


@settings(max_examples=30, deadline=None)
@given(companies())
def test_after_any_table_an_entrys_counts_by_seat_differ_by_one_at_most(tables):
    size, counts = len(tables[0]), Counter()
    for seats in seated(tables, Random("a")):
        counts.update(enumerate(seats))
        for entry in seats:
            times = [counts[seat, entry] for seat in range(size)]
            assert max(times) - min(times) <= 1


def test_the_same_company_is_seated_alike_each_time():
    tables = [[0, 1, 2, 3], [2, 3, 4, 5], [0, 2, 4, 5]] * 4
    assert seated(tables, Random("a")) == seated(tables, Random("a"))


def test_one_table_that_plays_on_and_on_mixes_its_neighbours():
    times = neighbours(seated([list(range(6))] * 30, Random("a")))
    assert len(times) == 30
    assert max(times.values()) - min(times.values()) <= 3
