"""Ratings by the workers' side: every rated game counts once, and a fit stands whole or not at all."""

from __future__ import annotations

import logging

from bot_sdk.results.values import GameState
from service.arena import ratings as ratings_module
from service.arena.ratings import AFTER_FAILURE_MS, FitError
from service.store import due, keys
from tests.service.bench import Background
from tests.service.rated import EVERY_MS, Season, fit_here

FOUR = ("bot_a", "bot_b", "bot_c", "bot_d")


def rows(store, ruleset="river"):
    board = store.ratings.leaderboard(ruleset)
    return {(row.bot_id, row.version): row for row in board.rows} if board else {}


# --- what counts ------------------------------------------------------------------------------------------------------


def test_only_rated_results_are_taken(season, store):
    season.play(*FOUR)
    season.play(*FOUR, is_rated=False)
    season.play(*FOUR, is_rated=False, state=GameState.VOID)
    assert store.ratings.count("river") == 1


def test_result_posted_twice_counts_once(season, ratings, store):
    (result,) = season.play(*FOUR)
    season.ratings.take(season.tournament, [result, result])
    assert ratings.refit("river")
    assert {row.games for row in rows(store).values()} == {1}
    season.ratings.take(season.tournament, [result])
    assert not ratings.refit("river")


def test_new_versions_have_games_of_their_own_and_leave_old_ones_alone(season, ratings, store):
    season.play(*FOUR, times=12)
    ratings.refit("river")
    before = rows(store)
    season.play("bot_a@2", *FOUR[1:], times=3)
    ratings.refit("river")
    after = rows(store)
    assert after["bot_a", "1"].games == before["bot_a", "1"].games == 12
    assert after["bot_a", "2"].games == 3
    assert after["bot_b", "1"].games == 15
    assert after["bot_a", "2"].is_provisional
    assert not after["bot_a", "1"].is_provisional


def test_seat_that_forfeited_gets_no_game_and_needs_no_version(season, ratings, store):
    season.play(*FOUR, forfeited=[3], versions=["1", "1", "1", None])
    ratings.refit("river")
    assert set(rows(store)) == {("bot_a", "1"), ("bot_b", "1"), ("bot_c", "1")}


def test_rulesets_are_rated_apart(season, ratings, store):
    season.play(*FOUR)
    assert not ratings.refit("seven_up")
    assert ratings.refit("river")
    assert rows(store, "seven_up") == {}


def test_better_bot_is_rated_higher(season, ratings, store):
    season.play(*FOUR, times=20)
    ratings.refit("river")
    found = [rows(store)[bot, "1"].rating for bot in FOUR]
    assert found == sorted(found, reverse=True)
    assert len(set(found)) == 4


def test_encounters_are_told_for_both(season, ratings, store):
    season.play("bot_a", "bot_b", "bot_c", "bot_d", places=[1, 1, 3, 4])
    season.play("bot_a", "bot_b", "bot_c", "bot_d")
    ratings.refit("river")
    met = {each.bot_id: each for each in store.ratings.opponents("river", "bot_a")}
    assert set(met) == set(FOUR) - {"bot_a"}
    assert (met["bot_b"].games, met["bot_b"].points) == (2, 1.5)
    (back,) = (each for each in store.ratings.opponents("river", "bot_b") if each.bot_id == "bot_a")
    assert (back.games, back.points) == (2, 0.5)


def test_name_of_the_entry_is_kept_of_those_who_played(season, store):
    season.enter(bot_a="ann's", bot_b="bea's", bot_z="absent")
    season.play(*FOUR)
    assert store.ratings.names("river", ["bot_a", "bot_b", "bot_z"]) == {"bot_a": "ann's", "bot_b": "bea's"}


# --- when a fit is due ------------------------------------------------------------------------------------------------


def test_fit_is_asked_for_when_there_are_new_results(season, ratings, queue):
    ratings.ask()
    assert queue.fits == []
    season.play(*FOUR)
    ratings.ask()
    assert queue.fits == ["river"]


def test_fit_is_asked_for_no_oftener_than_the_setting_says(season, ratings, queue, redis):
    season.play(*FOUR)
    for _ in range(3):
        ratings.ask()
    assert queue.fits == ["river"]
    assert EVERY_MS - 1_000 < redis.pttl(keys.rating_pause("river")) <= EVERY_MS
    redis.delete(keys.rating_pause("river"))
    ratings.ask()
    assert queue.fits == ["river", "river"]


