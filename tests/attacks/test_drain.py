"""Told to stop, each process ends what it has begun and leaves the rest to others: nothing is lost, nothing done twice.

Short decisions are in tests/integration/test_interruptions.py, fits in tests/service/fit/test_process.py.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import time
from contextlib import closing
from http.client import HTTPConnection, HTTPResponse
from urllib.parse import urlsplit

import pytest
from msgspec.structs import replace

from service.config import Settings
from service.jobs import BrokerQueue, open_broker
from service.store.entities import BotState, Check
from tests.integration.arena import PATIENT_LIMITS, Arena, wait_until
from tests.integration.played import check_whole
from tests.integration.test_interruptions import LONG, ask_more, asked_twice, outcomes

GRACE_S = 12.0
"""A worker gives itself about ten seconds; a busy machine adds to that."""


@pytest.mark.attack
def test_a_decision_of_two_seconds_is_waited_for_and_never_asked_again(tmp_path):
    with Arena(tmp_path / "arena", bots=["house:greedy", "house:random"], think_ms=2_000, **LONG) as arena:
        entries = ["bot_0", "bot_1", "house:greedy", "house:random"]
        name = arena.launch("slow", "river", 4, 1, entries, PATIENT_LIMITS, {"start_cards": 1})
        arena.start_worker()
        ask_more(arena, 1)
        arena.start_worker()
        began = time.monotonic()
        assert arena.workers[0].terminate() < GRACE_S
        assert time.monotonic() - began > 1.0, "its answer was waited for"
        wait_until(lambda: arena.is_finished(name), 60, f"the end: {arena.said()}", every_s=0.05)
        check_whole(arena.store, name, 4)
        assert asked_twice(arena) == {}
        assert outcomes(arena, name) == {"ok"}


@pytest.mark.attack
def test_a_check_under_way_is_finished_and_counts(tmp_path):
    """It takes a few seconds; one that takes longer than the grace is begun anew by another worker."""
    with Arena(tmp_path / "arena", bots=["house:greedy"], think_ms=200) as arena:
        arena.store.bots.change("bot_0", lambda old: replace(old, state=BotState.PENDING))
        check = Check(id="chk_1", bot_id="bot_0", url=arena.bots.urls[0], created_at=1)
        arena.store.bots.create_check(check)
        worker = arena.start_worker()
        BrokerQueue(open_broker(Settings.from_env(arena.environment))).check(check.id)
        wait_until(lambda: arena.bots.journal.count() > 0, 30, f"a check that runs: {arena.said()}")
        assert worker.terminate() < GRACE_S
        assert arena.store.bots.get_check(check.id).state == "passed"
        assert arena.store.bots.get("bot_0").state is BotState.ACTIVE
        assert [name for name in asked_twice(arena) if "/again" not in name] == [], "but for what a check asks twice"


def test_a_request_that_the_api_has_begun_is_answered_before_it_ends(tmp_path):
    """It is told to stop while the store stands still, in the middle of a game's creation."""
    with Arena(tmp_path / "arena", bots=[]) as arena:
        arena.start_api()
        address = urlsplit(arena.api.address)
        at = (address.hostname, address.port)
        with socket.create_connection(at, timeout=30) as warm:
            send(warm)
            assert answered(warm).status == 201
        os.kill(arena.valkey.pid, signal.SIGSTOP)
        try:
            with socket.create_connection(at, timeout=30) as client:
                send(client)
                with closing(HTTPConnection(*at)) as other:  # accepted after it: so it has begun
                    other.request("GET", "/health/live")
                    assert other.getresponse().status == 200
                arena.api.child.send_signal(signal.SIGTERM)
                os.kill(arena.valkey.pid, signal.SIGCONT)
                made = answered(client)
                assert made.status == 201
                game = json.loads(made.read())["id"]
        finally:
            os.kill(arena.valkey.pid, signal.SIGCONT)
        assert arena.api.child.wait(timeout=15) == 0
        assert arena.store.games.get(game) is not None


def send(client):
    seats = [{"kind": "human", "name": "ann"}, {"kind": "house", "name": "greedy"}]
    body = json.dumps({"ruleset": "seven_up", "seats": seats}).encode()
    head = ["POST /v1/games HTTP/1.1", "Host: arena", "Content-Type: application/json", f"Content-Length: {len(body)}"]
    client.sendall("\r\n".join([*head, "", ""]).encode() + body)


def answered(client):
    answer = HTTPResponse(client)
    answer.begin()
    return answer
