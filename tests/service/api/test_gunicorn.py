"""The API as it is deployed: gunicorn with greenlets, over TCP."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest
import requests

PATIENCE_S = 30
NAMED = re.compile(rb"Listening at: (http://127\.0\.0\.1:\d+)")


@pytest.fixture
def server(redis_url):
    """Serve the API on a port of the system's choosing and give its address."""
    command = [sys.executable, "-m", "gunicorn", "-c", "python:service.launch.gunicorn_conf"]
    command += ["--bind", "127.0.0.1:0", "--workers", "1", "service.wsgi:application()"]
    environment = os.environ | {"REDIS_URL": redis_url, "SLAGVELD_ACCOUNTS": "open"}
    process = subprocess.Popen(command, env=environment, stderr=subprocess.PIPE)
    address, said = [], []

    def listen():
        for line in process.stderr:
            said.append(line)
            if match := NAMED.search(line):
                address.append(match[1].decode())

    reader = threading.Thread(target=listen)
    reader.start()
    try:
        ready(address, process, said)
        yield address[0]
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            assert process.wait(timeout=15) == 0
        finally:
            process.kill()
            process.wait()
            reader.join(timeout=5)
            process.stderr.close()


def ready(address, process, said):
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if address and requests.get(f"{address[0]}/health/ready", timeout=2).ok:
                return
        except requests.RequestException:
            pass
        time.sleep(0.02)
    pytest.fail(b"".join(said).decode())


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


def answers_while_clients_dawdle(server):
    host, port = server.removeprefix("http://").split(":")
    dawdlers = [socket.create_connection((host, int(port)), timeout=5) for _ in range(200)]
    try:
        for dawdler in dawdlers:
            dawdler.sendall(b"POST /v1/accounts HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n")
        began = time.monotonic()
        assert requests.get(f"{server}/health/live", timeout=5).ok
        assert time.monotonic() - began < 0.5
    finally:
        for dawdler in dawdlers:
            dawdler.close()