def test_no_fit_is_asked_for_when_all_results_are_in(season, ratings, queue, redis):
    season.play(*FOUR)
    ratings.refit("river")
    ratings.ask()
    assert queue.fits == []


def test_no_fit_is_asked_for_while_one_runs(season, ratings, store, queue):
    season.play(*FOUR)
    store.ratings.lease("river", "another", 10_000)
    ratings.ask()
    assert queue.fits == []


def test_results_that_come_in_during_a_fit_are_due_afterwards(season, make_ratings, store, queue):
    def fit(games):
        season.play(*FOUR)
        return fit_here(games)

    season.play(*FOUR)
    slow = make_ratings(fit)
    assert slow.refit("river")
    assert store.ratings.leaderboard("river").results == 1
    slow.ask()
    assert queue.fits == ["river"]


# --- fits at once, fits that break ------------------------------------------------------------------------------------


def test_of_two_fits_at_once_one_is_made(season, make_ratings, store):
    season.play(*FOUR)
    made = []

    def fit(games):
        made.append(len(games))
        assert not other.refit("river")
        return fit_here(games)

    one, other = make_ratings(fit), make_ratings(fit)
    assert one.refit("river")
    assert made == [1]
    assert store.ratings.leaderboard("river").number == 1


def test_fits_by_many_threads_leave_one_leaderboard_of_all_results(season, make_ratings, store):
    season.play(*FOUR, times=5)
    threads = [Background(lambda: make_ratings().refit("river")) for _ in range(4)]
    assert sum(thread.result() for thread in threads) == 1
    board = store.ratings.leaderboard("river")
    assert (board.number, board.results) == (1, 5)


def test_older_fit_never_takes_the_place_of_a_newer_one(season, make_ratings, store, redis):
    season.play(*FOUR)

    def stalled(games):
        redis.delete(keys.rating_lease("river"))  # it ran out
        season.play(*FOUR)
        assert make_ratings().refit("river")
        return fit_here(games)

    assert not make_ratings(stalled).refit("river")
    board = store.ratings.leaderboard("river")
    assert (board.number, board.results) == (1, 2)
    assert [line.games for line in store.ratings.history("river", "bot_a")] == [2]


def test_leaderboard_stays_readable_while_a_fit_runs(season, ratings, make_ratings, store):
    season.play(*FOUR)
    ratings.refit("river")
    season.play(*FOUR)
    read = []

    def fit(games):
        read.append(store.ratings.leaderboard("river").results)
        return fit_here(games)

    assert make_ratings(fit).refit("river")
    assert read == [1]


def test_fit_that_breaks_changes_nothing_and_waits_before_it_is_asked_for_again(
    season, ratings, make_ratings, store, queue, redis, caplog
):
    season.play(*FOUR)
    ratings.refit("river")
    before = store.ratings.leaderboard("river")
    season.play(*FOUR)

    def broken(games):
        raise FitError("it was killed")

    with caplog.at_level(logging.ERROR):
        assert not make_ratings(broken).refit("river")
    assert "the ratings of river stay as they are for now: it was killed" in caplog.text
    assert store.ratings.leaderboard("river") == before
    ratings.ask()
    assert queue.fits == []
    assert not ratings.refit("river"), "a job that was sent before waits as well"
    assert AFTER_FAILURE_MS - 1_000 < redis.pttl(keys.rating_lease("river")) <= AFTER_FAILURE_MS
    redis.delete(keys.rating_lease("river"))
    ratings.ask()
    assert queue.fits == ["river"]
    assert ratings.refit("river")


def test_worker_that_is_to_stop_leaves_the_fit_to_another(season, ratings, make_ratings, queue, store):
    season.play(*FOUR)
    assert not make_ratings(lambda games: None).refit("river")
    assert store.ratings.leaderboard("river") is None
    ratings.ask()
    assert queue.fits == ["river"]
    assert ratings.refit("river")


