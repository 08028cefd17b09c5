"""What the arena says of itself and, to its operator, of its insides."""

from __future__ import annotations

from typing import Any

from bot_sdk.answers.base import Answer


class Health(Answer, frozen=True, kw_only=True):
    """A process that answers, and its version."""

    status: str
    version: str


class Alarm(Answer, frozen=True, kw_only=True):
    """Something the operator should see to."""

    alarm: str
    detail: str


class Readiness(Answer, frozen=True, kw_only=True):
    """An arena that takes work, and what needs attention nevertheless."""

    status: str
    version: str
    alarms: list[Alarm]


class SeatRange(Answer, frozen=True, kw_only=True):
    """How many sit at a table."""

    min: int
    max: int


class RulesetView(Answer, frozen=True, kw_only=True):
    """A game that can be played here; its `options` are a JSON Schema."""

    name: str
    title: str
    seats: SeatRange
    phases: list[str]
    options: dict[str, Any]


class MaintenanceView(Answer, frozen=True, kw_only=True):
    """Whether the arena begins no games, why, and since when."""

    on: bool
    reason: str | None
    since: int | None


class AuditLine(Answer, frozen=True, kw_only=True):
    """One thing that somebody did: `account_id` is None for the operator, `status` None if nobody saw how it ended."""

    id: str
    at: int
    account_id: str | None
    operation: str
    path: str
    address: str | None
    body: str | None
    status: int | None
    made: str | None


class DeadLetter(Answer, frozen=True, kw_only=True):
    """A job that was given up; `error` is the last line of its traceback."""

    id: str
    job: str
    args: list[Any]
    queue: str
    at: int
    error: str | None
    retries: int
