"""Ratings as they are kept: what a fit says, and what is kept of the fits before. All times are in Unix ms."""

from __future__ import annotations

import msgspec

from bot_sdk.results.comparison import Opponent
from bot_sdk.results.rated import Rated, Rating


class Kept(msgspec.Struct, frozen=True, array_like=True):
    """A rated game as it is kept for ever: when it ended, and all that ratings need of it."""

    ended_at: int
    game: Rated


class Row(Rating, frozen=True, kw_only=True):
    """The rating of a bot in one version; `last_at` is when its last rated game ended."""

    last_at: int


class Leaderboard(msgspec.Struct, frozen=True, kw_only=True):
    """What one fit says: the `number`-th of its ruleset, made from so many results; best rows first."""

    number: int
    computed_at: int
    results: int
    rows: list[Row]


class Line(msgspec.Struct, frozen=True, array_like=True):
    """A bot's rating by one fit, in the version that had played since the fit before."""

    at: int
    version: str | None
    rating: float
    low: float
    high: float
    games: int


class Fitted(msgspec.Struct, frozen=True, kw_only=True):
    """What a fit says: a row for each bot and version, best first, and by bot id whom each met."""

    rows: list[Row]
    opponents: dict[str, list[Opponent]]


class Told(msgspec.Struct, frozen=True):
    """What a fit says of one bot beside its rows: its history where that has changed, and its opponents."""

    history: list[Line] | None
    opponents: list[Opponent]
