"""How many checks of bots there may be in a day: a check calls a URL that may be a stranger's.

What counts is the host, however its address is written and whoever asks; and the account that asks, since one who owns
a domain has as many names for a stranger's address as he likes.
"""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from typing import TYPE_CHECKING

from service.arena.errors import TooManyError
from service.store.entities import Transport, transport_of

if TYPE_CHECKING:
    from service.store.challenges import Challenges
    from service.store.entities import Check


class Allowance:
    """Lets at most `most` checks of one host, and `most` of one account, happen within 24 hours.

    `host_of` names the host of a URL that may be called.
    """

    def __init__(self, challenges: Challenges, *, most: int, host_of: Callable[[str], str]) -> None:
        self._challenges = challenges
        self._most = most
        self._host_of = host_of

    def take_for(self, account_id: str, check: Check) -> None:
        """Count a check that an account wants, once however often it asks; raises TooManyError.

        One that its host has no room for isn't counted against the account either.
        """
        detail, whose = f"the account has asked for {self._most} checks within a day", f"account {account_id}"
        self._take(whose, check, self._most, detail)
        try:
            self._take_of_host(check, self._most)
        except TooManyError:
            self._challenges.forget(whose, check.id)
            raise

    def take_for_arena(self, check: Check) -> None:
        """Count a check that the arena itself wants: that takes half of what a host has, the rest is its owners'."""
        self._take_of_host(check, max(1, self._most // 2))

    def _take_of_host(self, check: Check, most: int) -> None:
        if transport_of(check.url) is Transport.PULL:  # no host is called
            return
        host = self._host_of(check.url)
        self._take(f"host {host}", check, most, f"bots at {host} have been checked {self._most} times within a day")

    def _take(self, whose: str, check: Check, most: int, detail: str) -> None:
        wait_ms = self._challenges.admit(whose, check.id, most)
        if wait_ms:
            raise TooManyError(detail, code="too_many_checks", retry_after=ceil(wait_ms / 1000))
