"""Seeing to it that a check is run: by one worker at a time, again if that one dies, until it has ended."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from service.arena.bots import CHECK_MS
from service.arena.queue import Queue
from service.store import due
from service.store.store import Store

ORPHAN_MS: Final = 60_000
"""How long a check may be due before it is made; what is due longer was never made."""


def run_alone(store: Store, check_id: str, token: str, run: Callable[[str], None]) -> None:
    """Run a check unless another, under another `token`, does so now; once it has ended it is due no more."""
    if not store.bots.lease_check(check_id, token, CHECK_MS):
        return
    try:
        run(check_id)
        if _is_over(store, check_id):
            store.due.drop(due.check(check_id))
    finally:
        store.bots.release_check(check_id, token)


def look_at_check(store: Store, queue: Queue, check_id: str, now: int, patience_ms: int) -> None:
    """Send a check that is due to a worker, whatever became of the job by which it was sent before."""
    name = due.check(check_id)
    if store.bots.get_check(check_id) is None:
        store.due.drop_older(name, now - ORPHAN_MS)
        return
    store.due.move({name: now + patience_ms})
    queue.check(check_id)


def _is_over(store: Store, check_id: str) -> bool:
    check = store.bots.get_check(check_id)
    return check is None or check.ended_at is not None or store.bots.get(check.bot_id) is None
