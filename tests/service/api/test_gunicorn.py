"""The API as it is deployed: gunicorn with greenlets, over TCP."""

from __future__ import annotations

import json
import signal
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from http.client import HTTPConnection

import pytest
import requests

from tests.service.api.serving import address_of, serve


@pytest.fixture
def server(serving):
    """Serve the API and give its address."""
    return serving[0]


@pytest.fixture
def serving(redis_url):
    """Give the address of a served API and its process."""
    with serve(redis_url) as (address, process, _):
        yield address, process


def test_the_deployed_api(server):
    made = requests.post(f"{server}/v1/accounts", json={"name": "ann"}, timeout=5)
    assert made.status_code == 201
    headers = {"Authorization": f"Bearer {made.json()['token']}"}
    assert requests.get(f"{server}/v1/accounts/me", headers=headers, timeout=5).json()["name"] == "ann"
    refused_a_chunked_body(server)
    answers_while_clients_dawdle(server)


def refused_a_chunked_body(server):
    answer = requests.post(f"{server}/v1/accounts", data=iter([b'{"name":"ann"}']), timeout=5)
    assert answer.status_code == 411
    assert answer.headers["Content-Type"] == "application/problem+json"


def test_streams_go_on_where_they_broke_off(server):
    """Many follow a game at once; one loses its connection and comes back."""
    account = requests.post(f"{server}/v1/accounts", json={"name": "ann"}, timeout=5).json()
    host = {"Authorization": f"Bearer {account['token']}"}
    order = {"ruleset": "river", "seats": [{"kind": "human"}] * 4, "options": {"start_cards": 1}}
    game = requests.post(f"{server}/v1/games", json=order, headers=host, timeout=5).json()
    path = f"{server}/v1/games/{game['id']}"
    with ThreadPoolExecutor(20) as pool:
        followers = [pool.submit(follow, f"{path}/stream") for _ in range(19)]
        broken, seen = follow(f"{path}/stream", most=1), []
        play_out(path, [seat["token"] for seat in game["seats"]])
        events = requests.get(f"{path}/events", timeout=5).json()["items"]
        assert events[-1]["event"] == "ended"
        seen = broken + follow(f"{path}/stream", after=broken[-1]["id"])
        assert seen == events
        assert [follower.result(timeout=20) for follower in followers] == [events] * 19
    again = requests.get(f"{path}/stream", headers={"Last-Event-ID": str(len(events))}, timeout=5)
    assert again.status_code == 204


def test_told_to_stop_it_sends_home_those_who_wait_and_stops(serving):
    """Streams, long polls, and connections kept for a next request would hold it up for its ten seconds' grace."""
    server, process = serving
    account = requests.post(f"{server}/v1/accounts", json={"name": "ann"}, timeout=5).json()
    host = {"Authorization": f"Bearer {account['token']}"}
    order = {"ruleset": "seven_up", "seats": [{"kind": "human"}] * 2}
    game = requests.post(f"{server}/v1/games", json=order, headers=host, timeout=5).json()
    path, ann = f"/v1/games/{game['id']}", {"Authorization": f"Bearer {game['seats'][0]['token']}"}
    with ExitStack() as stack:
        connections = [stack.enter_context(closing(HTTPConnection(*address_of(server), timeout=20))) for _ in range(27)]
        streaming, waiting, (kept, silent) = connections[:20], connections[20:25], connections[25:]
        streams = [asked(connection, f"{path}/stream").getresponse() for connection in streaming]
        for stream in streams:
            assert any(stream.readline().startswith(b"data: ") for _ in range(5))
        for connection in waiting:
            asked(connection, f"{path}/seats/0?wait_for=decision", ann)
        silent.connect()
        assert asked(kept, "/health/live").getresponse().read()
        began = time.monotonic()
        process.send_signal(signal.SIGTERM)
        late = stack.enter_context(closing(HTTPConnection(*address_of(server), timeout=20)))
        time.sleep(0.1)
        late.connect()  # it is still accepted
        assert process.wait(timeout=15) == 0
        assert time.monotonic() - began < 5
        for stream in streams:
            stream.read()  # to its end: it isn't broken off
        assert [json.load(each.getresponse())["decision_id"] for each in waiting] == [None] * 5


def asked(connection, path, headers=None):
    """Send a request whose answer is to be read later."""
    connection.request("GET", path, headers=headers or {})
    return connection


def follow(url, after=0, most=1_000):
    """Read events off a stream until it ends or there are enough."""
    found = []
    with requests.get(url, headers={"Last-Event-ID": str(after)}, stream=True, timeout=20) as answer:
        assert answer.status_code == 200
        for line in answer.iter_lines():
            if line.startswith(b"data: "):
                found.append(json.loads(line.removeprefix(b"data: ")))
            if len(found) == most:
                break
    return found


def play_out(path, tokens):
    """Let everybody take the first legal action until the game is over; waits are long polls."""

    def play(number, token):
        headers = {"Authorization": f"Bearer {token}"}
        with requests.Session() as session:
            while True:
                view = session.get(f"{path}/seats/{number}?wait_for=decision", headers=headers, timeout=30).json()
                if view["decision_id"] is None:
                    return view["state"]
                body = {"decision_id": view["decision_id"], "action": view["legal_actions"][0]}
                assert session.post(f"{path}/seats/{number}/actions", json=body, headers=headers, timeout=5).ok

    with ThreadPoolExecutor(len(tokens)) as pool:
        assert set(pool.map(play, range(len(tokens)), tokens)) == {"finished"}


def answers_while_clients_dawdle(server):
    dawdlers = [socket.create_connection(address_of(server), timeout=5) for _ in range(200)]
    try:
        for dawdler in dawdlers:
            dawdler.sendall(b"POST /v1/accounts HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n")
        assert requests.get(f"{server}/health/live", timeout=5).ok
    finally:
        for dawdler in dawdlers:
            dawdler.close()
