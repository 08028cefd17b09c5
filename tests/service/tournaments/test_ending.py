"""How a tournament ended, in words for its organiser."""

from __future__ import annotations

import pytest

from bot_sdk.results.values import Entry, GameState, Result, Slot
from service.store.entities import BotState
from service.tournaments.ending import MOST_NAMED, all_played, how_it_ended


def entry(name, **more):
    return Entry(bot_id=f"bot_{name}", name=name, account_id="acc_1", entered_at=1, **more)


def result(*names, state=GameState.FINISHED, retired=(), forfeited=(), outcomes=()):
    """Give a result; `retired` and `forfeited` are seats, `outcomes` by seat."""
    return Result(
        game_id="gam_1",
        state=state,
        slot=Slot(tournament_id="trn_1", round=1, table=1, board="1.1"),
        bots=[f"bot_{name}" for name in names],
        versions=["1"] * len(names),
        totals=[0] * len(names),
        places=None,
        retired=[seat in retired for seat in range(len(names))],
        forfeited=list(forfeited),
        deals=1,
        outcomes=list(outcomes) or [{"ok": 9}] * len(names),
        ended_at=1,
    )


ANN, BEN = entry("ann"), entry("ben")


def told(entries, results, states=None):
    return how_it_ended("over", entries, results, states or {})


def test_nothing_is_added_when_all_went_well():
    assert told([ANN, BEN], [result("ann", "ben")], {"bot_ann": BotState.ACTIVE}) == "over"


@pytest.mark.parametrize(("games", "said"), [(1, "its one game is over"), (6, "all its 6 games are over")])
def test_schedule_that_was_worked_off_says_how_long_it_was(games, said):
    assert all_played(games) == said


def test_retired_bot_is_named_with_the_faults_of_those_games_alone():
    late = [{"ok": 30}, {"late": 4, "ok": 9, "unreachable": 1, "retired": 3}]
    well = [{"ok": 30}, {"late": 2, "ok": 30}]
    results = [result("ann", "ben", retired=[1], outcomes=late), result("ann", "ben", outcomes=well)]
    assert told([ANN, BEN], results) == "over; ben was retired from 1 game after faults (4 late, 1 unreachable)"


def test_bot_that_is_disabled_is_said_to_be_though_it_made_no_fault():
    results = [result("ann", "ben", retired=[0]), result("ann", "ben", forfeited=[0])]
    said = told([ANN, BEN], results, {"bot_ann": BotState.DISABLED, "bot_ben": BotState.ACTIVE})
    assert said == "over; ann (disabled by the operator) forfeited 1 game and was retired from 1 game"


@pytest.mark.parametrize(
    ("state", "why"),
    [(None, "deleted by its owner"), (BotState.PAUSED, "paused by its owner"), (BotState.SUSPENDED, "suspended")],
)
def test_who_forfeited_is_told_with_what_keeps_it_away(state, why):
    said = told([ANN, BEN], [result("ann", "ben", forfeited=[1])], {"bot_ben": state})
    assert said == f"over; ben ({why}) forfeited 1 game"


def test_bot_that_is_away_but_missed_nothing_is_not_told_of():
    assert told([ANN, BEN], [result("ann", "ben")], {"bot_ben": BotState.PAUSED}) == "over"


def test_who_missed_most_is_told_of_first():
    results = [result("ann", "ben", forfeited=[0]), *[result("ann", "ben", forfeited=[1])] * 2]
    left = entry("ann", withdrawn_at=5)
    assert told([left, BEN], results) == "over; ben forfeited 2 games; ann withdrew and forfeited 1 game"


def test_games_without_a_winner_are_told_apart_by_what_became_of_them():
    results = [
        result("ann", "ben", state=GameState.VOID, forfeited=[0, 1]),
        *[result("ann", "ben", state=GameState.VOID)] * 2,
        result("ann", "ben", state=GameState.ABORTED),
    ]
    *_, aborted, unplayed, void = told([ANN, BEN], results).split("; ")
    assert aborted == "1 game could not be played in three attempts, no bot to blame"
    assert unplayed == "1 game not played since everybody at the table forfeited"
    assert void == "2 games came to nothing since no bot at the table answered"


def test_of_many_absent_entries_only_the_first_are_named():
    many = [entry(f"{number:02}", withdrawn_at=5) for number in range(MOST_NAMED + 3)]
    said = told(many, [])
    assert said.count("withdrew") == MOST_NAMED + 1
    assert said.endswith("; 11 withdrew; 3 more withdrew, forfeited or were retired")
