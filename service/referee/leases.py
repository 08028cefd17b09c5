"""The leases this process holds, renewed together by one thread until they are given back."""

from __future__ import annotations

import logging
import threading
from collections import defaultdict
from collections.abc import Sequence
from typing import Final, NamedTuple

from redis import RedisError

from service.store import due
from service.store.due import Due
from service.store.games import GameStore

logger: Final = logging.getLogger(__name__)


class _Held(NamedTuple):
    """Whose lease it is, and when the game is due as far as we know."""

    token: str
    due_at: int


class Leases:
    """Holds games for the drivers of this process. Built once per process; `start` before the first `take`."""

    def __init__(self, games: GameStore, due: Due, *, lease_ms: int, renew_s: float) -> None:
        self._games = games
        self._due = due
        self._lease_ms = lease_ms
        self._renew_s = renew_s
        self._held: dict[str, _Held] = {}
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
        return self.take_many([game_id], token) == [game_id]

    def take_many(self, game_ids: Sequence[str], token: str) -> list[str]:
        """Take games, as `take` does, in a few round trips; give those that are ours now."""
        ours = self._games.acquire_many(game_ids, token, self._lease_ms)
        if ours:
            self._keep(ours, token)
        return ours

    def give_back(self, game_id: str, token: str, *, seen: int | None = None, due_at: int | None = None) -> bool:
        """Give a game back, to be looked at again at `due_at`; False if its log isn't as `seen` and we keep it."""
        self.forget(game_id, token)
        if due_at is not None:
            self._due.add(due.game(game_id), due_at)
        if not self._games.release(game_id, token, seen):
            # Kept: should this process die now, nobody else would look before a `due_at` that may be days away.
            self._keep([game_id], token)
            return False
        return True

    def _keep(self, game_ids: Sequence[str], token: str) -> None:
        at = self._due.now() + self._lease_ms
        self._due.add_many({due.game(game_id): at for game_id in game_ids})
        with self._lock:
            for game_id in game_ids:
                self._held[game_id] = _Held(token, at)

    def forget(self, game_id: str, token: str) -> None:
        """Stop renewing a lease that isn't that driver's any more; another of this process may hold the game since."""
        with self._lock:
            held = self._held.get(game_id)
            if held is not None and held.token == token:
                del self._held[game_id]

    def _renew(self) -> None:
        while not self._stopped.wait(self._renew_s):
            try:
                self.renew_all()
            except RedisError as error:
                logger.warning("leases not renewed: %s", error)

    def renew_all(self) -> None:
        """Prolong all leases held, in a few round trips per driver, and have `due` follow them.

        A driver may give a game back at any moment in between: the time it sets then isn't the one we know, and stands.
        """
        by_token: dict[str, dict[str, _Held]] = defaultdict(dict)
        with self._lock:
            for game_id, held in self._held.items():
                by_token[held.token][game_id] = held
        for token, games in by_token.items():
            ours = self._games.renew(list(games), token, self._lease_ms)
            known = {due.game(game_id): games[game_id].due_at for game_id in ours}
            times = self._due.move_from(known, self._due.now() + self._lease_ms)
            self._note({game_id: games[game_id] for game_id in ours}, times)

    def _note(self, games: dict[str, _Held], times: dict[str, int]) -> None:
        """Keep the times found, the sweeper's too, unless the game has been given back or taken anew meanwhile."""
        with self._lock:
            for game_id, held in games.items():
                at = times.get(due.game(game_id))
                if at is not None and self._held.get(game_id) is held:
                    self._held[game_id] = held._replace(due_at=at)
