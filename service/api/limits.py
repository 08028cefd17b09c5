"""How much one address and one token may ask for. Counts live in the store, and in memory while it is away."""

from __future__ import annotations

import hashlib
import ipaddress
import logging
import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from functools import lru_cache
from http import HTTPStatus
from typing import Final, NamedTuple, TypeVar

from flask import Flask, Response, g, request
from limits import RateLimitItem, parse_many
from limits.storage import MemoryStorage
from limits.strategies import FixedWindowRateLimiter
from redis.exceptions import RedisError

from service.api import context
from service.api.auth import sent_token
from service.api.problems import Problem
from service.arena.minting import SEAT_TOKEN
from service.config import Settings
from service.store.connection import connect
from service.store.door import Counter, Door, Glance, Passed
from service.store.errors import passes

NEW_ACCOUNT = "accounts.create_account"
NOWHERE = "nowhere"
LONGEST_PAUSE_S: Final = 32.0
"""How long at most memory counts before the store is tried again."""
_WITH_PORT = re.compile(r"([0-9.]+)(?::\d+)?|\[([0-9a-fA-F:.]+)\](?::\d+)?|([0-9a-fA-F:.]+)", re.ASCII)
_FREE = ("health.", "docs.", "files.")
_GLANCED = frozenset({"seats.show_seat", "seats.take_action"})
"""What is asked so often that the look at the game goes with the counting."""

_PULLED = frozenset({"pulling.put_card", "pulling.fetch_calls", "pulling.post_actions"})
"""What bots do in the place of being called: the arena sets the pace, so there is much more of it, and whatever else
their owner asks for must not keep them from connecting."""
MOST_PULLERS: Final = 10_000
"""So many of their tokens a process remembers, those used last."""

T = TypeVar("T")
log = logging.getLogger(__name__)


def address() -> str:
    """Name where the request comes from: an IPv4 address, or the /64 an IPv6 address lies in.

    Some proxies tell the port too, which is another for each connection. What is no address comes from nowhere.
    """
    return _network(request.remote_addr or "")


@lru_cache(maxsize=4096)
def _network(remote: str) -> str:
    match = _WITH_PORT.fullmatch(remote)
    try:
        parsed = ipaddress.ip_address((match[1] or match[2] or match[3]) if match else "")
    except ValueError:
        return NOWHERE
    if parsed.version == 4:
        return str(parsed)
    if parsed.ipv4_mapped:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((parsed, 64), strict=False))


class Counted(NamedTuple):
    """A limit, and whose requests count under it."""

    limit: RateLimitItem
    scope: str
    whose: str

    @property
    def counter(self) -> Counter:
        """The counter in the store."""
        limit = self.limit
        return Counter(limit.key_for("rate", self.whose, self.scope), limit.amount, limit.get_expiry())


