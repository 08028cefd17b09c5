"""What is sent to the arena, as far as it has more fields than arguments: each is optional unless it says otherwise.

What their values may be is for the arena to say; here only their kind is fixed. Times are milliseconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NotRequired, Required, TypedDict


class SeatNew(TypedDict):
    """Who is to sit there: a ``bot`` by `bot_id`, a ``house`` bot or a ``human`` by `name`, or ``open``."""

    kind: str
    bot_id: NotRequired[str]
    name: NotRequired[str]


class _Limits(TypedDict, total=False):
    budget_ms: int
    first_budget_ms: int
    human_budget_ms: int
    max_faults: int


class GameOrder(_Limits, total=False):
    """A new game; `start` is ``auto`` or ``manual``."""

    options: Mapping[str, str | int | bool]
    start: str


class CallAnswer(TypedDict):
    """An answer to the call with that id: what a web server would reply; `status` is 200 unless it says otherwise."""

    id: str
    body: str
    status: NotRequired[int]


class BotChange(TypedDict, total=False):
    """What to change of a bot: `state` is ``active`` or ``paused``, `transport` ``pull`` or, with a URL, ``push``."""

    name: str
    transport: str
    url: str
    rulesets: Sequence[str]
    availability: str
    state: str


class Sprt(TypedDict, total=False):
    """The sequential test of a match."""

    elo0: Required[float]
    elo1: Required[float]
    alpha: float
    beta: float


class _Choices(TypedDict, total=False):
    rounds: int | None
    challenger: str | None
    advance: int | None
    max_games: int | None
    sprt: Sprt | None
    invited: Sequence[str] | None
    entries_per_account: int | None


class TournamentOrder(_Choices, _Limits, total=False):
    """A new tournament."""

    options: Mapping[str, str | int | bool]
    format: str
    deals: str | None
    table_size: int | None
    seed: int | None


class TournamentChange(_Choices, total=False):
    """What to change of a tournament: the name at any time, the rest until its start."""

    name: str
