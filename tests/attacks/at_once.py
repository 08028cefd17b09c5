"""Doing things at the same moment, and plain requests to do them with."""

from __future__ import annotations

import json
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

PATIENCE_S = 30.0
T = TypeVar("T")


@dataclass(frozen=True)
class Told:
    """What a server answered; nothing if the connection broke."""

    status: int | None
    headers: Mapping[str, str]
    body: Any

    @property
    def code(self) -> str | None:
        return self.body["code"] if self.body else None


BROKEN = Told(None, {}, None)


def call(
    method: str, url: str, body: Any = None, token: str | None = None, headers: Mapping[str, str] | None = None
) -> Told:
    """Send a request on a connection of its own, once."""
    sent = dict(headers or {})
    if token:
        sent["Authorization"] = f"Bearer {token}"
    if body is not None:
        sent["Content-Type"] = "application/json"
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, sent, method=method)
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            return _told(answer)
    except urllib.error.HTTPError as error:
        with error:
            return _told(error)
    except (urllib.error.URLError, ConnectionError):
        return BROKEN


def _told(answer: Any) -> Told:
    return Told(answer.status, answer.headers, json.loads(answer.read() or b"null"))


def at_once(things: Sequence[Callable[[], T]]) -> list[T]:
    """Do all these at the same moment, in a thread each; give what came of each, in order."""
    barrier = threading.Barrier(len(things))
    came: list[Any] = [None] * len(things)

    def do(number: int) -> None:
        barrier.wait(PATIENCE_S)
        try:
            came[number] = things[number]()
        except BaseException as error:  # noqa: BLE001 - raised again by whoever asked
            came[number] = error

    threads = [threading.Thread(target=do, args=[number], daemon=True) for number in range(len(things))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE_S)
        assert not thread.is_alive(), "it still runs"
    for each in came:
        if isinstance(each, BaseException):
            raise each
    return came
