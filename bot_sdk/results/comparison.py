"""One bot against another: how sure it is that one is better. Needs no numpy, so that answers can be made with it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from math import fsum, inf, sqrt

import msgspec

from bot_sdk.results.intervals import t_within
from bot_sdk.results.rated import Rated


class Opponent(msgspec.Struct, frozen=True, kw_only=True):
    """What a bot made of its meetings with one other, over all versions of both.

    `points` are 1 for each meeting won, ½ for each tied; `superiority` is the likelihood, over boards, that the bot
    is the better one: None under two boards.
    """

    bot_id: str
    games: int
    points: float
    superiority: float | None


def opponents(rated: Iterable[Rated]) -> dict[str, list[Opponent]]:
    """Return by bot id its opponents, in the order of their ids."""
    boards: dict[str, dict[str, dict[str, list[float]]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for game in rated:
        for (bot, _), (other, _), points in game.meetings():
            if bot != other:
                boards[bot][other][game.board].append(points)
                boards[other][bot][game.board].append(1 - points)
    return {
        bot: [_opponent(other, list(by_board.values())) for other, by_board in sorted(others.items())]
        for bot, others in sorted(boards.items())
    }


def superiority(means: Sequence[float]) -> float | None:
    """Return the likelihood that A is better than B, from A's mean result against B on each board, 0 to 1.

    It is the probability, by Student's t, that the mean over all boards there could be is above ½. Under two boards
    it is None. It is never surer than 1 - 1 / 2 ** (n + 1), what n boards won straight say by Laplace's rule:
    few boards may agree by chance, and then their spread says nothing.
    """
    n = len(means)
    if n < 2:
        return None
    mean = fsum(means) / n
    deviation = sqrt(fsum((value - mean) ** 2 for value in means) / (n - 1))
    lead = abs(mean - 0.5) * sqrt(n)
    doubt = (1 - t_within(lead / deviation if deviation else inf, n - 1)) / 2 if lead else 0.5
    doubt = max(doubt, 0.5 ** (n + 1))
    return 1 - doubt if mean > 0.5 else doubt


def _opponent(bot_id: str, boards: list[list[float]]) -> Opponent:
    return Opponent(
        bot_id=bot_id,
        games=sum(len(points) for points in boards),
        points=fsum(point for points in boards for point in points),
        superiority=superiority([fsum(points) / len(points) for points in boards]),
    )
