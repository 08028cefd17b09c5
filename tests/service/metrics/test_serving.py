from __future__ import annotations

import http.client
import socket
import subprocess
import sys

import pytest

from service.launch.ports import listen
from service.metrics import catalogue
from service.metrics.metering import Metering, Place, metering_of, meters_of
from service.metrics.serving import serve
from tests.service.fakes import until


def ask(port, path="/metrics", method="GET"):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request(method, path)
    answer = connection.getresponse()
    told = answer.status, answer.getheader("Content-Type"), answer.read()
    connection.close()
    return told


@pytest.fixture
def serving():
    """Serve what a function tells, and give the port."""
    opened = []

    def make(told):
        opened.append(listen("127.0.0.1", 0))
        serve(opened[-1], told)
        return opened[-1].getsockname()[1]

    yield make
    for listening in opened:
        listening.shutdown(socket.SHUT_RDWR)


def test_metrics_are_told_and_nothing_else(serving):
    port = serving(lambda accept: (b"a 1\n", f"text/plain; {accept}"))
    assert ask(port) == (200, "text/plain; ", b"a 1\n")
    assert ask(port, "/metrics?name=x")[0] == 200
    for path in ("/", "/metrics/", "/v1/games"):
        assert ask(port, path)[0] == 404
    assert ask(port, method="POST")[0] == 501


def test_one_who_says_nothing_keeps_nobody_waiting(serving):
    port = serving(lambda _accept: (b"a 1\n", "text/plain"))
    with socket.create_connection(("127.0.0.1", port)), socket.create_connection(("127.0.0.1", port)) as slow:
        slow.sendall(b"GET /met")
        assert ask(port)[0] == 200


def test_telling_that_breaks_is_said_in_the_log_and_the_next_is_told(serving, caplog):
    broken = [ValueError("it broke")]

    def told(_accept):
        if broken:
            raise broken.pop()
        return b"a 1\n", "text/plain"

    port = serving(told)
    with pytest.raises(http.client.RemoteDisconnected):
        ask(port)
    assert ask(port)[0] == 200
    until(lambda: "metrics weren't told to somebody: it broke" in caplog.text)


def test_processes_of_a_launch_tell_what_all_of_them_counted(serving, tmp_path):
    place = Place(0, 0, tmp_path)
    one, two = (metering_of(part, Place.of(place.environment)) for part in ("api", "worker"))
    one.meters.ended.add("finished")
    two.meters.ended.add("finished", by=2)
    two.stop()
    with listen("127.0.0.1", 0) as listening:
        one.serve(listening.dup())
        text = ask(listening.getsockname()[1])[2].decode()
    assert f'{catalogue.ENDED.name}{{state="finished"}} 3.0' in text
    assert f'{catalogue.PROCESSES.name}{{part="worker"}} 1.0' in text


def test_folder_that_is_gone_is_no_reason_to_stop(tmp_path, caplog):
    folder = tmp_path / "gone"
    folder.mkdir()
    metering = Metering("api", folder)
    for each in folder.iterdir():
        each.unlink()
    folder.rmdir()
    metering.stop()
    assert "metrics can't be left" in caplog.text


def test_process_that_isnt_measured_counts_nothing():
    assert metering_of("api", Place.of({})) is None
    assert not meters_of(None).is_on


def test_prometheus_library_is_loaded_where_metrics_are_served_alone():
    parts = "service.wsgi, service.worker.process, service.cli, service.launch.gunicorn_conf, service.metrics.metering"
    code = f"import sys, {parts}; sys.exit('prometheus_client' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False, timeout=120).returncode == 0
