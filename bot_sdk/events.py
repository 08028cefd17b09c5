"""What the log of a game holds: decisions with their outcomes, and retirements. Values only, no rules."""

from __future__ import annotations

from enum import StrEnum
from typing import TypeAlias

import msgspec


class Outcome(StrEnum):
    """How a decision came about; anything but `OK` means that the fallback was played."""

    OK = "ok"
    LATE = "late"
    UNREACHABLE = "unreachable"
    BAD_STATUS = "bad_status"
    BAD_REPLY = "bad_reply"
    ILLEGAL = "illegal"
    RETIRED = "retired"
    OUR_FAULT = "our_fault"

    __hash__ = str.__hash__  # what is equal hashes alike, and outcomes are counted at every decision

    @property
    def is_fault(self) -> bool:
        """Whether it counts against the seat. A retired seat isn't asked, and our own fault is ours."""
        return self not in {Outcome.OK, Outcome.RETIRED, Outcome.OUR_FAULT}


class RetiredBecause(StrEnum):
    """Why a seat is no longer asked."""

    FAULTS = "faults"
    LEFT = "left"
    DISABLED = "disabled"


class Decided(msgspec.Struct, frozen=True, array_like=True, tag="d"):
    """One decision of one seat, as it stands in the log.

    `action` is what was played: the seat's own choice if `outcome` is `ok`, else the fallback.
    `ms` is the time the seat took, as `quantised`; `note` the bot's own remark, at most 500 bytes.
    """

    seat: int
    action: str
    outcome: Outcome = Outcome.OK
    ms: float = 0.0
    note: str | None = None


class Retired(msgspec.Struct, frozen=True, array_like=True, tag="r"):
    """A seat stops being asked, right after the event that caused it."""

    seat: int
    reason: RetiredBecause


Event: TypeAlias = Decided | Retired


def quantised(ms: float) -> float:
    """Round a time to two significant digits, so that a log packs small and still tells 3.1 from 84 ms.

    Done once, before the event is committed: a record shows exactly what the log holds.
    """
    return float("%.2g" % ms) if ms > 0.0 else 0.0  # noqa: UP031 - two thirds of the price, at every decision
