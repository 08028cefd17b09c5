"""Keeps one arena on this machine: store, API and workers, started, started again when they die, stopped in order.

Order of the stop: API and workers are asked at once (the API answers what it has begun, the workers hand their games
back), then the store. What hasn't ended in time is killed.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Final, Self

from bot_sdk.client import Arena
from service.launch import commands, measured, ports
from service.launch.attention import Attention
from service.launch.child import Child
from service.launch.errors import StackError
from service.launch.signals import INTERRUPTED, Signals
from service.launch.valkey import EmbeddedValkey, ValkeyError
from service.metrics.metering import Place

STORE_S: Final = 120.0
"""How long the store may take to load its data."""
READY_S: Final = 60.0
PROBE_S: Final = 0.5
POLL_S: Final = 0.1
WATCH_S: Final = 1.0
API_GRACE_S: Final = 4
"""How long a long poll or a stream may go on when the arena stops."""
STOP_S: Final = 11.0
STORE_STOP_S: Final = 3.0

Tell = Callable[[str], object]


class Supervisor:
    """The processes of one arena. Use it in the main thread: enter it, `run`, leave it."""

    def __init__(
        self,
        listening: socket.socket,
        environment: Mapping[str, str],
        *,
        workers: int,
        store: EmbeddedValkey | None,
        admit: Callable[[], object],
        tell: Tell,
        metrics: Place | None = None,
        server_level: str | None = None,
    ) -> None:
        """Describe the processes; nothing runs before `run`.

        `environment` is what API and workers get, REDIS_URL among it. `store` None: somebody else runs it. `admit` is
        called once it is there, and raises StackError if this release can't work on it. `metrics` is where they are
        served, if they are. `server_level` is what the API's server may say of itself, by default what
        SLAGVELD_LOG_LEVEL has all say.
        """
        keep_fds = [listening.fileno(), *([metrics.descriptor] if metrics else [])]
        environment = {**environment, **(metrics.environment if metrics else {})}
        self._listening = listening
        self._store = store
        self._admit = admit
        self._tell = tell
        self._metrics = metrics
        self._signals = Signals(self._leave_now)
        api = commands.api(listening.fileno(), log_level=server_level, grace_s=API_GRACE_S)
        self._children = [
            Child("the API", api, environment, tell=tell, keep_fds=keep_fds),
            *(Child(f"worker {number}", commands.worker(), environment, tell=tell) for number in range(1, workers + 1)),
        ]

    @property
    def url(self) -> str:
        """Where the API is reached from this machine."""
        return ports.url_of(self._listening)

    def __enter__(self) -> Self:
        self._signals.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._stop()
        finally:
            self._signals.__exit__(kind, error, trace)

    def run(self, ready: Callable[[], object]) -> None:
        """Start everything, call `ready` once the API takes work, and watch until we are asked to stop.

        Raises StackError if it isn't ready in time.
        """
        self._start()
        self._await_ready()
        if not self._signals.stop:
            ready()
        with Arena(self.url, timeout_s=PROBE_S) as arena:
            attention = Attention(arena.alarms, self._tell, time.monotonic)
            while not self._signals.stop:
                attention.look()
                self._signals.wait(self._watch())

    def _start(self) -> None:
        if self._store is not None:
            try:
                self._store.start(STORE_S, give_up=self._asked)
            except ValkeyError as error:
                if not self._signals.stop:
                    raise StackError(str(error)) from error
        if not self._signals.stop:
            self._admit()
            for child in self._children:
                child.start()

    def _await_ready(self) -> None:
        ends = time.monotonic() + READY_S
        with Arena(self.url, timeout_s=PROBE_S) as arena:
            while not self._signals.stop and not arena.ready():
                if time.monotonic() > ends:
                    raise StackError(f"the API at {self.url} isn't ready after {READY_S:.0f} s")
                self._watch()
                self._signals.wait(POLL_S)

    def _watch(self) -> float:
        """Start again what died; return how long to wait before the next look."""
        if self._store is not None and not self._store.is_alive:
            self._revive(self._store)
        for child in self._children:
            child.look()
        return POLL_S if any(child.pid is None for child in self._children) else WATCH_S

    def _revive(self, store: EmbeddedValkey) -> None:
        self._tell("the store died, starting it again on its data")
        try:
            store.start(STORE_S, give_up=self._asked)
        except ValkeyError as error:
            self._tell(f"{error}; trying again")

    def _asked(self) -> bool:
        return self._signals.stop

    def _stop(self) -> None:
        for child in self._children:
            child.ask_to_stop()
        self._await_ends(time.monotonic() + STOP_S)
        for child in self._children:
            if not child.is_gone:
                self._tell(f"{child.name} didn't stop in time and was killed")
            child.reap()
        if self._store is not None:
            self._store.stop(STORE_STOP_S)
            self._store.close()
        self._listening.close()

    def _await_ends(self, ends: float) -> None:
        while time.monotonic() < ends and not all(child.is_gone for child in self._children):
            self._signals.wait(POLL_S)

    def _leave_now(self) -> None:
        """Kill everything at once; the store's log on disk is whole at any moment."""
        for child in self._children:
            child.kill()
        if self._store is not None:
            self._store.kill()
            self._store.close()
        measured.close_place(self._metrics)
        os._exit(INTERRUPTED)
