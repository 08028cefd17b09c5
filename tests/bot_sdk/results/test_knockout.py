"""Who goes on from a table, how far everybody came, and the standings of a knockout."""

from __future__ import annotations

import pytest

from bot_sdk.results.knockout import final_ranking, reached, table_ranking
from bot_sdk.results.standings import standings
from bot_sdk.results.values import GameState
from tests.bot_sdk.results.made import drawn, entered, game, won

# Seven Up at one table


def test_match_points_over_the_legs_decide():
    legs = [game("ab", [7, 0]), game("ba", [7, 6]), game("ba", [7, 6])]
    assert table_ranking(legs, "seven_up", "ab") == ["b", "a"]


def test_then_net_points():
    assert table_ranking([game("ab", [7, 5]), game("ba", [7, 3])], "seven_up", "ab") == ["b", "a"]


def test_then_wins_at_the_table():
    # A point each, and level when a retired; but a's point came by forfeit.
    legs = [game("ab", [0, 0], forfeited="b", deals=0), game("ab", [4, 4], retired="a")]
    assert table_ranking(legs, "seven_up", "ab") == ["b", "a"]


def test_net_points_outrank_wins_at_the_table():
    # A point each: b's was won at the table, but a was ahead there when it retired.
    legs = [game("ab", [0, 0], forfeited="b", deals=0), game("ab", [6, 4], retired="a")]
    assert table_ranking(legs, "seven_up", "ba") == ["a", "b"]


def test_points_of_a_void_leg_are_nobodys():
    legs = [game("ab", [7, 3]), game("ba", [7, 3]), game("ab", [0, 6], state=GameState.VOID)]
    assert table_ranking(legs, "seven_up", "ab") == ["a", "b"]


def test_a_forfeit_is_lost():
    assert table_ranking([game("ab", [0, 0], forfeited="a", deals=0)], "seven_up", "ab") == ["b", "a"]


@pytest.mark.parametrize(
    "legs",
    [
        [game("ab", [3, 7], state=GameState.VOID)],
        [game("ab", [0, 0], state=GameState.ABORTED)],
        [game("ab", [7, 3]), game("ba", [7, 3])],
    ],
    ids=["void", "aborted", "level"],
)
@pytest.mark.parametrize("seeding", ["ab", "ba"])
def test_when_nothing_decides_the_seeding_does(legs, seeding):
    assert table_ranking(legs, "seven_up", seeding) == list(seeding)


def test_only_those_at_the_table_are_ranked():
    assert table_ranking([game("ab", [3, 7])], "seven_up", "cabd") == ["b", "a"]
    assert table_ranking([], "seven_up", "cabd") == []


# River at one table


def test_in_river_the_sum_of_totals_over_the_legs_decides():
    legs = [game("abcd", [40, 30, 20, 10]), game("bcda", [30, 35, 36, 5])]
    assert table_ranking(legs, "river", "dcba") == ["b", "c", "d", "a"]


def test_in_river_who_retired_or_forfeited_comes_last_whatever_the_totals():
    legs = [game("abcd", [90, 80, 20, 10], retired="a", forfeited="b"), game("bcda", [50, 5, 6, 50])]
    # a kept 140 points, b 50; d and c have 16 and 25.
    assert table_ranking(legs, "river", "abcd") == ["c", "d", "a", "b"]


def test_in_river_a_bot_out_in_two_legs_comes_behind_one_out_in_one():
    legs = [game("abcd", [90, 0, 20, 10], retired="ab"), game("bcda", [0, 20, 10, 90], retired="a")]
    assert table_ranking(legs, "river", "abcd") == ["c", "d", "b", "a"]


def test_in_river_wins_separate_level_totals():
    legs = [game("abcd", totals) for totals in ([30, 20, 1, 0], [30, 20, 1, 0], [0, 20, 1, 0])]
    assert table_ranking(legs, "river", "dcba") == ["a", "b", "c", "d"]


def test_in_river_a_void_leg_makes_nobody_last():
    legs = [game("abcd", [9, 8, 7, 6], retired="abcd", state=GameState.VOID), game("abcd", [1, 2, 3, 4])]
    assert table_ranking(legs, "river", "abcd") == ["d", "c", "b", "a"]


# How far they came

