"""Swiss rounds at tables of 4 to 8: full tables, few repeats, level sit-outs and seats, in whole tournaments."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from random import Random
from statistics import mean

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot_sdk.results.values import Round
from service.tournaments.disjoint import disjoint_rounds
from service.tournaments.errors import ImpossibleScheduleError
from service.tournaments.swiss import swiss_round

# entries, seats, rounds
TOURNAMENTS = [
    (5, 4, 12),
    (8, 4, 6),
    (13, 4, 8),
    (16, 4, 8),
    (30, 5, 7),
    (47, 6, 8),
    (49, 7, 8),
    (31, 8, 6),
    (64, 4, 12),
    (64, 8, 8),
]


def field(n: int) -> list[str]:
    return [f"bot_{number}" for number in range(n)]


def play(n: int, size: int, rounds: int, *, leaving: int = 0) -> list[Round]:
    """Play a tournament among bots of random strength; `leaving` of them leave before each but the first round."""
    rng = Random(f"{n}/{size}/{rounds}")
    entries = field(n)
    strength = {bot: rng.gauss(0, 1) for bot in entries}
    scores: dict[str, list[float]] = {bot: [] for bot in entries}
    played: list[Round] = []
    for _ in range(rounds):
        means = {bot: mean(scores[bot]) for bot in entries if scores[bot]}
        played.append(swiss_round(entries, played, means, table_size=size, seed=n))
        check_full(played, entries, size)
        for bot in (bot for table in played[-1].tables for bot in table):
            scores[bot].append(10 + 3 * strength[bot] + rng.gauss(0, 6))
        entries = sorted(entries, key=lambda _: rng.random())[leaving:]
    return played


def check_full(played: list[Round], entries: list[str], size: int) -> None:
    seated = [bot for table in played[-1].tables for bot in table]
    assert {len(table) for table in played[-1].tables} == {size}
    assert sorted([*seated, *played[-1].byes]) == sorted(entries)
    assert len(played[-1].byes) == len(entries) % size
    sat_out = Counter(bot for round_ in played for bot in round_.byes)
    assert max(sat_out[bot] for bot in entries) - min(sat_out[bot] for bot in entries) <= 1


def met(rounds: list[Round]) -> Counter[frozenset[str]]:
    return Counter(frozenset(pair) for round_ in rounds for table in round_.tables for pair in combinations(table, 2))


def squares(rounds: list[Round]) -> int:
    return sum(times * times for times in met(rounds).values())


@pytest.mark.parametrize(("n", "size", "rounds"), TOURNAMENTS)
def test_tables_are_full_pairs_repeat_little_and_seats_are_level(n, size, rounds):
    played = play(n, size, rounds)
    planned = disjoint_rounds(field(n), table_size=size, rounds=rounds, seed=n)  # at leisure, without regard to scores
    assert squares(played) <= 1.15 * squares(planned)
    seats = Counter((bot, seat) for round_ in played for table in round_.tables for seat, bot in enumerate(table))
    assert all(max(counts) - min(counts) <= 2 for counts in ([seats[bot, s] for s in range(size)] for bot in field(n)))


@pytest.mark.parametrize(("n", "size", "leaving"), [(30, 4, 1), (40, 5, 3), (64, 8, 5)])
def test_withdrawals_leave_tables_full_and_sit_outs_level(n, size, leaving):
    played = play(n, size, 8, leaving=leaving)
    assert len(played[-1].tables) == (n - 7 * leaving) // size


def test_sixteen_meet_nobody_twice_in_three_rounds_of_four():
    assert max(met(play(16, 4, 3)).values()) == 1


def test_one_full_table_plays_every_round_and_its_seats_go_round():
    played = play(4, 4, 8)
    assert all({frozenset(table) for table in round_.tables} == {frozenset(field(4))} for round_ in played)
    seats = Counter((bot, seat) for round_ in played for table in round_.tables for seat, bot in enumerate(table))
    assert set(seats.values()) == {2}


def test_without_meetings_the_ranking_is_cut_into_tables():
    scores = {bot: -float(number) for number, bot in enumerate(field(12))}
    drawn = swiss_round(field(12), [], scores, table_size=4, seed=0)
    assert [frozenset(table) for table in drawn.tables] == [frozenset(field(12)[at : at + 4]) for at in (0, 4, 8)]


def test_who_has_met_is_parted_and_the_lower_go_down():
    scores = {bot: -float(number) for number, bot in enumerate(field(12))}
    drawn = swiss_round(field(12), [Round((tuple(field(4)),))], scores, table_size=4, seed=0)
    assert [{int(bot.removeprefix("bot_")) for bot in table} for table in drawn.tables] == [
        {0, 1, 4, 5},
        {2, 6, 7, 8},
        {3, 9, 10, 11},
    ]


def test_the_lowest_who_have_sat_out_least_sit_out():
    scores = {bot: -float(number) for number, bot in enumerate(field(6))}
    before = [Round((tuple(field(4)),), ("bot_4", "bot_5"))]
    assert swiss_round(field(6), [], scores, table_size=4, seed=0).byes == ("bot_4", "bot_5")
    assert swiss_round(field(6), before, scores, table_size=4, seed=0).byes == ("bot_2", "bot_3")


@given(st.permutations(field(14)))
def test_the_order_of_entries_says_nothing(entries):
    played = [Round((("bot_0", "bot_3", "bot_2", "bot_1"),), tuple(field(14)[4:]))]
    scores = {"bot_0": 2.5, "bot_3": 2.5, "bot_9": 1.0}
    assert swiss_round(entries, played, scores, table_size=4, seed=5) == swiss_round(
        field(14), played, scores, table_size=4, seed=5
    )


def test_too_few_for_a_table_are_refused():
    with pytest.raises(ImpossibleScheduleError, match=r"^expected at least 4 entries for tables of 4, got 3$"):
        swiss_round(field(3), [], {}, table_size=4, seed=0)
