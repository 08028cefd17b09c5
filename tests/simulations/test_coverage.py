"""How often the standings' intervals hold a bot's true mean, over simulated River tournaments.

A game gives a bot 14 deals. In each it meets its bid with a probability that the cards of the board lift or lower, for
10 points, and takes 1.7 tricks on the average, a point each. With these numbers the simulated scores have the mean,
deviation and skew of real ones at tables of four: the house bots were measured to make 49 ± 15 (random, skew 0.4)
and 102 ± 18 (greedy, skew -0.1).
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np
import pytest

from bot_sdk.results.intervals import t_interval

RUNS = 3000
DEALS = 14
TRICKS = 1.7
BOTS = {"seldom": 0.1, "random": 0.2, "greedy": 0.55, "nearly always": 0.9}
"""The share of bids that a bot meets."""
CARDS = 60.0
"""How little a board's cards change that share: the weight of a beta distribution. More would make scores vary more
than real ones do, whose board means over four legs vary half as much as scores do."""


def scores(share: float, boards: int, legs: int, cards: float = CARDS) -> np.ndarray:
    """Return by run, board and leg a bot's scores: a board's legs are played with the same cards."""
    rng = np.random.default_rng([round(100 * share), boards, legs])
    met = rng.beta(cards * share, cards * (1 - share), (RUNS, boards, 1))
    size = (RUNS, boards, legs)
    return 10 * rng.binomial(DEALS, np.broadcast_to(met, size)) + rng.poisson(DEALS * TRICKS, size)


def truth(share: float) -> float:
    return DEALS * (10 * share + TRICKS)


def held(values: np.ndarray, share: float) -> float:
    """Return how many of the intervals over a run's values hold the true mean."""
    intervals = [t_interval(run) for run in values.tolist()]
    return sum(interval.low <= truth(share) <= interval.high for interval in intervals) / len(intervals)


@pytest.mark.parametrize("share", BOTS.values(), ids=BOTS)
@pytest.mark.parametrize("legs", [1, 4])
@pytest.mark.parametrize("boards", [8, 20, 60])
def test_intervals_over_boards_hold_the_true_mean_95_times_in_100(boards, legs, share):
    assert 0.93 <= held(scores(share, boards, legs).mean(axis=2), share) <= 0.97


def test_this_would_catch_a_normal_interval_over_few_boards():
    means = scores(0.2, 8, 1).mean(axis=2)
    margin = NormalDist().inv_cdf(0.975) * means.std(axis=1, ddof=1) / 8**0.5
    assert (np.abs(means.mean(axis=1) - truth(0.2)) <= margin).mean() < 0.93


def test_this_would_catch_an_interval_over_games():
    by_game = scores(0.2, 20, 4, cards=12).reshape(RUNS, -1)
    assert held(by_game, 0.2) < 0.93
