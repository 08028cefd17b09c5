"""Rated games are kept once for ever; a fit replaces the one before as a whole, or not at all."""

from __future__ import annotations

import pytest

from bot_sdk.results.comparison import Opponent
from bot_sdk.results.rated import Rated
from service.store import keys
from service.store.leaderboard import Kept, Leaderboard, Line, Row, Told


@pytest.fixture
def ratings(store):
    return store.ratings


def game(board="trn_1/1", first=1, second=2):
    return Kept(5, Rated(board=board, contenders=(("bot_a", "1"), ("bot_b", "1")), places=(first, second)))


def row(bot="bot_a", rating=1500.0, games=3, **changes):
    values = {"version": "1", "low": 1400.0, "high": 1600.0, "is_provisional": True, "last_at": 5}
    return Row(bot_id=bot, rating=rating, games=games, **(values | changes))


def board(number=1, results=1, **changes):
    return Leaderboard(**({"number": number, "computed_at": 7, "results": results, "rows": [row()]} | changes))


def line(at=7, rating=1500.0):
    return Line(at, "1", rating, 1400.0, 1600.0, 3)


MET = Opponent(bot_id="bot_b", games=3, points=1.5, superiority=None)


# --- rated games ------------------------------------------------------------------------------------------------------


def test_games_are_kept_by_id_and_counted(ratings):
    ratings.add("river", {"gam_1": game(), "gam_2": game("trn_1/2")}, {})
    assert ratings.count("river") == 2
    assert len(ratings.games("river")) == 2
    assert ratings.count("seven_up") == 0


def test_game_that_comes_again_counts_once_and_stays_as_it_was(ratings):
    ratings.add("river", {"gam_1": game()}, {})
    kept = ratings.games("river")
    ratings.add("river", {"gam_1": game(first=2, second=1), "gam_2": game()}, {})
    assert ratings.count("river") == 2
    assert ratings.games("river")[0] == kept[0]


def test_games_come_in_order_of_their_ids_however_many_they_are(ratings):
    numbers = range(3_000)
    ratings.add("river", {f"gam_{number:04}": game(f"trn_1/{number}") for number in reversed(numbers)}, {})
    kept = ratings.games("river")
    assert len(kept) == 3_000
    assert all(f'"trn_1/{number}"'.encode() in game for number, game in zip(numbers, kept, strict=True))


def test_adding_whose_answer_was_lost_adds_once(ratings, lose_answers):
    lose_answers(lambda: ratings.add("river", {"gam_1": game()}, {"bot_a": "ann's"}))
    assert ratings.count("river") == 1


def test_names_are_those_given_last(ratings):
    ratings.add("river", {"gam_1": game()}, {"bot_a": "old", "bot_b": "bea's"})
    ratings.add("river", {"gam_2": game()}, {"bot_a": "new"})
    assert ratings.names("river", ["bot_a", "bot_b", "bot_c"]) == {"bot_a": "new", "bot_b": "bea's"}


# --- fits -------------------------------------------------------------------------------------------------------------


def test_before_the_first_fit_there_is_nothing(ratings):
    assert ratings.leaderboard("river") is None
    assert ratings.history("river", "bot_a") == []
    assert ratings.opponents("river", "bot_a") == []


def test_what_a_fit_says_is_read_back(ratings):
    assert ratings.publish("river", board(), {"bot_a": Told(history=[line()], opponents=[MET])})
    assert ratings.leaderboard("river") == board()
    assert ratings.history("river", "bot_a") == [line()]
    assert ratings.opponents("river", "bot_a") == [MET]
    assert ratings.leaderboard("seven_up") is None


def test_history_stays_where_a_fit_says_nothing_of_it(ratings):
    ratings.publish("river", board(), {"bot_a": Told(history=[line()], opponents=[MET])})
    ratings.publish("river", board(2), {"bot_a": Told(history=None, opponents=[])})
    assert ratings.history("river", "bot_a") == [line()]
    assert ratings.opponents("river", "bot_a") == []


@pytest.mark.parametrize("number", [1, 3])
def test_fit_that_does_not_follow_the_last_changes_nothing(ratings, number):
    ratings.publish("river", board(), {"bot_a": Told(history=[line()], opponents=[MET])})
    late = board(number, results=9)
    assert not ratings.publish("river", late, {"bot_a": Told(history=[], opponents=[])})
    assert ratings.leaderboard("river") == board()
    assert ratings.history("river", "bot_a") == [line()]
    assert ratings.opponents("river", "bot_a") == [MET]


def test_fit_whose_answer_was_lost_stands(ratings, lose_answers):
    assert lose_answers(lambda: ratings.publish("river", board(), {}), when=lambda answer: answer == 1)
    assert ratings.leaderboard("river") == board()


def test_leaderboard_is_stale_while_games_and_fit_differ(ratings, redis):
    assert not ratings.is_stale("river")
    ratings.add("river", {"gam_1": game()}, {})
    assert ratings.is_stale("river")
    ratings.publish("river", board(results=1), {})
    assert not ratings.is_stale("river")
    redis.hdel(keys.rated("river"), "gam_1")  # as after a failover that lost the last second
    assert ratings.is_stale("river")


# --- who fits when ----------------------------------------------------------------------------------------------------


def test_one_at_a_time_fits_a_ruleset(ratings):
    assert ratings.lease("river", "one", 10_000)
    assert not ratings.lease("river", "two", 10_000)
    assert ratings.lease("seven_up", "two", 10_000)
    ratings.release("river", "two")
    assert not ratings.lease("river", "two", 10_000)
    ratings.release("river", "one")
    assert ratings.lease("river", "two", 10_000)


def test_lease_is_seen_by_those_who_would_ask(ratings):
    assert not ratings.is_leased("river")
    ratings.lease("river", "one", 10_000)
    assert ratings.is_leased("river")
    assert not ratings.is_leased("seven_up")


def test_lease_of_who_died_runs_out(ratings, redis):
    ratings.lease("river", "dead", 10_000)
    assert 9_000 < redis.pttl(keys.rating_lease("river")) <= 10_000


def test_pause_lets_one_ask_in_its_time(ratings, redis):
    assert ratings.pause("river", 10_000)
    assert not ratings.pause("river", 10_000)
    assert 9_000 < redis.pttl(keys.rating_pause("river")) <= 10_000
