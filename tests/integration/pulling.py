"""Bots of an arena's owner that fetch their calls: registered, and run in processes that may be killed."""

from __future__ import annotations

import functools
import subprocess
import time
from collections import Counter
from collections.abc import Collection
from pathlib import Path
from typing import IO, Self
from urllib.parse import urlsplit

from service.arena.caller import ALL_SCOPES
from service.arena.minting import ID_LENGTH, token_hash
from service.store.accounts import Token
from service.store.entities import PULL, Account
from service.store.store import Store
from tests.integration.arena import OWNER, SECRET, Arena, Process
from tests.integration.journal import Journal

TOKEN = "slt_" + "t" * 43


def bot_id(number: int) -> str:
    """Give an id as the API has them."""
    return "bot_" + "abcdefgh"[number].rjust(ID_LENGTH, "a")


def give_token(store: Store) -> None:
    """Have `TOKEN` be one of the arena's owner."""
    store.accounts.create(Account(id=OWNER.account_id, name="ann", created_at=1))
    scopes = [scope.value for scope in ALL_SCOPES]
    token = Token(id="tok_" + "t" * ID_LENGTH, account_id=OWNER.account_id, scopes=scopes, created_at=1)
    store.accounts.add_token(token, token_hash(TOKEN), most=1)


class Copies(Process):
    """One process in which bots fetch their calls: a copy of each."""

    def __init__(self, folder: Path, url: str, bots: dict[str, str], batch: int, think_ms: float) -> None:
        folder.mkdir()
        self.journal, self.told = Journal(folder / "asked"), Journal(folder / "told")
        self.answered = Journal(folder / "answered")
        named = [f"{number}={name}" for number, name in bots.items()]
        command = ["-m", "tests.integration.pull_process", str(folder), url, TOKEN, SECRET, str(batch), str(think_ms)]
        pipes: dict[str, object] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        super().__init__("process of bots", [*command, *named], {}, folder / "bots.log", **pipes)
        out: IO[bytes] = self.child.stdout
        assert out.readline() == b"connected\n", self.said()

    def close(self) -> None:
        super().close()
        for journal in (self.journal, self.answered, self.told):
            journal.close()


class PullArena(Arena):
    """An arena whose bots have no URLs; `copies` starts a process of them."""

    def __init__(self, folder: Path, *, pull: list[str], batch: int = 1, max_games: int = 64, **more: object) -> None:
        super().__init__(folder, bots=[], batch=batch, max_games=max_games, **more)
        self._pull = {bot_id(number): name for number, name in enumerate(pull)}

    def __enter__(self) -> Self:
        super().__enter__()
        give_token(self.store)
        for number, name in self._pull.items():
            shown = name.removeprefix("house:")
            self.register(number, shown, PULL, max_batch=self._batch, max_games=self._max_games)
        return self

    @functools.cached_property
    def ids(self) -> list[str]:
        return list(self._pull)

    def copies(self, think_ms: float = 0, only: Collection[str] | None = None) -> Copies:
        """Start a process of all bots, or of `only` these."""
        folder = self._folder / f"copies-{len(self._opened)}"
        bots = {number: name for number, name in self._pull.items() if only is None or number in only}
        made = Copies(folder, self.api.address, bots, self._batch, think_ms)
        self._own(made)
        return made

    def restart_api(self, after_s: float = 0.0) -> None:
        """Kill it and start it, after a while, where those who poll look for it."""
        port = urlsplit(self.api.address).port
        self.api.kill()
        time.sleep(after_s)
        self.start_api(port)

    def outcomes(self, tournament_id: str) -> Counter[str]:
        """Count the decisions of a tournament's results by their outcomes."""
        counted: Counter[str] = Counter()
        for result in self.store.tournaments.results(tournament_id):
            for outcomes in result.outcomes:
                counted.update(outcomes)
        return counted
