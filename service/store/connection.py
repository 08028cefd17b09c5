"""Makes the one Redis client of a process: bounded in connections, in waiting, in retries.

A command whose reply was lost is sent again by redis-py, so it may run twice. Every write of this package is
therefore compare-and-set or idempotent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any

from redis import BlockingConnectionPool, Redis, UnixDomainSocketConnection
from redis.backoff import ExponentialBackoff
from redis.client import Pipeline
from redis.exceptions import ConnectionError, TimeoutError  # noqa: A004 (redis-py's names)
from redis.retry import Retry


def connect(
    url: str,
    *,
    max_connections: int = 32,
    pool_timeout_s: float = 5.0,
    socket_timeout_s: float = 5.0,
    retries: int = 5,
    is_patient: bool = True,
    timed: Callable[[float], None] | None = None,
) -> Redis:
    """Give a client for `url` (`redis://`, `rediss://` or `unix://`); it connects at its first command.

    `max_connections` should be the number of threads that use it: one too many waits `pool_timeout_s` at
    most. A command gives up after `retries` further tries, half a second apart at most, with redis-py's
    ConnectionError or TimeoutError. Each try waits `socket_timeout_s` for a server that stands still; who isn't patient
    has waited once then, and tries again only where a connection was refused or broke. `timed` is told the seconds of
    each round trip.
    """
    more = {"connection_class": _ByPath} if url.startswith("unix:") else {}
    passing = (ConnectionError, TimeoutError) if is_patient else (ConnectionError,)
    pool = (BlockingConnectionPool if timed is None else _TimedPool).from_url(
        url,
        max_connections=max_connections,
        timeout=pool_timeout_s,
        socket_timeout=socket_timeout_s,
        socket_connect_timeout=socket_timeout_s,
        health_check_interval=30,
        retry=Retry(ExponentialBackoff(cap=0.5, base=0.02), retries, supported_errors=passing),
        protocol=2,
        **more,
    )
    if isinstance(pool, _TimedPool) and timed is not None:
        pool.timed = timed
    return _Client.from_pool(pool)


class _TimedPool(BlockingConnectionPool):
    """Times how long each connection is out: a round trip, since nobody here keeps one for longer."""

    timed: Callable[[float], None]

    def get_connection(self, *args: Any, **options: Any) -> Any:
        connection: Any = super().get_connection(*args, **options)  # type: ignore[no-untyped-call]  # redis-py's
        connection.taken_at = perf_counter()
        return connection

    def release(self, connection: Any) -> None:
        taken_at = vars(connection).pop("taken_at", None)
        if taken_at is not None:  # else it couldn't be opened, and nobody had it: redis-py gives it back to itself
            self.timed(perf_counter() - taken_at)
        super().release(connection)  # type: ignore[no-untyped-call]  # redis-py's


class _ByPath(UnixDomainSocketConnection):
    """A connection to a socket in the file system.

    redis-py counts one that can't be made in time by its port; that there is none would be an error of another kind.
    """

    port = None


class _Pipeline(Pipeline):
    def annotate_exception(self, exception: Exception, number: int, command: Sequence[Any]) -> None:
        """Name the command that was refused, not what it was to write: that may be secret, and errors are logged."""
        super().annotate_exception(exception, number, command[:1])  # type: ignore[no-untyped-call]  # redis-py's


class _Client(Redis):
    def pipeline(self, transaction: bool = True, shard_hint: str | None = None) -> Pipeline:  # noqa: FBT001, FBT002 (redis-py's)
        return _Pipeline(self.connection_pool, self.response_callbacks, transaction, shard_hint)
