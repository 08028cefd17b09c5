"""How sure a mean is. The unit is the board, never the game: games of one board share their luck.

Student's t quantile is computed here rather than by scipy, whose `special` alone takes 0.3 s and 44 MB to
import: standings are computed by processes that answer requests.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import atan, cos, exp, fsum, lgamma, pi, sin, sqrt, tan
from statistics import NormalDist

import msgspec


class Interval(msgspec.Struct, frozen=True):
    """A mean and its confidence interval; `low` and `high` are None under two values, `mean` under one."""

    mean: float | None
    low: float | None = None
    high: float | None = None

    @property
    def half_width(self) -> float | None:
        """How far the interval reaches on both sides of the mean."""
        return None if self.low is None or self.high is None else (self.high - self.low) / 2


def t_interval(values: Sequence[float], level: float = 0.95) -> Interval:
    """Return the mean of independent values with Student's t interval. It isn't clipped to what a mean can be."""
    n = len(values)
    if n == 0:
        return Interval(None)
    mean = fsum(values) / n
    if n == 1:
        return Interval(mean)
    variance = fsum((value - mean) ** 2 for value in values) / (n - 1)
    margin = t_quantile(n - 1, level) * sqrt(variance / n)
    return Interval(mean, mean - margin, mean + margin)


def share_interval(shares: Sequence[float], level: float = 0.95) -> Interval:
    """Return the mean of independent values between 0 and 1 with an interval that holds the true one often enough.

    Student's t over games won and lost is far too narrow where nearly all are won: after nothing but wins it has no
    width. So the interval, not the mean, is taken with one value of 0 and one of 1 added, after Agresti and Coull,
    whose two of each suit the normal quantile. For wins and losses it then holds the true mean at least 94 times in
    100, for 8 values or more and any mean up to 0.95; for 8 rather 99 times. It is clipped to what a mean can be.
    """
    plain = t_interval(shares, level)
    if plain.low is None:
        return plain
    widened = t_interval([0.0, 1.0, *shares], level)
    return Interval(plain.mean, max(0.0, widened.low or 0.0), min(1.0, widened.high or 0.0))


@lru_cache(maxsize=4096)
def t_quantile(freedom: int, level: float = 0.95) -> float:
    """Return the t that |T| stays under with probability `level`, for a whole number of degrees of freedom.

    With angle = atan(t / sqrt(freedom)) that probability is concave and its derivative plain, so Newton's
    steps from the normal quantile, which is too small, climb to the root and never pass it.
    """
    if freedom < 1 or not 0 < level < 1:
        raise ValueError(f"expected freedom >= 1 and 0 < level < 1, got {freedom!r} and {level!r}")
    scale = 2 / sqrt(pi) * exp(lgamma((freedom + 1) / 2) - lgamma(freedom / 2))
    angle = atan(NormalDist().inv_cdf((1 + level) / 2) / sqrt(freedom))
    for _ in range(100):  # five or six do at 95%
        step = (level - _within(angle, freedom)) / (scale * cos(angle) ** (freedom - 1))
        angle += step
        if step <= 1e-15 * angle:
            break
    return sqrt(freedom) * tan(angle)


def t_within(t: float, freedom: int) -> float:
    """Return the probability that |T| stays under `t` >= 0, for a whole number of degrees of freedom >= 1."""
    return _within(atan(t / sqrt(freedom)), freedom)


def _within(angle: float, freedom: int) -> float:
    """Return P(|T| < t): the finite series of Abramowitz & Stegun 26.7.3 (odd) and 26.7.4 (even)."""
    odd = freedom % 2
    square = cos(angle) ** 2
    term = cos(angle) if odd else 1.0
    terms = [term] if freedom > 1 else []
    for k in range(2 + odd, freedom - 1, 2):
        term *= square * (k - 1) / k
        terms.append(term)
    series = sin(angle) * fsum(terms)
    return 2 / pi * (angle + series) if odd else series
