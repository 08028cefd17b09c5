"""Standings worked by hand: each score, each tie-break, and what is counted apart."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot_sdk.results.intervals import Interval, share_interval, t_interval
from bot_sdk.results.lots import lot
from bot_sdk.results.standings import Standing, method, standings
from bot_sdk.results.tally import Tally
from bot_sdk.results.values import GameState, Result
from tests.bot_sdk.results.made import drawn, entered, game, wins, won


def table(bots: str, results: Sequence[Result], ruleset: str, seed: int = 1) -> dict[str, Standing]:
    """Compute the standings of one-letter bots, by bot in the order of the rows."""
    return {row.bot_id: row for row in standings(entered(bots), results, ruleset, seed=seed)}


def places(rows: dict[str, Standing]) -> dict[str, int]:
    return {bot: row.place for bot, row in rows.items()}


def tiebreak(rows: dict[str, Standing], name: str) -> dict[str, float | None]:
    return {bot: row.tiebreaks[name] for bot, row in rows.items()}


# Seven Up


def test_seven_up_ranks_by_points():
    rows = table("cab", wins("ab ac bc"), "seven_up")
    assert places(rows) == {"a": 1, "b": 2, "c": 3}
    assert [(row.name, row.games, row.points, row.wins) for row in rows.values()] == [
        ("A", 2, 2.0, 2),
        ("B", 2, 1.0, 1),
        ("C", 2, 0.0, 0),
    ]


def test_seven_up_mean_is_points_per_game_over_boards():
    rows = table("abc", wins("ab ac bc"), "seven_up")
    assert rows["a"].mean == share_interval([1, 1])
    assert (rows["b"].mean.mean, rows["b"].mean.low, rows["b"].mean.high) == (0.5, 0, 1)
    # Five values with the two that are added, 1 1 1 and 1 0: mean 0.8, standard error 0.2, times t(4 degrees).
    three = table("ab", wins("ab ab ab"), "seven_up")["a"].mean
    assert (three.mean, three.high) == (1, 1)
    assert three.low == pytest.approx(0.8 - 2.776445105 * 0.2, abs=1e-9)


def test_direct_encounter_comes_first():
    rows = table("abcd", wins("ac ad ba bc db cd"), "seven_up")
    assert [row.points for row in rows.values()] == [2, 2, 1, 1]
    assert tiebreak(rows, "direct_encounter") == {"b": 1.0, "a": 0.0, "c": 1.0, "d": 0.0}
    assert places(rows) == {"b": 1, "a": 2, "c": 3, "d": 4}


def test_direct_encounter_is_asked_again_among_those_it_left_level():
    # a, b, c, d have 2 points each. Among them a and b made 2, c and d made 1; a beat b, and c beat d.
    # Nothing later would tell: Sonneborn-Berger is 4 for a and b, 5 for c and d, and net points are level.
    results = wins("ab ac da bc bd cd xa xb cx dx ya yb yc yd xy")
    rows = table("dcbaxy", results, "seven_up")
    assert [row.points for row in rows.values()] == [4, 3, 2, 2, 2, 2]
    assert tiebreak(rows, "sonneborn_berger") | {"x": 0, "y": 0} == {"y": 0, "x": 0, "a": 4, "b": 4, "c": 5, "d": 5}
    assert places(rows) == {"y": 1, "x": 2, "a": 3, "b": 4, "c": 5, "d": 6}


def test_sonneborn_berger_follows():
    # a, b, c beat each other in a ring and have 2 points each; b's other win was over e, the leader.
    rows = table("abcde", wins("ab bc ca ad ea db be cd ec ed"), "seven_up")
    assert {bot: row.points for bot, row in rows.items()} == {"e": 3, "b": 2, "a": 2, "c": 2, "d": 1}
    assert tiebreak(rows, "direct_encounter") == {"e": None, "b": 0.5, "a": 0.5, "c": 0.5, "d": None}
    assert tiebreak(rows, "sonneborn_berger") == {"e": 5, "b": 5, "a": 3, "c": 3, "d": 2}
    assert [row.place for row in rows.values()][:2] == [1, 2]


def test_net_points_per_deal_follow():
    results = [*wins("ab bc ad ea db be cd ec ed"), game("ca", [7, 6])]
    rows = table("abcde", results, "seven_up")
    # a: +4 +4 -4 -1 over 32 deals; c: +1 +4 -4 -4.
    assert rows["a"].tiebreaks["net_points_per_deal"] == 3 / 32
    assert rows["c"].tiebreaks["net_points_per_deal"] == -3 / 32
    assert places(rows) == {"e": 1, "b": 2, "a": 3, "c": 4, "d": 5}


def test_net_points_per_deal_outrank_wins():
    # a and b never met and have a point each, both from c: b's by forfeit, but it lost to d by less.
    results = [game("ac", [7, 6]), game("da", [7, 0]), game("bc", [0, 0], forfeited="c", deals=0), game("db", [7, 6])]
    rows = table("abcd", results, "seven_up")
    assert tiebreak(rows, "sonneborn_berger") == {"d": 2, "a": 0, "b": 0, "c": 0}
    assert tiebreak(rows, "net_points_per_deal") == {"d": 8 / 16, "b": -1 / 8, "a": -6 / 16, "c": -1 / 8}
    assert tiebreak(rows, "wins") == {"d": 2, "b": 0, "a": 1, "c": 0}
    assert places(rows) == {"d": 1, "b": 2, "a": 3, "c": 4}


def test_bots_that_nothing_separates_share_a_place():
    rows = table("abcde", wins("ab bc ca ad ea db be cd ec ed"), "seven_up")
    assert places(rows) == {"e": 1, "b": 2, "a": 3, "c": 3, "d": 5}


def test_a_win_at_the_table_outranks_one_by_forfeit():
    # a and b never met and have a point each, both from c, at -3 points in 16 deals; b's came without a game.
    results = [
        game("ac", [7, 6]),
        game("da", [7, 3]),
        game("bc", [0, 0], forfeited="c", deals=0),
        game("db", [7, 4], deals=16),
    ]
    rows = table("abcd", results, "seven_up")
    assert rows["a"].tiebreaks | {"wins": 0} == rows["b"].tiebreaks
    assert rows["a"].tiebreaks == {
        "direct_encounter": None,
        "sonneborn_berger": 0,
        "net_points_per_deal": -3 / 16,
        "wins": 1,
    }
    assert places(rows) == {"d": 1, "a": 2, "b": 3, "c": 4}


def test_a_forfeit_stands_in_its_own_columns_and_says_nothing_about_the_play():
    results = [*wins("ab"), game("ba", [0, 0], forfeited="a", deals=0, outcomes=[{}, {}])]
    rows = table("ab", results, "seven_up")
    seen = {bot: (row.games, row.points, row.wins, row.forfeits, row.forfeit_wins) for bot, row in rows.items()}
    assert seen == {"a": (1, 1.0, 1, 1, 0), "b": (1, 1.0, 0, 0, 1)}
    assert rows["b"].mean == Interval(0.0)
    assert tiebreak(rows, "direct_encounter") == {"a": 0.5, "b": 0.5}


def test_when_both_forfeit_nobody_scores():
    rows = table("ab", [game("ab", [0, 0], forfeited="ab", state=GameState.VOID)], "seven_up")
    assert [(row.points, row.forfeits, row.forfeit_wins, row.games) for row in rows.values()] == [(0, 1, 0, 0)] * 2


def test_games_that_a_bot_was_retired_from_are_counted_those_it_forfeited_are_not():
    results = [
        game("abcd", [9, 8, 7, 6], retired="b"),
        game("abcd", [9, 8, 7, 6], retired="bc", forfeited="c"),
    ]
    rows = {row.bot_id: row for row in standings(entered("abcd"), results, "river", seed=1)}
    assert {bot: (row.retirements, row.forfeits) for bot, row in rows.items()} == {
        "a": (0, 0), "b": (2, 0), "c": (0, 1), "d": (0, 0),
    }  # fmt: skip


def test_the_opponent_of_a_retired_seat_wins_whatever_the_totals():
    rows = table("ab", [game("ab", [6, 1], retired="a")], "seven_up")
    assert [(row.bot_id, row.points, row.wins) for row in rows.values()] == [("b", 1.0, 1), ("a", 0.0, 0)]
    assert rows["a"].games == rows["b"].games == 1


# River


def test_river_ranks_by_mean_score_over_boards():
    results = [game("abcd", [60, 50, 10, 0]), game("bcda", [50, 20, 10, 40])]
    rows = table("abcd", [*results, game("abce", [50, 50, 45, 0])], "river")
    assert {bot: (row.mean.mean, row.points, row.games) for bot, row in rows.items()} == {
        "a": (50, 150, 3),
        "b": (50, 150, 3),
        "c": (25, 75, 3),
        "d": (5, 10, 2),
    }


def test_river_intervals_are_over_boards():
    rows = table("abcd", [game("abcd", [60, 0, 0, 0]), game("abcd", [40, 0, 0, 0])], "river")
    assert rows["a"].mean == t_interval([60, 40])
    assert rows["a"].mean.high == pytest.approx(50 + 10 * 12.706204736, abs=1e-7)


def test_legs_of_one_board_are_one_value():
    totals = [("x", 60), ("x", 20), ("y", 30), ("y", 10), ("y", 80)]
    rows = table("abcd", [game("abcd", [total, 0, 0, 0], board=board) for board, total in totals], "river")
    assert rows["a"].mean == t_interval([40, 40])
    assert rows["a"].games == 5


def test_head_to_head_comes_first():
    rows = table("badc", [game("abcd", s) for s in ([30, 20, 1, 0], [30, 20, 1, 0], [20, 40, 1, 0])], "river")
    assert rows["a"].mean.mean == rows["b"].mean.mean
    assert tiebreak(rows, "head_to_head") == {"a": 2 / 3, "b": 1 / 3, "c": None, "d": None}
    assert places(rows) == {"a": 1, "b": 2, "c": 3, "d": 4}


def test_head_to_head_outranks_wins():
    rows = table("bacd", [game("abcd", s) for s in ([30, 20, 40, 0], [30, 20, 40, 0], [20, 40, 1, 0])], "river")
    assert tiebreak(rows, "wins") == {"c": 2, "a": 0, "b": 1, "d": 0}
    assert places(rows) == {"c": 1, "a": 2, "b": 3, "d": 4}


RING = ([30, 20, 10, 0], [20, 30, 40, 0])  # a, b, c: 50 points each, 2 of 4 encounters won each; a and c won a game


def test_wins_follow_and_then_the_exact_bid_rate():
    rows = table("bcad", [game("abcd", s, deals=15, exact_bids=[10, 15, 9, 0]) for s in RING], "river")
    assert tiebreak(rows, "head_to_head") == {"a": 0.5, "c": 0.5, "b": 0.5, "d": None}
    assert tiebreak(rows, "wins") == {"a": 1, "c": 1, "b": 0, "d": 0}
    assert tiebreak(rows, "exact_bid_rate") == {"a": 20 / 30, "c": 18 / 30, "b": 1.0, "d": 0.0}
    assert places(rows) == {"a": 1, "c": 2, "b": 3, "d": 4}


def test_level_to_the_last_they_share_the_place():
    rows = table("bcad", [game("abcd", s, deals=15, exact_bids=[9, 9, 9, 9]) for s in RING], "river")
    assert places(rows) == {"a": 1, "c": 1, "b": 3, "d": 4}


def test_a_shared_first_place_is_a_win_for_both():
    rows = table("abcd", [game("abcd", [30, 30, 20, 10])], "river")
    assert {bot: row.wins for bot, row in rows.items()} == {"a": 1, "b": 1, "c": 0, "d": 0}


def test_a_game_is_worth_nothing_to_a_retired_seat_which_loses_every_encounter():
    results = [game("abcd", [50, 20, 10, 0], retired="a"), game("abcd", [70, 50, 10, 0])]
    rows = table("abcd", results, "river")
    assert (rows["a"].mean.mean, rows["a"].points, rows["b"].mean.mean) == (35, 70, 35)
    assert tiebreak(rows, "head_to_head") == {"a": 0.5, "b": 0.5, "c": None, "d": None}
    assert {bot: row.wins for bot, row in rows.items()} == {"a": 1, "b": 1, "c": 0, "d": 0}


def test_a_forfeited_game_scores_nothing_for_the_forfeiter_and_no_encounter():
    results = [
        game("abcd", [90, 40, 30, 20], forfeited="a", exact_bids=[15, 5, 5, 5], deals=15),
        game("abcd", [80, 40, 30, 20], exact_bids=[3, 5, 5, 5], deals=15),
    ]
    rows = table("abcd", results, "river")
    a, b = rows["a"], rows["b"]
    assert (a.games, a.points, a.mean.mean, a.wins, a.forfeits) == (2, 80, 40, 1, 1)
    assert (b.games, b.points, b.mean.mean, b.wins, b.forfeits) == (2, 80, 40, 1, 0)
    assert a.tiebreaks == {"head_to_head": 1.0, "wins": 1, "exact_bid_rate": 3 / 15}
    assert b.tiebreaks == {"head_to_head": 0.0, "wins": 1, "exact_bid_rate": 10 / 30}


# Both


@pytest.mark.parametrize(("ruleset", "bots"), [("seven_up", "ab"), ("river", "abcd")])
def test_a_void_game_is_nothing_for_all_whatever_the_totals(ruleset, bots):
    rows = table(bots, [game(bots, range(len(bots)), state=GameState.VOID)], ruleset)
    assert {(row.place, row.games, row.points, row.voids, row.wins) for row in rows.values()} == {(1, 1, 0, 1, 0)}
    assert {row.mean for row in rows.values()} == {Interval(0.0)}


@pytest.mark.parametrize(("ruleset", "bots"), [("seven_up", "ab"), ("river", "abcd")])
def test_aborted_games_are_counted_and_cancelled_ones_forgotten(ruleset, bots):
    ended = [game(bots, [0] * len(bots), state=state) for state in (GameState.ABORTED, GameState.CANCELLED)]
    rows = table(bots, ended, ruleset)
    assert {(row.games, row.aborted, row.points) for row in rows.values()} == {(0, 1, 0)}
    assert all(row.mean == Interval(None) and row.outcomes == {} for row in rows.values())


def test_outcomes_are_summed_by_bot():
    results = [
        game("ab", [7, 0], outcomes=[{"ok": 20}, {"ok": 17, "late": 3}]),
        game("ba", [7, 0], outcomes=[{"ok": 12, "illegal": 1}, {"ok": 13}]),
    ]
    rows = table("ab", results, "seven_up")
    assert rows["a"].outcomes == {"ok": 33}
    assert rows["b"].outcomes == {"ok": 29, "late": 3, "illegal": 1}


def test_an_entry_without_a_game_ranks_below_a_mean_of_nothing():
    rows = table("eabcd", [game("abcd", [10, 10, 10, 0])], "river")
    assert rows["d"].place == 4
    assert (rows["e"].place, rows["e"].mean, rows["e"].games) == (5, Interval(None), 0)


def test_a_bot_without_an_entry_has_no_row_but_counts_as_opponent():
    rows = table("abc", wins("za zb az bc ca"), "seven_up")
    assert set(rows) == set("abc")
    assert rows["a"].tiebreaks["sonneborn_berger"] == 2  # its one win, over z, who has two


def test_rows_within_a_place_are_drawn_by_lot():
    for seed in range(10):
        rows = table("abcdef", [], "seven_up", seed)
        assert list(rows) == sorted("abcdef", key=lambda bot, seed=seed: lot(seed, bot))
        assert set(places(rows).values()) == {1}


def test_no_entries_make_no_rows():
    assert table("", [], "river") == {}


def test_an_unknown_ruleset_is_refused():
    with pytest.raises(KeyError, match="whist"):
        table("ab", [], "whist")


def test_rows_survive_json():
    rows = list(table("abcd", [game("abcd", [3, 2, 1, 0])], "river").values())
    assert msgspec.json.decode(msgspec.json.encode(rows), type=list[Standing]) == rows


@st.composite
def seven_up_results(draw) -> list[Result]:
    pairs = draw(st.lists(st.lists(st.sampled_from("abcdef"), min_size=2, max_size=2, unique=True), max_size=30))
    return [
        game(
            "".join(pair),
            draw(st.sampled_from([[7, 3], [7, 6], [2, 7]])),
            deals=draw(st.sampled_from([4, 8])),
            retired=draw(st.sampled_from(["", "", "", pair[0]])),
            forfeited=draw(st.sampled_from(["", "", "", pair[1]])),
        )
        for pair in pairs
    ]


@st.composite
def river_results(draw) -> list[Result]:
    seats = st.lists(st.sampled_from("abcdef"), min_size=4, max_size=4, unique=True)
    return [
        game(
            "".join(bots),
            draw(st.lists(st.sampled_from([0, 10, 20]), min_size=4, max_size=4)),
            exact_bids=draw(st.lists(st.integers(0, 2), min_size=4, max_size=4)),
            board=draw(st.sampled_from("wxyz")),
            retired=draw(st.sampled_from(["", "", bots[0]])),
            forfeited=draw(st.sampled_from(["", "", bots[1]])),
        )
        for bots in draw(st.lists(seats, max_size=12))
    ]


seven_up_or_river = st.one_of(
    st.tuples(st.just("seven_up"), seven_up_results()), st.tuples(st.just("river"), river_results())
)


@given(seven_up_or_river, st.randoms(use_true_random=False))
def test_the_order_of_results_and_entries_does_not_matter(played, rng):
    ruleset, results = played
    expected = table("abcdef", results, ruleset)
    shuffled, bots = list(results), list("abcdef")
    rng.shuffle(shuffled)
    rng.shuffle(bots)
    again = table("".join(bots), shuffled, ruleset)
    assert list(places(again).items()) == list(places(expected).items())
    assert all(again[bot].tiebreaks == row.tiebreaks for bot, row in expected.items())


@given(seven_up_or_river)
def test_a_place_is_one_more_than_the_bots_ahead(played):
    ruleset, results = played
    rows = list(table("abcdef", results, ruleset).values())
    assert [row.place for row in rows] == [1 + sum(other.place < row.place for other in rows) for row in rows]
    scores = [row.points if ruleset == "seven_up" else -1 if row.mean.mean is None else row.mean.mean for row in rows]
    assert all(better >= worse - 1e-9 for better, worse in pairwise(scores))


@given(seven_up_results())
def test_every_game_of_seven_up_gives_one_point(results):
    rows = table("abcdef", results, "seven_up").values()
    assert sum(row.points for row in rows) == len(results)
    assert sum(row.wins + row.forfeit_wins for row in rows) == len(results)
    assert sum(row.forfeits for row in rows) == sum(row.forfeit_wins for row in rows)


# Who was there


def test_sitting_out_a_round_robin_brings_no_point_and_is_shown():
    rounds = drawn("ab / c", "bc / a", "ca / b")
    rows = standings(entered("abc"), won(rounds), "seven_up", seed=1, rounds=rounds)
    assert [(row.points, row.byes, row.missing) for row in rows] == [(1, 1, 0)] * 3


def test_games_that_run_wait_or_were_never_played_are_missing():
    rounds = drawn("ab cd", "ac bd", "ad bc")
    ended = [*won(drawn("ab")), game("cd", [0, 0], state=GameState.ABORTED, at=(1, 2, 0))]
    forfeited = game("ac", [0, 0], forfeited="c", deals=0, at=(2, 1, 0))
    void = game("bd", [0, 0], state=GameState.VOID, at=(2, 2, 0))
    cancelled = game("ad", [0, 0], state=GameState.CANCELLED, at=(3, 1, 0))
    rows = standings(entered("abcd"), [*ended, forfeited, void, cancelled], "seven_up", seed=1, rounds=rounds)
    assert {row.bot_id: (row.missing, row.aborted) for row in rows} == {
        "a": (1, 0),
        "b": (1, 0),
        "c": (2, 1),
        "d": (2, 1),
    }


def test_every_leg_of_a_table_is_scheduled():
    rounds = drawn("abcd")
    played = [game("abcd", [4, 3, 2, 1], at=(1, 1, leg), board="1.1") for leg in (0, 2)]
    rows = standings(entered("abcd"), played, "river", seed=1, deals="rotate", rounds=rounds)
    assert {row.missing for row in rows} == {2}


def test_a_board_that_lacks_a_leg_counts_with_the_mean_of_the_others():
    whole = [game("abcd", [total, 0, 0, 0], at=(1, 1, leg), board="1.1") for leg, total in enumerate((10, 20, 30, 40))]
    lacking = [game("abcd", [total, 0, 0, 0], at=(2, 1, leg), board="2.1") for leg, total in enumerate((30, 30, 60))]
    aborted = game("abcd", [0, 0, 0, 0], at=(2, 1, 3), board="2.1", state=GameState.ABORTED)
    (first, *_) = standings(
        entered("abcd"), [*whole, *lacking, aborted], "river", seed=1, deals="rotate", rounds=drawn("abcd", "abcd")
    )
    assert (first.mean, first.missing, first.aborted) == (t_interval([25, 40]), 1, 1)


def test_intervals_cover_the_truth_when_boards_lack_legs():
    rng, covered = Random(7), 0
    for _ in range(1500):
        counted = Tally()
        for board in range(20):
            cards = [rng.gauss(0, 10) for _ in range(4)]  # what each seat's cards are worth, as many as there are legs
            scores = [50 + worth + rng.gauss(0, 5) for worth in cards]
            counted.boards[str(board)] = scores[: 4 if rng.random() < 0.7 else 1]
        interval = t_interval(counted.board_means())
        covered += interval.low <= 50 <= interval.high
    assert 0.93 < covered / 1500 < 0.97


def test_who_withdrew_is_marked_and_keeps_its_place():
    rounds = drawn("ab", "ab")
    results = [game("ab", [7, 1], at=(1, 1, 0)), game("ab", [0, 0], forfeited="a", deals=0, at=(2, 1, 0))]
    rows = standings(entered("ab", withdrawn="a"), results, "seven_up", seed=1, rounds=rounds)
    assert [(row.bot_id, row.is_withdrawn, row.forfeits, row.missing) for row in rows] == [
        ("a", True, 1, 0),
        ("b", False, 0, 0),
    ]


def test_eliminated_bots_and_those_of_a_ladder_lack_no_rounds():
    ladder = drawn("ab", "cd", "ac")
    for form in ("ladder", "knockout", "round_robin"):
        rows = standings(entered("abcd"), won(ladder), "seven_up", seed=1, format=form, rounds=ladder)
        assert {row.missing for row in rows} == {0}


@pytest.mark.parametrize("ruleset", ["seven_up", "river"])
@pytest.mark.parametrize("form", ["round_robin", "gauntlet", "swiss", "knockout", "ladder", "match"])
def test_the_method_names_the_tiebreaks_of_every_row(ruleset, form):
    (row,) = standings(entered("a"), [], ruleset, seed=1, format=form)
    assert method(ruleset, form).tiebreaks == list(row.tiebreaks)
