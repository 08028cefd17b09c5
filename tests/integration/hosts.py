"""An arena on several hosts: each has a loopback address of its own, an API that listens there, and a worker.

One store and one broker, servers of their own, are for all. Bots have addresses of their own, too.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import requests
from requests.adapters import HTTPAdapter

from bot_sdk.client import Arena as Client
from service.launch.valkey import EmbeddedValkey
from service.store import keys
from tests.integration.arena import Api, Arena, Process, wait_until
from tests.integration.readers import Onlooker

READY_S = 60.0
ARENA = "http://arena.example"
"""What `Cluster.client` calls the arena; no name that is looked up."""


@dataclass(frozen=True, slots=True, eq=False)
class Host:
    """What runs on one machine."""

    api: Api
    worker: Process

    @property
    def url(self) -> str:
        return self.api.address

    def crash(self) -> None:
        """Lose all of it at one moment."""
        self.api.kill()
        self.worker.kill()

    def stop(self) -> None:
        """Ask all of it to end, and see it end well."""
        self.worker.terminate()
        self.api.terminate()


class Cluster(Arena):
    """An arena whose hosts come and go while it plays; `hosts` are those that a balancer sends requests to."""

    def __init__(self, folder: Path, *, bots: list[str], **more: Any) -> None:
        super().__init__(folder, bots=[f"{name}@127.0.2.{n}" for n, name in enumerate(bots, 1)], **more)
        self.broker = EmbeddedValkey(folder / "broker")
        self.environment |= {"SLAGVELD_BROKER_URL": self.broker.url}
        self.hosts: list[Host] = []
        self._numbers = itertools.count(1)
        self._turns = itertools.count()

    def __enter__(self) -> Self:
        self.broker.start()
        return super().__enter__()

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        self.broker.close()

    # --- hosts --------------------------------------------------------------------------------------------------------

    def start_host(self, *worker: str) -> Host:
        """Start one, its worker with these options; nobody is sent to it yet."""
        number = next(self._numbers)
        log = self._folder / f"api-{number}.log"
        return Host(self._own(Api(self.environment, log, host=f"127.0.1.{number}")), self.start_worker(*worker))

    def add(self, *hosts: Host) -> None:
        """Wait until these hosts do their work, and send requests to them, too."""
        wait_until(lambda: len(self._there()) >= self._living(), READY_S, "workers that are there", every_s=0.05)
        for host in hosts:
            with Client(host.url, timeout_s=READY_S) as client:
                wait_until(client.ready, READY_S, f"an API that is ready at {host.url}", every_s=0.05)
        self.hosts += hosts

    def _there(self) -> list[bytes]:
        """Name the worker processes that were there within the last second."""
        return self.store._redis.zrange(keys.WORKERS, self.store.due.now() - 1_000, "+inf", byscore=True)

    def _living(self) -> int:
        return sum(worker.is_alive for worker in self.workers)

    def remove(self, host: Host, clients: Collection[Onlooker]) -> None:
        """Take it out of the rotation, let the clients have their answers, and stop it."""
        self.hosts.remove(host)
        self._let_go(clients)
        host.stop()

    def _let_go(self, clients: Collection[Onlooker]) -> None:
        before = [client.turns for client in clients]

        def have_gone_on() -> bool:
            return all(client.turns > turns for client, turns in zip(clients, before, strict=True))

        wait_until(have_gone_on, READY_S, "clients that have their answers")

    def lose(self, host: Host) -> None:
        """Have it crash; the balancer only finds out by asking it."""
        host.crash()
        self.hosts.remove(host)

    # --- clients ------------------------------------------------------------------------------------------------------

    def address(self) -> str | None:
        """Give the API whose turn it is."""
        hosts = list(self.hosts)
        return hosts[next(self._turns) % len(hosts)].url if hosts else None

    @contextmanager
    def client(self, token: str | None = None) -> Iterator[Client]:
        """Give a client each of whose requests goes to another API."""
        with Client(ARENA, token, timeout_s=READY_S, sleep=lambda s: time.sleep(min(s, 0.05))) as client:
            client._session._session.mount(ARENA, InTurn(self.address, lambda: len(self.hosts)))
            yield client


class InTurn(HTTPAdapter):
    """Sends each request to the next API; one to which there is no connection is passed over."""

    def __init__(self, address: Callable[[], str | None], count: Callable[[], int]) -> None:
        super().__init__()
        self._address = address
        self._count = count

    def send(self, request: requests.PreparedRequest, *args: Any, **kwargs: Any) -> requests.Response:
        path = request.path_url
        for left in range(self._count(), -1, -1):
            request.url = f"{self._address()}{path}"
            try:
                return super().send(request, *args, **kwargs)
            except requests.ConnectionError:
                if not left:
                    raise
        raise AssertionError("unreachable")
