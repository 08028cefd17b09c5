"""The pairs of a match as its sequential test judges them: in their order, and only those that were played."""

from __future__ import annotations

import pytest

from bot_sdk.results.values import Entry, GameState, Result
from service.store.entities import Sprt, Tournament
from service.tournaments.pairs import contenders, pair_scores, test_of
from tests.bot_sdk.results.made import entered, game

test_of.__test__ = False  # it is no test of ours, whatever pytest takes it for


def pair(number: int, *totals: list[int], **changes) -> list[Result]:
    """Play a pair by a's and b's totals in each leg; b sits first in the second."""
    seated = zip(("ab", "ba"), totals, strict=False)
    return [
        game(bots, made if leg == 0 else made[::-1], at=(number, 1, leg), board=f"{number}.1", **changes)
        for leg, (bots, made) in enumerate(seated)
    ]


def match(**changes) -> Tournament:
    fields = {
        "id": "trn_1",
        "name": "a match",
        "owner": None,
        "ruleset": "seven_up",
        "options": {},
        "format": "match",
        "deals": "rotate",
        "table_size": 2,
        "rounds": 100,
        "challenger": "a",
        "sprt": Sprt(elo0=0, elo1=200),
        "seed": 1,
        "root": "00",
        "created_at": 0,
    }
    return Tournament(**fields | changes)


WON, LOST, SPLIT = [[7, 1], [7, 2]], [[1, 7], [2, 7]], [[7, 1], [2, 7]]


def test_a_pair_is_worth_what_the_challenger_made_of_both_legs():
    results = [*pair(1, *WON), *pair(2, *LOST), *pair(3, *SPLIT), *pair(4, [7, 1], [6, 6])]
    assert pair_scores(results, "a") == [2, 0, 1, 1.5]
    assert pair_scores(results, "b") == [0, 2, 1, 0.5]


def test_who_retired_has_lost_the_leg():
    assert pair_scores(pair(1, *WON, retired="a"), "a") == [0]


@pytest.mark.parametrize("lacking", [pair(2), pair(2, [7, 1])], ids=["no leg", "one leg"])
def test_pairs_behind_one_that_is_still_played_are_not_judged_yet(lacking):
    results = [*pair(1, *WON), *lacking, *pair(3, *LOST)]
    assert pair_scores(results, "a") == [2]
    assert pair_scores(pair(3, *LOST), "a") == []


@pytest.mark.parametrize(
    "leg",
    [
        {"state": GameState.VOID},
        {"state": GameState.ABORTED},
        {"state": GameState.CANCELLED},
        {"forfeited": "b"},
    ],
    ids=["void", "aborted", "cancelled", "forfeited"],
)
def test_a_pair_of_which_a_leg_was_not_played_does_not_count_but_holds_up_nothing(leg):
    broken = [pair(1, *WON)[0], game("ba", [0, 0], at=(1, 1, 1), board="1.1", **leg)]
    assert pair_scores([*broken, *pair(2, *WON)], "a") == [None, 2]


def test_the_pair_that_decides_is_the_last_one_that_is_judged():
    won = [result for number in range(1, 40) for result in pair(number, *WON)]
    test = test_of(match(), entered("ab"), won)
    assert test is not None
    assert (test.is_decided, test.shown["verdict"], test.judged) == (True, "H1", test.shown["pairs"])
    assert 1 < test.judged < 39
    assert not test_of(match(), entered("ab"), won[: 2 * (test.judged - 1)]).is_decided


def test_what_comes_behind_the_crossing_changes_nothing():
    won = [result for number in range(1, 40) for result in pair(number, *WON)]
    judged = test_of(match(), entered("ab"), won).judged
    lost = [result for number in range(judged + 1, 90) for result in pair(number, *LOST)]
    assert test_of(match(), entered("ab"), [*won[: 2 * judged], *lost]).shown["verdict"] == "H1"


def test_pairs_that_do_not_count_are_judged_without_being_counted():
    void = pair(1, *WON, state=GameState.VOID)
    test = test_of(match(), entered("ab"), [*void, *pair(2, *WON)])
    assert (test.judged, test.state.pairs) == (2, 1)


def test_the_challenger_is_the_one_named_else_who_entered_first():
    late, soon = (Entry(bot_id=bot, name=bot, account_id=None, entered_at=at) for bot, at in (("a", 2), ("b", 1)))
    assert contenders(match(challenger=None), [late, soon]) == ("b", "a")
    assert contenders(match(challenger="a"), [late, soon]) == ("a", "b")
    assert contenders(match(challenger="b"), [late, soon]) == ("b", "a")


def test_a_match_without_a_test_has_none():
    assert test_of(match(sprt=None), entered("ab"), pair(1, *WON)) is None
