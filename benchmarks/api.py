"""What the API's hot requests cost beside a bare Flask route, and how soon readers of a stream hear of a move.

Both are served by gunicorn with gevent's worker, over TCP, on one store; counted is the processor time of the process
that serves. People play a table of River: each turn is a look from the seat and an action.
"""

from __future__ import annotations

import http.client
import json
import os
import re
import statistics
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, Self
from urllib.parse import urlsplit

from benchmarks.bare_app import KEY
from benchmarks.ground import wait_until
from benchmarks.harness import Effort, Line, Row, at_most, cpu_us, ratio_row
from service.launch.valkey import EmbeddedValkey
from service.store import keys
from service.store.connection import connect

REQUESTS: Final = 300
ACTIONS: Final = 150
SEATS: Final = 4
READERS: Final = 200
MOVES: Final = 20
PACE_S: Final = 0.3
PLENTY: Final = "1000000 per second"
"""Counted like any other limit, and never passed."""
SETTINGS: Final = {
    "SLAGVELD_ANONYMOUS_GAMES": "1",
    "SLAGVELD_MAX_OPEN_GAMES": "100000",
    "SLAGVELD_MAX_WAITING": "4000",
    "SLAGVELD_RATE_PER_ADDRESS": PLENTY,
    "SLAGVELD_RATE_PER_TOKEN": PLENTY,
}
_LISTENING: Final = re.compile(r"Listening at: (http://127\.0\.0\.1:\d+)")


def rows(effort: Effort) -> Iterator[Line]:
    """Measure looks, actions and streams."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="api")))
        valkey = stack.enter_context(EmbeddedValkey(folder))
        redis = connect(valkey.url)
        stack.callback(redis.close)
        ours = ["-c", "python:service.launch.gunicorn_conf", "service.wsgi:application()"]
        bares = ["-k", "gevent", "--no-control-socket", "--keep-alive", "75", "benchmarks.bare_app:application()"]
        environment = os.environ | SETTINGS | {"REDIS_URL": valkey.url}
        api = stack.enter_context(Server(folder / "api.log", ours, environment))
        bare = stack.enter_context(Server(folder / "bare.log", bares, environment))
        table = Table(api)
        redis.set(KEY, api.get(table.seat_path(0), table.tokens[0]))
        yield from _requests(effort, api, bare, table)
        yield from _stream(effort, api, valkey.url)


def _requests(effort: Effort, api: Server, bare: Server, table: Table) -> Iterator[Line]:
    requests, actions = effort.count(REQUESTS, 5), effort.count(ACTIONS, 5)
    measured = []
    for turn in range(effort.rounds + 1):  # the first warms up
        each = (
            bare.cost(lambda: bare.get("/bare"), requests),
            api.cost(lambda: api.get(table.seat_path(0), table.tokens[0]), requests),
            table.cost_of_actions(actions),
        )
        measured += [each] if turn else []
    bases, looks, acts = zip(*measured, strict=True)
    yield ratio_row("a look from a seat ÷ a bare Flask route with one Redis GET", looks, bases, at_most(2.5))
    yield ratio_row("an action from a seat ÷ the same", acts, bases, at_most(4))


def _stream(effort: Effort, api: Server, redis_url: str) -> Iterator[Line]:
    """Play before readers of the stream; counted is from the moment at which the store tells of the move."""
    readers, moves = effort.count(READERS, 3), effort.count(MOVES, 2)
    unread_us, _ = _cost_of_moves(api, Table(api), redis_url, moves)
    memory, table = api.memory(), Table(api)
    url = f"{api.address}/v1/games/{table.id}/stream"
    command = [sys.executable, "-m", "tests.attacks.spectators", url, str(readers)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as spectators:
        if spectators.stdout is None or spectators.stdout.readline() != "ready\n":
            raise RuntimeError("expected readers of a stream")
        memory = api.memory() - memory
        read_us, committed = _cost_of_moves(api, table, redis_url, moves)
        table.leave()
        said, _ = spectators.communicate(timeout=60)
    came = {int(number): moments for number, moments in json.loads(said).items()}
    waits = [1000 * (moment - at) for number, at in committed.items() for moment in came[number]]
    p50, p99 = statistics.median(waits), statistics.quantiles(waits, n=100)[-1]
    detail = f"p50 {p50:.0f} ms, max {max(waits):.0f} ms"
    yield Row(f"from the commit of a move to {readers} readers of its stream, p99", (p99,), at_most(50), "ms", detail)
    yield Row("a reader of a stream: CPU for each move", ((read_us - unread_us) / (moves * readers),), unit="µs")
    yield Row("a reader of a stream: memory of the API process", (memory / readers / 1024,), unit="KiB")


def _cost_of_moves(api: Server, table: Table, redis_url: str, moves: int) -> tuple[float, dict[int, float]]:
    """Play moves; give the API's microseconds for all, and when each was told."""
    before = api.used_us()
    committed = dict(table.watched(redis_url, moves))
    return api.used_us() - before, committed


