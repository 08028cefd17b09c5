"""Standings of Swiss tournaments worked by hand: byes, Buchholz, and who went home."""

from __future__ import annotations

from collections.abc import Sequence

from bot_sdk.results.standings import Standing, standings
from bot_sdk.results.values import GameState, Result, Round
from tests.bot_sdk.results.made import drawn, entered, game, won

FIVE = drawn("ab cd / e", "ac eb / d", "ae db / c")  # the first of each pair wins: a 3, c d e 2 each with a bye, b 0


def table(
    bots: str, results: Sequence[Result], rounds: dict[int, Round], ruleset: str = "seven_up", **settings
) -> dict[str, Standing]:
    withdrawn = settings.pop("withdrawn", "")
    rows = standings(entered(bots, withdrawn), results, ruleset, seed=1, format="swiss", rounds=rounds, **settings)
    return {row.bot_id: row for row in rows}


def tiebreak(rows: dict[str, Standing], name: str) -> dict[str, float | None]:
    return {bot: row.tiebreaks[name] for bot, row in rows.items()}


def test_a_bye_is_a_point_without_a_board():
    rows = table("abcde", won(FIVE), FIVE)
    assert {bot: (row.points, row.byes, row.games, row.wins) for bot, row in rows.items()} == {
        "a": (3, 0, 3, 3),
        "c": (2, 1, 2, 1),
        "d": (2, 1, 2, 1),
        "e": (2, 1, 2, 1),
        "b": (0, 0, 3, 0),
    }
    assert rows["c"].mean.mean == 0.5


def test_buchholz_counts_the_points_of_those_met_and_a_bye_as_a_dummy_with_ones_own():
    rows = table("abcde", won(FIVE), FIVE)
    # c met d (2), a (3) and a dummy (2); the lowest is cut.
    assert tiebreak(rows, "buchholz") == {"a": 4, "b": 7, "c": 7, "d": 4, "e": 5}
    assert tiebreak(rows, "buchholz_cut_1") == {"a": 4, "b": 5, "c": 5, "d": 4, "e": 5}
    assert tiebreak(rows, "sonneborn_berger") == {"a": 4, "b": 0, "c": 4, "d": 2, "e": 2}


def test_cut_1_separates_first_and_the_whole_buchholz_those_it_left_level():
    rows = table("abcde", won(FIVE), FIVE)
    assert [(row.place, bot) for bot, row in rows.items()] == [(1, "a"), (2, "c"), (3, "e"), (4, "d"), (5, "b")]
    assert list(rows["a"].tiebreaks) == [
        "direct_encounter",
        "buchholz_cut_1",
        "buchholz",
        "sonneborn_berger",
        "net_points_per_deal",
        "wins",
    ]


def test_a_direct_encounter_outranks_buchholz():
    rounds = drawn("ec hg db fa", "fc dh eb ga", "ah ef dc gb")
    rows = table("abcdefgh", won(rounds), rounds)
    assert rows["a"].points == rows["h"].points == 1
    assert rows["a"].tiebreaks["buchholz_cut_1"] < rows["h"].tiebreaks["buchholz_cut_1"]
    assert rows["a"].place < rows["h"].place


def test_a_forfeit_counts_for_buchholz_as_a_dummy_for_both_sides():
    rounds = drawn("ab cd", "ac bd")
    results = [
        *won(drawn("ab cd")),
        game("ac", [0, 0], forfeited="c", deals=0, at=(2, 1, 0)),
        game("bd", [7, 1], at=(2, 2, 0)),
    ]
    rows = table("abcd", results, rounds)
    assert {bot: row.points for bot, row in rows.items()} == {"a": 2, "b": 1, "c": 1, "d": 0}
    # a: b (1) and a dummy with its own 2; c: d (0) and a dummy with its own 1, not the 2 points of a.
    assert tiebreak(rows, "buchholz") == {"a": 3, "b": 2, "c": 1, "d": 2}
    assert tiebreak(rows, "sonneborn_berger") == {"a": 3, "b": 0, "c": 0, "d": 0}


def test_the_rounds_after_a_withdrawal_count_half_for_those_who_met_the_bot_and_as_a_dummy_for_itself():
    rounds = drawn("ab cd", "bc / d", "bd / c")
    rows = table("abcd", won(rounds), rounds, withdrawn="a")
    assert {bot: (row.points, row.missing, row.is_withdrawn) for bot, row in rows.items()} == {
        "b": (2, 0, False),
        "c": (2, 0, False),
        "a": (1, 2, True),
        "d": (1, 0, False),
    }
    # b met a (1 + 2 x ½), c (2) and d (1); a met b (2) and twice a dummy with its own 1.
    assert tiebreak(rows, "buchholz") | {"c": 0, "d": 0} == {"a": 4, "b": 5, "c": 0, "d": 0}


