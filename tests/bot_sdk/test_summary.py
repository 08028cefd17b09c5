from __future__ import annotations

import pytest

from bot_sdk.bots import house
from bot_sdk.games.record import DealShown, Fairness, LimitsShown, Record, SeatShown
from bot_sdk.games.registry import RULESETS
from bot_sdk.local import Match, Played, in_process, play, seated
from bot_sdk.results.comparison import superiority
from bot_sdk.results.intervals import t_interval
from bot_sdk.summary import Summing


def game(board, leg, players, totals, retired=()):
    """A game with a result and nothing else; places by totals, None for a void one."""
    out = [seat in retired for seat in range(len(players))]
    ranks = [(gone, -total) for gone, total in zip(out, totals or [0] * len(players), strict=True)]
    made = Record(
        record=1, game_id="g", ruleset="river", options={}, status="finished", ended_by="play",
        limits=LimitsShown(1, 1, 1), seats=[SeatShown("x", "bot", retired=gone) for gone in out],
        fairness=Fairness("", "", "", []), deals=list[DealShown](), totals=totals or [0] * len(players),
        places=[1 + sum(other < own for other in ranks) for own in ranks] if totals else None,
    )  # fmt: skip
    return Played(board, leg, players, made)


def summed(games, who=(0, 1), names="ab"):
    summing = Summing(names, who)
    for one in games:
        summing.add(one)
    return summing


def compared(games, who=(0, 1), names="ab"):
    return summed(games, who, names).comparisons()


def test_a_player_who_sits_twice_is_one_line():
    players = [in_process(house(name), bot_id=name) for name in ("house:random", "house:greedy")]
    match = Match(RULESETS["river"], {"start_cards": 2})
    played = list(play(match, seated(players, 4), games=8))
    lines = summed(played, [0, 1, 0, 1], ["random", "greedy"]).lines()
    assert [(line.games, line.seats) for line in lines] == [(8, 2), (8, 2)]
    assert sum(line.wins.mean * line.seats for line in lines) == pytest.approx(1.0)
    decisions = sum(sum(one.game.decisions) for one in played)
    assert sum(sum(line.outcomes.values()) for line in lines) == decisions
    points = sum(sum(one.game.state.totals) for one in played) / len(played) / 2
    assert sum(line.points.mean for line in lines) == pytest.approx(points)
    assert all(0 < line.mean_ms < 50 for line in lines)


def test_a_shared_first_place_is_shared():
    random = in_process(house("house:random"), bot_id="house:random")
    match = Match(RULESETS["river"], {"start_cards": 1})
    played = list(play(match, [random] * 4, games=40))
    assert any(one.game.places.count(1) > 1 for one in played)
    lines = summed(played, [0, 1, 2, 3], "abcd").lines()
    assert sum(line.wins.mean for line in lines) == pytest.approx(1.0)


def test_pairs_are_compared_over_boards_not_over_games():
    games = [
        *(game(0, 0, (0, 1), [7, 3]), game(0, 1, (1, 0), [7, 6])),
        *(game(1, 0, (0, 1), [7, 0]), game(1, 1, (1, 0), [2, 8])),
        *(game(2, 0, (0, 1), [1, 9]), game(2, 1, (1, 0), [0, 7])),
    ]
    (pair,) = compared(games)
    assert (pair.first, pair.second, pair.boards, pair.games) == ("a", "b", 3, 6)
    assert pair.mean == pytest.approx((0 + 1 + 0) / 3)
    assert pair.los == superiority([0.5, 1.0, 0.5])
    assert pair.points == t_interval([(4 - 1) / 2, (7 + 6) / 2, (-8 + 7) / 2])
    assert -1 <= pair.low < pair.mean < pair.high <= 1


def test_the_other_way_round_a_comparison_is_the_opposite():
    games = [game(board, leg, (leg, 1 - leg), [7, board]) for board in range(3) for leg in (0, 1)]
    games += [game(3, leg, (leg, 1 - leg), [7 - 7 * leg, 7 * leg]) for leg in (0, 1)]
    (pair,), (reverse,) = compared(games), compared(games, who=(1, 0))
    assert (pair.mean, pair.low, pair.high) == pytest.approx((-reverse.mean, -reverse.high, -reverse.low))
    assert pair.los == pytest.approx(1 - reverse.los)
    assert pair.points.mean == pytest.approx(-reverse.points.mean)


def test_a_board_that_misses_a_rotation_does_not_count():
    whole = [game(board, leg, (leg, 1 - leg), [7, 3]) for board in range(2) for leg in (0, 1)]
    (expected,), (got,) = compared(whole), compared([*whole, game(2, 0, (0, 1), [7, 0])])
    assert got == expected
    assert got.boards == 2


def test_void_games_are_no_meetings_and_ties_are_half():
    games = [game(0, 0, (0, 1), [3, 3]), game(0, 1, (1, 0), None)]
    (pair,) = compared(games)
    assert (pair.mean, pair.los, pair.boards) == (0.0, None, 1)


def test_seats_meet_each_seat_of_the_other_and_points_are_by_the_seat():
    games = [game(0, leg, (0, 1, 3, 2), [9, 7, 5, 6]) for leg in range(4)]  # a b b a
    (pair,) = compared(games, who=(0, 1, 0, 1))
    assert pair.mean == pytest.approx((3 - 1) / 4)
    assert pair.points.mean == pytest.approx((9 + 6) / 2 - (7 + 5) / 2)


def test_three_bots_are_three_pairs():
    games = [game(0, leg, (0, 1, 2, 3), [9, 7, 5, 8]) for leg in range(4)]
    pairs = compared(games, who=(0, 1, 2, 0), names="abc")
    assert [(pair.first, pair.second) for pair in pairs] == [("a", "b"), ("a", "c"), ("b", "c")]


def test_a_game_that_a_seat_of_river_retired_from_is_worth_nothing_to_it():
    games = [game(0, leg, (0, 1, 2, 3), [99, 7, 5, 8], retired=[0]) for leg in range(4)]
    lines = summed(games, [0, 1, 2, 3], "abcd").lines()
    assert [line.points.mean for line in lines] == [0, 7, 5, 8]
    pair = compared(games, who=(0, 1, 2, 3), names="abcd")[0]
    assert (pair.mean, pair.points.mean) == (-1.0, -7)
