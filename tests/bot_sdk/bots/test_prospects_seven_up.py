from __future__ import annotations

import random

import pytest
from msgspec.structs import replace

from bot_sdk.bot import Decision
from bot_sdk.bots import prospects_seven_up
from bot_sdk.bots.prospects_seven_up import JACK_TURNED, SCORED, after, chances
from bot_sdk.positions import positions


def wins_of_dealer(dealer: int, eldest: int, target: int, rng: random.Random) -> bool:
    """Play on from these totals by drawing what each deal scores, and tell whether its first dealer wins."""
    totals, dealing = [dealer, eldest], 0
    while max(totals) < target or totals[0] == totals[1]:
        if rng.random() < JACK_TURNED:
            totals[dealing] += 1
            if totals[dealing] >= target and totals[0] != totals[1]:
                break
        to_eldest, to_dealer = rng.choices(list(SCORED), SCORED.values())[0]
        totals[dealing] += to_dealer
        totals[1 - dealing] += to_eldest
        dealing = 1 - dealing
    return totals[0] > totals[1]


@pytest.mark.parametrize(
    ("dealer", "eldest", "target"), [(0, 0, 7), (6, 6, 7), (6, 5, 7), (3, 5, 7), (0, 0, 1), (6, 0, 11)]
)
def test_chances_are_how_often_a_game_drawn_to_its_end_is_won(dealer: int, eldest: int, target: int) -> None:
    rng, games = random.Random(f"{dealer} {eldest} {target}"), 8000
    won = sum(wins_of_dealer(dealer, eldest, target, rng) for _ in range(games)) / games
    assert abs(won - chances(target)[dealer][eldest]) < 4 * 0.5 / games**0.5


@pytest.mark.parametrize("target", [1, 2, 7, 50])
def test_a_point_more_is_never_worse_and_one_more_of_theirs_never_better(target: int) -> None:
    for dealt in (False, True):
        for ours in range(target + 4):
            for theirs in range(target + 4):
                chance = after(ours, theirs, target, dealt=dealt)
                assert 0 <= chance <= 1
                assert chance <= after(ours + 1, theirs, target, dealt=dealt)
                assert chance >= after(ours, theirs + 1, target, dealt=dealt)


def test_a_game_that_is_over_is_won_or_lost_and_a_tie_is_played_on() -> None:
    assert after(7, 6, 7, dealt=True) == 1
    assert after(8, 9, 7, dealt=True) == 0
    assert 0.3 < after(9, 9, 7, dealt=True) == after(6, 6, 7, dealt=True) < 0.7


def test_the_chance_of_a_tie_is_that_of_what_can_follow_from_it_another_tie_too() -> None:
    found = chances(7)
    assert found[6][6] == pytest.approx(prospects_seven_up._chance(found, 6, 6), abs=1e-12)


def test_what_we_win_and_what_they_do_are_all_there_is() -> None:
    for ours, theirs in ((0, 0), (6, 6), (3, 6), (9, 9)):
        assert after(ours, theirs, 7, dealt=True) + after(theirs, ours, 7, dealt=False) == pytest.approx(1)


@pytest.mark.parametrize(("seat", "dealer"), [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_a_decision_tells_whose_totals_they_are_and_who_has_dealt(seat: int, dealer: int) -> None:
    message = positions("seven_up", "play", 1, "worth")[0]
    observation = {**message.observation, "totals": [2, 5], "dealer": dealer}
    worth = prospects_seven_up.worth(Decision(replace(message, seat=seat, observation=observation)))
    ours, theirs = ((2, 5), (5, 2))[seat]
    assert worth[3][1] == after(ours + 3, theirs + 1, 7, dealt=seat == dealer)
