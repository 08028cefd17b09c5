"""Sends many commands to the store in one round trip: for what is done thousands of times a second.

redis-py's own pipeline says the same to the server, at more than twice the price, most of it before anything is sent.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import hiredis
from redis.exceptions import NoScriptError, ResponseError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from redis import Redis
    from redis.connection import AbstractConnection

Command: TypeAlias = tuple[str | bytes | int | float, ...]


def exchange(redis: Redis, commands: Sequence[Command], scripts: Sequence[str] = ()) -> list[Any]:
    """Send commands, one after the other and not as one step; give their answers in order, an error unraised.

    `scripts` are the texts of those that the commands name by their digests: should the server know one no more, they
    are loaded, and what comes from the first that it didn't know on is sent again; what came before that isn't. When
    the connection breaks, all commands are sent again, as often as the client tries anything. So whatever they write
    must be safe to repeat.
    Raises the client's ConnectionError or TimeoutError if it goes on breaking.
    """
    told = _exchanged(redis, commands) if commands else []
    unknown = next((n for n, answer in enumerate(told) if isinstance(answer, NoScriptError)), None)
    if unknown is None or not scripts:
        return told
    loading: list[Command] = [("SCRIPT", "LOAD", text) for text in scripts]
    return told[:unknown] + _exchanged(redis, [*loading, *commands[unknown:]])[len(loading) :]


def transaction(redis: Redis, commands: Sequence[Command]) -> list[Any]:
    """Send commands as one step of the server; give their answers in order, an error unraised.

    Raises the error for which it refused to begin, and what `exchange` raises; what that says of repeating holds here.
    """
    *taken, told = exchange(redis, [("MULTI",), *commands, ("EXEC",)])
    for answer in taken:
        raised(answer)
    answers: list[Any] = raised(told)
    return answers


def as_fields(told: Sequence[Any] | dict[Any, Any]) -> dict[Any, Any]:
    """Give the fields of a hash as HGETALL tells them: name and value in turn, or as they are by the protocol RESP3."""
    return told if isinstance(told, dict) else dict(zip(told[::2], told[1::2], strict=True))


def raised(answer: Any) -> Any:
    """Give an answer of an exchange; raises it if it is an error."""
    if isinstance(answer, ResponseError):
        raise answer
    return answer


def _exchanged(redis: Redis, commands: Sequence[Command]) -> list[Any]:
    packed = [b"".join([hiredis.pack_command(command) for command in commands])]  # type: ignore[arg-type]  # its stub has one-tuples
    pool = redis.connection_pool
    connection = pool.get_connection()
    try:
        told: list[Any] = connection.retry.call_with_retry(
            lambda: _sent(connection, packed, len(commands)),
            lambda _error: connection.disconnect(),  # type: ignore[no-untyped-call]  # redis-py's
        )
    except BaseException:  # a signal's or a greenlet's end, too
        connection.disconnect()  # type: ignore[no-untyped-call]  # redis-py's; what it hasn't read yet would be taken for the next one's answers
        raise
    finally:
        pool.release(connection)
    return told


def _sent(connection: AbstractConnection, packed: list[bytes], count: int) -> list[Any]:
    connection.send_packed_command(packed)  # type: ignore[no-untyped-call]  # redis-py's
    return [_answer(connection) for _ in range(count)]


def _answer(connection: AbstractConnection) -> Any:
    try:
        return connection.read_response()
    except ResponseError as error:
        return error
