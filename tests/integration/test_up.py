"""`slagveld up` holds together: it plays, starts again what dies, keeps its data, and goes when told to."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from contextlib import contextmanager

import pytest
import requests

from bot_sdk.client import Arena
from bot_sdk.games import record
from tests.integration.running import START_S, descendants_of, wait_until

PARTS = ("valkey-server", "gunicorn", "service.cli worker")


def account(url):
    with Arena(url) as arena:
        return arena.create_account("ann")["token"]


def name_of(url, token):
    with Arena(url, token) as arena:
        return arena.me()["name"]


def test_up_plays_keeps_its_data_and_stops_without_waiting_for_those_who_wait(start, play, tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    first = start(tmp_path, "--workers", "2")
    url = first.ready()
    token = account(url)
    played = play(url)
    assert record.verify(record.read(played)).is_over
    assert first.stop(signal.SIGTERM) == 0

    second = start(tmp_path)
    url = second.ready()
    assert name_of(url, token) == "ann"
    with Arena(url) as arena, waiting_at(url, arena):
        assert arena.record(record.read(played).game_id) == played
        assert second.stop(signal.SIGINT) == 0, "for those who wait, too"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["notes.txt", "valkey"]


@contextmanager
def waiting_at(url, arena):
    """Have somebody wait in a long poll, and another connection just be kept open: no reasons to stay."""
    host, port = url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as idle:
        human = {"kind": "human", "name": "ann"}
        made = arena.create_game("seven_up", [human, human])
        waiting = 1 if arena.seat(made["id"], 0, made["seats"][0]["token"])["decision_id"] else 0
        token = made["seats"][waiting]["token"]
        path = f"/v1/games/{made['id']}/seats/{waiting}?wait_for=decision"
        idle.sendall(
            f"GET {path} HTTP/1.1\r\nHost: a\r\nPrefer: wait=60\r\nAuthorization: Bearer {token}\r\n\r\n".encode()
        )
        assert arena.ready()
        yield


def test_killed_children_are_started_again(start, play, tmp_path):
    up = start(tmp_path)
    url = up.ready()
    token = account(url)
    for part in PARTS:
        killed = up.child(part)
        assert killed is not None, part
        up.note()
        os.kill(killed, signal.SIGKILL)
        wait_until(lambda part=part, killed=killed: up.child(part) not in {None, killed}, START_S, f"no new {part}")
        wait_until(lambda: is_ready(url), START_S, f"not ready after the end of {part}")
        assert name_of(url, token) == "ann"
        play(url)
    assert up.stop() == 0
    said = "".join(up.said)
    assert "the store died, starting it again" in said
    assert "the API" in said
    assert "was killed by SIGKILL, starting it again" in said


def is_ready(url):
    try:
        return requests.get(f"{url}/health/ready", timeout=2).ok
    except requests.RequestException:
        return False


def test_killed_supervisor_takes_its_children_along_and_a_second_interrupt_ends_the_next_at_once(start, tmp_path):
    up = start(tmp_path)
    up.ready()
    up.process.kill()
    up.process.wait(timeout=5)
    up.assert_gone(seconds=20)

    up = start(tmp_path)
    up.ready()
    worker = up.child("service.cli worker")
    os.kill(worker, signal.SIGSTOP)  # it won't go by itself
    up.process.send_signal(signal.SIGINT)
    with pytest.raises(subprocess.TimeoutExpired):
        up.process.wait(timeout=1)
    up.process.send_signal(signal.SIGINT)
    assert up.process.wait(timeout=8) == 130
    up.assert_gone()


def test_child_that_does_not_stop_is_killed(start, tmp_path):
    up = start(tmp_path)
    up.ready()
    os.kill(up.child("service.cli worker"), signal.SIGSTOP)
    assert up.stop() == 0
    assert "worker 1 didn't stop in time and was killed" in "".join(up.said)


def test_interrupt_while_it_starts(start, tmp_path):
    up = start(tmp_path)
    wait_until(lambda: up.child("valkey-server"), START_S, "no store")
    up.note()
    up.process.send_signal(signal.SIGINT)
    assert up.process.wait(timeout=15) == 0
    up.seen |= descendants_of(up.pid)
    up.assert_gone()
    assert up.process.stdout.read() == ""


def run(*arguments, **environment):
    command = [sys.executable, "-m", "service.cli", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=60, check=False, env=os.environ | environment
    )


@pytest.mark.parametrize("command", ["up", "api"])
def test_taken_port_is_said_in_a_sentence(command, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        data = ["--data", str(tmp_path)] if command == "up" else []
        answer = run(command, "--port", str(port), *data)
    assert answer.returncode == 2
    assert f"port {port} on 127.0.0.1 is taken; stop what uses it or choose another with --port" in answer.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", [["up", "--port", "0"], ["api", "--port", "0"], ["worker"]])
def test_nonsense_in_the_environment_is_said_in_a_sentence(command):
    answer = run(*command, SLAGVELD_SWEEP_MS="soon")
    assert answer.returncode == 2
    assert answer.stderr == (
        "Error: set SLAGVELD_SWEEP_MS right: expected a whole number from 20 to 60000, got 'soon'\n"
    )


def test_up_uses_the_store_it_is_given_and_says_what_it_opened_and_where_to_go(start, play, redis_url, tmp_path):
    (tmp_path / "url").write_text(redis_url)
    data = tmp_path / "data"
    environment = {"REDIS_URL_FILE": str(tmp_path / "url"), "SLAGVELD_MAX_OPEN_GAMES": "7"}
    up = start(data, environment=environment, as_json=False)
    text = up.until("Ctrl-C stops it")
    assert re.search(r"open (http://127\.0\.0\.1:\d+) in a browser, its API is explained at \1/docs", text)
    assert "bots may be on this machine (127.0.0.0/8 and ::1): SLAGVELD_BOT_NETWORKS='127.0.0.0/8,::1/128'" in text
    assert "SLAGVELD_MAX_OPEN_GAMES" not in text
    assert up.child("valkey-server") is None
    play(re.search(r"curl -s (http://127\.0\.0\.1:\d+)/", text)[1])
    assert up.stop() == 0
    assert not data.exists()
