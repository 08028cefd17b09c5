"""Lets many requests of a process follow games and tournaments, over one subscription.

A message on a channel only says that something changed; then one of those who follow it reads, and the others take
what it found. So a message lost while the connection was down costs time, never truth: it is also read when the
subscription comes back, and every few seconds.
"""

from __future__ import annotations

import contextlib
import secrets
import threading
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, cast

from redis import ConnectionPool, Redis
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError
from redis.retry import Retry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from redis.client import PubSub

UNREACHABLE = (RedisConnectionError, RedisTimeoutError, OSError)
"""What a store that can't be reached looks like."""


T = TypeVar("T")


class _Found(NamedTuple):
    """What a reader found that began at `began` (monotonic), when there had been so much `news`."""

    value: Any
    began: float
    news: int


@dataclass(slots=True, eq=False)
class _Channel:
    """Who waits on a channel, whether the server knows that we listen, and what each kind of reader found last."""

    waiters: set[threading.Event] = field(default_factory=set)
    listening: bool = False
    left_at: float = 0.0
    news: int = 0
    found: dict[Callable[[str], Any], _Found] = field(default_factory=dict)
    turn: threading.Lock = field(default_factory=threading.Lock)

    def wake(self) -> None:
        self.news += 1
        for waiter in tuple(self.waiters):
            waiter.set()

    def read(self, read: Callable[[str], T], name: str) -> T:
        """Read now, for the others too."""
        began, news = time.monotonic(), self.news
        value = read(name)
        self.found[read] = _Found(value, began, news)
        return value

    def latest(self, read: Callable[[str], T], name: str, *, since: float, age_s: float) -> T:
        """Give what somebody found since then, or at most `age_s` ago if there was no news; else read.

        Raises redis-py's TimeoutError if who reads now needs longer than that.
        """
        known = self.found.get(read)
        if known is not None and self._is_fresh(known, age_s):  # nobody need queue up for that
            return cast("T", known.value)
        if not self.turn.acquire(timeout=age_s):
            raise RedisTimeoutError(f"{name} is being read for {age_s:g} s")
        try:
            found = self.found.get(read)
            if found is not None and (found.began >= since or self._is_fresh(found, age_s)):
                return cast("T", found.value)
            return self.read(read, name)
        finally:
            self.turn.release()

    def _is_fresh(self, found: _Found, age_s: float) -> bool:
        return self.listening and found.news == self.news and found.began > time.monotonic() - age_s


