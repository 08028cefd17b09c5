"""Boards that several games share: who plays on which, when they close, what follows from that."""

from __future__ import annotations

from collections import Counter, defaultdict

import pytest

from bot_sdk.games.packs import board_secret
from bot_sdk.results.values import GameState
from service.arena.scoreboard import Scoreboard
from service.store import due
from service.store.entities import TournamentState
from tests.service.arena.conftest import ROOT_SECRET

FOUR = ("bot_a", "bot_b", "bot_c", "bot_d")
EIGHT = (*FOUR, "bot_e", "bot_f", "bot_g", "bot_h")
SHORT_RIVER = {"ruleset": "river", "options": {"start_cards": 1}}


def games_of(store, tournament_id):
    return store.games.list_for_tournament(tournament_id, limit=100)[0][::-1]


def on_board(store, tournament_id):
    boards = defaultdict(list)
    for game in games_of(store, tournament_id):
        boards[game.slot.board].append(game)
    return boards


def test_tables_of_a_field_round_share_its_board(running, start, store):
    tournament = start(*FOUR, deals="field")
    running.advance(tournament, 1)
    boards = on_board(store, tournament)
    assert {board: len(games) for board, games in boards.items()} == {"1": 2, "2": 2, "3": 2}
    for board, games in boards.items():
        assert all(game.slot.is_shared for game in games)
        assert len({game.commitment for game in games}) == 1
        assert {store.games.secret(game.id) for game in games} == {board_secret(ROOT_SECRET, board)}
        assert len({seat.bot_id for game in games for seat in game.seats}) == 4


def test_field_round_of_one_table_has_nothing_to_share(running, start, store):
    tournament = start("bot_a", "bot_b", "bot_c", deals="field")
    running.advance(tournament, 1)
    assert {board: games[0].slot.is_shared for board, games in on_board(store, tournament).items()} == {
        "1.1": False,
        "2.1": False,
        "3.1": False,
    }


def test_no_bot_meets_a_board_twice_under_field(running, start, store, worker):
    tournament = start(*EIGHT, "bot_i", deals="field", rounds=6, **SHORT_RIVER)
    running.advance(tournament, 1)
    met = Counter((game.slot.board, seat.bot_id) for game in games_of(store, tournament) for seat in game.seats)
    assert set(met.values()) == {1}
    assert len(met) == 6 * 8


def test_board_closes_when_its_last_game_has_ended_and_its_results_count_from_then(
    running, start, store, worker, rated, queue
):
    tournament = start(*FOUR, deals="field", rounds=1)
    first, second = running.advance(tournament, 1)
    worker.drive(first)
    running.advance(tournament, 1)
    assert (store.tournaments.closed(tournament), rated.by_board) == (set(), {})
    worker.drive(second)
    running.advance(tournament, 1)
    assert store.tournaments.closed(tournament) == {"1"}
    assert {result.game_id for result in rated.by_board["1"]} == {first, second}
    assert set(queue.shards[-1]) == {first, second}
    assert store.due.at(due.game(first)) is not None
    worker.drive(*queue.shards[-1])
    assert store.due.count() == 0


def test_closing_that_a_crash_cut_short_is_done_again(running, start, store, worker, rated, monkeypatch):
    tournament = start(*FOUR, deals="field", rounds=1)
    worker.drive(*running.advance(tournament, 1))

    def dies(*_):
        raise ConnectionError("killed")

    with monkeypatch.context() as patch:
        patch.setattr(store.tournaments, "close_board", dies)
        with pytest.raises(ConnectionError):
            running.advance(tournament, 1)
    assert store.tournaments.get(tournament).state is TournamentState.RUNNING
    running.advance(tournament, 1)
    assert store.tournaments.closed(tournament) == {"1"}
    assert store.tournaments.get(tournament).state is TournamentState.FINISHED


