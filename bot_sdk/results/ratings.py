"""Ratings: one strength for each contender, fitted to all rated games at once.

The model is Bradley and Terry's: a contender d points above another on the Elo scale is expected to make
1 / (1 + 10 ** (-d / 400)) of their meetings, ties half. All games count alike however old they are: a version doesn't
change, and a new one is a contender of its own. The strengths are those of greatest likelihood, held together by a
weak ridge: they are taken to be scattered normally with a standard deviation of 400 points, which weighs about as much
as one game does. So whoever never won, never lost or never met the others has a finite rating too.

A game of k seats is taken as its k (k - 1) / 2 meetings, each of weight 2 / k. For normal scores with the luck of the
table taken out that is the likelihood itself; and a meeting of two, k = 2, counts once.

An interval says how sure a contender's distance from the average of the field is. It comes from the jackknife over
boards: each board is left out in turn with all its games, and the strengths move by one step of Newton's. That
is the limit which refits over drawn boards approach, without their noise; and with a few boards only, Student's t
over those that the contender played keeps the level (the normal quantile reaches 92% with 8). To it comes what the
ridge doesn't know: a bot of one game is hardly known better than one of none.

This is the one module that needs numpy, scipy and threadpoolctl, the extra `statistics`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import starmap
from math import log
from types import MappingProxyType
from typing import Final, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import linalg, sparse, special
from threadpoolctl import threadpool_limits

from bot_sdk.results.intervals import t_quantile
from bot_sdk.results.rated import Contender, Rated, Rating

ANCHORS: Final[Mapping[str, float]] = MappingProxyType({"house:random": 1000.0})
"""Where the scale is tied down, by bot id: a bot that plays at random never gets better or worse."""

_UNANCHORED: Final = 1500.0  # the average of a field that never met an anchor
_ELO: Final = 400 / log(10)  # points to one unit of log odds
_SPREAD: Final = 400.0  # points: the standard deviation that the ridge takes strengths to have
_WIDEST: Final = 1.96 * _SPREAD  # nobody is known worse than a contender that hasn't played
_RIDGE: Final = (_ELO / _SPREAD) ** 2
_STEPS: Final = 100  # of Newton's; six or seven do

_Floats: TypeAlias = NDArray[np.float64]
_Ints: TypeAlias = NDArray[np.int64]
_Key = TypeVar("_Key", Contender, str)


def fit(rated: Iterable[Rated], *, anchors: Mapping[str, float] = ANCHORS, provisional_under: int = 10) -> list[Rating]:
    """Return the rating of every contender that met another one, best first; the same for games in any order.

    The scale is shifted so that the anchors that played stand at their ratings: if there are several, on the average
    over their games. If none did, the average of all contenders over their games is 1500. Contenders with fewer
    than `provisional_under` games are provisional. A chain of games between all contenders isn't asked for; those
    that none connects are taken to be of equal strength on the average.
    """
    evidence = _gather(list(rated))
    if not evidence.contenders:
        return []
    # Other threads of the process have deadlines to keep: linear algebra gets no core but the caller's.
    with threadpool_limits(limits=1, user_api="blas"):
        strengths, inverse = _fitted(evidence)
        deviations = _deviations(evidence, strengths, inverse)
    points = _shifted(evidence, strengths * _ELO, anchors)
    ratings = [
        Rating(
            bot_id=bot_id,
            version=version,
            rating=rating,
            low=rating - half_width,
            high=rating + half_width,
            games=games,
            is_provisional=games < provisional_under,
        )
        for (bot_id, version), rating, half_width, games in zip(
            evidence.contenders,
            points.tolist(),
            starmap(_half_width, zip(deviations.tolist(), evidence.boards.tolist(), strict=True)),
            evidence.games.tolist(),
            strict=True,
        )
    ]
    return sorted(ratings, key=lambda rating: -rating.rating)


@dataclass(slots=True)
class _Evidence:
    """Games as matrices. A column of `weights` and `points` is a pair that met, a row is a board.

    `points` are those of the pair's `first`. Contenders are numbered in the order of their ids, pairs by their
    contenders, boards by their names: sums don't depend on the order in which games come.
    """

    contenders: list[Contender]
    games: _Ints  # by contender
    boards: _Ints  # by contender
    first: _Ints  # by pair
    second: _Ints  # by pair
    weights: sparse.csr_array
    points: sparse.csr_array

    @property
    def shares(self) -> _Floats:
        """By contender its share of all games, what an average of the field weighs it with."""
        shares: _Floats = self.games / self.games.sum()
        return shares

    def summed_by_contender(self, by_pair: _Floats) -> _Floats:
        """Add up what pairs say for their first and against their second."""
        summed = np.zeros(len(self.contenders))
        np.add.at(summed, self.first, by_pair)
        np.subtract.at(summed, self.second, by_pair)
        return summed


def _gather(games: list[Rated]) -> _Evidence:
    everyone = sorted({contender for game in games for contender in game.contenders}, key=_by_id)
    boards = sorted({game.board for game in games})
    meetings = _meetings(games, _numbered(everyone), _numbered(boards))
    game, board, first, second = meetings[:4].astype(np.int64)
    weight, points = meetings[4:]
    active, places = np.unique(np.concatenate([first, second]), return_inverse=True)
    first, second = np.split(places, 2)
    pairs, pair = np.unique(first * len(active) + second, return_inverse=True)
    shape = (len(boards), len(pairs))
    return _Evidence(
        contenders=[everyone[number] for number in active],
        games=_distinct(game, first, second, len(active)),
        boards=_distinct(board, first, second, len(active)),
        first=pairs // len(active),
        second=pairs % len(active),
        weights=sparse.coo_array((weight, (board, pair)), shape).tocsr(),
        points=sparse.coo_array((weight * points, (board, pair)), shape).tocsr(),
    )


def _meetings(games: list[Rated], numbers: Mapping[Contender, int], boards: Mapping[str, int]) -> _Floats:
    """Return a column for each meeting: game, board, lower contender, higher one, weight, points of the lower one."""
    tables: dict[int, list[list[int]]] = defaultdict(list)
    for number, game in enumerate(games):
        met = game.met
        who = [numbers[game.contenders[seat]] for seat in met]
        tables[len(met)].append([number, boards[game.board], *who, *(game.places[seat] for seat in met)])
    columns = [_paired(np.array(rows, dtype=np.int64), size) for size, rows in tables.items() if size > 1]
    meetings = np.concatenate([np.empty((6, 0)), *columns], axis=1)
    return meetings[:, np.lexsort(meetings[1:])]


def _paired(rows: _Ints, size: int) -> _Floats:
    """Return the meetings at tables of one size; nobody meets itself."""
    one, other = np.triu_indices(size, 1)
    contenders, places = rows[:, 2 : 2 + size], rows[:, 2 + size :]
    first, second = contenders[:, one], contenders[:, other]
    points = (1 + np.sign(places[:, other] - places[:, one])) / 2
    swapped = first > second
    columns = [
        np.broadcast_to(rows[:, :1], first.shape),
        np.broadcast_to(rows[:, 1:2], first.shape),
        np.minimum(first, second),
        np.maximum(first, second),
        np.full(first.shape, 2 / size),
        np.where(swapped, 1 - points, points),
    ]
    return np.stack([column[first != second] for column in columns]).astype(np.float64)


def _distinct(keys: _Ints, first: _Ints, second: _Ints, count: int) -> _Ints:
    """Count by contender the different keys of its meetings."""
    seen = np.unique(np.concatenate([keys * count + first, keys * count + second]))
    return np.bincount(seen % count, minlength=count)


def _fitted(evidence: _Evidence) -> tuple[_Floats, _Floats]:
    """Return the most likely strengths in log odds, their mean 0, and the inverse of the Hessian there."""
    weights, points = np.asarray(evidence.weights.sum(axis=0)), np.asarray(evidence.points.sum(axis=0))

    def loss(strengths: _Floats) -> float:
        gap = strengths[evidence.first] - strengths[evidence.second]
        unlikely = points @ np.logaddexp(0, -gap) + (weights - points) @ np.logaddexp(0, gap)
        return float(unlikely + _RIDGE * strengths @ strengths / 2)

    strengths = np.zeros(len(evidence.contenders))
    for _ in range(_STEPS):
        expected = _expected(evidence, strengths)
        gradient = evidence.summed_by_contender(points - weights * expected) - _RIDGE * strengths
        hessian = _hessian(evidence, weights * expected * (1 - expected))
        step = linalg.solve(hessian, gradient, assume_a="pos")
        if np.abs(step).max() < 1e-10:
            break
        # The loss is convex: some part of the step lowers it, unless rounding is all that is left.
        while loss(strengths + step) > loss(strengths) + 1e-9:
            step /= 2
        strengths += step
    return strengths, linalg.inv(hessian)


def _expected(evidence: _Evidence, strengths: _Floats) -> _Floats:
    expected: _Floats = special.expit(strengths[evidence.first] - strengths[evidence.second])
    return expected


def _hessian(evidence: _Evidence, information: _Floats) -> _Floats:
    count = len(evidence.contenders)
    hessian: _Floats = sparse.coo_array((-information, (evidence.first, evidence.second)), (count, count)).toarray()
    hessian += hessian.T
    np.fill_diagonal(hessian, _RIDGE - hessian.sum(axis=1))
    return hessian


def _deviations(evidence: _Evidence, strengths: _Floats, inverse: _Floats) -> _Floats:
    """Return by contender the standard deviation of its distance from the average of the field, in points."""
    from_average = inverse - (inverse @ evidence.shares)[:, np.newaxis]
    left_out = _pulls_between(evidence, strengths) @ from_average
    unbiased = evidence.boards / np.maximum(evidence.boards - 1, 1)
    variances = (from_average * left_out).sum(axis=0) * unbiased + _RIDGE * (from_average**2).sum(axis=0)
    deviations: _Floats = _ELO * np.sqrt(variances)
    return deviations


def _pulls_between(evidence: _Evidence, strengths: _Floats) -> _Floats:
    """Return the sum over boards of the products of what a board pulls two contenders by, off where they stand."""
    expected = _expected(evidence, strengths)
    surprises = (evidence.points - evidence.weights.multiply(expected[np.newaxis, :])).tocsr()
    pairs = np.arange(len(expected))
    signs = np.repeat([1.0, -1.0], len(pairs))
    ends = np.tile(pairs, 2), np.concatenate([evidence.first, evidence.second])
    pulls = surprises @ sparse.coo_array((signs, ends), (len(pairs), len(strengths))).tocsr()
    products: _Floats = (pulls.T @ pulls).toarray()
    return products


def _half_width(deviation: float, boards: int) -> float:
    return min(_WIDEST, t_quantile(boards - 1) * deviation) if boards > 1 else _WIDEST


def _shifted(evidence: _Evidence, points: _Floats, anchors: Mapping[str, float]) -> _Floats:
    anchored = np.array([bot_id in anchors for bot_id, _ in evidence.contenders])
    if not anchored.any():
        return points + _UNANCHORED - points @ evidence.shares
    given = np.array([anchors[bot_id] for bot_id, _ in evidence.contenders if bot_id in anchors])
    return points + float(np.average(given - points[anchored], weights=evidence.games[anchored]))


def _numbered(ordered: list[_Key]) -> dict[_Key, int]:
    return {key: number for number, key in enumerate(ordered)}


def _by_id(contender: Contender) -> tuple[str, bool, str]:
    bot_id, version = contender
    return bot_id, version is not None, version or ""