class Limits:
    """The limits of one process. While the store is slow or away, memory counts."""

    def __init__(self, settings: Settings, door: Door, *, monotonic: Callable[[], float] = time.monotonic) -> None:
        self._per_address = sorted(parse_many(settings.rate_per_address))
        self._per_token = sorted(parse_many(settings.rate_per_token))
        self._pulled = sorted(parse_many(settings.rate_pull))
        self._new_accounts = sorted(parse_many(settings.rate_new_accounts))
        self._pullers: OrderedDict[str, None] = OrderedDict()
        self._door = door
        self._memory = FixedWindowRateLimiter(MemoryStorage())
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._pause_s = 0.0
        self._away_until = 0.0

    def check(self) -> Glance | None:
        """Count the request; give what was seen of its game if that was looked at on the way.

        Raises Problem 429 for one that is too many.
        """
        counted = self._counted()
        if not counted:
            return None
        passed, glance = self._asked(counted) or (self._in_memory(counted), None)
        if passed is not None:
            limit = counted[passed.at].limit
            wait = {"Retry-After": str(max(1, passed.seconds))}
            raise Problem(429, f"too many requests: {limit} are allowed", headers=wait)
        return glance

    def _counted(self) -> list[Counted]:
        endpoint = request.endpoint or ""
        if endpoint.startswith(_FREE):
            return []
        where, whose = address(), _whose()
        kind, per_address, per_token = "", self._per_address, self._per_token
        if endpoint in _PULLED and whose in self._pullers:
            kind, per_address, per_token = "pull-", self._pulled, self._pulled
        elif endpoint in _PULLED:  # nobody yet, or a stranger, who must not get in the way of those who are known
            kind = "pull-new-"
        counted = [Counted(limit, f"{kind}address", where) for limit in per_address]
        if whose is not None:
            counted += [Counted(limit, f"{kind}token", whose) for limit in per_token]
        if endpoint == NEW_ACCOUNT and request.method == "POST":
            counted += [Counted(limit, "account", where) for limit in self._new_accounts]
        return counted

    def learn(self, status: int) -> None:
        """Note whether the token of a bot's request was that of an account: the limits for bots are for those alone."""
        whose, caller = _whose(), g.get("caller")
        is_known = caller is not None and caller.account_id is not None
        if request.endpoint not in _PULLED or whose is None or not (is_known or status == HTTPStatus.UNAUTHORIZED):
            return
        with self._lock:
            self._pullers.pop(whose, None)
            if is_known:
                self._pullers[whose] = None
                while len(self._pullers) > MOST_PULLERS:
                    self._pullers.popitem(last=False)

    def _asked(self, counted: list[Counted]) -> tuple[Passed | None, Glance | None] | None:
        """Have the store count; None if it is away, or was a moment ago."""
        if self._monotonic() < self._away_until:
            return None
        counters = [each.counter for each in counted]
        game_id = _game_looked_for()
        try:
            told = self._door.glance(counters, game_id) if game_id else (self._door.count(counters), None)
        except (RedisError, OSError) as error:
            log.warning("the store can't count a request, memory does: %s: %.200s", type(error).__name__, error)
            if passes(error) or isinstance(error, OSError):  # else it is a counter that is damaged
                self._rest()
            return None
        self._pause_s = 0.0
        return told

    def _rest(self) -> None:
        """Leave the store alone for a while, each time for longer; all who find it away meanwhile are one time."""
        with self._lock:
            now = self._monotonic()
            if now >= self._away_until:
                self._pause_s = min(max(1.0, 2 * self._pause_s), LONGEST_PAUSE_S)
                self._away_until = now + self._pause_s

    def _in_memory(self, counted: list[Counted]) -> Passed | None:
        for at, (limit, scope, whose) in enumerate(counted):
            if not self._memory.hit(limit, "rate", whose, scope):
                reset = self._memory.get_window_stats(limit, "rate", whose, scope).reset_time
                return Passed(at, int(reset - time.time()))
        return None


def register(app: Flask, settings: Settings) -> None:
    """Count every request of the app but those for its health and its pages.

    The counts have connections of their own, which give up fast: memory counts while the store is slow or away.
    """
    services = context.services_of(app)
    redis = connect(
        settings.redis_url,
        max_connections=64,
        socket_timeout_s=0.5,
        pool_timeout_s=0.5,
        retries=1,
        timed=services.meters.round_trips.note if services.meters.is_on else None,
    )
    services.closing.callback(redis.close)
    limits = Limits(settings, Door(redis, services.store.clock))

    def count() -> None:
        g.glance = limits.check()

    def learn(answer: Response) -> Response:
        limits.learn(answer.status_code)
        return answer

    app.before_request(count)
    app.after_request(learn)


def _whose() -> str | None:
    """Name whose token a request was sent with, known or not; None if there is none."""
    token = sent_token(request)
    return None if token is None else hashlib.sha256(token.encode()).hexdigest()[:32]


def _game_looked_for() -> str | None:
    """Name the game whose seat's token a request was sent with, to do there what is done often."""
    if request.endpoint not in _GLANCED or not (sent_token(request) or "").startswith(SEAT_TOKEN):
        return None
    game_id: str = (request.view_args or {})["game_id"]
    return game_id
