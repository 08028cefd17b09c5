"""What the arena says of how bots did in their last games."""

from __future__ import annotations

from bot_sdk.answers.base import Answer
from bot_sdk.answers.games import GameSummary


class TimeClass(Answer, frozen=True, kw_only=True):
    """So many decisions took `from_ms` or longer, and less than `to_ms`; that is None in the last class there is."""

    from_ms: float
    to_ms: float | None
    decisions: int


class StatisticsView(Answer, frozen=True, kw_only=True):
    """A bot's last games of one ruleset, summed up; `retired` counts those that it retired from.

    `times` leaves out decisions that it wasn't asked for, or couldn't be reached for.
    """

    ruleset: str
    games: int
    since: int
    until: int
    decisions: int
    outcomes: dict[str, int]
    retired: int
    times: list[TimeClass]


class AppearanceView(GameSummary, frozen=True, kw_only=True):
    """A game that has ended, and how a bot did in it, at `own_seats`; `totals` and `places` are by seat."""

    own_seats: list[int]
    totals: list[int]
    places: list[int] | None
    retired: bool
    outcomes: dict[str, int]
