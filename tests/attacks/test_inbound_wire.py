"""What arrives over the wire at the API as it is deployed: requests that are none, or two."""

from __future__ import annotations

import json
import re

import pytest

from service.api.wire import HEADERS, REQUEST_ID
from tests.attacks.conftest import OPEN
from tests.attacks.wire import CLOSE, LONG, POST, complaints, statuses, told
from tests.service.api.serving import serve

END = b"\r\n\r\n"
NEXT = b"GET /v1/smuggled HTTP/1.1\r\nHost: a\r\n\r\n"
LAST = b"GET /v1/nothing HTTP/1.1\r\n" + CLOSE + b"\r\n"


@pytest.fixture(scope="module")
def server(valkey):
    with serve(valkey.url, **OPEN | {"SLAGVELD_CLIENT_MS": "1000"}) as (server, _, said):
        yield server
    assert not complaints(said)


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
    assert re.fullmatch(rb"[0-9a-f]{16}", fields[REQUEST_ID.encode()])
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


SHORT = b"Content-Length: 4\r\n"
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