class Server:
    """A gunicorn with one worker, and one connection to it; use it in a ``with``."""

    def __init__(self, log: Path, arguments: list[str], environment: dict[str, str]) -> None:
        """Nothing runs yet."""
        self._log = log
        self._command = [sys.executable, "-m", "gunicorn", "--bind", "127.0.0.1:0", "--workers", "1", *arguments]
        self._environment = environment

    def __enter__(self) -> Self:
        with self._log.open("wb") as said:
            self._process = subprocess.Popen(self._command, env=self._environment, stdout=said, stderr=said)
        wait_until(lambda: _LISTENING.search(self._log.read_text()) is not None, "a server that listens", 30)
        wait_until(lambda: bool(self._children()), "its worker", 30)
        match = _LISTENING.search(self._log.read_text())
        self.address = match[1] if match else ""
        place = urlsplit(self.address)
        self._connection = http.client.HTTPConnection(place.hostname or "", place.port, timeout=30)
        self._pid = self._children()[0]
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()
        self._process.terminate()
        self._process.wait(timeout=20)

    def _children(self) -> list[int]:
        pid = self._process.pid
        return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]

    def get(self, path: str, token: str | None = None) -> bytes:
        """Give the body of an answer."""
        return self.ask("GET", path, None, token)

    def ask(self, method: str, path: str, body: object = None, token: str | None = None) -> bytes:
        """Send a request and give the body of its answer, which is a good one."""
        headers = {"Content-Type": "application/json"} if body is not None else {}
        headers |= {"Authorization": f"Bearer {token}"} if token else {}
        sent = json.dumps(body).encode() if body is not None else None
        self._connection.request(method, path, sent, headers)
        answer = self._connection.getresponse()
        told = answer.read()
        if answer.status >= 300:
            raise RuntimeError(f"expected a good answer to {method} {path}, got {answer.status}: {told!r:.200}")
        return told

    def cost(self, request: Any, times: int) -> float:
        """Give the worker's microseconds for a request."""
        before = cpu_us(self._pid)
        for _ in range(times):
            request()
        return (cpu_us(self._pid) - before) / times

    def memory(self) -> int:
        """Give the bytes of memory that the worker has now."""
        return int(Path(f"/proc/{self._pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def used_us(self) -> float:
        """Give the worker's processor time so far."""
        return cpu_us(self._pid)


class Table:
    """A River table of people, who play the first legal action each."""

    def __init__(self, api: Server) -> None:
        """Make the game."""
        self._api = api
        self._sit()

    def _sit(self) -> None:
        seats = [{"kind": "human", "name": f"player {number}"} for number in range(SEATS)]
        made = json.loads(self._api.ask("POST", "/v1/games", {"ruleset": "river", "seats": seats}))
        self.id = made["id"]
        self.tokens = [seat["token"] for seat in made["seats"]]

    def seat_path(self, number: int) -> str:
        """Give the path of a seat."""
        return f"/v1/games/{self.id}/seats/{number}"

    def cost_of_actions(self, times: int) -> float:
        """Give the worker's microseconds for an action, in this game or the next; what finds it out isn't counted."""
        used = 0.0
        for _ in range(times):
            seat, action = self._next()
            before = self._api.used_us()
            self._act(seat, action)
            used += self._api.used_us() - before
        return used / times

    def watched(self, redis_url: str, moves: int) -> Iterator[tuple[int, float]]:
        """Play, and give for each move its last event and the moment at which the store told of it."""
        for _ in range(moves):
            seat, action = self._next()
            with Heard(redis_url, keys.game_news(self.id)) as heard:
                self._act(seat, action)
            yield self._version(), heard.at
            time.sleep(PACE_S)

    def leave(self) -> None:
        """Have everybody leave, which ends the game and its streams."""
        for number, token in enumerate(self.tokens):
            self._api.ask("DELETE", self.seat_path(number), token=token)

    def _version(self) -> int:
        version: int = json.loads(self._api.get(f"/v1/games/{self.id}"))["version"]
        return version

    def _next(self) -> tuple[int, dict[str, str]]:
        game = json.loads(self._api.get(f"/v1/games/{self.id}"))
        if game["state"] != "running":
            self._sit()
            return self._next()
        seat = game["turn"][0]
        view = json.loads(self._api.get(self.seat_path(seat), self.tokens[seat]))
        return seat, {"decision_id": view["decision_id"], "action": view["legal_actions"][0]}

    def _act(self, seat: int, action: dict[str, str]) -> None:
        self._api.ask("POST", f"{self.seat_path(seat)}/actions", action, self.tokens[seat])


class Heard:
    """Notes in `at` when the first message came on a channel, by a thread of its own; use it in a ``with``."""

    def __init__(self, redis_url: str, channel: str) -> None:
        """Nobody listens yet."""
        self._redis = connect(redis_url)
        self._channel = channel
        self._thread = threading.Thread(target=self._listen)
        self.at = 0.0

    def __enter__(self) -> Self:
        self._pubsub = self._redis.pubsub()  # type: ignore[no-untyped-call]  # redis-py's
        self._pubsub.subscribe(self._channel)
        self._pubsub.get_message(timeout=5)  # that it is subscribed
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._thread.join(timeout=10)
        self._pubsub.close()
        self._redis.close()

    def _listen(self) -> None:
        if self._pubsub.get_message(timeout=5) is not None:
            self.at = time.monotonic()
