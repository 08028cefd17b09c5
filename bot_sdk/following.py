"""Following a stream of the arena: server-sent events, taken up again where they broke off.

What was seen is not shown again: the arena is told the last message that came. Nobody is waited for without a bound:
a silent connection ends after the transport's timeout, and an arena that is away is given so much patience.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from http import HTTPStatus
from typing import Final

import requests

from bot_sdk.transport import ArenaError, Json, Transport, lines

PATIENCE_S: Final = 60.0
"""How long an arena may be away before following is given up, unless said otherwise."""
PAUSE_S: Final = 1.0
"""How long to wait before a stream is taken up again."""
PASSING: Final = frozenset({0, HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.BAD_GATEWAY, HTTPStatus.SERVICE_UNAVAILABLE,
                            HTTPStatus.GATEWAY_TIMEOUT})  # fmt: skip
"""Statuses of an arena that is away for a while; 0 is no answer."""

Away = Callable[[ArenaError | None], None]
"""Is told once that the arena is away, and why, and with None that it is back."""


class Following:
    """One stream, read over as many connections as it takes."""

    def __init__(
        self,
        transport: Transport,
        path: str,
        *,
        patience_s: float,
        timeout_s: float | None,
        away: Away | None,
        sleep: Callable[[float], None],
        clock: Callable[[], float],
    ) -> None:
        """Aim at a stream; nothing is sent yet."""
        self._transport = transport
        self._path = path
        self._patience_s = patience_s
        self._timeout_s = timeout_s
        self._tell = away
        self._is_away = False
        self._sleep = sleep
        self._clock = clock
        self._until = None if timeout_s is None else clock() + timeout_s
        self._alive = clock()
        self._seen = ""

    def messages(self) -> Iterator[Json]:
        """Give the messages as they come, until the arena says that none will follow.

        Raises `ArenaError`: what the arena answers, `unreachable` when it has been away for too long, `timeout` when
        all the time is over, which is looked at with every sign of life, 15 s apart at most.
        """
        while True:
            try:
                with self._open() as response:
                    self._note_life()
                    self._note_away(None)
                    if response.status_code == HTTPStatus.NO_CONTENT:
                        return
                    yield from self._read(response)
            except ArenaError as error:
                if error.status not in PASSING or error.code == "timeout":
                    raise
                if self._clock() - self._alive > self._patience_s:
                    raise
                self._note_away(error)
            self._check_time()
            self._sleep(PAUSE_S)

    def _open(self) -> requests.Response:
        headers = {"Last-Event-ID": self._seen} if self._seen else None
        response = self._transport.stream(self._path, headers=headers)
        kind = response.headers.get("Content-Type", "")
        if response.status_code != HTTPStatus.NO_CONTENT and not kind.startswith("text/event-stream"):
            response.close()
            raise ArenaError(response.status_code, "not_an_arena", f"expected a stream from {response.url}")
        return response

    def _read(self, response: requests.Response) -> Iterator[Json]:
        """Read one connection; a message that it breaks off in is left to the next."""
        number, data = self._seen, list[bytes]()
        for line in lines(self._transport.pieces(response)):
            self._note_life()
            field, _, value = line.rstrip(b"\r").partition(b":")
            if field == b"id":
                number = value.strip().decode("ascii", "replace")
            elif field == b"data":
                data.append(value.removeprefix(b" "))
            elif not field and not value and data:
                self._seen = number
                yield _parsed(b"\n".join(data), response)
                data = []

    def _note_life(self) -> None:
        self._alive = self._clock()
        self._check_time()

    def _note_away(self, error: ArenaError | None) -> None:
        if self._tell is not None and self._is_away != (error is not None):
            self._tell(error)
        self._is_away = error is not None

    def _check_time(self) -> None:
        if self._until is not None and self._clock() > self._until:
            raise ArenaError(0, "timeout", f"expected the stream to end within {self._timeout_s:g} s")


def _parsed(data: bytes, response: requests.Response) -> Json:
    try:
        value = json.loads(data)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise ArenaError(response.status_code, "not_an_arena", f"expected objects in the stream from {response.url}")
    return value
