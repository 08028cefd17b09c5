"""What a check suspects, and what a check is. What a second look doesn't share was under way at the first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple, Protocol

import msgspec
from redis import ResponseError

from bot_sdk.errors import SdkError
from service.store.errors import StoreError

UNREADABLE: Final = (SdkError, StoreError, msgspec.MsgspecError, LookupError, TypeError, ValueError, ResponseError)
"""What reading something raises that these rules, or these programs, didn't write."""
ORPHAN_MS: Final = 60_000
"""How long something may be named somewhere before it is made; the same as the sweeper grants."""


class Suspect(NamedTuple):
    """`code` is what may be wrong (`kinds.ADVICE`), `where` says with what, `subject` is what to look at again.

    `where` never holds a card, a secret, or anything that only its owner may know.
    """

    code: str
    where: str
    subject: str


class Check(Protocol):
    """Looks at things of one kind. Nothing it does writes."""

    def look(self, subjects: Sequence[str]) -> Iterable[Suspect]:
        """Tell what is wrong with these, as far as one look can say; raises what redis-py raises."""
