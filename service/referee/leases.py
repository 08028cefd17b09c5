"""The leases this process holds, renewed together by one thread until they are given back."""

from __future__ import annotations

import logging
import threading
from collections import defaultdict
from typing import Final

from redis import RedisError

from service.store import due
from service.store.due import Due
from service.store.games import GameStore

logger: Final = logging.getLogger(__name__)


class Leases:
    """Holds games for the drivers of this process. Built once per process; `start` before the first `take`."""

    def __init__(self, games: GameStore, due: Due, *, lease_ms: int, renew_s: float) -> None:
        self._games = games
        self._due = due
        self._lease_ms = lease_ms
        self._renew_s = renew_s
        self._held: dict[str, str] = {}
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._renew, name="leases", daemon=True)

    def start(self) -> None:
        """Begin renewing."""
        self._thread.start()

    def stop(self) -> None:
        """Stop renewing; what is still held runs out by itself."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join(self._renew_s + 1)

    def take(self, game_id: str, token: str) -> bool:
        """Take a game, and have it looked at again when the lease would run out; False while it is another's."""
        if not self._games.acquire(game_id, token, self._lease_ms):
            return False
        self._due.add(due.game(game_id), self._due.now() + self._lease_ms)
        with self._lock:
            self._held[game_id] = token
        return True

    def give_back(self, game_id: str, token: str, *, seen: int | None = None, due_at: int | None = None) -> bool:
        """Give a game back, to be looked at again at `due_at`; False if its log isn't as `seen` and we keep it."""
        if due_at is not None:
            self._due.add(due.game(game_id), due_at)
        if not self._games.release(game_id, token, seen):
            # Kept: should this process die now, nobody else would look before a `due_at` that may be days away.
            self._due.add(due.game(game_id), self._due.now() + self._lease_ms)
            return False
        self.forget(game_id, token)
        return True

    def forget(self, game_id: str, token: str) -> None:
        """Stop renewing a lease that isn't that driver's any more; another of this process may hold the game since."""
        with self._lock:
            if self._held.get(game_id) == token:
                del self._held[game_id]

    def _renew(self) -> None:
        while not self._stopped.wait(self._renew_s):
            try:
                self.renew_all()
            except RedisError as error:
                logger.warning("leases not renewed: %s", error)

    def renew_all(self) -> None:
        """Prolong all leases held, in a round trip per driver."""
        by_token: dict[str, list[str]] = defaultdict(list)
        with self._lock:
            for game_id, token in self._held.items():
                by_token[token].append(game_id)
        for token, game_ids in by_token.items():
            ours = self._games.renew(game_ids, token, self._lease_ms)
            again = self._due.now() + self._lease_ms
            self._due.move({due.game(game_id): again for game_id in ours})
