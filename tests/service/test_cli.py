from __future__ import annotations

import subprocess
import sys

import pytest
from click.testing import CliRunner

from service import cli
from service.commands import running


@pytest.mark.parametrize("command", ["up", "api", "worker", "demo"])
def test_an_installation_without_the_arenas_parts_is_told_what_to_install(command, monkeypatch):
    monkeypatch.setattr(cli, "find_spec", lambda name: None if name == "gevent" else object())
    ran = CliRunner().invoke(cli.main, [command])
    assert ran.exit_code == 2
    assert "gevent" in ran.output
    assert "pip install 'slagveld[service]'" in ran.output


@pytest.mark.parametrize("arguments", [["leaderboard", "seven_up"], ["tournament", "list"]])
def test_an_author_holds_tournaments_at_another_arena_without_the_parts_of_one(arguments, monkeypatch):
    monkeypatch.setattr(cli, "find_spec", lambda _: None)
    ran = CliRunner().invoke(cli.main, [*arguments, "--arena", "http://127.0.0.1:1"])
    assert "no arena at http://127.0.0.1:1" in ran.output


def test_the_specification_needs_what_developers_have(monkeypatch):
    monkeypatch.delitem(sys.modules, "service.openapi", raising=False)
    monkeypatch.setitem(sys.modules, "yaml", None)
    ran = CliRunner().invoke(cli.main, ["openapi", "bot"])
    assert ran.exit_code == 2
    assert "expected the module yaml: pip install 'slagveld[service,dev]'" in ran.output


def test_up_keeps_an_archive_beside_its_data_and_bounds_its_store(tmp_path):
    store, environment, _ = running._environment({}, tmp_path, "http://127.0.0.1:1")
    assert environment["SLAGVELD_ARCHIVE"] == str(tmp_path / "archive")
    command = store._command()
    assert int(command[command.index("--maxmemory") + 1]) > 2**27


def test_what_is_set_stands_and_a_store_that_others_run_is_left_alone(tmp_path):
    chosen = {"SLAGVELD_ARCHIVE": "/elsewhere", "SLAGVELD_MEMORY_MB": "100"}
    store, environment, _ = running._environment(chosen, tmp_path, "http://127.0.0.1:1")
    assert environment["SLAGVELD_ARCHIVE"] == "/elsewhere"
    assert str(100 * 2**20) in store._command()
    _, environment, _ = running._environment({"REDIS_URL": "redis://other"}, tmp_path, "http://127.0.0.1:1")
    assert "SLAGVELD_ARCHIVE" not in environment


@pytest.mark.parametrize("queues", ["", "interactive,", "checks", "tournaments"])
def test_worker_is_told_which_queues_there_are(queues):
    ran = CliRunner().invoke(cli.main, ["worker", "--queues", queues])
    assert ran.exit_code == 2
    assert f"expected --queues of interactive and tournament, got '{queues}'" in ran.output


@pytest.mark.parametrize(
    ("arguments", "takes"),
    [
        ([], {"interactive", "tournament"}),
        (["--queues", "tournament, interactive"], {"interactive", "tournament"}),
        (["--queues", "interactive"], {"interactive"}),
    ],
)
def test_worker_takes_on_what_it_is_told(arguments, takes, redis_url, monkeypatch):
    started = []

    class Never:
        def __init__(self, _settings, takes, _meters):
            started.append(set(takes))

        def run(self, _until):
            pass

    monkeypatch.setenv("REDIS_URL", redis_url)
    monkeypatch.setattr("service.worker.process.WorkerProcess", Never)
    monkeypatch.setattr("logging.config.dictConfig", lambda _: None)
    ran = CliRunner().invoke(cli.main, ["worker", *arguments])
    assert (ran.exit_code, started) == (0, [takes]), ran.output


def test_processes_of_an_arena_load_no_client_and_no_screen():
    code = "import sys, service.cli; sys.exit(bool({'bot_sdk.client', 'requests', 'rich'} & sys.modules.keys()))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr.decode()
