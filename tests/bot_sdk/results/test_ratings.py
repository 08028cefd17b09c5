"""Ratings of small and odd fields, held against arithmetic, refits without a board, and refits over drawn boards."""

from __future__ import annotations

from math import exp, isfinite, log, log10
from random import Random
from statistics import stdev
from time import process_time

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot_sdk.results.intervals import t_quantile
from bot_sdk.results.rated import Rated, Rating
from bot_sdk.results.ratings import ANCHORS, fit

WIDEST = 1.96 * 400


def game(board: str, order: str, places: str | None = None, forfeited: str = "") -> Rated:
    """Make a game of one-letter bots on a board, listed from first to last unless places say otherwise."""
    ranks = tuple(range(1, len(order) + 1)) if places is None else tuple(map(int, places))
    return Rated(board, tuple((bot, None) for bot in order), ranks, tuple(map(order.index, forfeited)))


def games(*orders: str, board: str = "t") -> list[Rated]:
    """Make games, each on a board of its own."""
    return [game(f"{board}/{number}", order) for number, order in enumerate(orders)]


def by_bot(ratings: list[Rating]) -> dict[str, Rating]:
    return {rating.bot_id: rating for rating in ratings}


def ratings_of(rated: list[Rated], **options) -> dict[str, float]:
    return {bot: row.rating for bot, row in by_bot(fit(rated, **options)).items()}


def gap(rated: list[Rated]) -> float:
    ratings = ratings_of(rated)
    return ratings["a"] - ratings["b"]


def tables(bots: int, boards: int, seed: int) -> list[Rated]:
    """Make games at tables of four, three tables to a board, of bots that grow stronger with their number."""
    rng = Random(seed)
    made = []
    for board in range(boards):
        luck = [rng.gauss(0, 1) for _ in range(4)]
        for _ in range(3):
            seats = rng.sample(range(bots), 4)
            scores = [0.15 * bot + luck[seat] + rng.gauss(0, 1) for seat, bot in enumerate(seats)]
            places = tuple(1 + sum(other > own for other in scores) for own in scores)
            made.append(Rated(f"t/{board}", tuple((f"bot_{bot:02}", None) for bot in seats), places))
    return made


def test_three_wins_in_four_are_worth_191_points():
    assert gap(games(*["ab", "ab", "ab", "ba"] * 250)) == pytest.approx(400 * log10(3), abs=0.5)


def test_one_win_pulls_as_far_as_the_ridge_lets_it():
    # With strengths x and -x the win pulls by 1 / (1 + e^2x), the ridge back by x over the variance of strengths.
    low, high = 0.0, 10.0
    for _ in range(60):
        x = (low + high) / 2
        low, high = (x, high) if 1 / (1 + exp(2 * x)) > x / log(10) ** 2 else (low, x)
    assert gap(games("ab")) == pytest.approx(2 * x * 400 / log(10), abs=1e-6)


def test_ties_are_half_a_win():
    tied = [game(f"t/{number}", "ab", "11") for number in range(10)]
    assert gap(tied) == pytest.approx(0, abs=1e-6)
    assert gap([*tied, *games("ab", "ba", board="u")]) == pytest.approx(0, abs=1e-6)
    assert gap([*tied, *games("ab", board="u")]) > 0


def test_a_table_is_its_meetings():
    rows = ratings_of(games(*["abcd"] * 3, "dcba"))
    assert rows["a"] > rows["b"] > rows["c"] > rows["d"]
    assert rows["a"] - rows["b"] == pytest.approx(rows["c"] - rows["d"])


def test_a_meeting_at_a_table_of_four_pulls_half_as_much_as_a_game_of_two():
    strengths = {bot: (rating - 1500) / (400 / log(10)) for bot, rating in ratings_of(games("abcd")).items()}
    for bot, strength in strengths.items():
        won = {other: float(bot < other) for other in strengths if other != bot}
        pull = sum(points - 1 / (1 + exp(strengths[other] - strength)) for other, points in won.items())
        assert pull / 2 == pytest.approx(strength / log(10) ** 2, abs=1e-8)


def test_the_scale_stands_on_the_anchor():
    rated = [Rated("t/1", (("house:random", "1"), ("a", "7")), (2, 1))]
    rows = ratings_of(rated)
    assert rows["house:random"] == ANCHORS["house:random"] == 1000
    assert rows["a"] > 1000


def test_several_anchors_stand_at_their_ratings_on_the_average_over_their_games():
    rated = games("ab", "ba", "ab", "ac", "bc", "ac")
    rows = by_bot(fit(rated, anchors={"a": 1200, "c": 900, "nobody": 7}))
    off = (rows["a"].rating - 1200) * rows["a"].games + (rows["c"].rating - 900) * rows["c"].games
    assert off == pytest.approx(0, abs=1e-6)


