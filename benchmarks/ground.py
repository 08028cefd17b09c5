"""An arena to measure: a store, worker processes and trivial bots, each in a process of its own, as they are deployed.

Bots are kept in the store as a passed check would have them, and tournaments made by the use cases of the API; from
there on all is done by the workers.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, Final, Self

import redis
import requests

from benchmarks.harness import cpu_us
from bot_sdk.events import Outcome
from bot_sdk.signing import make_secret
from service.arena.caller import Caller
from service.arena.minting import Mint
from service.arena.tournaments import Tournaments
from service.launch.announced import Announced
from service.launch.tied import tie
from service.launch.valkey import EmbeddedValkey
from service.store import due
from service.store.entities import Bot, BotState, TournamentState
from service.store.store import Store

OWNER: Final = Caller(address="benchmark", account_id="acc_benchmark")
LIMITS: Final = {"budget_ms": 10_000, "first_budget_ms": 10_000}
"""No answer is late, however busy the machine: a fallback would be another game, and another price."""
SIZES: Final = {"river": 4, "seven_up": 2}
"""The seats of a table, by ruleset."""
OPTIONS: Final[dict[str, dict[str, object]]] = {"river": {}, "seven_up": {}}
"""What games are played by, by ruleset: its own options, unless a test would have them short."""
BOTS: Final = 4
MAX_GAMES: Final = 64
READY_S: Final = 30.0
OVER_S: Final = 300.0
POLL_S: Final = 0.02


class BotServer:
    """The process of trivial bots, at one address; use it in a ``with``."""

    def __init__(self) -> None:
        """Nothing runs yet."""
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        folder = Path(self._stack.enter_context(TemporaryDirectory(prefix="bots")))
        processes = self._stack.enter_context(Announced(folder))
        starting = processes.start("bots", [sys.executable, "-m", "benchmarks.trivial_bot"], os.environ)
        self.url: str = starting.wait(READY_S)["url"]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def asked(self) -> tuple[int, int]:
        """Tell how many decisions the bots were asked for that answer, and in how many requests."""
        told = self._get("asked").json()
        return _sum(told["decisions"], late=False), _sum(told["requests"], late=False)

    def asked_late(self) -> int:
        """Tell how many decisions those bots were asked for that never answer."""
        return _sum(self._get("asked").json()["decisions"], late=True)

    def record(self) -> None:
        """Begin to keep the bodies of requests for single decisions."""
        self._get("record")

    def recorded(self) -> list[bytes]:
        """Give the bodies kept, and stop that."""
        return self._get("recorded").content.splitlines()

    def _get(self, what: str) -> requests.Response:
        return requests.get(f"{self.url}/-/{what}", timeout=READY_S)


def _sum(counted: dict[str, int], *, late: bool) -> int:
    return sum(count for path, count in counted.items() if path.startswith("/late") == late)


@dataclass(frozen=True, slots=True)
class Played:
    """What a tournament took: processor time of the workers, all together, and time from first to last event."""

    decisions: int
    cpu_us: float
    store_cpu_us: float
    wall_s: float

    @property
    def us_each(self) -> float:
        """Microseconds of the workers' processor time for a decision."""
        return self.cpu_us / self.decisions


