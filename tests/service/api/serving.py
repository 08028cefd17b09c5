"""The API as it is deployed: gunicorn with greenlets, over TCP, on a port of the system's choosing."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import contextmanager

import pytest
import requests

PATIENCE_S = 30
NAMED = re.compile(rb"Listening at: (http://127\.0\.0\.1:\d+)")


@contextmanager
def serve(redis_url, **environment):
    """Serve the API; give its address, its process, and the list of lines that it has logged."""
    command = [sys.executable, "-m", "gunicorn", "-c", "python:service.launch.gunicorn_conf"]
    command += ["--bind", "127.0.0.1:0", "--workers", "1", "service.wsgi:application()"]
    settings = {"REDIS_URL": redis_url, "SLAGVELD_ACCOUNTS": "open"} | environment
    process = subprocess.Popen(command, env=os.environ | settings, stderr=subprocess.PIPE)
    address, said = [], []

    def listen():
        for line in process.stderr:
            said.append(line)
            if match := NAMED.search(line):
                address.append(match[1].decode())

    reader = threading.Thread(target=listen)
    reader.start()
    try:
        _ready(address, process, said)
        yield address[0], process, said
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            assert process.wait(timeout=15) == 0
        finally:
            process.kill()
            process.wait()
            reader.join(timeout=5)
            process.stderr.close()


def _ready(address, process, said):
    deadline = time.monotonic() + PATIENCE_S
    while time.monotonic() < deadline and process.poll() is None:
        try:
            if address and requests.get(f"{address[0]}/health/ready", timeout=2).ok:
                return
        except requests.RequestException:
            pass
        time.sleep(0.02)
    pytest.fail(b"".join(said).decode())


def address_of(server):
    """Give host and port of the address of a server."""
    host, port = server.removeprefix("http://").split(":")
    return host, int(port)
