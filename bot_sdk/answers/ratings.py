"""What the arena says of how strong bots are."""

from __future__ import annotations

from bot_sdk.answers.base import Answer


class VersionView(Answer, frozen=True, kw_only=True):
    """The rating of a bot in one version, on Elo's scale, with its 95% interval over boards."""

    version: str | None
    rating: float
    low: float
    high: float
    games: int
    is_provisional: bool
    last_at: int


class RankedView(VersionView, frozen=True, kw_only=True):
    """A line of a leaderboard: `rank` is None while the rating is provisional; private bots of others have no state."""

    rank: int | None
    bot_id: str
    name: str | None
    state: str | None


class RatingMethod(Answer, frozen=True, kw_only=True):
    """How ratings come about, in words."""

    rating: str
    interval: str
    rated: str
    rank: str


class Leaderboard(Answer, frozen=True, kw_only=True):
    """A ruleset's ratings, best first, made from so many `results`; `computed_at` is None before the first fit."""

    items: list[RankedView]
    next_cursor: str | None
    computed_at: int | None
    results: int
    method: RatingMethod


class LineView(Answer, frozen=True, kw_only=True):
    """What a bot's rating was at one time."""

    at: int
    version: str | None
    rating: float
    low: float
    high: float
    games: int


class RatingsView(Answer, frozen=True, kw_only=True):
    """A bot's ratings in one ruleset: by version, last played first, and the history, oldest first."""

    ruleset: str
    computed_at: int
    versions: list[VersionView]
    history: list[LineView]


class OpponentView(Answer, frozen=True, kw_only=True):
    """What came of a bot's rated games against another: 1 point for each game placed before it, ½ for a tie.

    `superiority` is how likely the bot is the better of the two, over boards; None under two boards.
    """

    ruleset: str
    bot_id: str
    name: str | None
    games: int
    points: float
    mean: float
    superiority: float | None
