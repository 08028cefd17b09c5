"""What goes into a call to a bot, and what comes out of it."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from msgspec import Struct

from bot_sdk.events import Outcome
from bot_sdk.messages import MAX_REPLY_BYTES, MAX_REPLY_BYTES_PER_DECISION

HEAD_SHOWN = 512
ERROR_SHOWN = 500


class OutboundError(Exception):
    """Base of the errors that leave this package."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """Where a bot lives and how it is signed to: `secrets` are ``whsec_…``, the current one first.

    One that `is_pull` fetches its calls from its mailbox; nobody lives at its URL.
    """

    bot_id: str
    url: str
    secrets: tuple[str, ...] = field(repr=False)
    is_pull: bool = False


class Call(Struct, frozen=True):
    """One signed POST. `budget_ms` is all its time, `decisions` how many it batches (1 if it isn't a batch).

    `key` comes back in the answer and is nobody else's business; `webhook_id` is the same for a call that is
    asked again. `age_s` is how many seconds ago it says to have been signed: only a check asks with an old signature.
    """

    key: Hashable
    endpoint: Endpoint
    body: bytes
    budget_ms: float
    webhook_id: str
    decisions: int = 1
    age_s: int = 0

    @property
    def reply_limit(self) -> int:
        """How many bytes the reply may have."""
        return MAX_REPLY_BYTES + (MAX_REPLY_BYTES_PER_DECISION * self.decisions if self.decisions > 1 else 0)


class Answer(Struct, frozen=True):
    """How a call ended. `ok` means a whole body of JSON type within its limits: nobody has read it yet.

    `outcome` is one of ok, late, unreachable, bad_status, bad_reply, our_fault. `ms` is the time waited,
    since the call got its slot. `error` says in at most 500 characters what went wrong and `head`, the first 512
    bytes of a body, what was sent instead: both come from strangers and are for the bot's owner only. `body` is
    there if the outcome is `ok`. `is_unattended`, of our_fault: only because the thread of the line was elsewhere when
    the time ran out, which says nothing about asking.
    """

    key: Hashable
    outcome: Outcome
    ms: float
    error: str | None = None
    status: int | None = None
    head: bytes = b""
    body: bytes | None = None
    is_unattended: bool = False
