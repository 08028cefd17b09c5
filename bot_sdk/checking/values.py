"""What a check is made of: the line that carries its requests, the steps it consists of, the faults it finds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from bot_sdk import messages
from bot_sdk.checking.faults import Finding
from bot_sdk.events import Outcome


class Sent(Protocol):
    """What became of one request. `ok` means a whole body of JSON type with status 200, which nobody has read yet."""

    @property
    def outcome(self) -> Outcome:
        """One of ok, late, unreachable, bad_status, bad_reply, our_fault."""

    @property
    def ms(self) -> float:
        """The time waited."""

    @property
    def status(self) -> int | None:
        """The HTTP status, if there was one."""

    @property
    def error(self) -> str | None:
        """What went wrong, in words for the bot's owner."""

    @property
    def body(self) -> bytes | None:
        """The body of an `ok`."""


class Line(Protocol):
    """Carries requests to the bot that is checked; it raises nothing and takes no longer than the budget."""

    def get_card(self, budget_ms: int) -> Sent:
        """GET the bot's URL."""

    def post(self, body: bytes, budget_ms: int, secret: str | None, *, decisions: int = 1, age_s: int = 0) -> Sent:
        """POST a message, signed with `secret` if there is one, as if that had been done `age_s` seconds ago.

        A batch has the size limit of its `decisions`.
        """


class Doctor(Protocol):
    """Somebody who sees more of a bot than its answers: the bytes of the connection, or the author's own code."""

    def look(self, found: Finding, decisions: Sequence[messages.Decision], sent: Sent | None) -> Finding:
        """Say more of what was found in the answer to these decisions (none for another message), or the same."""


class Step(Struct, frozen=True):
    """One thing that was tried; `detail` says what came, or what was expected instead.

    A `warning` is `ok`: it costs the bot time or safety, and is no reason to keep it from playing. `fault` is a word of
    docs/faq.md, `where` the line of the author's code or the field of the answer, `advice` what to do.
    """

    name: str
    ok: bool
    detail: str
    ms: float
    warning: bool = False
    fault: str | None = None
    where: str | None = None
    advice: str | None = None


class Verdict(Struct, frozen=True):
    """How a step that didn't fail went; `warning` is what its owner should know all the same."""

    detail: str
    ms: float
    warning: Finding | None = None


class Failed(Exception):  # noqa: N818 - a verdict on the bot, no error of ours
    """Ends a step: it failed, by what was found."""

    def __init__(self, found: Finding, ms: float = 0.0) -> None:
        super().__init__(found.detail)
        self.found = found
        self.ms = ms


def shown(ms: float) -> str:
    """Show a time, with no more digits than it deserves."""
    return f"{ms:.0f} ms" if ms >= 100 else f"{ms:.2g} ms"


def passed(steps: Sequence[Step]) -> bool:
    """Whether the check is passed: it got as far as any step, and none failed."""
    return bool(steps) and all(step.ok for step in steps)


def failed_step(name: str, failed: Failed) -> Step:
    """Make the step of a failure."""
    return _told(name, failed.found, failed.ms, ok=False)


def step_of(name: str, verdict: Verdict) -> Step:
    """Make the step of a verdict."""
    if verdict.warning is None:
        return Step(name, ok=True, detail=verdict.detail, ms=verdict.ms)
    return _told(name, verdict.warning, verdict.ms, ok=True)


def _told(name: str, found: Finding, ms: float, *, ok: bool) -> Step:
    return Step(
        name,
        ok=ok,
        detail=found.detail,
        ms=ms,
        warning=ok,
        fault=found.fault.value,
        where=found.where,
        advice=found.what_to_do,
    )
