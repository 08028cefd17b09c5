"""What a connection waits for, and how long."""

from __future__ import annotations

import socket
from contextlib import closing

import pytest

from service.outbound.connection import Connection
from service.outbound.deadline import Deadline, DeadlinePassed


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def through(connection, steps, deadline):
    """Take all steps, waiting here; give what they come to."""
    try:
        while True:
            connection.wait_here(next(steps), deadline)
    except StopIteration as end:
        return end.value


@pytest.fixture
def pair():
    """Give a connection, and the bot's end of it."""
    ours, theirs = socket.socketpair()
    with closing(theirs), closing(ours):
        yield Connection(ours), theirs


def test_an_answer_that_is_there_when_we_look_late_is_found_and_no_more_waited_for(pair):
    (connection, theirs), clock = pair, Clock()
    deadline = Deadline(1.0, clock)
    theirs.send(b"an answer")
    clock.now += 2.0  # nobody let us run before
    assert through(connection, connection.receive(deadline), deadline) == b"an answer"
    theirs.send(b" and more")
    with pytest.raises(DeadlinePassed):
        through(connection, connection.receive(deadline), deadline)


def test_nothing_is_waited_for_after_the_deadline(pair):
    (connection, _), clock = pair, Clock()
    deadline = Deadline(1.0, clock)
    clock.now += 2.0
    with pytest.raises(DeadlinePassed):
        through(connection, connection.receive(deadline), deadline)


def test_nothing_is_sent_after_the_deadline(pair):
    (connection, theirs), clock = pair, Clock()
    deadline = Deadline(1.0, clock)
    clock.now += 2.0
    with pytest.raises(DeadlinePassed):
        through(connection, connection.send(b"a question", deadline), deadline)
    theirs.settimeout(0)
    with pytest.raises(BlockingIOError):
        theirs.recv(1)


def test_whether_a_peer_was_waited_for_is_seen(pair):
    (connection, theirs), clock = pair, Clock()
    deadline = Deadline(1.0, clock)
    through(connection, connection.send(b"a question", deadline), deadline)
    assert not connection.has_waited
    theirs.send(b"an answer")
    through(connection, connection.receive(deadline), deadline)
    assert connection.has_waited
