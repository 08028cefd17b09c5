"""Many readers of one thing: one wait for all, the same bytes for all, and nobody held up by who is slow or gone."""

from __future__ import annotations

import os
import socket
import ssl
import threading
import time
from contextlib import closing

import pytest

from service.api.direct import Direct, chunk
from service.api.fan import HEARTBEAT, Fans, Found, Reader, written

NEVER = 20.0
"""Seconds that are over only if something is broken."""


class Source:
    """Something to follow: messages 1, 2, … as they are told."""

    def __init__(self):
        self._changed = threading.Condition()
        self.messages = []
        self.more = True
        self.waits = 0
        self.known = None
        self.nudges = 0
        self.error = None

    def wait(self, newest):
        with self._changed:
            self.waits += 1
            self.known = newest
            nudges = self.nudges
            self._changed.wait_for(
                lambda: self.nudges > nudges or len(self.messages) > newest or not self.more or self.error, NEVER
            )
            if self.error:
                raise self.error
            told = tuple(enumerate(self.messages, 1))
            return Found(len(told), lambda seen: told[seen:], self.more)

    def change(self, *messages, **changes):
        with self._changed:
            self.messages += messages
            for name, value in changes.items():
                setattr(self, name, value)
            self._changed.notify_all()


NOTHING = Found(0, lambda _: (), more=True)
"""What there is before anything happened."""


class Stream(threading.Thread):
    """Reads as the server does: what is given it writes."""

    def __init__(self, fans, source, *, seen=0, sock=None):
        super().__init__(daemon=True)
        self.fan = fans.join("it", source.wait, 0, NOTHING)
        self.reader = Reader(seen, Direct(sock) if sock else None)
        self.given, self.beats, self.error, self._fans, self._sock = [], [], None, fans, sock
        self.start()

    def run(self):
        try:
            while part := self.fan.next(self.reader, time.monotonic() + NEVER):
                (self.beats if part == HEARTBEAT else self.given).append(part)
                if self._sock:
                    self._sock.sendall(chunk(part))
        except OSError as error:
            self.error = error
        finally:
            self._fans.leave(self.fan)

    def ended(self):
        self.join(NEVER)
        assert not self.is_alive()
        return b"".join(self.given)


@pytest.fixture
def source():
    return Source()


@pytest.fixture
def fans(source):
    closed = threading.Event()
    yield Fans(closed.is_set)
    closed.set()
    source.change(nudges=10**9)


@pytest.fixture
def connected():
    """Make pairs of the server's socket, which never blocks in the system, and the client's."""
    made = []

    def make():
        server, client = socket.socketpair()
        server.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
        server.settimeout(NEVER)
        client.settimeout(NEVER)
        made.extend((server, client))
        return server, client

    yield make
    for each in made:
        each.close()


def until(is_so):
    ends = time.monotonic() + NEVER
    while not is_so():
        assert time.monotonic() < ends
        time.sleep(0.001)


def parked(*streams):
    """Wait until these have all that is known."""
    until(lambda: all(stream.reader in stream.fan._parked for stream in streams))


def as_written(first, *messages):
    return written(list(enumerate(messages, first)))


def read(client, size):
    found = b""
    while len(found) < size:
        more = client.recv(size - len(found))
        assert more
        found += more
    return found


def test_all_are_told_by_one_wait(fans, source):
    source.change(b"a")
    streams = [Stream(fans, source) for _ in range(20)]
    parked(*streams)
    until(lambda: source.known == 1)
    before = source.waits
    source.change(b"b")
    until(lambda: source.known == 2)
    assert source.waits == before + 1
    source.change(more=False)
    assert {stream.ended() for stream in streams} == {as_written(1, b"a") + as_written(2, b"b")}


def test_who_is_parked_is_written_to_past_the_server(fans, source, connected):
    server, client = connected()
    stream = Stream(fans, source, sock=server)
    parked(stream)
    source.change(b"a")
    told = read(client, len(beat := chunk(HEARTBEAT)))
    if told == beat:  # one that was on its way when he came
        told = read(client, len(beat))
    expected = chunk(as_written(1, b"a"))
    assert told + read(client, len(expected) - len(told)) == expected
    assert not stream.given


def test_who_comes_later_is_given_what_is_known_and_after_that_what_all_are(fans, source):
    source.change(b"a", b"b")
    first = Stream(fans, source)
    until(lambda: first.given)
    later = Stream(fans, source, seen=1)
    parked(later)
    source.change(b"c")
    until(lambda: len(later.given) == 2)
    assert later.given == [as_written(2, b"b"), as_written(3, b"c")]


def test_a_fan_begins_from_what_its_first_reader_found(fans, source):
    found = Found(1, lambda seen: [(1, b"a")][seen:], more=True)
    fan = fans.join("it", source.wait, 0, found)
    assert fan.next(Reader(0, None), 0.0) == as_written(1, b"a")
    until(lambda: source.known == 1)