def test_a_round_without_a_result_yet_says_nothing():
    rounds = drawn("ab cd", "ac bd")
    rows = table("abcd", won(drawn("ab cd")), rounds)
    assert tiebreak(rows, "buchholz") == {"a": 0, "b": 1, "c": 0, "d": 1}
    assert {row.missing for row in rows.values()} == {1}


def test_the_legs_of_a_table_are_one_round_for_buchholz():
    rounds = drawn("ab / c", "ac / b")
    legs = [game("ab", [7, 2], at=(1, 1, 0)), game("ba", [7, 2], at=(1, 1, 1)), *won(drawn("", "ac"))]
    rows = table("abc", [*legs, game("ca", [2, 7], at=(2, 1, 1))], rounds, deals="rotate")
    assert {bot: row.points for bot, row in rows.items()} == {"a": 3, "b": 2, "c": 1}
    assert tiebreak(rows, "buchholz") == {"a": 3, "b": 5, "c": 4}
    assert tiebreak(rows, "sonneborn_berger") == {"a": 2 + 2, "b": 3 + 2, "c": 1}


def test_of_a_table_of_which_one_leg_was_played_both_met_the_other():
    rounds = drawn("ab")
    legs = [game("ab", [7, 2], at=(1, 1, 0)), game("ba", [0, 0], forfeited="b", deals=0, at=(1, 1, 1))]
    rows = table("ab", legs, rounds, deals="rotate")
    assert {bot: row.points for bot, row in rows.items()} == {"a": 2, "b": 0}
    assert tiebreak(rows, "buchholz") == {"a": 0, "b": 2}


def test_with_rotate_a_round_after_a_withdrawal_is_half_of_each_leg():
    rounds = drawn("ab / c", "bc")
    legs = [game(pair, [7, 2], at=at) for pair, at in (("ab", (1, 1, 0)), ("ba", (1, 1, 1)))]
    rows = table(
        "abc", [*legs, *won(drawn("", "bc")), game("cb", [2, 7], at=(2, 1, 1))], rounds, deals="rotate", withdrawn="a"
    )
    assert {bot: (row.points, row.missing) for bot, row in rows.items()} == {"b": (3, 0), "a": (1, 2), "c": (1, 0)}
    # b met a (1 + 2 x ½) and c (1); a met b (3) and a dummy with its own 1; c had a bye (its own 1) and met b (3).
    assert tiebreak(rows, "buchholz") == {"b": 3, "a": 4, "c": 4}


def test_a_game_that_was_never_played_is_missing_and_met_nobody():
    rounds = drawn("ab cd")
    results = [*won(drawn("ab")), game("cd", [0, 0], state=GameState.ABORTED, at=(1, 2, 0))]
    rows = table("abcd", results, rounds)
    assert {bot: (row.missing, row.aborted, row.tiebreaks["buchholz"]) for bot, row in rows.items()} == {
        "a": (0, 0, 0),
        "b": (0, 0, 1),
        "c": (1, 1, 0),
        "d": (1, 1, 0),
    }


def test_in_river_a_seat_that_sits_out_scores_nothing_and_loses_nothing():
    rounds = drawn("abcd / e", "bcde / a")
    results = [game("abcd", [40, 30, 20, 10], at=(1, 1, 0)), game("bcde", [30, 20, 10, 35], at=(2, 1, 0))]
    rows = table("abcde", results, rounds, "river")
    assert {bot: (row.place, row.byes, row.mean.mean) for bot, row in rows.items()} == {
        "a": (1, 1, 40),
        "e": (2, 1, 35),
        "b": (3, 0, 30),
        "c": (4, 0, 20),
        "d": (5, 0, 10),
    }


def test_in_river_going_home_with_a_high_mean_does_not_win():
    rounds = drawn("abcd / e", "bcde")
    results = [game("abcd", [90, 30, 20, 10], at=(1, 1, 0)), game("bcde", [30, 20, 10, 35], at=(2, 1, 0))]
    rows = table("abcde", results, rounds, "river", withdrawn="a")
    assert [(row.place, bot, row.missing) for bot, row in rows.items()] == [
        (1, "e", 0),
        (2, "b", 0),
        (3, "c", 0),
        (4, "d", 0),
        (5, "a", 1),
    ]
