"""An arena whose processes reach the store, and its bots, through proxies of the test's."""

from __future__ import annotations

import hashlib
from collections import Counter
from contextlib import ExitStack
from pathlib import Path
from typing import Self
from urllib.parse import urlsplit

from bot_sdk.events import Decided
from service.referee.table import Table
from service.store.lua import source
from tests.faults.proxy import Proxy
from tests.integration.arena import Arena, Bots, wait_until


def script(name: str) -> bytes:
    """Give what the command that runs a script of the store's can be told by."""
    return hashlib.sha1(source(name).encode(), usedforsecurity=False).hexdigest().encode()


def asks(game_id: str) -> bytes:
    """Give what a request for a decision of a game can be told by."""
    return f'"decision_id":"{game_id}.'.encode()


class Behind:
    """An arena of two bots; `to_store` is what its processes reach the store through, `to_bots` its bots."""

    def __init__(self, folder: Path, **settings: str) -> None:
        self._stack = ExitStack()
        self._folder = folder
        self.arena = Arena(folder, bots=["house:greedy", "house:random"], **settings)
        self.to_store = Proxy(self.arena.valkey.socket_path)
        self.to_bots: list[Proxy] = []

    def __enter__(self) -> Self:
        self._stack.enter_context(self.to_store)
        self._stack.enter_context(self.arena)
        self.arena.environment["REDIS_URL"] = self.to_store.redis_url()
        self.arena.environment["SLAGVELD_BROKER_URL"] = self.arena.valkey.url_of(1)
        for number, url in enumerate(self.arena.bots.urls):
            proxy = self._stack.enter_context(Proxy(_place(url)))
            self.to_bots.append(proxy)
            path = urlsplit(url).path or "/"
            self.arena.register(f"far_{number}", f"far {number}", proxy.http_url(path))
        self.know_scripts()
        return self

    def __exit__(self, *error: object) -> None:
        for proxy in [self.to_store, *self.to_bots]:
            proxy.refuse()  # so that nothing waits for what is held
        self._stack.__exit__(*error)

    def know_scripts(self) -> None:
        """Have the store know its scripts, so that the first command that runs one does."""
        for name in ("commit", "create_game", "put"):
            self.arena.store._redis.script_load(source(name))

    # --- dying and coming back ----------------------------------------------------------------------------------------

    def restart(self, victim: str) -> None:
        """Kill a process with SIGKILL, and start it again, or another in its place."""
        {
            "worker": lambda: self.arena.restart_worker(0),
            "api": self.arena.restart_api,
            "valkey": self.restart_valkey,
            "bot": self.restart_bots,
        }[victim]()

    def restart_valkey(self) -> None:
        self.arena.restart_valkey()
        self.know_scripts()

    def restart_bots(self) -> None:
        self.arena.bots.kill()
        self.start_bots()

    def start_bots(self) -> None:
        """Start other bots in the place of dead ones; they come up elsewhere, and their addresses lead there."""
        self.arena.bots = self.arena._own(Bots(self._folder, self.arena._names, 1, 0))
        for proxy, url in zip(self.to_bots, self.arena.bots.urls, strict=True):
            proxy.upstream = _place(url)

    # --- what must hold -----------------------------------------------------------------------------------------------

    def finish(self, game_id: str, seconds: float = 30) -> Table:
        """Wait for the end of a game; give it replayed, as it stands in the log."""
        games = self.arena.store.games
        wait_until(
            lambda: games.get(game_id).state.is_end,
            seconds,
            f"the end of the game: {self.arena.left()} {self.arena.said()}",
            every_s=0.02,
        )
        return Table.replayed(*games.load(game_id))

    def asked(self, game_id: str) -> Counter[str]:
        """Tell how often bots were asked for each decision of a game."""
        return Counter(
            {name: times for name, times in self.arena.bots.journal.names().items() if name.startswith(f"{game_id}.")}
        )


def decision_ids(table: Table) -> list[str]:
    """Name the decisions in the log of a game, in order."""
    counts: Counter[int] = Counter()
    names = []
    for event in table.game.log:
        if isinstance(event, Decided):
            names.append(f"{table.id}.{event.seat}.{counts[event.seat]}")
            counts[event.seat] += 1
    return names


def _place(url: str) -> tuple[str, int]:
    parts = urlsplit(url)
    return str(parts.hostname), int(parts.port or 0)
