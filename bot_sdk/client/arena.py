"""`Arena`: a client of the arena's HTTP API, one method an operation."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Self

from bot_sdk.client.accounts import Accounts
from bot_sdk.client.bots import Bots
from bot_sdk.client.games import Games
from bot_sdk.client.looking import Looking
from bot_sdk.client.operating import Operating
from bot_sdk.client.pulling import Pulling
from bot_sdk.client.seats import Seats
from bot_sdk.client.tournaments import Organising
from bot_sdk.transport import TIMEOUT_S, Transport


class Arena(Looking, Accounts, Bots, Pulling, Games, Seats, Organising, Operating):
    """The arena at a URL, as the account of a token sees it, or as anybody without one."""

    def __init__(
        self,
        url: str,
        token: str | None = None,
        *,
        timeout_s: float = TIMEOUT_S,
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Aim at an arena such as ``http://127.0.0.1:8000``; nothing is sent yet.

        A call takes `timeout_s` at most, its repeats included, and what it asks the arena to wait for besides.
        """
        self._session = Transport(url, token, timeout_s=timeout_s, sleep=sleep, clock=clock)
        self._sleep = sleep
        self._clock = clock

    @property
    def token(self) -> str | None:
        """The token that calls are made with; None for nobody's."""
        return self._session.token

    @token.setter
    def token(self, value: str | None) -> None:
        self._session.token = value

    @property
    def url(self) -> str:
        """Where the arena is."""
        return self._session.url

    def close(self) -> None:
        """Close the connections."""
        self._session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
