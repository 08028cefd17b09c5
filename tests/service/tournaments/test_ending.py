"""How a tournament ended, in words."""

from bot_sdk.results.values import GameState
from service.tournaments.ending import all_played, how_it_ended
from tests.bot_sdk.results.made import entered, game


def told(entries, *results):
    return how_it_ended(all_played(len(results)), entries, results)


def test_a_schedule_that_went_as_planned_is_all_there_is_to_tell():
    assert told(entered("ab"), game("ab", [7, 3])) == "its one game is over"


def test_who_was_retired_is_named_with_what_its_decisions_came_to():
    dead = {"bad_reply": 2, "late": 3, "ok": 4, "retired": 20}
    results = [
        game("abcd", [1, 2, 3, 4], retired="b", outcomes=[{"ok": 9}, dead, {"ok": 8, "late": 1}, {"ok": 9}]),
        game("abcd", [1, 2, 3, 4], retired="b", outcomes=[{"ok": 9}, dead, {"ok": 9}, {"ok": 9}]),
        game("abcd", [1, 2, 3, 4], retired="d"),
    ]
    assert told(entered("abcd"), *results) == (
        "all its 3 games are over; B was retired from 2 games (decisions: 6 late, 4 bad reply); "
        "D was retired from 1 game"
    )


def test_a_forfeit_is_no_retirement():
    forfeited = game("abcd", [0, 2, 3, 4], retired="a", forfeited="a")
    assert told(entered("abcd", withdrawn="a"), forfeited) == "its one game is over; A withdrew and forfeited 1 game"


def test_games_that_came_to_nothing_are_told_of():
    results = [
        game("ab", [0, 0], state=GameState.ABORTED),
        game("ab", [0, 0], state=GameState.VOID),
        game("ab", [7, 0]),
    ]
    assert told(entered("ab"), *results) == (
        "all its 3 games are over; 1 game could not be played in three attempts, no bot to blame; "
        "1 game came to nothing since no bot at the table answered"
    )
