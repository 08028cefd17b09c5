"""Those who look on while processes die: whatever they were shown must still be so later."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Self

from redis import RedisError

from service.store.entities import Result
from service.store.store import Store


class Onlooker:
    """A thread that does `look` again and again while the block runs; what goes wrong in it comes out at its end."""

    def __init__(self, look: Callable[[], None], *, pause_s: float = 0.02) -> None:
        self._look = look
        self._pause_s = pause_s
        self._told = threading.Event()
        self._failed: BaseException | None = None
        self._thread = threading.Thread(target=self._run)

    def _run(self) -> None:
        try:
            while not self._told.wait(self._pause_s):
                self._look()
        except BaseException as error:  # noqa: BLE001 - raised again where the test can see it
            self._failed = error

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._told.set()
        self._thread.join(timeout=60)
        assert not self._thread.is_alive()
        if self._failed is not None:
            raise self._failed


class ResultsSeen:
    """Reads the results of tournaments; one it has seen must stand for ever as it was."""

    def __init__(self, store: Store, tournament_ids: list[str]) -> None:
        self._store = store
        self._ids = tournament_ids
        self.seen: dict[str, dict[str, Result]] = {}
        self.looks = 0

    def look(self) -> None:
        for tournament_id in self._ids:
            try:
                results = self._store.tournaments.results(tournament_id)
            except RedisError:
                continue
            self._compare(tournament_id, {result.game_id: result for result in results})

    def _compare(self, tournament_id: str, now: dict[str, Result]) -> None:
        before = self.seen.setdefault(tournament_id, {})
        lost = {game_id: result for game_id, result in before.items() if now.get(game_id) != result}
        assert not lost, f"results that were shown have gone or changed: {lost}"
        before |= now
        self.looks += 1
