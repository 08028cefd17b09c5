"""Crosstables worked by hand, and what they have in common with the standings."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot_sdk.results.comparison import superiority
from bot_sdk.results.crosstable import Cell, crosstable
from bot_sdk.results.intervals import Interval, share_interval
from bot_sdk.results.standings import standings
from bot_sdk.results.values import GameState, Result
from tests.bot_sdk.results.made import entered, game, wins


def cells(bots: str, results: Sequence[Result], ruleset: str) -> dict[str, Cell | None]:
    """Compute the crosstable of one-letter bots, by pair."""
    rows = crosstable(entered(bots), results, ruleset, seed=1)
    return {row.bot_id + other.bot_id: cell for row in rows for other, cell in zip(rows, row.cells, strict=True)}


def test_rows_and_columns_stand_in_the_order_of_the_standings():
    rows = crosstable(entered("abc"), wins("ca cb ab"), "seven_up", seed=1)
    assert [(row.place, row.bot_id, row.name) for row in rows] == [(1, "c", "C"), (2, "a", "A"), (3, "b", "B")]
    assert [[cell and cell.points for cell in row.cells] for row in rows] == [[None, 1, 1], [0, None, 1], [0, 0, None]]


def test_a_pair_that_never_met_has_no_cell():
    found = cells("abc", wins("ab"), "seven_up")
    assert found["ac"] is found["ca"] is found["cc"] is None
    assert found["ab"].games == 1


def test_a_pair_has_its_games_points_and_an_interval_over_boards():
    found = cells("ab", wins("ab ab ba ab"), "seven_up")
    assert (found["ab"].games, found["ab"].points, found["ab"].mean) == (4, 3, share_interval([1, 1, 0, 1]))
    assert (found["ba"].games, found["ba"].points, found["ba"].mean) == (4, 1, share_interval([0, 0, 1, 0]))


def test_games_of_one_board_are_one_value_of_the_interval():
    results = [game("ab", [7, 1], board="1"), game("ba", [7, 1], board="1"), game("ab", [7, 1], board="2")]
    found = cells("ab", results, "seven_up")
    assert found["ab"].mean == share_interval([0.5, 1])
    assert (found["ab"].games, found["ab"].points) == (3, 2)


def test_one_board_has_no_interval():
    assert cells("ab", wins("ab"), "seven_up")["ab"].mean == Interval(1.0)


def test_superiority_is_over_boards_and_the_rest_is_the_others():
    won, whole = cells("ab", wins("ab ab ba ab ab"), "seven_up"), cells("ab", wins("ab ba"), "seven_up")
    assert won["ab"].superiority == superiority([1, 1, 0, 1, 1]) > 0.8
    assert won["ba"].superiority == 1 - won["ab"].superiority
    assert whole["ab"].superiority == whole["ba"].superiority == 0.5
    assert cells("ab", wins("ab"), "seven_up")["ab"].superiority is None


def test_legs_of_a_board_that_cancel_out_say_nothing_of_superiority():
    results = [game(pair, [7, 1], board=board) for board in "xyz" for pair in ("ab", "ba")]
    assert cells("ab", results, "seven_up")["ab"].superiority == 0.5


def test_a_forfeit_brings_a_point_and_no_game():
    found = cells("ab", [game("ab", [0, 0], forfeited="b", deals=0)], "seven_up")
    assert (found["ab"].games, found["ab"].points, found["ab"].forfeits, found["ab"].forfeit_wins) == (0, 1, 0, 1)
    assert (found["ba"].games, found["ba"].points, found["ba"].forfeits, found["ba"].forfeit_wins) == (0, 0, 1, 0)
    assert found["ab"].mean == Interval(None)


def test_when_both_forfeit_neither_wins():
    found = cells("ab", [game("ab", [0, 0], forfeited="ab", state=GameState.VOID)], "seven_up")
    assert {(cell.points, cell.forfeits, cell.forfeit_wins, cell.voids) for cell in (found["ab"], found["ba"])} == {
        (0, 1, 0, 0)
    }


@pytest.mark.parametrize(("ruleset", "bots"), [("seven_up", "ab"), ("river", "abcd")])
def test_a_void_game_is_counted_apart(ruleset, bots):
    found = cells(bots, [game(bots, [0] * len(bots), state=GameState.VOID)], ruleset)
    assert (found["ab"].games, found["ab"].points, found["ab"].voids, found["ba"].voids) == (0, 0, 1, 1)


@pytest.mark.parametrize("state", [GameState.ABORTED, GameState.CANCELLED])
def test_games_that_were_not_played_leave_no_trace(state):
    assert cells("ab", [game("ab", [0, 0], state=state)], "seven_up")["ab"] is None


def test_at_a_table_of_river_each_pair_compares_its_places():
    found = cells("abcd", [game("abcd", [30, 20, 20, 10])], "river")
    assert {pair: cell.points for pair, cell in found.items() if cell and pair[0] in "ab"} == {
        "ab": 1,
        "ac": 1,
        "ad": 1,
        "ba": 0,
        "bc": 0.5,
        "bd": 1,
    }


def test_in_river_who_forfeits_meets_nobody():
    found = cells("abcd", [game("abcd", [30, 20, 10, 0], forfeited="b")], "river")
    assert (found["ab"].games, found["ab"].forfeits, found["ba"].forfeits) == (0, 0, 1)
    assert (found["ab"].points, found["ab"].forfeit_wins) == (0, 0)
    assert (found["ac"].games, found["ac"].points) == (1, 1)


def test_in_river_a_retired_seat_loses_to_all_others():
    found = cells("abcd", [game("abcd", [90, 20, 10, 0], retired="a")], "river")
    assert [found[pair].points for pair in ("ab", "ac", "ad")] == [0, 0, 0]


pairs = st.lists(st.sampled_from("abcd"), min_size=2, max_size=2, unique=True).map("".join)


@st.composite
def seven_up_results(draw) -> list[Result]:
    return [
        game(
            pair,
            draw(st.sampled_from([[7, 3], [2, 7]])),
            board=draw(st.sampled_from("xyz")),
            forfeited=draw(st.sampled_from(["", "", pair[0]])),
        )
        for pair in draw(st.lists(pairs, max_size=20))
    ]


@given(seven_up_results())
def test_the_points_of_a_row_add_up_to_those_of_the_standings(results):
    rows = crosstable(entered("abcd"), results, "seven_up", seed=1)
    for row, standing in zip(rows, standings(entered("abcd"), results, "seven_up", seed=1), strict=True):
        assert sum(cell.points for cell in row.cells if cell) == standing.points
        assert sum(cell.games for cell in row.cells if cell) == standing.games
        assert sum(cell.forfeits for cell in row.cells if cell) == standing.forfeits


@given(seven_up_results())
def test_two_cells_of_a_pair_mirror_each_other(results):
    found = cells("abcd", results, "seven_up")
    for pair, cell in found.items():
        other = found[pair[::-1]]
        if cell is not None:
            assert (cell.games, cell.voids, cell.forfeits == 0) == (other.games, other.voids, other.forfeit_wins == 0)
            assert cell.points + other.points == cell.games + cell.forfeit_wins + other.forfeit_wins
            if cell.mean.mean is not None:
                assert cell.mean.mean + other.mean.mean == pytest.approx(1)
