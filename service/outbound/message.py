"""What is sent to a bot, byte by byte: the request as HTTP has it, and its signature."""

from __future__ import annotations

from collections.abc import Hashable
from functools import lru_cache
from typing import NamedTuple

from msgspec import Struct

from bot_sdk.messages import MAX_REPLY_BYTES
from bot_sdk.signing import sign
from service.outbound.guard import Guard, Place
from service.outbound.values import Call

_SITES = 4096


class Request(Struct, frozen=True):
    """What is asked, how long it may take, and what will do as an answer. Without a `call` it asks for the card."""

    key: Hashable
    url: str
    budget_s: float
    limit: int = MAX_REPLY_BYTES
    wants_json: bool = True
    call: Call | None = None

    @property
    def is_pull(self) -> bool:
        """Whether the bot fetches it."""
        return self.call is not None and self.call.endpoint.is_pull


def request_of(call: Call, *, wants_json: bool = True) -> Request:
    """Make the request of a call; if no JSON is wanted, any 2xx will do, unread."""
    return Request(call.key, call.endpoint.url, call.budget_ms / 1000, call.reply_limit, wants_json, call)


class Site(NamedTuple):
    """What stays the same of all requests to one URL."""

    place: Place
    host: str
    get: bytes
    post: bytes  # up to the length of the body


class Sites:
    """Sites by their URLs, each judged once: what it takes to reach one is judged at every connection."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self.at = lru_cache(maxsize=_SITES)(self._judge)
        """Give the site at a URL; raises `RefusedError`."""

    def _judge(self, url: str) -> Site:
        place = self._guard.check(url)
        lines = [
            f"{place.path} HTTP/1.1",
            f"host: {place.host_header}",
            "user-agent: slagveld/1",
            "accept: application/json",
            "accept-encoding: identity",
        ]
        head = "\r\n".join(lines).encode("ascii")
        post = b"POST %b\r\ncontent-type: application/json\r\ncontent-length: " % head
        return Site(place, place.host, b"GET %b\r\n\r\n" % head, post)


def message(site: Site, call: Call | None, now: float) -> bytes:
    """Write a request, signed if its endpoint has secrets; `now` is Unix time."""
    if call is None:
        return site.get
    headers = "".join([f"{name}: {value}\r\n" for name, value in signature(call, now).items()])
    return b"%b%d\r\n%b\r\n%b" % (site.post, len(call.body), headers.encode("ascii"), call.body)


def signature(call: Call, now: float) -> dict[str, str]:
    """Give the headers that sign a call, none if its endpoint has no secrets; `now` is Unix time."""
    secrets = call.endpoint.secrets
    return sign(call.webhook_id, int(now) - call.age_s, call.body, secrets) if secrets else {}