SEVEN_UP = drawn("ab cd / e", "ac / e", "ea")


def final(rounds, results, *, deals="fresh", gone=()) -> list[str]:
    return final_ranking(rounds, results, "seven_up", deals=deals, seeding="abcde", gone=gone)


def test_how_far_is_the_last_round_at_a_table_or_with_a_bye_and_one_more_for_the_winner():
    ranking = final(SEVEN_UP, won(SEVEN_UP))
    assert ranking == ["e", "a"]
    assert reached(SEVEN_UP, ranking) == {"e": 4, "a": 3, "c": 2, "b": 1, "d": 1}


def test_there_is_no_winner_before_the_final_has_its_results():
    semifinals = drawn("ab cd / e", "ac / e")
    assert final(semifinals, won(semifinals)) == []
    assert final(SEVEN_UP, won(semifinals)) == []
    assert final(SEVEN_UP, won(SEVEN_UP), deals="rotate") == []
    assert final({}, []) == []


def test_with_all_legs_of_the_final_there_is_a_winner():
    results = [*won(SEVEN_UP), game("ae", [7, 1], at=(3, 1, 1))]
    assert final(SEVEN_UP, results, deals="rotate") == ["a", "e"]


def test_who_is_left_alone_has_won_without_a_final():
    semifinals = drawn("ab cd")
    assert final(semifinals, won(semifinals), gone="cd") == ["a"]
    assert final(semifinals, won(semifinals), gone="acd") == ["b"]
    assert final(semifinals, won(semifinals), gone="c") == []
    assert final(semifinals, won(drawn("ab")), gone="cd") == []
    assert final(drawn("ab / c"), won(drawn("ab")), gone="ab") == ["c"]
    assert final(semifinals, won(semifinals), gone="abcd") == []


def test_at_tables_who_goes_home_leaves_the_others_where_they_are():
    rounds = drawn("abcd / e")
    results = [game("abcd", [4, 3, 2, 1], at=(1, 1, 0))]
    assert final_ranking(rounds, results, "river", deals="fresh", seeding="abcde", gone="abcd") == []


# Standings


def test_standings_of_a_knockout_rank_by_how_far_before_points():
    rows = standings(entered("abcde"), won(SEVEN_UP), "seven_up", seed=1, format="knockout", rounds=SEVEN_UP)
    assert [(row.place, row.bot_id, row.reached, row.points, row.byes) for row in rows[:3]] == [
        (1, "e", 4, 1, 2),
        (2, "a", 3, 2, 0),
        (3, "c", 2, 1, 0),
    ]
    assert [(row.place, row.reached, row.points) for row in rows[3:]] == [(4, 1, 0)] * 2


def test_those_of_the_deciding_table_stand_as_it_ended_and_the_others_by_their_means():
    rounds = drawn("abcd efgh", "abef")
    results = [
        game("abcd", [90, 80, 11, 12], at=(1, 1, 0)),
        game("efgh", [30, 29, 13, 10], at=(1, 2, 0)),
        game("abef", [1, 2, 4, 3], at=(2, 1, 0)),
    ]
    rows = standings(entered("abcdefgh"), results, "river", seed=1, format="knockout", rounds=rounds)
    assert [(row.place, row.bot_id, row.reached) for row in rows] == [
        (1, "e", 3),
        (2, "f", 2),
        (3, "b", 2),
        (4, "a", 2),
        (5, "g", 1),
        (6, "d", 1),
        (7, "c", 1),
        (8, "h", 1),
    ]


def test_before_the_final_those_still_in_stand_by_their_means():
    rounds = drawn("abcd efgh", "abef")
    results = [game("abcd", [90, 80, 11, 12], at=(1, 1, 0)), game("efgh", [30, 29, 13, 10], at=(1, 2, 0))]
    rows = standings(entered("abcdefgh"), results, "river", seed=1, format="knockout", rounds=rounds)
    assert [row.bot_id for row in rows] == list("abefgdch")
    assert [(row.reached, row.missing) for row in rows] == [(2, 1)] * 4 + [(1, 0)] * 4


def test_only_a_knockout_tells_how_far():
    rounds = drawn("ab")
    assert {row.reached for row in standings(entered("ab"), won(rounds), "seven_up", seed=1, rounds=rounds)} == {None}
