"""The games that this process has replayed lately, so that only what is new of them has to be read and replayed.

It is only a cache: whoever asks either has seen how the game stands (`Marks`), or has the store say it now. What it
gives is shared by many and changed by nobody; who goes on from it goes on from a copy.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import Final

from bot_sdk.errors import SdkError
from service.arena.reading import Shown
from service.referee.table import Table
from service.store.door import Marks
from service.store.games import GameStore

MOST_GAMES: Final = 1_000
MOST_EVENTS: Final = 40_000
"""How many games are kept, and how many events they may have together: an event takes some 600 bytes, by
`tracemalloc` on River of four."""


class Tables:
    """The games of one process, at most so many and with so many events; those not asked for longest leave first."""

    def __init__(self, games: GameStore, *, most: int = MOST_GAMES, most_events: int = MOST_EVENTS) -> None:
        """Nothing is kept yet."""
        self._games = games
        self._most = most
        self._most_events = most_events
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, Shown] = OrderedDict()
        self._events = 0

    def peek(self, game_id: str) -> Shown | None:
        """Give a game as it stood when it was last asked for, if it is kept."""
        return self._get(game_id)

    def known(self, game_id: str, marks: Marks) -> Shown | None:
        """Give a game if it is known as it stands by its marks."""
        shown = self._get(game_id)
        return shown if shown is not None and shown.marks == marks else None

    def load(self, game_id: str) -> Shown | None:
        """Give a game as it stands now; None if there is none. Raises DamagedError, LogError."""
        before = self._get(game_id)
        shown = self._gone_on(before) if before is not None else None
        if shown is None:
            shown = self._replayed(game_id)
        self._put(game_id, shown)
        return shown

    def put(self, shown: Shown) -> None:
        """Keep a game as somebody knows it to stand who went on from what was given here."""
        self._put(shown.meta.id, shown)

    def forget(self, game_id: str) -> None:
        """Read all of a game when it is asked for next."""
        self._put(game_id, None)

    def _replayed(self, game_id: str) -> Shown | None:
        loaded = self._games.load(game_id)
        if loaded is None:
            return None
        meta = loaded[0]
        return Shown(meta, None if meta.started_at is None else Table.replayed(*loaded))

    def _gone_on(self, before: Shown) -> Shown | None:
        """Give a game with what its log has got since; None if all of it has to be read."""
        table = before.table
        if table is None or before.meta.state.is_end:  # the end may have been lost since, and was told of in events
            return None
        found = self._games.load_since(before.meta.id, table.length)
        if found is None or found[0].started_at != before.meta.started_at:
            return None
        meta, lines = found
        if meta.state.is_end:  # what bots noted may have been taken out of it since
            return None
        tail = lines[1:] if table.length else lines
        if lines[: len(lines) - len(tail)] != before.last:
            return None
        try:
            return before.followed_by(meta, tail)
        except SdkError:  # what there is to say about that is said by who replays all of it
            return None

    def _get(self, game_id: str) -> Shown | None:
        with self._lock:
            shown = self._kept.get(game_id)
            if shown is not None:
                self._kept.move_to_end(game_id)
            return shown

    def _put(self, game_id: str, shown: Shown | None) -> None:
        with self._lock:
            old = self._kept.pop(game_id, None)
            self._events -= old.length if old else 0
            if shown is None or shown.table is None:
                return
            self._kept[game_id] = shown
            self._events += shown.length
            while len(self._kept) > self._most or (self._events > self._most_events and len(self._kept) > 1):
                _, old = self._kept.popitem(last=False)
                self._events -= old.length
