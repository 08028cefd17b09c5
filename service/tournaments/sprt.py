"""The sequential test of a match: play pairs until it is clear which of two hypotheses holds.

It is the generalised sequential probability ratio test (GSPRT) that chess engines are tested with. A pair is two games
on one board with the seats swapped: their results aren't independent, so what is counted is the pair, with bot A's
points 0, ½, 1, 1½ or 2. H0 says that A is `elo0` points stronger than B, H1 that it is `elo1`. After each pair the
likelihood of all pairs so far is maximised twice, over the five frequencies whose mean is what H0 expects, and what H1
expects. The logarithm of the ratio (`llr`) is held against Wald's bounds.

The frequencies are started with two pairs' worth of the extremes, lost twice and won twice, in the proportion whose
mean lies halfway between the hypotheses. So a few first pairs, all alike perhaps, can't be taken for certainty, and
neither side gains by it. In simulations with 30 to 400 points between the hypotheses, near 0 and far from it, and with
pairs that vary little and much, the error rates then stay within alpha and beta.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from functools import lru_cache
from math import fsum, log, log1p
from typing import Final

import msgspec

from service.store.entities import Sprt

_SCORES: Final = (0.0, 0.25, 0.5, 0.75, 1.0)  # of a pair, by game
_START: Final = 2.0  # pairs
_STEPS: Final = 100  # of Newton's; five or six do


class Verdict(StrEnum):
    """Which hypothesis holds."""

    H0 = "H0"
    H1 = "H1"


class SprtState(msgspec.Struct, frozen=True, kw_only=True):
    """Where a test stands: H0 holds at `lower`, H1 at `upper`.

    `pairs` are those judged; with a verdict, the last of them is number `crossing` of the pairs given, from 0.
    """

    llr: float
    lower: float
    upper: float
    pairs: int
    verdict: Verdict | None = None
    crossing: int | None = None


def judge(test: Sprt, scores: Iterable[float | None]) -> SprtState:
    """Judge bot A's scores of the pairs, in the order of the pairs, up to the first that crosses a bound.

    Pairs that don't count (a game of theirs was void, aborted or forfeited) are None; pairs behind one that is
    still being played must not be given yet. Those after the crossing don't matter. Raises ValueError for a score
    other than 0, ½, 1, 1½ and 2. The test's own sense isn't checked here, but where a tournament is made.
    """
    lower, upper = _bounds(test)
    pairs, llr = 0, 0.0
    for number, llr in _steps(test, scores):
        pairs += 1
        if not lower < llr < upper:
            verdict = Verdict.H1 if llr >= upper else Verdict.H0
            return SprtState(llr=llr, lower=lower, upper=upper, pairs=pairs, verdict=verdict, crossing=number)
    return SprtState(llr=llr, lower=lower, upper=upper, pairs=pairs)


def course(test: Sprt, scores: Iterable[float | None]) -> list[float]:
    """Return the ratio's logarithm after each pair that `judge` counts for the same scores, the crossing the last."""
    lower, upper = _bounds(test)
    ratios = []
    for _, llr in _steps(test, scores):
        ratios.append(llr)
        if not lower < llr < upper:
            break
    return ratios


def _bounds(test: Sprt) -> tuple[float, float]:
    """Return where H0 and where H1 is taken to hold."""
    return log(test.beta / (1 - test.alpha)), log((1 - test.beta) / test.alpha)


def _steps(test: Sprt, scores: Iterable[float | None]) -> Iterator[tuple[int, float]]:
    """Yield the number of each pair that counts, and the ratio's logarithm after it."""
    middle = (_expected(test.elo0) + _expected(test.elo1)) / 2
    counts = [_START * (1 - middle), 0.0, 0.0, 0.0, _START * middle]
    for number, score in enumerate(scores):
        if score is None:
            continue
        if score / 2 not in _SCORES:
            raise ValueError(f"expected a pair's score of 0, 0.5, 1, 1.5 or 2, got {score}")
        counts[_SCORES.index(score / 2)] += 1
        yield number, _llr(tuple(counts), test)


@lru_cache(maxsize=20_000)  # a match is judged again after every pair
def _llr(counts: tuple[float, ...], test: Sprt) -> float:
    """Return the logarithm of the likelihood under H1 over that under H0, each at its most likely frequencies.

    A frequency is counts[i] / sum(counts) / (1 + tilt * away[i]) at the most likely, so the first factors cancel.
    """
    (tilt0, away0), (tilt1, away1) = (_tilted(counts, elo) for elo in (test.elo0, test.elo1))
    terms = zip(counts, away0, away1, strict=True)
    return fsum(count * (log1p(tilt0 * off0) - log1p(tilt1 * off1)) for count, off0, off1 in terms)


def _tilted(counts: Sequence[float], elo: float) -> tuple[float, list[float]]:
    """Return the tilt that gives the frequencies the mean that `elo` expects, and how far from it each score is.

    The mean falls as the tilt rises, so Newton's steps are kept between the last tilts on either side. At both
    ends the frequency of a score would be infinite; neither is reached, for both extremes are counted from the start.
    """
    away = [score - _expected(elo) for score in _SCORES]
    low, high = -1 / away[-1], -1 / away[0]
    tilt = 0.0
    for _ in range(_STEPS):
        pulls = [off / (1 + tilt * off) for off in away]
        mean = fsum(count * pull for count, pull in zip(counts, pulls, strict=True))
        low, high = (tilt, high) if mean > 0 else (low, tilt)
        step = mean / fsum(count * pull * pull for count, pull in zip(counts, pulls, strict=True))
        if abs(step) <= 1e-12:
            break
        tilt = tilt + step if low < tilt + step < high else (low + high) / 2
    return tilt, away


def _expected(elo: float) -> float:
    return 1 / (1 + 10 ** (-elo / 400))
