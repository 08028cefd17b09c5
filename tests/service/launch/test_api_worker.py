"""What the API's gunicorn says by itself, where it is to be found in the logs."""

from __future__ import annotations

import json

import pytest
import requests

from service.api.wire import REQUEST_ID
from tests.attacks.wire import told
from tests.service.api.serving import serve
from tests.service.fakes import until
from tests.service.logs.test_setup import said_by


@pytest.fixture(scope="module")
def serving(valkey):
    """Give the address of an API that logs in JSON, and the lines that it has logged by now."""
    settings = {"SLAGVELD_LOGS": "json", "SLAGVELD_ANONYMOUS_GAMES": "1"}
    with serve(valkey.url, **settings) as (address, _, said):
        yield address, lambda: [json.loads(line) for line in tuple(said)]
    assert all(json.loads(line)["process"] == "api" for line in said)


def test_a_request_that_is_none_has_a_name_too(serving):
    address, lines = serving
    raw = told(address, b"GARBAGE\r\n\r\n").decode()
    (name,) = [line.partition(": ")[2] for line in raw.split("\r\n") if line.startswith(REQUEST_ID)]
    line = line_of(lines, name)
    assert line["message"].endswith("with 400: InvalidRequestLine")


def test_of_a_stream_all_bytes_are_told_those_past_the_server_too(serving):
    address, lines = serving
    house = {"kind": "human", "name": "ann"}
    order = {"ruleset": "seven_up", "seats": [house, house]}
    game = requests.post(f"{address}/v1/games", json=order, timeout=20).json()
    path = f"{address}/v1/games/{game['id']}"
    with requests.get(f"{path}/stream", stream=True, timeout=20) as stream:
        body = b"".join(take_part(stream.raw, path, [seat["token"] for seat in game["seats"]]))
    name = stream.headers[REQUEST_ID]
    line = line_of(lines, name)
    assert (line["route"], line["status"]) == ("/v1/games/{game_id}/stream", 200)
    assert line["bytes"] >= len(body) > 200


def line_of(lines, name):
    """Wait for the line of a request, and give it."""
    until(lambda: any(line.get("request_id") == name for line in lines()))
    return next(line for line in lines() if line.get("request_id") == name)


def take_part(raw, path, tokens):
    """Read a stream to its end; everybody leaves once it has begun, so that the rest of it is told while we read."""
    yield raw.readline()
    for number, token in enumerate(tokens):
        requests.delete(f"{path}/seats/{number}", headers={"Authorization": f"Bearer {token}"}, timeout=20)
    yield raw.read()


def test_what_breaks_a_greenlet_is_a_line_like_all_others():
    (line,) = said_by("""
        import logging
        import gevent
        from service.launch.api_worker import log_what_breaks
        log_what_breaks(logging.getLogger("gunicorn.error"))
        gevent.spawn(int, "no number").join()
    """)
    assert line["message"] == "a greenlet broke"
    assert "ValueError: invalid literal" in line["error"]
