"""A whole arena in processes of the test's own: store, workers, API, bots. Each may be killed; none outlives it."""

from __future__ import annotations

import functools
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import IO, Self

from bot_sdk.results.values import GameState
from bot_sdk.signing import make_secret
from service.arena.caller import Caller
from service.arena.games import Games, Policy
from service.arena.minting import Mint
from service.arena.tournaments import Tournaments
from service.config import Settings
from service.jobs import BrokerQueue, open_broker
from service.launch.valkey import EmbeddedValkey
from service.store.entities import Account, Bot, BotState, Game, TournamentState
from service.store.store import Store
from tests.integration.gate import Gate
from tests.integration.journal import Journal

SHORT = {
    "SLAGVELD_LEASE_MS": "600",
    "SLAGVELD_RENEW_MS": "150",
    "SLAGVELD_SWEEP_MS": "50",
    "SLAGVELD_HEARTBEAT_MS": "500",
    "SLAGVELD_BOT_NETWORKS": "127.0.0.0/8",
    "SLAGVELD_ANONYMOUS_GAMES": "1",
    "SLAGVELD_RATE_PER_ADDRESS": "100000 per second",
    "SLAGVELD_RATE_PER_TOKEN": "100000 per second",
    "dramatiq_restart_delay": "100",
}
"""Timings with which a crash is over before the next one comes."""
ROOT = Path(__file__).parents[2]
SECRET = make_secret(bytes(range(32)))
OWNER = Caller(address="test", account_id="acc_test")
PATIENT_LIMITS = {"budget_ms": 30_000, "first_budget_ms": 30_000}
"""No decision is late, however busy the machine: then results depend on the bots alone."""
_LISTENING = re.compile(rb"Listening at: (http://127\.[\d.]+:\d+)")


def wait_until(is_so: Callable[[], bool], seconds: float, what: str, every_s: float = 0.005) -> None:
    """Look again and again; fails with `what` after `seconds`."""
    ends = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < ends, f"expected within {seconds:g} s: {what}"
        time.sleep(every_s)


class Process:
    """A child in a process group of its own, what it says in a file."""

    def __init__(
        self, name: str, command: list[str], environment: dict[str, str], log: Path, **options: object
    ) -> None:
        self.name = name
        self.log = log
        with log.open("ab") as said:
            self.child = subprocess.Popen(
                [sys.executable, *command],
                cwd=ROOT,
                env=os.environ | environment,
                stderr=said,
                start_new_session=True,
                **{"stdin": subprocess.DEVNULL, "stdout": said} | options,
            )

    @property
    def is_alive(self) -> bool:
        return self.child.poll() is None

    def kill(self) -> None:
        """End it and its children as a crash would."""
        assert self.is_alive, f"the {self.name} had ended by itself: {self.said()}"
        os.killpg(self.child.pid, signal.SIGKILL)
        self.child.wait(timeout=10)

    def terminate(self, grace_s: float = 15.0) -> float:
        """Ask it to end, see it end well, and tell how many seconds that took."""
        began = time.monotonic()
        self.child.send_signal(signal.SIGTERM)
        assert self.child.wait(timeout=grace_s) == 0, self.said()
        return time.monotonic() - began

    def close(self) -> None:
        if self.is_alive:
            self.kill()
        for pipe in (self.child.stdin, self.child.stdout):
            if pipe is not None:
                pipe.close()

    def said(self) -> str:
        return self.log.read_text(errors="replace")[-4_000:]


class Api(Process):
    """The API as it is deployed, on a port of the system's choosing, or on that of one that was killed."""

    def __init__(self, environment: dict[str, str], log: Path, port: int = 0, host: str = "127.0.0.1") -> None:
        self._from = log.stat().st_size if log.exists() else 0
        command = ["-m", "service.cli", "api", "--host", host, "--port", str(port)]
        super().__init__("API", command, environment, log)

    @functools.cached_property
    def address(self) -> str:
        """Where it listens; waits until it does."""
        wait_until(lambda: self._listening() is not None, 20, "an API that listens")
        return self._listening()[1].decode()

    def _listening(self) -> re.Match[bytes] | None:
        with self.log.open("rb") as said:
            said.seek(self._from)
            return _LISTENING.search(said.read())


class Bots(Process):
    """House bots over HTTP, in a process of their own."""

    def __init__(self, folder: Path, names: list[str], batch: int, think_ms: float) -> None:
        self.journal, self.told = Journal(folder / "asked"), Journal(folder / "told")
        self.answered = Journal(folder / "answered")
        self.gate = Gate(folder)
        command = ["-m", "tests.integration.bot_process", str(folder), SECRET, str(batch), str(think_ms), *names]
        pipes: dict[str, object] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        super().__init__("process of bots", command, {}, folder / "bots.log", **pipes)
        out: IO[bytes] = self.child.stdout
        self.urls = [out.readline().decode().strip() for _ in names]
        assert all(self.urls), self.said()

    def close(self) -> None:
        super().close()
        self.journal.close()
        self.answered.close()
        self.told.close()


