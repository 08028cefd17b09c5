"""What arrives over the wire at the API as it is deployed: requests that are none, and clients in no hurry."""

from __future__ import annotations

import json
import re
import socket
import sys
import threading
import time
from contextlib import ExitStack, closing, suppress
from http.client import HTTPConnection
from pathlib import Path

import pytest
import requests

from service.api.wire import HEADERS
from tests.attacks.conftest import OPEN
from tests.attacks.world import GAME
from tests.service.api.serving import address_of, serve

CLIENT_S = 1.0
PATIENCE_S = 30
END = b"\r\n\r\n"
CLOSE = b"Host: a\r\nConnection: close\r\n"
NEXT = b"GET /v1/smuggled HTTP/1.1\r\nHost: a\r\n\r\n"
LAST = b"GET /v1/nothing HTTP/1.1\r\n" + CLOSE + b"\r\n"


@pytest.fixture(scope="module")
def served(valkey):
    environment = OPEN | {"SLAGVELD_CLIENT_MS": str(int(CLIENT_S * 1000)), "SLAGVELD_MAX_WAITING": "3"}
    with serve(valkey.url, **environment) as (server, process, said):
        yield server, process, said
    complaints = [line for line in said if b"Traceback" in line or b" ERROR " in line]
    assert not complaints, b"".join(complaints).decode()


@pytest.fixture
def server(served):
    return served[0]


def connected(server):
    return socket.create_connection(address_of(server), timeout=PATIENCE_S)


def read(sock):
    """Read until the server closes the connection."""
    parts = []
    with suppress(ConnectionResetError):
        while part := sock.recv(65_536):
            parts.append(part)
    return b"".join(parts)


def told(server, raw):
    """Send bytes, and give all that comes back until the server has had enough."""
    with connected(server) as sock:
        with suppress(ConnectionError):
            sock.sendall(raw)
        return read(sock)


def statuses(raw):
    """Give the statuses of all answers that came."""
    return [int(status) for status in re.findall(rb"HTTP/1\.\d (\d{3}) ", raw)]


def problem(raw, *expected):
    """Assert that all that came is one problem, whole, and the last on its connection."""
    head, _, body = raw.partition(END)
    assert statuses(raw)[0] in expected, raw[:300]
    assert len(statuses(raw)) == 1, raw
    fields = dict(line.split(b": ", 1) for line in head.split(b"\r\n")[1:])
    assert fields[b"Content-Type"] == b"application/problem+json"
    assert int(fields[b"Content-Length"]) == len(body)
    for name, value in HEADERS.items():
        assert fields[name.encode()] == value.encode()
    told = json.loads(body)
    assert told["status"] == statuses(raw)[0]
    assert {"type", "title", "code", "detail"} <= set(told)
    assert b"Traceback" not in raw
    return told


NONE = {
    "garbage": b"GARBAGE" + END,
    "binary": bytes(range(256)) + END,
    "tls": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 500 + END,
    "http/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "http/9": b"GET / HTTP/9.9\r\n" + CLOSE + b"\r\n",
    "http/0.9": b"GET /" + END,
    "lower case": b"get /v1/rulesets HTTP/1.1\r\n" + CLOSE + b"\r\n",
    "two blanks": b"GET  /v1/rulesets HTTP/1.1\r\n" + CLOSE + b"\r\n",
    "NUL in the path": b"GET /v1/\x00 HTTP/1.1\r\n" + CLOSE + b"\r\n",
    "bytes in the path": b"GET /v1/\xff HTTP/1.1\r\n" + CLOSE + b"\r\n",
    "no colon": b"GET / HTTP/1.1\r\nHost\r\n\r\n",
    "NUL in a header": b"GET / HTTP/1.1\r\nHost: a\x00b\r\n\r\n",
    "blank in a name": b"GET / HTTP/1.1\r\nHo st: a\r\n\r\n",
    "folded": b"GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n",
    "bare LF": b"GET / HTTP/1.1\nHost: a\n\n",
    "bare CR": b"GET / HTTP/1.1\r\nHost: a\rX: b\r\n\r\n",
    "two hosts": b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    "two types": b"POST /v1/bots HTTP/1.1\r\nContent-Type: a/b\r\nContent-Type: a/c\r\n\r\n",
}


@pytest.mark.parametrize("raw", NONE.values(), ids=NONE)
def test_what_is_no_request_is_answered_by_a_problem(server, raw):
    problem(told(server, raw), 400)


TOO_MUCH = {
    "a long path": (b"GET /" + b"a" * 5_000 + b" HTTP/1.1\r\nHost: a\r\n\r\n", 414),
    "an endless path": (b"GET /" + b"a" * 300_000, 414),
    "many headers": (b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 200 + b"\r\n", 431),
    "a long header": (b"GET / HTTP/1.1\r\nX: " + b"y" * 9_000 + b"\r\n\r\n", 431),
    "endless headers": (b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 150_000, 431),
    "an endless header": (b"GET / HTTP/1.1\r\nX: " + b"y" * 900_000, 431),
    "an expectation": (b"GET / HTTP/1.1\r\nHost: a\r\nExpect: a miracle\r\n\r\n", 417),
}


@pytest.mark.parametrize(("raw", "status"), TOO_MUCH.values(), ids=TOO_MUCH)
def test_a_flood_is_answered_by_a_problem(server, raw, status):
    problem(told(server, raw), status)