def test_rerun_under_field_has_a_board_of_its_own_and_holds_up_nobody(running, start, store, worker):
    tournament = start(*FOUR, deals="field", rounds=1)
    first, second = running.advance(tournament, 1)
    store.games.end(first, GameState.ABORTED)
    (again,) = running.advance(tournament, 1)
    game = store.games.get(again)
    assert (game.slot.board, game.slot.is_shared, game.slot.attempt) == ("1.1~1", False, 1)
    worker.drive(second)
    running.advance(tournament, 1)
    assert store.tournaments.closed(tournament) == {"1"}
    worker.drive(again)
    running.advance(tournament, 1)
    assert store.tournaments.closed(tournament) == {"1", "1.1~1"}


@pytest.mark.parametrize(("bots", "changes"), [(FOUR[:2], {}), (FOUR, SHORT_RIVER)])
def test_rotate_seats_everybody_everywhere_on_one_board(running, start, store, bots, changes):
    tournament = start(*bots, deals="rotate", rounds=1, **changes)
    running.advance(tournament, 1)
    games = sorted(games_of(store, tournament), key=lambda game: game.slot.leg)
    assert [(game.slot.leg, game.slot.board, game.slot.is_shared) for game in games] == [
        (leg, "1.1", True) for leg in range(len(bots))
    ]
    seats = Counter((seat.bot_id, number) for game in games for number, seat in enumerate(game.seats))
    assert set(seats.values()) == {1}
    assert len(seats) == len(bots) ** 2


def test_rerun_of_a_leg_plays_the_same_board(running, start, store, worker):
    tournament = start("bot_a", "bot_b", deals="rotate", rounds=1)
    first, second = running.advance(tournament, 1)
    worker.drive(second)
    store.games.end(first, GameState.ABORTED)
    (again,) = running.advance(tournament, 1)
    assert store.games.get(again).slot.board == "1.1"
    assert store.games.secret(again) == store.games.secret(second)
    assert store.tournaments.closed(tournament) == set()
    worker.drive(again)
    running.advance(tournament, 1)
    assert store.tournaments.closed(tournament) == {"1.1"}


def test_cancelled_tournament_closes_the_boards_it_has_played_on(
    running, start, store, worker, tournaments, owner, queue, rated
):
    tournament = start(*FOUR, deals="field")
    made = running.advance(tournament, 1)
    ended = next(game for game in made if store.games.get(game).slot.board == "1")
    worker.drive(ended)
    tournaments.set_state(owner, tournament, TournamentState.CANCELLED)
    running.advance(tournament, 1)
    assert store.tournaments.closed(tournament) == set()
    worker.drive(*queue.driven)
    running.advance(tournament, 1)
    assert store.tournaments.closed(tournament) == {"1", "2", "3"}
    assert [result.game_id for results in rated.by_board.values() for result in results] == [ended]
    assert store.due.at(due.tournament(tournament)) is None


def test_standings_of_a_cancelled_tournament_are_final_once_its_boards_are_closed(
    running, start, store, worker, tournaments, owner, queue, clock
):
    scoreboard = Scoreboard(store, tournaments, clock=clock)
    tournament = start(*FOUR, deals="field")
    worker.drive(running.advance(tournament, 1)[0])
    tournaments.set_state(owner, tournament, TournamentState.CANCELLED)
    shown = scoreboard.standings(tournament)
    assert (shown["is_final"], shown["results"]) == (False, 0)
    running.advance(tournament, 1)
    worker.drive(*queue.driven)
    running.advance(tournament, 1)
    shown = scoreboard.standings(tournament)
    assert (shown["is_final"], shown["results"]) == (True, 1)


def test_unshared_boards_close_too_and_their_results_are_rated_once(running, start, store, worker, rated):
    tournament = start("bot_a", "bot_b", "bot_c")
    worker.drive(*running.advance(tournament, 1))
    running.advance(tournament, 1)
    running.advance(tournament, 1)
    assert store.tournaments.closed(tournament) == {"1.1", "2.1", "3.1"}
    assert {board: len(results) for board, results in rated.by_board.items()} == {"1.1": 1, "2.1": 1, "3.1": 1}
