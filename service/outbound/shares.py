"""Room for a number of things at once, of which nobody can take all."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import Generic, NamedTuple, TypeVar

Item = TypeVar("Item")


@dataclass(slots=True)
class _Host(Generic[Item]):
    """How much room the bots of one host have, each by itself and all together, and what waits for theirs."""

    taken: int = 0
    by_bot: dict[Hashable, int] = field(default_factory=dict)
    held: dict[Hashable, deque[Item]] = field(default_factory=dict)  # the bot whose turn it is comes first


class Entry(NamedTuple, Generic[Item]):
    """Something that waited, and in whose name it has room now."""

    host: Hashable
    bot: Hashable
    item: Item


class Shares(Generic[Item]):
    """Gives room to `size` things at once, in order, but for those of a bot or a host that has its share.

    At most `per_bot` things of a bot, half of the room by default, and `per_host` of all bots of its host, three
    quarters, have room or stand in the common queue. The others wait behind them: a bot's in order, the bots of a host
    in turn. So a bot which is always at its deadline holds up its own, several on one host hold up each other's, and
    neither anyone else's. Safe to share between threads.
    """

    def __init__(self, size: int, *, per_host: int | None = None, per_bot: int | None = None) -> None:
        self._free = size
        self._per_host = per_host or max(1, size * 3 // 4)
        self._per_bot = per_bot or max(1, size // 2)
        self._lock = threading.Lock()
        self._hosts: dict[Hashable, _Host[Item]] = {}
        self._queue: deque[Entry[Item]] = deque()

    def enter(self, host: Hashable, bot: Hashable, item: Item) -> bool:
        """Say whether there is room at once; if not, some `leave` gives the item back when there is."""
        with self._lock:
            known = self._hosts.get(host)
            if known is None:
                known = self._hosts[host] = _Host()
            if not self._has_room(known, bot):
                known.held.setdefault(bot, deque()).append(item)
                return False
            self._take_share(known, bot)
            if self._free:
                self._free -= 1
                return True
            self._queue.append(Entry(host, bot, item))
            return False

    def leave(self, host: Hashable, bot: Hashable) -> Entry[Item] | None:
        """Give up room; what takes it is what has waited longest and may have it, if anything does."""
        with self._lock:
            self._give_up_share(host, bot)
            if self._queue:
                return self._queue.popleft()
            self._free += 1
            return None

    @property
    def waiting(self) -> int:
        """How many things have no room yet."""
        with self._lock:
            held = (len(items) for host in self._hosts.values() for items in host.held.values())
            return len(self._queue) + sum(held)

    def _has_room(self, host: _Host[Item], bot: Hashable) -> bool:
        return host.taken < self._per_host and host.by_bot.get(bot, 0) < self._per_bot

    def _take_share(self, host: _Host[Item], bot: Hashable) -> None:
        host.taken += 1
        host.by_bot[bot] = host.by_bot.get(bot, 0) + 1

    def _give_up_share(self, name: Hashable, bot: Hashable) -> None:
        host = self._hosts[name]
        host.taken -= 1
        host.by_bot[bot] -= 1
        if not host.by_bot[bot]:
            del host.by_bot[bot]
        if host.held:
            self._let_in_next(name, host)
        elif not host.taken:
            del self._hosts[name]

    def _let_in_next(self, name: Hashable, host: _Host[Item]) -> None:
        """Let in what the bot whose turn it is holds; few can be passed over, since few have all of their share."""
        bot = next((bot for bot in host.held if self._has_room(host, bot)), None)
        if bot is None:
            return
        items = host.held.pop(bot)
        self._take_share(host, bot)
        self._queue.append(Entry(name, bot, items.popleft()))
        if items:
            host.held[bot] = items