class Arena:
    """Store, bots, and as many workers and APIs as are asked for; use it in a `with`."""

    def __init__(
        self,
        folder: Path,
        *,
        bots: list[str],
        ids: list[str] | None = None,
        batch: int = 1,
        think_ms: float = 0,
        max_games: int = 64,
        **settings: str,
    ) -> None:
        folder.mkdir()
        self._folder = folder
        self.valkey = EmbeddedValkey(folder)
        self.environment = SHORT | settings | {"REDIS_URL": self.valkey.url}
        self._names = bots
        self.bot_ids = ids or [f"bot_{number}" for number in range(len(bots))]
        self._batch = batch
        self._think_ms = think_ms
        self._max_games = max_games
        self.workers: list[Process] = []
        self.api: Api | None = None
        self._opened: list[Process] = []

    def __enter__(self) -> Self:
        self.valkey.start()
        self.store = Store.open(self.valkey.url, max_connections=16)
        self.store.accounts.create(Account(id=OWNER.account_id, name="owner", created_at=1))
        self.bots = self._own(Bots(self._folder, self._names, self._batch, self._think_ms))
        for bot_id, name, url in zip(self.bot_ids, self._names, self.bots.urls, strict=True):
            shown = name.removeprefix("house:").partition("@")[0]
            self.register(bot_id, shown, url, max_batch=self._batch, max_games=self._max_games)
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._opened:
            process.close()
        self.store.close()
        self.valkey.close()

    def _own(self, process: Process) -> Process:
        self._opened.append(process)
        return process

    # --- processes ----------------------------------------------------------------------------------------------------

    def start_worker(self, *options: str) -> Process:
        log = self._folder / f"worker-{len(self._opened)}.log"
        command = ["-m", "service.cli", "worker", *options]
        self.workers.append(self._own(Process("worker", command, self.environment, log)))
        return self.workers[-1]

    def start_api(self, port: int = 0) -> None:
        self.api = self._own(Api(self.environment, self._folder / "api.log", port))

    def restart_worker(self, number: int) -> None:
        """Kill one and start another in its place."""
        self.workers.pop(number).kill()
        self.start_worker()

    def restart_api(self) -> None:
        self.api.kill()
        self.start_api()

    def restart_valkey(self) -> None:
        """Kill the store and start it on its data."""
        self.valkey.kill()
        self.valkey.start()

    def said(self) -> str:
        """Give the last words of all processes that said anything."""
        logs = sorted(self._folder.glob("*.log"))
        return "\n".join(
            f"--- {log.name}\n{log.read_text(errors='replace')[-3_000:]}" for log in logs if log.stat().st_size
        )

    def left(self) -> str:
        """Tell what is still to be done, and in how many milliseconds it is looked at."""
        now = self.store.due.now()
        names = [(name, at - now) for name, at in self.store.due.peek(now + 10**9, 100)]
        games = self.store.games.get_many([name.partition(":")[2] for name, _ in names])
        states = [game and (game.state.value, self.store.games.length(game.id)) for game in games]
        leased = self.store.games.leased([name.partition(":")[2] for name, _ in names])
        return "\n".join(map(str, zip(names, states, leased, strict=True))) or "nothing is due"

    # --- what is in it ------------------------------------------------------------------------------------------------

    def register(self, bot_id: str, name: str, url: str, *, max_batch: int = 1, max_games: int = 64) -> Bot:
        """Keep an active bot, as a passed check would have it."""
        bot = Bot(
            id=bot_id,
            account_id=OWNER.account_id,
            name=f"{name} {bot_id:.8}",
            url=url,
            rulesets=["seven_up", "river"],
            state=BotState.ACTIVE,
            version="1",
            max_batch=max_batch,
            max_games=max_games,
            created_at=1,
            activated_at=1,
        )
        assert self.store.bots.create(bot, secret=SECRET)
        return bot

    @property
    def tournaments(self) -> Tournaments:
        return Tournaments(
            self.store,
            max_tournaments=2_000,
            clock=self.store.due.now,
            root_secret=lambda: bytes(range(32)),
            seed=lambda: 1,
        )

    def launch(
        self,
        name: str,
        ruleset: str,
        size: int,
        rounds: int | None,
        entries: list[str],
        limits: dict[str, int],
        options: dict[str, object] | None = None,
        **more: object,
    ) -> str:
        """Start a tournament, a round robin of fresh deals unless `more` has it otherwise.

        Its id and packs depend on its name alone.
        """
        order = {
            "name": name,
            "ruleset": ruleset,
            "options": options or {},
            "format": "round_robin",
            "deals": "fresh",
            "table_size": size,
            "rounds": rounds,
            "seed": 1,
            "limits": limits,
        } | more
        tournament = self.tournaments.create(OWNER, order, Mint(bytes(32), name.encode()))
        for bot_id in entries:
            self.tournaments.enter(OWNER, tournament.id, bot_id, f"entropy of {bot_id}")
        self.tournaments.set_state(OWNER, tournament.id, TournamentState.RUNNING)
        return tournament.id

    def start_game(self, ruleset: str, bot_ids: list[str], limits: dict[str, int]) -> str:
        """Start a game of registered bots."""
        policy = Policy(anonymous_games=False, max_open_games=1_000, open_seat_ms=60_000)
        broker = open_broker(Settings.from_env(self.environment))
        games = Games(
            self.store, BrokerQueue(broker), policy, clock=self.store.due.now, pack_secret=lambda: bytes(range(32))
        )
        seats = [{"kind": "bot", "bot_id": bot_id} for bot_id in bot_ids]
        order = {"ruleset": ruleset, "options": {}, "seats": seats, "limits": limits, "start": "auto"}
        created = games.create(OWNER, order, Mint(bytes(32), "/".join(bot_ids).encode()))
        broker.client.close()
        return created.game.id

    def running(self, tournament_id: str) -> list[Game]:
        """Give a tournament's games that run now."""
        found, _ = self.store.games.list_for_tournament(tournament_id, limit=1_000, state=GameState.RUNNING)
        return found

    def lengths(self, tournament_ids: Iterable[str]) -> dict[str, int]:
        """Tell how many events each game of these tournaments has that runs now."""
        games = [game.id for name in tournament_ids for game in self.running(name)]
        return {game_id: self.store.games.length(game_id) for game_id in games}

    def is_finished(self, tournament_id: str) -> bool:
        return self.tournaments.get(tournament_id).state is TournamentState.FINISHED
