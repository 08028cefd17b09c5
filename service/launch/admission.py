"""Keeps a process from beginning on a store that another release has made its own (docs/upgrades.md)."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

from redis import Redis, RedisError

from service.launch.errors import StackError
from service.store.connection import connect
from service.store.errors import FormError, passes
from service.store.form import FormStore

AGAIN_S = 0.5


def check(url: str) -> bool:
    """See that the store at `url` has the form of this release, or none yet; False if it can't be asked now.

    Raises StackError.
    """
    with _asked(url) as redis:
        return _is_told(FormStore(redis).check)


def await_claimed(url: str, *, wait: Callable[[float], object], stopped: Callable[[], bool]) -> bool:
    """Claim the store at `url` for this release, once it is there; False if we are asked to stop before.

    Raises StackError.
    """
    with _asked(url) as redis:
        while not stopped():
            if _is_told(FormStore(redis).claim):
                return True
            wait(AGAIN_S)
    return False


@contextlib.contextmanager
def _asked(url: str) -> Iterator[Redis]:
    redis = connect(url, max_connections=1, retries=0)
    try:
        yield redis
    finally:
        redis.close()


def _is_told(ask: Callable[[], object]) -> bool:
    try:
        ask()
    except FormError as error:
        raise StackError(str(error)) from error
    except RedisError as error:
        if not passes(error):
            raise StackError(f"the store says {error}") from error
        return False
    return True
