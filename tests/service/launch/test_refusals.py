"""The last words to a client whose request was none."""

from __future__ import annotations

import contextlib
import socket
import threading

from service.launch import refusals
from tests.service.bench import Background


def test_who_goes_on_sending_a_little_is_left_all_the_same(monkeypatch):
    monkeypatch.setattr(refusals, "LINGER_S", 0.3)
    ours, theirs = socket.socketpair()
    is_over = threading.Event()

    def drip():
        with contextlib.suppress(OSError):  # we have hung up
            while not is_over.wait(0.02):
                theirs.sendall(b"x")

    def part():
        with contextlib.suppress(OSError), ours:  # the other side may be gone first
            refusals.part(ours, b"no")

    with theirs:
        dripping, parting = Background(drip), Background(part)
        try:
            parting.result(10)
            assert theirs.recv(9) == b"no"
        finally:
            is_over.set()
            dripping.result(10)


def test_what_is_still_sent_is_read_to_its_end_so_that_the_answer_arrives():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(b"x" * 100_000)
        theirs.shutdown(socket.SHUT_WR)
        refusals.part(ours, b"no")
        assert theirs.recv(9) == b"no"
        assert ours.recv(9) == b"", "nothing is left unread"
