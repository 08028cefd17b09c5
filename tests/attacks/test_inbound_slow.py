"""Clients in no hurry, at the API as it is deployed: slow to ask, slow to read, gone without a word."""

from __future__ import annotations

import sys
import threading
import time
from contextlib import ExitStack, closing, suppress
from http.client import HTTPConnection
from pathlib import Path

import pytest
import requests

from tests.attacks.conftest import OPEN
from tests.attacks.wire import LONG, PATIENCE_S, POST, complaints, connected, read, statuses
from tests.attacks.world import GAME
from tests.service.api.serving import address_of, serve

CLIENT_S = 1.0
IMPATIENT = OPEN | {"SLAGVELD_CLIENT_MS": str(int(CLIENT_S * 1000)), "SLAGVELD_MAX_WAITING": "3"}


@pytest.fixture(scope="module")
def server(valkey):
    with serve(valkey.url, **IMPATIENT) as (server, _, said):
        yield server
    assert not complaints(said)


DAWDLERS = (
    b"",
    b"GET /v1/ru",
    b"GET / HTTP/1.1\r\nHost: a\r\nX-",
    POST + LONG,
    POST + LONG + b"\r\n",
    POST + LONG + b"\r\n{",
)


def dawdle(server, many):
    """Have so many clients begin a request and say no more; health still answers."""
    with ExitStack() as stack:
        for number in range(many):
            dawdler = stack.enter_context(connected(server))
            dawdler.sendall(DAWDLERS[number % len(DAWDLERS)])
        took = []
        for _ in range(5):  # the machine may be busy, the server isn't
            began = time.monotonic()
            assert requests.get(f"{server}/health/live", timeout=PATIENCE_S).ok
            took.append(time.monotonic() - began)
        assert min(took) < 0.5


def test_health_answers_while_clients_dawdle(server):
    dawdle(server, 100)


@pytest.mark.attack
def test_health_answers_while_a_thousand_clients_dawdle(redis_url):
    with serve(redis_url, **OPEN) as (server, _, said):
        dawdle(server, 1_000)
    assert not complaints(said)


def drip(sock, stop):
    """Send a byte now and then, as long as anybody listens."""
    with suppress(OSError):  # we have been let go
        while not stop.wait(0.05):
            sock.sendall(b" ")


@pytest.mark.parametrize(
    "begun", [POST + LONG.replace(b"44", b"60000") + b"\r\n{", POST + b"X: "], ids=["body", "head"]
)
def test_who_drips_is_let_go(server, begun):
    """However steadily it comes: a body is answered 408, half a head not at all."""
    stop = threading.Event()
    with connected(server) as sock:
        sock.sendall(begun)
        dripping = threading.Thread(target=drip, args=[sock, stop])
        dripping.start()
        began = time.monotonic()
        raw = read(sock)
        took = time.monotonic() - began
        stop.set()
        dripping.join()
    assert CLIENT_S * 0.9 <= took < PATIENCE_S / 2
    if begun.endswith(b"{"):
        assert statuses(raw) == [408]
        assert b"body_incomplete" in raw
    else:
        assert raw == b""


def test_who_is_slow_to_ask_again_is_kept(server):
    """The time for a head is that of a first request: between two a client may rest."""
    with closing(HTTPConnection(*address_of(server), timeout=PATIENCE_S)) as connection:
        connection.auto_open = 0
        connection.connect()
        for rest in (0, CLIENT_S * 1.5):
            time.sleep(rest)
            connection.request("GET", "/health/live")
            assert connection.getresponse().read()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets go of who never reads")
def test_who_never_reads_is_let_go(server):
    with connected(server) as sock:
        sock.sendall(b"GET /static/x/vendor/swagger-ui/swagger-ui-bundle.js HTTP/1.1\r\nHost: a\r\n\r\n" * 20)
        assert is_connected_at_the_server(sock)
        until(lambda: not is_connected_at_the_server(sock))


def is_connected_at_the_server(sock):
    """Whether the system still knows the server's end of a connection."""
    ends = [f":{end[1]:04X}" for end in (sock.getpeername(), sock.getsockname())]
    lines = [line.split() for line in Path("/proc/net/tcp").read_text("ascii").splitlines()]
    return any(line[1].endswith(ends[0]) and line[2].endswith(ends[1]) and line[3] == "01" for line in lines)


def until(is_so):
    ends = time.monotonic() + PATIENCE_S
    while not is_so():
        assert time.monotonic() < ends, "it never came to that"
        time.sleep(0.02)


def test_who_leaves_a_stream_leaves_his_place(server):
    account = requests.post(f"{server}/v1/accounts", json={"name": "ann"}, timeout=5).json()
    host = {"Authorization": f"Bearer {account['token']}"}
    game = requests.post(f"{server}/v1/games", json=GAME, headers=host, timeout=5).json()
    path = f"/v1/games/{game['id']}/stream"
    with ExitStack() as stack:
        for _ in range(3):
            stream = stack.enter_context(connected(server))
            stream.sendall(f"GET {path} HTTP/1.1\r\nHost: a\r\n\r\n".encode())
            assert stream.recv(65_536).startswith(b"HTTP/1.1 200")
        refused = requests.get(server + path, timeout=5)
        assert (refused.status_code, refused.json()["code"]) == (429, "too_many_waiting")
    players = [{"Authorization": f"Bearer {seat['token']}"} for seat in game["seats"]]

    def is_free():
        """Have something happen, by which who has left is noticed."""
        for number, player in enumerate(players):
            seat = f"{server}/v1/games/{game['id']}/seats/{number}"
            view = requests.get(seat, headers=player, timeout=5).json()
            if view["decision_id"]:
                act = {"decision_id": view["decision_id"], "action": view["legal_actions"][0]}
                assert requests.post(f"{seat}/actions", json=act, headers=player, timeout=5).ok
        with requests.get(server + path, stream=True, timeout=5) as answer:
            return answer.status_code == 200

    until(is_free)
