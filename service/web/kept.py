"""What was worked out for a page, kept for the next who asks: so what is dear costs a process a share of its time.

It is never newer than what it was made from, and holds nothing that isn't shown to everybody.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

T = TypeVar("T")

SHARE: Final = 20
"""What took a second to make is shown for this many, whatever has changed meanwhile."""
MOST_S: Final = 60.0
"""Then it is made again although nothing seems to have changed: times pass, bots are paused."""
PATIENCE_S: Final = 20.0
"""Who finds somebody else making what was never made before waits so long; then makes it too."""


CHEAP_S: Final = 0.1
"""What was made in less time than that is cheap, for `Kept.lately`."""


@dataclass(frozen=True, slots=True)
class _Made(Generic[T]):
    value: T
    mark: object
    at: float
    cost: float

    def will_do(self, mark: object, now: float) -> bool:
        age = now - self.at
        return age < MOST_S and (self.mark == mark or age < SHARE * self.cost)


class Kept(Generic[T]):
    """The `most` things asked for last, by their names; for many threads. `clock` gives seconds that never go back."""

    def __init__(self, *, most: int, clock: Callable[[], float]) -> None:
        """Keep nothing yet."""
        self._most = most
        self._clock = clock
        self._made: OrderedDict[Hashable, _Made[T]] = OrderedDict()
        self._making: dict[Hashable, threading.Lock] = {}
        self._lock = threading.Lock()

    def get(self, name: Hashable, mark: object, make: Callable[[], T]) -> T:
        """Give what `make` gave while `mark` was the same, or not long ago; else make it.

        While one makes it anew, others are given what there was, unless that is too old for anybody. What `make` raises
        is passed on, and nothing kept.
        """
        found, now = self._found(name), self._clock()
        if found is not None and found.will_do(mark, now):
            return found.value
        if found is not None and now - found.at >= MOST_S:
            found = None
        with self._lock:
            making = self._making.setdefault(name, threading.Lock())
        if not making.acquire(timeout=0 if found else PATIENCE_S):
            return found.value if found else make()
        try:
            found = self._found(name)
            if found is not None and found.will_do(mark, self._clock()):
                return found.value
            return self._keep(name, mark, make)
        finally:
            with self._lock:
                self._making.pop(name, None)
            making.release()

    def lately(self, name: Hashable, make: Callable[[], T]) -> T:
        """Give what `make` gives now or, where that was dear, gave not long ago: for what no mark tells changes of."""
        found = self._found(name)
        if found is not None and found.cost < CHEAP_S:
            with self._lock:
                self._made.pop(name, None)
        return self.get(name, object(), make)

    def _found(self, name: Hashable) -> _Made[T] | None:
        with self._lock:
            found = self._made.get(name)
            if found is not None:
                self._made.move_to_end(name)
            return found

    def _keep(self, name: Hashable, mark: object, make: Callable[[], T]) -> T:
        began = self._clock()
        value = make()
        ended = self._clock()
        with self._lock:
            self._made[name] = _Made(value, mark, ended, ended - began)
            self._made.move_to_end(name)
            while len(self._made) > self._most:
                self._made.popitem(last=False)
        return value
