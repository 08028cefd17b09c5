"""What the arena says of games, their seats and what happens in them."""

from __future__ import annotations

from typing import Any

from bot_sdk.answers.base import Answer


class SeatShown(Answer, frozen=True, kw_only=True):
    """Who sits there: `kind` is bot, house, human or open."""

    kind: str
    name: str
    bot_id: str | None
    version: str | None


class SeatPlaying(SeatShown, frozen=True, kw_only=True):
    """Who sits there, and why he retired if he did: faults, left or disabled."""

    retired: str | None


class SeatMade(SeatPlaying, frozen=True, kw_only=True):
    """A seat of a new game; a human one has a token, shown this once: whoever has it plays the seat."""

    token: str | None = None


class LimitsShown(Answer, frozen=True, kw_only=True):
    """How long decisions may take, in milliseconds, and how many faults retire a seat."""

    budget_ms: int
    first_budget_ms: int
    human_budget_ms: int
    max_faults: int


class GameSummary(Answer, frozen=True, kw_only=True):
    """A game in a list: `state` is open, running, finished, void, aborted or cancelled.

    While it isn't `readable`, since other games are played on its board, only its players and its state are shown.
    """

    id: str
    ruleset: str
    state: str
    seats: list[SeatShown]
    created_at: int
    started_at: int | None
    ended_at: int | None
    readable: bool
    tournament_id: str | None
    round: int | None
    table: int | None
    leg: int | None
    board: str | None


class _Standing(Answer, frozen=True, kw_only=True):
    """How a game stands: `version` counts what its reader has been able to see; `turn` are the seats that owe."""

    version: int
    phase: str | None
    turn: list[int]
    observation: dict[str, Any] | None
    places: list[int] | None
    ended_by: str | None


class _Game(_Standing, frozen=True, kw_only=True):
    """All of a game but its seats."""

    totals: list[int] | None
    id: str
    ruleset: str
    state: str
    created_at: int
    started_at: int | None
    ended_at: int | None
    readable: bool
    tournament_id: str | None
    round: int | None
    table: int | None
    leg: int | None
    board: str | None
    options: dict[str, Any]
    limits: LimitsShown
    start: str
    label: str
    commitment: str


class GameView(_Game, frozen=True, kw_only=True):
    """A game as a spectator sees it."""

    seats: list[SeatPlaying]


class GameMade(_Game, frozen=True, kw_only=True):
    """A new game, with the tokens of its human seats."""

    seats: list[SeatMade]


class LastDecision(Answer, frozen=True, kw_only=True):
    """How a seat's last decision went."""

    action: str
    outcome: str
    ms: float


class SeatView(_Standing, frozen=True, kw_only=True):
    """A game from one of its seats; `deadline` (Unix milliseconds) is when the first legal action is played for it.

    `decision_id` is None and `legal_actions` is empty while the seat owes nothing.
    """

    totals: list[int]
    game_id: str
    seat: int
    state: str
    decision_id: str | None
    legal_actions: list[str]
    deadline: int | None
    retired: str | None
    last: LastDecision | None


class Joined(Answer, frozen=True, kw_only=True):
    """A seat that was taken, and its token, shown this once."""

    seat: int
    token: str


class EntropyView(Answer, frozen=True, kw_only=True):
    """What a seat adds to the shuffle."""

    seat: int
    entropy: str


class ActionTaken(Answer, frozen=True, kw_only=True):
    """An action that stands, and how things are after it."""

    decision_id: str
    action: str
    version: int
    view: SeatView


class EventList(Answer, frozen=True, kw_only=True):
    """Public events of a game in order, each with `id` and `event`; `is_last` says that none can follow."""

    items: list[dict[str, Any]]
    next_cursor: str | None
    is_last: bool
