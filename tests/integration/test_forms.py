"""Processes of this release on a store that a newer one has worked on: none begins, and those that are there end."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from service.launch.valkey import EmbeddedValkey
from service.store import keys
from service.store.connection import connect
from service.store.form import FORM
from tests.integration.arena import ROOT, SHORT, Api, Process, wait_until

JSON = {"SLAGVELD_LOGS": "json", "SLAGVELD_METRICS": "127.0.0.1:0"}
REFUSAL = f"expected a store of form {FORM}, got form {FORM + 1}: a newer release has worked on it"


@pytest.fixture
def world(tmp_path):
    """Give a folder, its running store, a client and the environment of processes."""
    with EmbeddedValkey(tmp_path) as valkey:
        client = connect(valkey.url)
        yield client, SHORT | {"REDIS_URL": valkey.url, "PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT)}
        client.close()


def refused(*command, environment=None):
    ran = subprocess.run(
        [sys.executable, "-m", "service.cli", *command],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 1, ran.stderr
    assert "Traceback" not in ran.stderr
    return ran.stderr


@pytest.mark.parametrize("command", [["api", "--port", "0"], ["worker"], ["up", "--port", "0", "--workers", "1"]])
def test_no_command_begins_on_the_store_of_a_newer_release(world, command):
    client, environment = world
    client.set(keys.FORM, FORM + 1)
    before = client.keys()
    assert REFUSAL in refused(*command, environment=environment)
    assert client.keys() == before


@pytest.mark.parametrize(
    ("command", "process"),
    [(["api", "--port", "0"], "api"), (["worker"], "worker"), (["up", "--port", "0", "--workers", "1"], "up")],
)
def test_programs_that_collect_lines_are_told_why_in_one(world, command, process):
    client, environment = world
    client.set(keys.FORM, FORM + 1)
    said = [json.loads(line) for line in refused(*command, environment=environment | JSON).splitlines()]
    told = [(line["process"], line["level"]) for line in said if REFUSAL in line["message"]]
    assert told == [(process, "critical")]


def test_processes_that_are_there_end_when_a_newer_release_takes_the_store_over(world, tmp_path):
    client, environment = world
    worker = Process("worker", ["-m", "service.cli", "worker"], environment, tmp_path / "worker.log")
    api = Api(environment, tmp_path / "api.log")
    try:
        assert api.address
        wait_until(lambda: client.zcard(keys.WORKERS) == 1 and client.exists(keys.MAIL_OPEN), 30, "both at work")
        assert client.get(keys.FORM) == b"%d" % FORM
        client.set(keys.FORM, FORM + 1)
        for process in (worker, api):
            wait_until(lambda ending=process: not ending.is_alive, 30, f"{process.name} gone: {process.said()}")
            assert REFUSAL in process.said()
            assert process.child.returncode not in {0, -9}
    finally:
        worker.close()
        api.close()


def test_worker_waits_for_a_store_that_is_away_and_begins_when_it_is_there(tmp_path):
    valkey = EmbeddedValkey(tmp_path)
    worker = Process("worker", ["-m", "service.cli", "worker"], SHORT | {"REDIS_URL": valkey.url}, tmp_path / "said")
    try:
        with valkey:
            client = connect(valkey.url)
            wait_until(lambda: client.zcard(keys.WORKERS) == 1, 30, f"a worker at work: {worker.said()}")
            client.close()
            worker.terminate()
    finally:
        worker.close()
