"""What an app is made of: settings, store and use cases, built in one place and passed in."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from service.arena.accounts import Accounts
from service.arena.caller import Gate
from service.config import Settings
from service.store.store import Store

VERSION = "0.1.0"


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """The parts of one process. `arena_key` is what tokens and ids of retried requests follow from."""

    settings: Settings
    store: Store
    accounts: Accounts
    gate: Gate
    arena_key: Callable[[], bytes]
    version: str = VERSION


def now_ms() -> int:
    """Return the time in Unix milliseconds."""
    return time.time_ns() // 1_000_000