def test_worker_that_died_in_a_fit_keeps_others_from_it_only_until_its_lease_runs_out(season, ratings, store, redis):
    season.play(*FOUR)
    store.ratings.lease("river", "dead", ratings_module.LEASE_MS)
    assert not ratings.refit("river")
    assert redis.pttl(keys.rating_lease("river")) <= ratings_module.LEASE_MS
    redis.delete(keys.rating_lease("river"))
    assert ratings.refit("river")


# --- history ----------------------------------------------------------------------------------------------------------


def games_in(store, bot):
    return [(line.version, line.games) for line in store.ratings.history("river", bot)]


def test_history_has_a_line_for_each_fit_in_which_the_bots_games_changed(season, ratings, store, clock):
    season.play(*FOUR)
    ratings.refit("river")
    clock.forward(10_000)
    season.play("bot_a@2", "bot_b", "bot_c", "bot_e")
    ratings.refit("river")
    assert games_in(store, "bot_a") == [("1", 1), ("2", 1)]
    assert games_in(store, "bot_b") == [("1", 1), ("1", 2)]
    assert games_in(store, "bot_d") == [("1", 1)]
    assert games_in(store, "bot_e") == [("1", 1)]
    assert [line.at for line in store.ratings.history("river", "bot_b")] == [clock.now - 10_000, clock.now]
    last = store.ratings.history("river", "bot_b")[-1]
    row = rows(store)["bot_b", "1"]
    assert (last.rating, last.low, last.high) == (row.rating, row.low, row.high)


def test_versions_that_changed_in_one_fit_stand_in_the_order_in_which_they_played(season, ratings, store):
    season.play("bot_a@9", *FOUR[1:])
    season.play("bot_a@10", *FOUR[1:])
    ratings.refit("river")
    assert [version for version, _ in games_in(store, "bot_a")] == ["9", "10"]


def test_long_history_is_thinned_where_it_is_oldest(season, ratings, store, monkeypatch):
    monkeypatch.setattr(ratings_module, "MOST_LINES", 8)
    for _ in range(20):
        season.play(*FOUR)
        ratings.refit("river")
    kept = [games for _, games in games_in(store, "bot_a")]
    assert kept[0] == 1
    assert kept[-4:] == [17, 18, 19, 20]
    assert 5 <= len(kept) <= 8


def test_seven_up_is_rated_as_well(store, ratings):
    season = Season(store, ratings, "seven_up")
    season.play("bot_a", "bot_b", times=3)
    assert ratings.refit("seven_up")
    assert rows(store, "seven_up")["bot_a", "1"].games == 3


# --- of one tournament ------------------------------------------------------------------------------------------------


def ended(season, store, *results):
    for result in results:
        assert store.tournaments.put_result(result)
        store.tournaments.close_board(season.tournament.id, result.slot.board)
    store.due.add(due.fit(season.tournament.id), 1)


def test_ended_tournament_is_rated_by_its_own_games_alone(season, ratings, store, make_ratings):
    season.play("bot_z", *FOUR[1:], times=20)
    ended(season, store, *[season.result(*FOUR) for _ in range(12)], season.result(*FOUR[::-1], is_rated=False))
    assert ratings.fit_tournament(season.tournament.id)
    found = store.ratings.of_tournament(season.tournament.id)
    assert [(row.bot_id, row.games) for row in found] == [(bot, 12) for bot in FOUR]
    assert store.due.at(due.fit(season.tournament.id)) is None


def test_fit_of_a_tournament_that_breaks_stays_due(season, make_ratings, store):
    def broken(games):
        raise FitError("it was killed")

    ended(season, store, season.result(*FOUR))
    assert not make_ratings(broken).fit_tournament(season.tournament.id)
    assert store.ratings.of_tournament(season.tournament.id) == []
    assert store.due.at(due.fit(season.tournament.id)) is not None


def test_fit_of_a_tournament_that_is_not_there_leaves_what_is_due(ratings, store):
    store.due.add(due.fit("trn_none"), 1)
    assert not ratings.fit_tournament("trn_none")
    assert store.due.count() == 0


def test_sweeper_has_ended_tournaments_fitted_until_it_is_done(sweep, queue, store):
    store.due.add(due.fit("trn_1"), 1)
    sweep.once()
    assert queue.fits == ["trn_1"]
    assert store.due.at(due.fit("trn_1")) > store.due.now()