def test_an_anchor_moves_ratings_and_nothing_else():
    rated = tables(8, 20, 1)
    free, tied = by_bot(fit(rated)), by_bot(fit(rated, anchors={"bot_03": 0.0}))
    shifts = {round(free[bot].rating - tied[bot].rating, 6) for bot in free}
    assert len(shifts) == 1
    assert tied["bot_03"].rating == pytest.approx(0)
    for bot, row in free.items():
        assert tied[bot].high - tied[bot].low == pytest.approx(row.high - row.low)


def test_without_an_anchor_the_average_over_games_is_1500():
    rows = fit(tables(9, 15, 2))
    assert sum(row.rating * row.games for row in rows) / sum(row.games for row in rows) == pytest.approx(1500)


def test_no_games_give_no_ratings():
    assert fit([]) == []
    assert fit([game("t/1", "ab", forfeited="a")]) == []


@pytest.mark.parametrize(
    ("rated", "best", "worst"),
    [
        (games(*["ab"] * 500), "a", "b"),
        (games(*["abcd", "bacd", "cabd"] * 170), "a", "d"),
        (games("ab"), "a", "b"),
        ([*games("ab", "ab"), *games("cd", "cd", board="u")], "ac", "bd"),
        (games(*["ab", "bc", "cd", "de", "ef"] * 2), "a", "f"),
    ],
    ids=["500 straight losses", "510 straight last places", "one game", "unconnected", "a chain"],
)
def test_odd_fields_get_finite_ordered_ratings_at_once(rated, best, worst):
    start = process_time()
    rows = by_bot(fit(rated))
    assert process_time() - start < 1
    assert all(isfinite(bound) for row in rows.values() for bound in (row.low, row.rating, row.high))
    assert all(row.low < row.rating < row.high for row in rows.values())
    for better, worse in zip(best, worst, strict=True):
        assert all(rows[better].rating >= row.rating - 1e-6 >= rows[worse].rating - 2e-6 for row in rows.values())
        assert rows[better].rating > rows[worse].rating + 100


def test_a_longer_streak_is_worth_more():
    gaps = [gap(games(*["ab"] * count)) for count in (1, 2, 10, 100, 500)]
    assert gaps == sorted(set(gaps))


def test_all_ties_leave_everybody_level():
    rows = fit([game(f"t/{number}", "abcd", "1111") for number in range(40)])
    assert {round(row.rating, 6) for row in rows} == {1500}


def test_bots_that_no_games_connect_are_level_on_the_average():
    rows = ratings_of([*games("ab", "ab"), *games("cd", board="u")])
    assert rows["a"] + rows["b"] == pytest.approx(rows["c"] + rows["d"])
    assert rows["a"] > rows["c"] > rows["d"] > rows["b"]


@given(st.randoms(use_true_random=False))
def test_the_order_of_results_changes_no_digit(rng):
    rated = [*tables(6, 6, 3), *games("ab", "bc", board="u")]
    shuffled = rng.sample(rated, len(rated))
    assert fit(shuffled) == fit(rated)


def test_best_comes_first():
    rows = fit(tables(12, 40, 4))
    assert [row.rating for row in rows] == sorted((row.rating for row in rows), reverse=True)
    assert rows[0].bot_id > rows[-1].bot_id


def test_a_contender_is_provisional_under_ten_games():
    rows = by_bot(fit(games(*["ab"] * 9, "ac")))
    assert {bot: (row.games, row.is_provisional) for bot, row in rows.items()} == {
        "a": (10, False),
        "b": (9, True),
        "c": (1, True),
    }
    assert by_bot(fit(games(*["ab"] * 9), provisional_under=9))["a"].is_provisional is False


def test_each_version_has_a_rating_of_its_own():
    rated = [
        *(Rated(f"t/{n}", (("a", "1"), ("b", None)), (2, 1)) for n in range(5)),
        *(Rated(f"u/{n}", (("a", "2"), ("b", None)), (1, 2)) for n in range(5)),
        *(Rated(f"v/{n}", (("a", None), ("b", None)), (1, 1)) for n in range(5)),
    ]
    rows = {(row.bot_id, row.version): row.rating for row in fit(rated)}
    assert rows["a", "2"] > rows["a", None] > rows["a", "1"]


def test_a_forfeited_seat_met_nobody():
    played = games(*["abc"] * 3, "bca")
    forfeited = [*played, game("u/1", "abcd", "4123", forfeited="a"), game("u/2", "da", forfeited="d")]
    rows = by_bot(fit(forfeited))
    assert {bot: row.games for bot, row in rows.items()} == {"a": 4, "b": 5, "c": 5, "d": 1}


