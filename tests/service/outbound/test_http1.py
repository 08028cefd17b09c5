"""Replies in all the pieces that a network may cut them into."""

from __future__ import annotations

import contextlib
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.outbound.http1 import HEADERS_LIMIT, Fault, ReplyReader
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
    with contextlib.suppress(Fault):
        if not any(reader.feed(piece) for piece in [*stream, more or b"x"]):
            reader.end()
        assert reader.status == 200
        assert len(reader.body) <= 100


def test_no_more_is_kept_than_the_limits_and_one_read():
    reader = ReplyReader()
    reader.begin(1000)
    reader.feed(CHUNKED)
    padded_chunk = b"1;%b\r\n \r\n" % (b"x" * 100)
    for _ in range((HEADERS_LIMIT + 1000 - len(CHUNKED)) // len(padded_chunk)):
        assert not reader.feed(padded_chunk)
    with pytest.raises(Fault, match="at most 1000 bytes"):
        reader.feed(padded_chunk)