def test_who_found_something_newer_himself_is_not_told_what_is_older(fans, source):
    fan = fans.join("it", source.wait, 0, Found(1, lambda seen: [(1, b"old")] if seen != 1 else [], more=True))
    assert fan.next(Reader(2, None), 0.0) == b""
    assert fan.next(Reader(0, None), 0.0) == as_written(1, b"old")


def test_nobody_waits_for_who_is_slow_and_he_misses_nothing(fans, source, connected):
    server, slow = connected()
    dawdler, quick = Stream(fans, source, sock=server), Stream(fans, source)
    parked(dawdler, quick)
    messages = [b"%d" % n * 5_000 for n in range(40)]
    for number, message in enumerate(messages, 1):
        source.change(message)
        until(lambda number=number: len(quick.given) == number)
    assert dawdler.reader not in dawdler.fan._parked
    source.change(more=False)
    with closing(slow.makefile("rb")) as read_by_client:
        body = b""
        while b"id: 40\n" not in body:  # chunks, each whole
            size = int(read_by_client.readline(), 16)
            body += read_by_client.read(size)
            assert read_by_client.readline() == b"\r\n"
    assert body.replace(HEARTBEAT, b"", body.startswith(HEARTBEAT)) == as_written(1, *messages)


def test_who_is_gone_ends_and_others_go_on(fans, source, connected):
    server, client = connected()
    gone, there = Stream(fans, source, sock=server), Stream(fans, source)
    parked(gone, there)
    client.close()
    source.change(b"a")
    gone.ended()
    assert isinstance(gone.error, BrokenPipeError)
    until(lambda: there.given == [as_written(1, b"a")])
    assert there.is_alive()


def test_who_has_seen_more_than_there_is_hears_that_the_stream_is_there(fans, source):
    ahead, other = Stream(fans, source, seen=7), Stream(fans, source)
    parked(ahead, other)
    source.change(b"a")
    until(lambda: ahead.beats and other.given)
    assert (ahead.given, ahead.reader.seen) == ([], 7)


def test_an_error_ends_the_streams_and_the_next_reader_begins_anew(fans, source, caplog):
    stream = Stream(fans, source)
    parked(stream)
    source.change(error=ZeroDivisionError("of the store"))
    stream.ended()
    assert "ZeroDivisionError" in caplog.text
    source.change(b"a", error=None)
    again = Stream(fans, source)
    until(lambda: again.given == [as_written(1, b"a")])


def test_a_reader_ends_in_time(fans, source):
    fan = fans.join("it", source.wait, 0, NOTHING)
    source.change(b"a")
    began = time.monotonic()
    assert fan.next(Reader(0, None), began + NEVER) == as_written(1, b"a")
    assert fan.next(Reader(1, None), time.monotonic() + 0.1) == b""
    assert time.monotonic() - began < NEVER / 2


def test_what_nobody_reads_any_more_is_forgotten_with_its_thread(fans, source):
    stream = Stream(fans, source)
    parked(stream)
    source.change(error=OSError())
    stream.ended()
    until(lambda: not fans._fans)
    source.change(error=None)
    fan = fans.join("it", source.wait, 0, NOTHING)
    until(lambda: source.waits > 1)
    fans.leave(fan)
    source.change(nudges=1)
    until(lambda: not fans._fans)


@pytest.mark.parametrize("protocol", ["HTTP/1.0", "HTTP/2"])
def test_who_is_not_answered_in_chunks_is_written_to_by_the_server(connected, protocol):
    server, _ = connected()
    assert Direct.of({"gunicorn.socket": server, "SERVER_PROTOCOL": protocol}) is None
    assert Direct.of({"gunicorn.socket": server, "SERVER_PROTOCOL": "HTTP/1.1"}) is not None
    assert Direct.of({"SERVER_PROTOCOL": "HTTP/1.1"}) is None


def test_who_reads_by_tls_is_written_to_by_the_server(connected):
    server, _ = connected()
    with ssl.create_default_context().wrap_socket(
        server, server_hostname="a", do_handshake_on_connect=False
    ) as secured:
        assert Direct.of({"gunicorn.socket": secured, "SERVER_PROTOCOL": "HTTP/1.1"}) is None


def test_nothing_is_written_to_who_has_got_the_number_of_a_socket_that_was_closed(connected):
    server, _ = connected()
    other, reader = connected()
    direct, number = Direct(server), server.fileno()
    server.close()
    os.dup2(other.fileno(), number)
    try:
        assert direct.write(b"for somebody else") == 0
        reader.settimeout(0)
        with pytest.raises(BlockingIOError):
            reader.recv(1)
    finally:
        os.close(number)
