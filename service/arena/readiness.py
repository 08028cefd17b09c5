"""Whether the arena can do its work, and what needs somebody's attention before it can't any more."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Final

from service.store import due
from service.store.probe import Seen

FULL: Final = 0.8
"""The share of its memory from which on the store is nearly full."""
WORKER_MS: Final = 30_000
OVERDUE_MS: Final = 120_000
"""How long something may wait for its turn. What a crash left behind waits for a minute by itself."""
APART_MS: Final = 5_000
FRESH_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class _Look:
    """What a look came to, and when it was by both clocks. `letters`: how many dead letters there were."""

    told: Seen | Exception
    letters: int
    clock: int
    at: float


@dataclass(slots=True)
class Readiness:
    """Looks at the store, once a second at most however many ask.

    `clock` is this machine's own, in Unix ms, not the store's; `monotonic` is in seconds. A worker says that it is
    there every `sweep_ms`. `letters` counts the dead letters; where they are may be away, which is no reason to say
    that the arena isn't ready.
    """

    look: Callable[[], Seen]
    letters: Callable[[], int]
    clock: Callable[[], int]
    monotonic: Callable[[], float]
    sweep_ms: int
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _last: _Look | None = None

    def alarms(self) -> dict[str, str]:
        """Give what needs attention: a detail by word. Raises the store's error if it can't be worked with."""
        return self.seen()[1]

    def seen(self) -> tuple[Seen, dict[str, str]]:
        """Give what was seen, a second ago at most, and what of it needs attention; raises as `alarms`."""
        with self._lock:
            last = self._last
            if last is None or self.monotonic() - last.at > FRESH_S:
                last = self._last = self._looked()
        if isinstance(last.told, Exception):
            raise last.told.with_traceback(None)  # or each time it is raised it would grow
        found = _found(last.told, last.clock, self.sweep_ms)
        return last.told, dict(sorted([*last.told.alarms.items(), *found, *_letters(last.letters)]))

    def _looked(self) -> _Look:
        told = self._told()
        letters = 0 if isinstance(told, Exception) else self.letters()
        return _Look(told, letters, self.clock(), self.monotonic())

    def _told(self) -> Seen | Exception:
        try:
            return self.look()
        except Exception as error:  # noqa: BLE001 - whoever asks within the next second is told the same
            return error


def _letters(count: int) -> Iterator[tuple[str, str]]:
    if count:
        yield "dead_letters", f"{count} {'job was' if count == 1 else 'jobs were'} given up lately"


def _found(seen: Seen, clock: int, sweep_ms: int) -> Iterator[tuple[str, str]]:
    if seen.limit and seen.used > FULL * seen.limit:
        yield "memory", f"the store uses {seen.used * 100 // seen.limit}% of the memory it has"
    if not seen.is_saved:
        yield "persistence", "the store failed to save what it holds the last time it tried"
    yield from (("no_worker", detail) for detail in missing_workers(seen, sweep_ms))
    late = 0 if seen.oldest_due is None else seen.now - seen.oldest_due
    if late > OVERDUE_MS:
        yield "overdue", f"something that is to be done has been waiting for {late // 1000} s"
    if not seen.begins_games:
        yield "maintenance", "no new games begin: the operator works on the arena"
    if abs(clock - seen.now) > APART_MS:
        yield "clock", f"the clocks of the API and of the store are {abs(clock - seen.now) / 1000:.0f} s apart"


def missing_workers(seen: Seen, sweep_ms: int) -> Iterator[str]:
    """Say which workers there should be and aren't."""
    patience_ms = max(WORKER_MS, 5 * sweep_ms)
    silent = None if seen.last_worker is None else seen.now - seen.last_worker
    if silent is None:
        yield "no worker has ever been there"
    elif silent > patience_ms:
        yield f"no worker has been there for {silent // 1000} s"
    elif seen.now - seen.last_takers.get(due.PEOPLE, 0) > patience_ms:
        yield "no worker takes games of people and checks of bots"
    elif seen.now - seen.last_takers.get(due.TOURNAMENTS, 0) > patience_ms:
        yield "no worker takes games of tournaments"
