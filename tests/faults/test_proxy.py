"""The proxy does what it says: else the tests that lean on it would show nothing."""

from __future__ import annotations

import contextlib
import socket
import socketserver
import threading
import time

import pytest

from tests.faults.proxy import Proxy
from tests.faults.traps import DOWN, UP


class Echo(socketserver.BaseRequestHandler):
    """Says back what it hears, in capitals."""

    def handle(self):
        with contextlib.suppress(OSError):  # cut, as the tests do
            while heard := self.request.recv(4096):
                self.server.heard.append(heard)
                self.request.sendall(heard.upper())


@pytest.fixture
def echo():
    class Server(socketserver.ThreadingTCPServer):
        allow_reuse_address, daemon_threads = True, True

    with Server(("127.0.0.1", 0), Echo) as server:
        server.heard = []
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def proxy(echo):
    with Proxy(echo.server_address) as made:
        yield made


@pytest.fixture
def connect(proxy):
    with contextlib.ExitStack() as stack:

        def make():
            return stack.enter_context(socket.create_connection(("127.0.0.1", proxy.port), timeout=5))

        yield make


def ask(connection, said=b"hello"):
    connection.sendall(said)
    return hear(connection, len(said))


def hear(connection, most=1024):
    """Read up to `most` bytes, fewer if the other side closes."""
    heard = b""
    with contextlib.suppress(ConnectionResetError):  # a close that lost something on its way
        while len(heard) < most and (piece := connection.recv(most - len(heard))):
            heard += piece
    return heard


def is_silent(connection, seconds=0.1):
    connection.settimeout(seconds)
    try:
        return connection.recv(1) is None
    except TimeoutError:
        return True
    finally:
        connection.settimeout(5)


def until(is_so, seconds=5):
    ends = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < ends
        time.sleep(0.002)


def test_passes_everything_on_when_nothing_is_said(connect):
    assert ask(connect(), b"a" * 100_000) == b"A" * 100_000


def test_listens_on_a_unix_socket_too_and_speaks_to_one(tmp_path, proxy):
    with Proxy(("127.0.0.1", proxy.port), listen=tmp_path / "a") as inner, Proxy(tmp_path / "a") as outer:
        assert inner.redis_url(3) == f"unix://{tmp_path}/a?db=3"
        with socket.create_connection(("127.0.0.1", outer.port), timeout=5) as connection:
            assert ask(connection) == b"HELLO"


def test_delays_each_way(proxy, connect):
    connection = connect()
    proxy.set(UP, delay_s=0.1)
    proxy.set(DOWN, delay_s=0.1)
    began = time.monotonic()
    assert ask(connection) == b"HELLO"
    assert time.monotonic() - began >= 0.2


def test_trickles(proxy, connect):
    proxy.set(DOWN, trickle=1, step_s=0.02)
    began = time.monotonic()
    assert ask(connect(), b"abcdef") == b"ABCDEF"
    assert time.monotonic() - began >= 0.1


@pytest.mark.parametrize(("way", "arrived", "heard"), [(UP, b"hel", b""), (DOWN, b"hello", b"HEL")])
def test_cuts_in_the_middle_of_a_message(proxy, connect, echo, way, arrived, heard):
    proxy.set(way, cut_after=3)
    connection = connect()
    connection.sendall(b"hello")
    said = hear(connection)
    assert said in {heard, b"HEL"[: len(said)]}
    until(lambda: b"".join(echo.heard) == arrived)


def test_swallows_and_keeps_the_connection(proxy, connect, echo):
    connection = connect()
    proxy.set(UP, swallow=True)
    connection.sendall(b"hello")
    assert is_silent(connection)
    proxy.heal()
    assert ask(connection, b"again") == b"AGAIN"
    assert echo.heard == [b"again"]


def test_partition_lets_nothing_pass_and_heals(proxy, connect, echo):
    connection = connect()
    assert ask(connection) == b"HELLO"
    proxy.partition()
    connection.sendall(b"there?")
    late = connect()
    late.sendall(b"late")
    assert is_silent(connection)
    assert echo.heard == [b"hello"]
    proxy.heal()
    assert (hear(connection, 6), hear(late, 4)) == (b"THERE?", b"LATE")


def test_refuses_then_listens_where_it_did(proxy, connect):
    connection = connect()
    proxy.refuse()
    assert hear(connection) == b""
    with pytest.raises(ConnectionRefusedError):
        connect()
    proxy.heal()
    assert ask(connect()) == b"HELLO"


def test_takes_connections_and_hangs(proxy, connect):
    proxy.hang()
    connection = connect()
    connection.sendall(b"hello")
    assert is_silent(connection)
    proxy.heal()
    assert hear(connection, 5) == b"HELLO"


def test_connects_in_another_order():
    with socket.create_server(("127.0.0.1", 0)) as upstream, Proxy(upstream.getsockname()) as proxy:
        proxy.reorder(3)
        clients = []
        for number in range(3):
            clients.append(socket.create_connection(("127.0.0.1", proxy.port), timeout=5))
            clients[-1].sendall(b"%d" % number)
            until(lambda number=number: proxy.accepted == number + 1)
        upstream.settimeout(5)
        accepted = [upstream.accept()[0] for _ in range(3)]
        assert [connection.recv(1) for connection in accepted] == [b"2", b"1", b"0"]
        for connection in [*clients, *accepted]:
            connection.close()


def test_nobody_behind_it_closes_the_connection(proxy):
    with Proxy(("127.0.0.1", 1)) as lonely, socket.create_connection(("127.0.0.1", lonely.port), timeout=5) as made:
        assert hear(made) == b""


# --- traps ------------------------------------------------------------------------------------------------------------


def test_what_is_caught_goes_on_when_it_is_released(proxy, connect, echo):
    trap = proxy.catch(UP, b"fire")
    first, second = connect(), connect()
    first.sendall(b"set fire to it")
    trap.wait()
    assert echo.heard == []
    assert ask(second, b"no fire") == b"NO FIRE", "one piece is caught, not all"
    trap.release()
    assert hear(first, 14) == b"SET FIRE TO IT"


def test_what_is_caught_may_vanish(proxy, connect, echo):
    trap = proxy.catch(UP, b"fire")
    connection = connect()
    connection.sendall(b"fire")
    trap.wait().drop()
    assert ask(connection, b"water") == b"WATER"
    assert echo.heard == [b"water"]


def test_a_reply_is_caught_once_its_question_was_heard(proxy, connect, echo):
    trap = proxy.catch_reply(b"fire")
    connection = connect()
    connection.sendall(b"fire")
    trap.wait()
    assert echo.heard == [b"fire"]
    assert is_silent(connection)
    trap.cut()
    assert hear(connection) == b""


def test_a_pattern_cut_in_two_is_caught(proxy, connect, echo):
    trap = proxy.catch(UP, b"fire")
    connection = connect()
    assert ask(connection, b"set fi") == b"SET FI"
    connection.sendall(b"re")
    trap.wait().release()
    assert hear(connection, 2) == b"RE"


def test_nothing_is_caught_twice_nor_what_has_passed(proxy, connect):
    connection = connect()
    assert ask(connection, b"fire") == b"FIRE"
    trap = proxy.catch(UP, b"fire")
    assert ask(connection, b"!") == b"!"
    assert not trap.is_sprung