POST = b"POST /v1/accounts HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
SHORT, LONG = b"Content-Length: 4\r\n", b"Content-Length: 44\r\n"
TE = b"Transfer-Encoding: chunked\r\n"
SMUGGLED = {
    "CL.CL": SHORT + LONG,
    "CL.CL, one line": b"Content-Length: 4, 44\r\n",
    "CL.CL, the same": SHORT + SHORT,
    "CL, signed": b"Content-Length: +4\r\n",
    "CL, negative": b"Content-Length: -4\r\n",
    "CL, hexadecimal": b"Content-Length: 0x4\r\n",
    "CL, underscored": b"Content-Length: 4_4\r\n",
    "CL, in other digits": b"Content-Length: \xb2\r\n",
    "CL, empty": b"Content-Length: \r\n",
    "CL, blank before the colon": b"Content-Length : 4\r\n",
    "CL.TE": SHORT + TE,
    "TE.CL": TE + SHORT,
    "TE.TE": TE + b"Transfer-Encoding: identity\r\n",
    "TE.TE, twice": TE + TE,
    "TE.TE, one line": b"Transfer-Encoding: chunked, identity\r\n",
    "TE, unknown": b"Transfer-Encoding: xchunked\r\n" + SHORT,
    "TE, tab": b"Transfer-Encoding:\x0bchunked\r\n" + SHORT,
    "TE, blank before the colon": b"Transfer-Encoding : chunked\r\n" + SHORT,
    "TE, folded": b"Transfer-Encoding:\r\n chunked\r\n" + SHORT,
    "TE, quoted": b'Transfer-Encoding: "chunked"\r\n' + SHORT,
    "TE, after a bare CR": b"X: y\rTransfer-Encoding: chunked\r\n" + SHORT,
    "TE, after a bare LF": b"X: y\nTransfer-Encoding: chunked\r\n" + SHORT,
    "TE, in the name": b"Transfer-Encoding\x00: chunked\r\n" + SHORT,
}


@pytest.mark.parametrize("fields", SMUGGLED.values(), ids=SMUGGLED)
def test_nothing_is_smuggled_behind_a_body_of_two_lengths(server, fields):
    problem(told(server, POST + fields + b"\r\n" + b"0\r\n\r\n" + NEXT), 400, 501)


@pytest.mark.parametrize("field", [b"Content_Length: 44\r\n", b"Transfer_Encoding: chunked\r\n", b"Wsgi_Input: x\r\n"])
def test_a_header_with_an_underscore_is_none(server, field):
    """It would be the same as one with a hyphen by the time it reaches the app."""
    raw = told(server, POST + field + b"Content-Length: 4\r\n\r\n{   " + LAST)
    assert statuses(raw) == [400, 404]


CHUNKS = {
    "whole": b"4\r\n{}  \r\n0\r\n\r\n",
    "of no size": b"\r\n\r\n",
    "huge": b"ffffffffffffffff\r\n" + b"x" * 100,
    "negative": b"-1\r\n\r\n",
    "extended": b"4;a=" + b"b" * 9_000 + b"\r\n{}  \r\n0\r\n\r\n",
    "trailed": b"4\r\n{}  \r\n0\r\nHost: b\r\nContent-Length: 9\r\n\r\n",
    "cut": b"4\r\n{}",
}


@pytest.mark.parametrize("chunks", CHUNKS.values(), ids=CHUNKS)
def test_a_chunked_body_is_refused_unread(server, chunks):
    raw = told(server, POST + TE + b"Connection: close\r\n\r\n" + chunks)
    assert statuses(raw) == [411]
    assert b"length_required" in raw
    kept = told(server, POST + TE + b"\r\n" + chunks + LAST)  # the connection is only kept if the body can be skipped
    assert statuses(kept) in ([[411, 404]] if chunks.endswith(b"\r\n0\r\n\r\n") else [[411], [411, 400]])


def test_a_promise_of_a_large_body_is_refused_unheard(server):
    for length in (65_537, 10**12, 10**30):
        raw = told(server, POST + f"Content-Length: {length}\r\nConnection: close\r\n\r\n{{".encode())
        assert statuses(raw) == [413]
        assert b"body_too_large" in raw


def test_targets_that_are_no_paths_lead_nowhere(server):
    for line, status in (
        (b"GET http://evil.example/v1/nothing HTTP/1.1", 404),
        (b"OPTIONS * HTTP/1.1", 404),
        (b"CONNECT evil.example:443 HTTP/1.1", 404),
        (b"GET //evil.example/%2e%2e HTTP/1.1", 404),
        (b"DEBUG /v1/rulesets HTTP/1.1", 405),
    ):
        raw = told(server, line + b"\r\n" + CLOSE + b"\r\n")
        assert statuses(raw) == [status], raw
        assert b"application/problem+json" in raw
        assert b"evil" not in raw


# --- clients in no hurry ----------------------------------------------------------------------------------------------

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
        assert not [line for line in said if b"ERROR" in line]


def drip(sock, stop):
    """Send a byte now and then, as long as anybody listens."""
    with suppress(OSError):
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
        sock.sendall(b"GET /static/swagger-ui/swagger-ui-bundle.js HTTP/1.1\r\nHost: a\r\n\r\n" * 20)
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