class Ground:
    """Store and workers, with `BOTS` bots of `bots` entered in whatever is played; use it in a ``with``.

    Settings are the arena's own, but for what `settings` has and the leave to call this machine. The store writes its
    journal as `slagveld up` has it.
    """

    def __init__(self, bots: BotServer, *, workers: int = 1, max_batch: int = 1, **settings: str) -> None:
        """Nothing runs yet."""
        self._bots = bots
        self._workers = workers
        self._max_batch = max_batch
        self._settings = settings
        self._stack = ExitStack()
        self._count = itertools.count()

    def __enter__(self) -> Self:
        with ExitStack() as stack:
            folder = Path(stack.enter_context(TemporaryDirectory(prefix="ground")))
            self._valkey = stack.enter_context(EmbeddedValkey(folder))
            self.redis = redis.Redis.from_url(self._valkey.url)
            stack.callback(self.redis.close)
            self.store = Store.open(self._valkey.url, max_connections=8)
            stack.callback(self.store.close)
            self._log = folder / "workers.log"
            given = {"REDIS_URL": self._valkey.url, "SLAGVELD_BOT_NETWORKS": "127.0.0.0/8"}
            self.environment = os.environ | given | self._settings
            self._pids = [start_worker(stack, self._log, self.environment) for _ in range(self._workers)]
            for number in range(BOTS):
                self.register(f"bot_{number}", f"{self._bots.url}/{number}", max_batch=self._max_batch)
            self._stack = stack.pop_all()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stack.close()

    def register(self, bot_id: str, url: str, *, max_batch: int = 1) -> str:
        """Keep an active bot; give its id."""
        bot = Bot(
            id=bot_id,
            account_id=OWNER.account_id or "",
            name=bot_id,
            url=url,
            rulesets=list(SIZES),
            state=BotState.ACTIVE,
            version="1",
            max_batch=max_batch,
            max_games=MAX_GAMES,
            created_at=1,
            activated_at=1,
        )
        if not self.store.bots.create(bot, secret=make_secret(bytes(range(32)))):
            raise RuntimeError(f"there is a bot {bot_id} already")
        return bot_id

    def play(self, ruleset: str, games: int) -> Played:
        """Hold a tournament of that many games, or the next number that seats all bots alike.

        Every decision was answered in time, or it raises RuntimeError.
        """
        before = self.cpu_us()
        store_before = cpu_us(self._store_pid)
        held = self.start(ruleset, games)
        self.wait_for(held)
        used, store_used = self.cpu_us() - before, cpu_us(self._store_pid) - store_before
        results = self.store.tournaments.results(held)
        counted: dict[str, int] = {}
        for outcome, count in itertools.chain.from_iterable(each.items() for of in results for each in of.outcomes):
            counted[outcome] = counted.get(outcome, 0) + count
        if len(results) < games or counted.keys() != {Outcome.OK.value}:
            raise RuntimeError(f"expected {games} games without a fault, got {len(results)} with {counted}")
        return Played(sum(counted.values()), used, store_used, self._wall_s([result.game_id for result in results]))

    def start(
        self, ruleset: str, games: int, entries: list[str] | None = None, limits: dict[str, int] | None = None
    ) -> str:
        """Start a tournament of fresh deals, of all bots unless told; give its id."""
        name = f"{ruleset} {next(self._count)}"
        entries = entries or [f"bot_{number}" for number in range(BOTS)]
        size = SIZES[ruleset]
        a_round = len(entries) // 2 if size == 2 else len(entries)  # at larger tables each sits in each seat
        order: dict[str, Any] = {
            "name": name,
            "ruleset": ruleset,
            "options": OPTIONS[ruleset],
            "format": "round_robin",
            "deals": "fresh",
            "table_size": size,
            "rounds": -(-games // a_round),
            "seed": 1,
            "limits": LIMITS | (limits or {}),
        }
        tournament = self._tournaments.create(OWNER, order, Mint(bytes(32), name.encode()))
        for bot_id in entries:
            self._tournaments.enter(OWNER, tournament.id, bot_id, f"entropy of {bot_id}")
        self._tournaments.set_state(OWNER, tournament.id, TournamentState.RUNNING)
        return tournament.id

    def cancel(self, tournament_id: str) -> None:
        """Break a tournament off, and wait until none of its games runs."""
        self._tournaments.set_state(OWNER, tournament_id, TournamentState.CANCELLED)
        self._settled(tournament_id)

    def wait_for(self, tournament_id: str) -> None:
        """Wait until a tournament has ended by itself, and what follows from that is done."""
        wait_until(lambda: self._tournaments.get(tournament_id).state.is_end, "the end of a tournament")
        self._settled(tournament_id)

    def _settled(self, tournament_id: str) -> None:
        wait_until(lambda: self.store.due.at(due.tournament(tournament_id)) is None, "the last look at a tournament")

    def cpu_us(self) -> float:
        """Give the processor time of all workers so far."""
        return sum(map(cpu_us, self._pids))

    @property
    def _store_pid(self) -> int:
        if self._valkey.pid is None:
            raise RuntimeError("the store has ended")
        return self._valkey.pid

    @property
    def _tournaments(self) -> Tournaments:
        return Tournaments(
            self.store,
            max_tournaments=1_000_000,
            clock=self.store.due.now,
            root_secret=lambda: bytes(range(32)),
            seed=lambda: 1,
        )

    def _wall_s(self, game_ids: list[str]) -> float:
        """Give the time from the start of the first game to the end of the last."""
        games = [game for game in self.store.games.get_many(game_ids) if game is not None]
        began = min(game.started_at or game.created_at for game in games)
        return (max(game.ended_at or game.created_at for game in games) - began) / 1000


def start_worker(stack: ExitStack, log: Path, environment: dict[str, str], *options: str) -> int:
    """Start a worker that the stack ends; give its process id."""
    with log.open("ab") as said:
        command = [sys.executable, "-m", "service.cli", "worker", *options]
        process = subprocess.Popen(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=said,
            stderr=said,
            preexec_fn=tie(),  # noqa: PLW1509 - two system calls, no locks
        )
    stack.callback(_end, process)
    return process.pid


def _end(process: subprocess.Popen[bytes]) -> None:
    process.kill()  # nobody misses what it has under way
    process.wait()


def wait_until(is_so: Callable[[], bool], what: str, seconds: float = OVER_S) -> None:
    """Look again and again; raises TimeoutError."""
    ends = time.monotonic() + seconds
    while not is_so():
        if time.monotonic() > ends:
            raise TimeoutError(f"expected within {seconds:g} s: {what}")
        time.sleep(POLL_S)
