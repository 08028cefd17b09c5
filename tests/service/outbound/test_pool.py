"""Which connections are kept, and for how long."""

from __future__ import annotations

import socket

import pytest

from service.outbound.connection import Connection
from service.outbound.pool import Pool


@pytest.fixture
def connect():
    """Make a connection, and the bot's end of it."""
    ends: list[socket.socket] = []

    def make() -> tuple[Connection, socket.socket]:
        ours, theirs = socket.socketpair()
        ends.extend([ours, theirs])
        return Connection(ours), theirs

    yield make
    for end in ends:
        end.close()


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock():
    return Clock()


def is_open(connection: Connection) -> bool:
    return connection._socket.fileno() >= 0


def test_the_newest_connection_is_taken_first(connect, clock):
    pool, (old, _), (new, _) = Pool(clock=clock), connect(), connect()
    for connection in (old, new):
        pool.add(connection)
        pool.give_back("a", connection)
    assert [pool.take("a"), pool.take("a"), pool.take("a"), pool.take("b")] == [new, old, None, None]


def test_what_idled_too_long_is_closed(connect, clock):
    pool, (connection, _) = Pool(clock=clock, idle_s=20), connect()
    pool.give_back("a", connection)
    clock.now += 20
    assert pool.take("a") is connection
    pool.give_back("a", connection)
    clock.now += 21
    assert pool.take("a") is None
    assert not is_open(connection)


def test_what_idled_too_long_is_closed_when_another_comes_back(connect, clock):
    pool, (old, _), (new, _) = Pool(clock=clock, idle_s=20), connect(), connect()
    pool.give_back("a", old)
    clock.now += 21
    pool.give_back("b", new)
    assert (is_open(old), is_open(new)) == (False, True)


def test_only_so_many_idle_and_the_oldest_goes_first(connect, clock):
    pool, made = Pool(clock=clock, most_idle=2), [connect()[0] for _ in range(4)]
    for number, connection in enumerate(made):
        pool.give_back(f"url {number}", connection)
    assert [is_open(connection) for connection in made] == [False, False, True, True]
    assert pool.take("url 0") is None
    assert pool.take("url 3") is made[3]


@pytest.mark.parametrize("end", [lambda theirs: theirs.close(), lambda theirs: theirs.send(b"HTTP/1.1 200 OK")])
def test_what_ended_or_spoke_while_idle_is_closed(connect, clock, end):
    pool, (connection, theirs) = Pool(clock=clock), connect()
    pool.give_back("a", connection)
    end(theirs)
    assert pool.take("a") is None
    assert not is_open(connection)


def test_a_shutdown_closes_the_idle_and_ends_the_busy(connect, clock):
    pool, (idle, _), (busy, theirs), (fresh, _) = Pool(clock=clock), connect(), connect(), connect()
    pool.give_back("a", idle)
    pool.add(busy)
    pool.shut_down()
    assert not is_open(idle)
    assert theirs.recv(1) == b""
    pool.give_back("a", busy)
    assert not is_open(busy)
    pool.add(fresh)
    assert not fresh.is_quiet()
    assert pool.take("a") is None
