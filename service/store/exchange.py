"""Sends several commands to the store in one go and takes their answers: the cheapest way there is, for what is hot.

A pipeline of redis-py costs two and a half times as much, most of it before anything is sent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from redis.exceptions import NoScriptError, ResponseError

from service.store.lua import source

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redis import Redis
    from redis.connection import Connection

Command = tuple[str | bytes | int, ...]


class Exchange:
    """Exchanges over the connections of one client, with its patience and its retries: a command may run twice."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._pool = redis.connection_pool

    def __call__(self, commands: Sequence[Command]) -> list[Any]:
        """Send commands, one after the other and not as one step; give their answers in order.

        An error that the server answers stands, unraised, in the place of what it refused. Raises redis-py's
        ConnectionError or TimeoutError.
        """
        connection = self._pool.get_connection()
        try:
            told: list[Any] = connection.retry.call_with_retry(
                lambda: _exchanged(connection, commands),
                lambda _: connection.disconnect(),  # type: ignore[no-untyped-call]  # redis-py's
            )
        finally:
            self._pool.release(connection)
        return told

    def run(self, scripts: Sequence[str], commands: Sequence[Command]) -> list[Any]:
        """Exchange as by a call; the `scripts` named are loaded first if the server came to know one of them no more.

        All commands are sent again then.
        """
        told = self(commands)
        if any(isinstance(answer, NoScriptError) for answer in told):
            told = self([*(("SCRIPT LOAD", source(name)) for name in scripts), *commands])[len(scripts) :]
        return told


def raised(answer: Any) -> Any:
    """Give an answer of an exchange; raises it if it is an error."""
    if isinstance(answer, ResponseError):
        raise answer
    return answer


def _exchanged(connection: Connection, commands: Sequence[Command]) -> list[Any]:
    connection.send_packed_command(connection.pack_commands(commands))  # type: ignore[no-untyped-call]  # redis-py's
    told = []
    try:
        for _ in commands:
            try:
                told.append(connection.read_response())
            except ResponseError as error:
                told.append(error)
    except BaseException:  # what is still to come would be taken for the answers of the next
        connection.disconnect()  # type: ignore[no-untyped-call]  # redis-py's
        raise
    return told