def test_a_contender_in_two_seats_doesnt_meet_itself():
    rated = [game("t/1", "aab"), *games("ab", board="u")]
    assert list(rated[0].meetings()) == [(("a", None), ("b", None), 1.0)] * 2
    assert {bot: row.games for bot, row in by_bot(fit(rated)).items()} == {"a": 2, "b": 2}
    assert by_bot(fit([game("t/1", "aa")])) == {}


def test_a_bot_of_one_board_is_hardly_known():
    rows = by_bot(fit([*tables(8, 60, 5), Rated("u/1", (("new", None), ("bot_01", None)), (1, 2))]))
    assert rows["new"].high - rows["new"].rating == pytest.approx(WIDEST)
    assert all(row.high - row.rating < 200 for bot, row in rows.items() if bot != "new")


def test_nobody_is_known_worse_than_who_has_not_played():
    rows = fit(games("ab", "ba"))
    assert [row.high - row.rating for row in rows] == pytest.approx([WIDEST, WIDEST])


def test_an_interval_worked_by_hand():
    # Strengths x and -x; leaving out a board of surprise y - p moves them by (y - p) / (ridge + 2 p (1 - p) n).
    results = ["ab"] * 20 + ["ba"] * 10
    n, ridge, unit = len(results), 1 / log(10) ** 2, 400 / log(10)
    p = 1 / (1 + exp(-gap(games(*results)) / unit))
    stiffness = ridge + 2 * p * (1 - p) * n
    moved = sum(((order == "ab") - p) ** 2 for order in results) / stiffness**2
    variance = moved * n / (n - 1) + ridge / 2 / stiffness**2
    row = by_bot(fit(games(*results)))["a"]
    assert row.high - row.rating == pytest.approx(t_quantile(n - 1) * unit * variance**0.5)
    assert row.rating - row.low == pytest.approx(row.high - row.rating)


def test_straight_losses_leave_doubt_about_how_weak_a_bot_is():
    rows = by_bot(fit(games(*["ab"] * 500)))
    assert rows["b"].high - rows["b"].rating > 50


def test_games_of_one_board_say_less_than_as_many_boards():
    many = [game(f"t/{n}", order) for n, order in enumerate(["ab", "ab", "ba", "ab", "ba", "ab"] * 20)]
    few = [msgspec.structs.replace(played, board=f"t/{n // 6}") for n, played in enumerate(many)]
    luck = [msgspec.structs.replace(played, board=f"t/{n % 6}") for n, played in enumerate(many)]
    level, alike, unlike = (by_bot(fit(rated))["a"] for rated in (many, few, luck))
    assert level.rating == alike.rating == unlike.rating
    # Boards that all ended alike say it surely; boards that each ended one way, twenty times, are six results.
    assert alike.high - alike.low < level.high - level.low < unlike.high - unlike.low


def test_intervals_are_those_of_refits_over_drawn_boards():
    rated = tables(10, 80, 6)
    boards: dict[str, list[Rated]] = {}
    for played in rated:
        boards.setdefault(played.board, []).append(played)
    rng = Random(7)
    refits = []
    for _ in range(200):
        drawn = [rng.choice(list(boards.values())) for _ in boards]
        refits.append(ratings_of([played for games_of_one in drawn for played in games_of_one]))
    # Drawn boards may stand twice under one name: that changes intervals, which aren't looked at, not ratings.
    share = 1.99  # t with the 30 boards or so that each bot played, over its deviation
    ratios = []
    for bot, row in by_bot(fit(rated)).items():
        drawn = stdev(refit[bot] for refit in refits)
        ratios.append((row.high - row.rating) / share / drawn)
    assert 0.95 < sum(ratios) / len(ratios) < 1.1
    assert all(0.8 < ratio < 1.3 for ratio in ratios)


def test_rated_games_are_kept_in_a_compact_form():
    played = Rated("trn_1/1.2", (("bot_a", "3"), ("house:random", None)), (1, 2))
    packed = msgspec.msgpack.encode(played)
    assert len(packed) < 45
    assert msgspec.msgpack.decode(packed, type=Rated) == played
    assert msgspec.json.encode(played) == b'["trn_1/1.2",[["bot_a","3"],["house:random",null]],[1,2],[]]'


@pytest.mark.soak
def test_500_contenders_of_20_000_games_take_a_second():
    rng = Random(8)
    rated = []
    for number in range(20_000):
        seats = rng.sample(range(500), 4)
        scores = [bot / 300 + rng.gauss(0, 1) for bot in seats]
        places = tuple(1 + sum(other > own for other in scores) for own in scores)
        rated.append(Rated(f"t/{number // 3}", tuple((f"bot_{bot}", None) for bot in seats), places))
    start = process_time()
    assert len(fit(rated)) == 500
    assert process_time() - start < 3
