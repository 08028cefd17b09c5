"""Ratings of bots whose strength is known: how well they order them, and how often their intervals hold the truth.

A bot's score at a table of four is its strength plus luck of standard deviation 1, half of whose variance is the
seat's cards, which are the same at all tables of a round (`field`). Strengths are normal with standard deviation ½: two
bots of the field are typically ¾ of a game's luck apart. (In River, `house:greedy` and `house:random` are 3 apart.)
"""

from __future__ import annotations

from collections import defaultdict
from random import Random

import pytest
from openskill.models import PlackettLuce
from scipy.stats import kendalltau

from bot_sdk.results.rated import Rated
from bot_sdk.results.ratings import fit
from service.tournaments.disjoint import disjoint_rounds

SEATS = 4
SPREAD = 0.5
CARDS = 0.5**0.5
PLAY = 0.5**0.5


def field(bots: int, rng: Random) -> dict[str, float]:
    return {f"bot_{number:02}": rng.gauss(0, SPREAD) for number in range(bots)}


def schedule(bots: int, rounds: int) -> list[tuple[int, tuple[str, ...]]]:
    """Return the tables of a `field` round robin, each with its round."""
    entries = [f"bot_{number:02}" for number in range(bots)]
    made = disjoint_rounds(entries, table_size=SEATS, rounds=rounds, seed=0)
    return [(number, table) for number, round_ in enumerate(made) for table in round_.tables]


def tournament(strengths: dict[str, float], tables, rng: Random, name: str = "t") -> list[Rated]:
    luck: dict[int, list[float]] = defaultdict(lambda: [rng.gauss(0, CARDS) for _ in range(SEATS)])
    return [
        played(f"{name}/{board}", bots, [strengths[bot] + luck[board][seat] for seat, bot in enumerate(bots)], rng)
        for board, bots in tables
    ]


def played(board: str, bots: tuple[str, ...], expected: list[float], rng: Random) -> Rated:
    scores = [score + rng.gauss(0, PLAY) for score in expected]
    places = tuple(1 + sum(other > own for other in scores) for own in scores)
    return Rated(board, tuple((bot, None) for bot in bots), places)


# Order


def bradley_terry(games: list[Rated]) -> dict[str, float]:
    return {row.bot_id: row.rating for row in fit(games)}


def plackett_luce(games: list[Rated]) -> dict[str, float]:
    """Rate with openskill, game after game."""
    model = PlackettLuce()
    ratings = defaultdict(model.rating)
    for game in games:
        bots = [bot for bot, _ in game.contenders]
        for bot, (rating,) in zip(
            bots, model.rate([[ratings[bot]] for bot in bots], ranks=list(game.places)), strict=True
        ):
            ratings[bot] = rating
    return {bot: rating.mu for bot, rating in ratings.items()}


def elo(games: list[Rated], k: float = 32) -> dict[str, float]:
    """Rate each pair of a table as a game of Elo's, with K shared among the three opponents."""
    ratings: dict[str, float] = defaultdict(float)
    for game in games:
        changes: dict[str, float] = defaultdict(float)
        for (one, _), (other, _), points in game.meetings():
            change = k / (SEATS - 1) * (points - 1 / (1 + 10 ** ((ratings[other] - ratings[one]) / 400)))
            changes[one] += change
            changes[other] -= change
        for bot, change in changes.items():
            ratings[bot] += change
    return ratings


METHODS = {"bradley_terry": bradley_terry, "plackett_luce": plackett_luce, "elo": elo}


def mean_taus(runs: int, bots: int = 24, rounds: int = 80) -> dict[str, float]:
    """Return by method the mean Kendall tau of its ratings with the strengths; each bot plays `rounds` games."""
    tables = schedule(bots, rounds)
    sums: dict[str, float] = defaultdict(float)
    for run in range(runs):
        rng = Random(f"strengths/{run}")
        strengths = field(bots, rng)
        games = tournament(strengths, tables, rng)
        for name, rate in METHODS.items():
            ratings = rate(games)
            sums[name] += kendalltau([ratings[bot] for bot in strengths], list(strengths.values())).statistic
    return {name: total / runs for name, total in sums.items()}


@pytest.mark.parametrize("runs", [5, pytest.param(40, marks=pytest.mark.soak)])
def test_80_games_order_bots_better_than_openskill_and_elo_do(runs):
    taus = mean_taus(runs)
    assert taus["bradley_terry"] >= 0.75, taus
    assert taus["bradley_terry"] > taus["plackett_luce"], taus
    assert taus["bradley_terry"] > taus["elo"], taus


# Intervals


def coverage(bots: int, rounds: int, runs: int) -> float:
    """Return how often intervals hold what the ratings come to when the same tournament is played over and over."""
    rng = Random(f"coverage/{bots}/{rounds}")
    strengths, tables = field(bots, rng), schedule(bots, rounds)
    tournaments = [tournament(strengths, tables, rng, f"t{run}") for run in range(runs)]
    truth = bradley_terry([game for games in tournaments for game in games])
    rows = [row for games in tournaments for row in fit(games)]
    return sum(row.low <= truth[row.bot_id] <= row.high for row in rows) / len(rows)


@pytest.mark.parametrize(("bots", "rounds", "runs"), [(16, 8, 150), (16, 20, 100)])
def test_rating_intervals_hold_the_truth_as_often_as_they_say(bots, rounds, runs):
    assert 0.93 <= coverage(bots, rounds, runs) <= 0.985


@pytest.mark.soak
@pytest.mark.parametrize(("bots", "rounds"), [(8, 8), (24, 8), (16, 20), (40, 20), (16, 60)])
def test_rating_intervals_hold_the_truth_over_many_tournaments(bots, rounds):
    assert 0.935 <= coverage(bots, rounds, 600) <= 0.98
