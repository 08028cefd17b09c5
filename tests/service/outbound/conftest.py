"""Servers that behave as a test wants, and calls to them: in the thread that asks, and on a line."""

from __future__ import annotations

import socket
from collections.abc import Callable

import pytest

from service.outbound.calls import Calls
from service.outbound.guard import LOOPBACK, Guard
from tests.service.outbound.hostile import HostileServer, OnALine, Request


@pytest.fixture
def serve():
    servers: list[HostileServer] = []

    def start(behave: Callable[[socket.socket, Request], bool | None] | bytes, **options: int) -> HostileServer:
        if isinstance(behave, bytes):
            data = behave

            def behave(connection: socket.socket, request: Request) -> bool:
                connection.sendall(data)
                return True

        servers.append(HostileServer(behave, **options))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


@pytest.fixture(params=[Calls, OnALine], ids=["here", "line"])
def make(request):
    """Make calls that are closed at the end."""
    made: list[Calls] = []

    def start(guard: Guard, **options: object) -> Calls:
        made.append(request.param(guard, **options))
        return made[-1]

    yield start
    for calls in made:
        calls.close()


@pytest.fixture
def calls(make):
    return make(Guard(LOOPBACK), slots=16)
