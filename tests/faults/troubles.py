"""What may be wrong with a store that runs: it takes no writes, or answers nobody, for as long as a block lasts."""

from __future__ import annotations

import os
import resource
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from redis import Redis
from redis.exceptions import RedisError

from service.launch.valkey import EmbeddedValkey, find_server
from service.store.connection import connect
from tests.integration.arena import wait_until

PROBE = "is there room?"
"""A key that comes and goes."""
Trouble = Callable[[EmbeddedValkey], object]
"""Makes a context in which the store has that trouble."""


def large_files_fail(folder: Path) -> Path:
    """Give a server program that outlives a write beyond its limit on files (`disk_full`), as it does a full disk."""
    program = folder / "valkey-without-sigxfsz"
    program.write_text(f"#!/bin/sh\ntrap '' XFSZ\nexec '{find_server()}' \"$@\"\n")
    program.chmod(0o700)
    return program


@contextmanager
def asked(server: EmbeddedValkey) -> Iterator[Redis]:
    client = connect(server.url, max_connections=1)
    try:
        yield client
    finally:
        client.close()


@contextmanager
def out_of_memory(server: EmbeddedValkey) -> Iterator[None]:
    """It holds more than it may."""
    with _configured(server, "maxmemory", "1"):
        yield


@contextmanager
def replicas_away(server: EmbeddedValkey) -> Iterator[None]:
    """It is to have a replica, and has none."""
    with _configured(server, "min-replicas-to-write", "1"):
        yield


@contextmanager
def _configured(server: EmbeddedValkey, name: str, value: str) -> Iterator[None]:
    with asked(server) as client:
        before = client.config_get(name)[name]
        client.config_set(name, value)
        try:
            yield
        finally:
            client.config_set(name, before)


@contextmanager
def read_only(server: EmbeddedValkey) -> Iterator[None]:
    """It has been made the replica of another, which is gone."""
    with asked(server) as client:
        client.execute_command("REPLICAOF", "127.0.0.1", "1")
        try:
            yield
        finally:
            client.execute_command("REPLICAOF", "NO", "ONE")


@contextmanager
def disk_full(server: EmbeddedValkey) -> Iterator[None]:
    """No file of it may grow; it must have been started by `large_files_fail`."""
    data = Path(server.log_path).parent
    largest = max(path.stat().st_size for path in data.rglob("*.aof"))
    assert server.log_path.stat().st_size < largest, "it couldn't even say what is wrong"
    before = resource.prlimit(server.pid, resource.RLIMIT_FSIZE, (largest, resource.RLIM_INFINITY))
    with asked(server) as client:
        try:
            wait_until(lambda: _refuses(client), 10, "a store that has noticed that its disk is full")
            yield
        finally:
            resource.prlimit(server.pid, resource.RLIMIT_FSIZE, before)
            wait_until(lambda: not _refuses(client), 10, "a store that has noticed that its disk has room")


def _refuses(client: Redis) -> bool:
    try:
        client.set(PROBE, "yes")
        client.delete(PROBE)
    except RedisError:
        return True
    return False


@contextmanager
def stopped(server: EmbeddedValkey) -> Iterator[None]:
    """It stands still."""
    os.kill(server.pid, signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(server.pid, signal.SIGCONT)


@contextmanager
def dead(server: EmbeddedValkey) -> Iterator[None]:
    """It has crashed, and comes back with its data."""
    server.kill()
    try:
        yield
    finally:
        server.start()


REFUSING: tuple[Trouble, ...] = (out_of_memory, read_only, replicas_away, disk_full)
"""It answers, and takes no writes."""
