"""Replies in all the pieces that a network may cut them into."""

from __future__ import annotations

import contextlib
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.outbound.http1 import HEADERS_LIMIT, MOST_HEADERS, Fault, ReplyReader
from tests.service.outbound.hostile import BODY, reply

CHUNKED = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"
GOOD = [
    reply(),
    b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n" + reply(),
    CHUNKED
    + b"5\r\n"
    + BODY[:5]
    + b"\r\n%x\r\n" % (len(BODY) - 5)
    + BODY[5:]
    + b"\r\n0\r\nx-trailer: content-length\r\n\r\n",
]


def pieces(data: bytes, cuts: list[int]) -> list[bytes]:
    at = sorted({cut % len(data) for cut in cuts} | {0, len(data)})
    return [data[start:end] for start, end in itertools.pairwise(at)]


@given(st.sampled_from(GOOD), st.lists(st.integers(0, 10_000)))
def test_a_reply_is_the_same_in_any_pieces(data, cuts):
    reader = ReplyReader()
    for _ in range(2):  # and the reader is ready for the next one
        reader.begin(1000)
        done = [reader.feed(piece) for piece in pieces(data, cuts)]
        assert done == [False] * (len(done) - 1) + [True]
        assert (reader.body, reader.status, reader.may_go_on) == (BODY, 200, True)


@given(st.sampled_from(GOOD), st.integers(1, 10_000))
def test_a_reply_cut_short_is_never_whole(data, cut):
    reader = ReplyReader()
    reader.begin(1000)
    assert not reader.feed(data[: cut % (len(data) - 1) + 1])
    with pytest.raises(Fault):
        reader.end()
    assert not reader.may_go_on


@given(st.lists(st.binary(min_size=1), min_size=1) | st.sampled_from(GOOD).map(lambda data: [data[:60]]), st.binary())
def test_any_bytes_end_in_a_reply_or_a_fault(stream, more):
    reader = ReplyReader()
    reader.begin(100)
    with contextlib.suppress(Fault):  # the other way to end well
        if not any(reader.feed(piece) for piece in [*stream, more or b"x"]):
            reader.end()
        assert reader.status == 200
        assert len(reader.body) <= 100


def padded(size: int) -> bytes:
    """Make a reply whose headers have a size, the blank line after them included."""
    bare = reply(BODY, "x: ")
    return reply(BODY, "x: " + "y" * (size - bare.index(BODY)))


@given(st.lists(st.integers(0, 20_000)))
def test_the_limit_of_headers_is_the_same_in_any_pieces(cuts):
    reader = ReplyReader()
    reader.begin(1000)
    assert [reader.feed(piece) for piece in pieces(padded(HEADERS_LIMIT), cuts)][-1]
    assert reader.body == BODY
    reader.begin(1000)
    with pytest.raises(Fault, match=f"at most {HEADERS_LIMIT} bytes of headers"):
        any(map(reader.feed, pieces(padded(HEADERS_LIMIT + 1), cuts)))


def test_so_many_headers_and_no_more():
    reader, room = ReplyReader(), MOST_HEADERS - reply().count(b"\r\ncontent-")
    reader.begin(1000)
    assert reader.feed(reply(BODY, *["x: y"] * room))
    reader.begin(1000)
    with pytest.raises(Fault, match=f"at most {MOST_HEADERS} headers"):
        reader.feed(reply(BODY, *["x: y"] * (room + 1)))


LINES = [
    "HTTP/1.1 200 OK",
    "HTTP/1.0 200 OK",
    "HTTP/1.1 100 Go on",
    "HTTP/1.1 101 Switch",
    "HTTP/1.1 204 None",
    "HTTP/2 200",
]
NAMES = ["content-length", "content-type", "transfer-encoding", "content-encoding", "connection", "upgrade", "x", ""]
VALUES = [
    *["", " ", "0", "2", "-1", "+2", "2, 2", "0x2", "2_0", "2\v", "\xb2", "18446744073709551617"],
    *[
        "chunked",
        "gzip, chunked",
        "chunked, chunked",
        "chunked;q=1",
        "identity",
        "application/json",
        "close",
        "upgrade",
    ],
]
BODIES = ["{}", "2\r\n{}\r\n0\r\n\r\n", "2;x\r\n{}\r\n0\r\ncontent-length: 9\r\n\r\n", "-2\r\n{}", "2\n{}\n0\n\n"]
A_MESSAGE = st.tuples(
    st.sampled_from(LINES),
    st.lists(st.builds("{}: {}".format, st.sampled_from(NAMES), st.sampled_from(VALUES)), max_size=4),
    st.sampled_from(BODIES),
).map(lambda parts: "\r\n".join([parts[0], "content-type: application/json", *parts[1], "", parts[2]]))


@given(st.lists(A_MESSAGE, min_size=1, max_size=2), st.lists(st.integers(0, 1_000)))
def test_no_framing_breaks_the_reader(messages, cuts):
    reader = ReplyReader()
    reader.begin(1000)
    with contextlib.suppress(Fault):  # the other way to end well
        if not any(reader.feed(piece) for piece in pieces("".join(messages).encode("latin-1"), cuts)):
            reader.end()
            assert not reader.may_go_on


def test_no_more_is_kept_than_the_limits_and_one_read():
    reader = ReplyReader()
    reader.begin(1000)
    reader.feed(CHUNKED)
    padded_chunk = b"1;%b\r\n \r\n" % (b"x" * 100)
    for _ in range((HEADERS_LIMIT + 1000 - len(CHUNKED)) // len(padded_chunk)):
        assert not reader.feed(padded_chunk)
    with pytest.raises(Fault, match="at most 1000 bytes"):
        reader.feed(padded_chunk)
