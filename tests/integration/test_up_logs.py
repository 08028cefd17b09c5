"""`slagveld up` where programs read what it says: supervisor, API and workers share a pipe, and one form."""

from __future__ import annotations

import json
import os
import signal

import requests

from tests.integration.arena import Api
from tests.integration.running import START_S, STOP_S, wait_until


def test_all_processes_of_an_arena_say_what_they_say_in_json(start, tmp_path):
    up = start(tmp_path, "--workers", "1", environment={"SLAGVELD_LOGS": "json"})
    answer = requests.get(f"{up.ready()}/v1/rulesets", timeout=20)
    killed = up.child("service.cli worker")
    os.kill(killed, signal.SIGKILL)
    wait_until(lambda: up.child("service.cli worker") not in {killed, None}, START_S, "another worker")
    assert up.stop() == 0
    lines = [json.loads(line) for line in up.said]
    assert {line["process"] for line in lines} >= {"up", "api"}
    (death,) = [line for line in lines if line["process"] == "up" and "was killed by SIGKILL" in line["message"]]
    assert (death["level"], death["pid"]) == ("warning", up.pid)
    assert [line["route"] for line in lines if line.get("request_id") == answer.headers["X-Request-Id"]] == [
        "/v1/rulesets"
    ]


def test_an_api_by_itself_says_all_in_json(redis_url, tmp_path):
    environment = {"REDIS_URL": redis_url, "SLAGVELD_LOGS": "json", "SLAGVELD_METRICS": "127.0.0.1:0"}
    api = Api(environment, tmp_path / "said")
    try:
        assert requests.get(f"{api.address}/v1/rulesets", timeout=20).ok
        assert api.terminate() < STOP_S
        lines = [json.loads(line) for line in api.said().splitlines()]
        assert any("metrics are served at" in line["message"] for line in lines)
    finally:
        api.close()