class Watch:
    """The subscription of one process, begun by the first wait; a fork must come before that.

    `reread_s` is how often it is read without being told; `linger_s` how long a channel is kept after its
    last waiter left, because the next one is often the same reader again; `pause_s` the rest before
    connecting again.
    """

    def __init__(self, redis: Redis, *, reread_s: float = 5.0, linger_s: float = 10.0, pause_s: float = 0.1) -> None:
        self._redis = redis
        self._bell = f"watch:{secrets.token_hex(8)}"  # a channel of our own: a message there wakes the thread
        self._reread_s = reread_s
        self._linger_s = linger_s
        self._pause_s = pause_s
        self._lock = threading.Lock()
        self._channels: dict[str, _Channel] = {}
        self._thread: threading.Thread | None = None
        self._closed = threading.Event()

    def follow(
        self,
        channel: str,
        read: Callable[[str], T],
        name: str,
        is_time: Callable[[T], bool],
        timeout_s: float,
        *,
        is_new: bool = True,
    ) -> T:
        """Give `read(name)` once it `is_time`, or `timeout_s` have passed, or on `close`.

        Who follows the same channel by the same `read` shares what it gives, and changes nothing of it. One who is
        new reads for himself first, so that he finds all that he has done. While the store can't be reached, nothing
        has changed. `read` itself should give up within seconds.
        """
        ends = time.monotonic() + timeout_s
        changed = threading.Event()
        if timeout_s <= 0 and is_new:
            return read(name)
        with self._listening(channel, changed) as followed:
            age_s = self._reread_s
            found = followed.read(read, name) if is_new else followed.latest(read, name, since=ends, age_s=age_s)
            while not is_time(found) and (left := ends - time.monotonic()) > 0 and not self._closed.is_set():
                changed.wait(min(left, age_s))
                changed.clear()
                with contextlib.suppress(*UNREACHABLE):  # then nothing has changed
                    found = followed.latest(read, name, since=time.monotonic(), age_s=age_s)
            return found

    @property
    def is_closed(self) -> bool:
        """Whether no wait lasts any more: who would wait again and again is to end."""
        return self._closed.is_set()

    def close(self) -> None:
        """Send all waiters home and end the subscription."""
        self._closed.set()
        with self._lock:
            for channel in self._channels.values():
                channel.wake()
            thread = self._thread
        if thread is not None:
            self._ring()
            thread.join(timeout=5)

    # --- waiters --------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _listening(self, name: str, waiter: threading.Event) -> Iterator[_Channel]:
        with self._lock:
            channel = self._channels.setdefault(name, _Channel())
            channel.waiters.add(waiter)
            known = channel.listening
            self._begin()
        if not known:
            self._ring()
        try:
            yield channel
        finally:
            with self._lock:
                channel.waiters.discard(waiter)
                channel.left_at = time.monotonic()

    def _begin(self) -> None:
        if self._thread is None and not self._closed.is_set():
            self._thread = threading.Thread(target=self._run, name="watch", daemon=True)
            self._thread.start()

    def _ring(self) -> None:
        """Have the thread look at the channels again. If the store is down, it will when it is back."""
        with contextlib.suppress(*UNREACHABLE):  # then the thread looks when it is back
            self._redis.publish(self._bell, "")

    # --- the subscription -----------------------------------------------------------------------------------

    def _run(self) -> None:
        while not self._closed.is_set():
            try:
                with self._connected() as client, client.pubsub() as pubsub:  # type: ignore[no-untyped-call]  # redis-py's pubsub
                    self._listen(pubsub)
            except (RedisError, OSError):  # whatever it is, trying again is right, and waiters still read
                self._deafened()
                self._closed.wait(self._pause_s)

    @contextlib.contextmanager
    def _connected(self) -> Iterator[Redis]:
        """Give a client with one connection of its own, that breaks instead of mending itself unseen."""
        pool = self._redis.connection_pool
        settings = pool.connection_kwargs | {"retry": Retry(NoBackoff(), 0)}
        own = ConnectionPool(connection_class=pool.connection_class, max_connections=1, **settings)
        try:
            yield Redis(connection_pool=own)
        finally:
            own.disconnect()

    def _listen(self, pubsub: PubSub) -> None:
        listening: set[str] = set()
        while not self._closed.is_set():
            wanted = self._wanted()
            if wanted - listening:
                pubsub.subscribe(*(wanted - listening))
            if listening - wanted:
                pubsub.unsubscribe(*(listening - wanted))  # type: ignore[no-untyped-call]  # redis-py's pubsub
            listening = wanted
            message = pubsub.get_message(timeout=1.0)
            if message is not None and message["type"] in {"subscribe", "message"}:
                self._heard(message["channel"].decode())

    def _wanted(self) -> set[str]:
        """Give the channels to listen on, and forget those that nobody has waited on for a while."""
        before = time.monotonic() - self._linger_s
        with self._lock:
            old = [name for name, c in self._channels.items() if not c.waiters and c.left_at < before]
            for name in old:
                del self._channels[name]
            return {self._bell, *self._channels}

    def _heard(self, name: str) -> None:
        """Wake who waits on a channel: it changed, or we only now hear it and may have missed something."""
        with self._lock:
            channel = self._channels.get(name)
            if channel is not None:
                channel.listening = True
                channel.wake()

    def _deafened(self) -> None:
        with self._lock:
            for channel in self._channels.values():
                channel.listening = False
