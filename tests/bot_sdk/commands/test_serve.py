from __future__ import annotations

import http.client
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager

import pytest

from bot_sdk import messages, signing
from bot_sdk.bots.greedy import greedy
from bot_sdk.cli import main
from bot_sdk.hosting import serving
from bot_sdk.positions import positions
from tests.bot_sdk.commands.running import PATIENCE_S, PROGRAM, environment, running, slagbot

BOT = """\
from bot_sdk.bot import Bot
bot = Bot("mine", version="{version}")
bot.on("river")(lambda decision: decision.legal[{index}])
"""
OTHER = signing.make_secret(bytes(range(24)))


@pytest.fixture(autouse=True)
def clean(monkeypatch, tmp_path):
    monkeypatch.delenv("SLAGVELD_BOT_SECRET", raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path.copy())
    monkeypatch.setattr(sys, "dont_write_bytecode", sys.dont_write_bytecode)


@pytest.fixture
def mine(tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / ".secret").write_text(signing.make_secret(bytes(32)) + "\n")
    write(folder, "1")
    return folder


def write(folder, version, index=0):
    (folder / "bot.py").write_text(BOT.format(version=version, index=index))


@contextmanager
def served(folder, *options):
    with running(*PROGRAM, "serve", "bot.py:bot", "--port", "0", *options, cwd=folder) as server:
        port = int(re.search(r"http://127\.0\.0\.1:(\d+)", server.line_with("http://"))[1])
        with closing(http.client.HTTPConnection("127.0.0.1", port, PATIENCE_S)) as line:
            yield server, line


def asked(line, message, secret=None):
    body = message if isinstance(message, bytes) else messages.encode(message)
    line.request("POST", "/", body, signing.sign("msg_1", int(time.time()), body, [secret]) if secret else {})
    with line.getresponse() as answered:
        return answered.status, json.loads(answered.read())


def version_at(line):
    line.request("GET", "/")
    return json.loads(line.getresponse().read())["version"]


@pytest.fixture
def decision():
    return positions("river", "play", 1, "serve")[0]


@pytest.fixture
def secret(mine):
    return (mine / ".secret").read_text().strip()


def test_answers_signed_calls_and_no_others(mine, decision, secret):
    with served(mine) as (_, line):
        assert asked(line, decision, secret) == (
            200,
            {"decision_id": decision.decision_id, "action": decision.legal_actions[0]},
        )
        assert asked(line, decision)[0] == 401
        assert asked(line, decision, OTHER)[0] == 401


def test_a_secret_that_is_given_is_the_one_that_counts(mine, decision, secret):
    with served(mine, "--secret", OTHER) as (_, line):
        assert asked(line, decision, OTHER)[0] == 200
        assert asked(line, decision, secret)[0] == 401


@pytest.mark.parametrize("bad", ["hunter2", "whsec_hunter2", ""])
def test_a_secret_that_is_none_is_2_and_not_shown(mine, bad):
    said = slagbot("serve", mine / "bot.py:bot", "--secret", bad, status=2).output
    assert "--secret: expected" in said
    assert not bad or bad not in said


@pytest.mark.parametrize("kept", [b"hunter2", b"whsec_\xff\xfe", b"whsec_aHVudGVyMg=="])
def test_a_file_that_holds_no_secret_is_named_and_not_shown(mine, kept):
    (mine / ".secret").write_bytes(kept)
    said = slagbot("serve", mine / "bot.py:bot", status=2).output
    assert f"{mine / '.secret'}: expected" in said
    assert "hunter2" not in said
    assert "aHVudGVyMg" not in said


def test_each_decision_is_shown_in_a_line(mine, decision, secret):
    with served(mine) as (server, line):
        asked(line, decision, secret)
        shown = server.line_with("river play")
        assert re.search(r"\d+\.\d ms  chose \S+ +of ", shown)
        assert decision.decision_id in shown


def test_a_failure_is_shown_in_a_line(mine, decision, secret):
    (mine / "bot.py").write_text(BOT.format(version="1", index="10**6"))
    with served(mine) as (server, line):
        assert asked(line, decision, secret)[0] == 500
        assert "failed with IndexError" in server.line_with("river play")


def test_bodies_are_shown_whole_if_asked_for(mine, decision, secret):
    with served(mine, "-v") as (server, line):
        asked(line, decision, secret)
        assert server.line_with("< ") == f"< {messages.encode(decision).decode()}\n"
        reply = json.loads(server.line_with("> ").removeprefix("> 200 "))
        assert reply == {"decision_id": decision.decision_id, "action": decision.legal_actions[0]}
        asked(line, b"\x1b[2Jnonsense")
        assert server.line_with("< ") == "< \\x1b[2Jnonsense\n"


def test_programs_get_a_line_of_json_for_each(mine, decision, secret):
    with served(mine, "--json", "-v") as (server, line):
        asked(line, decision, secret)
        told = json.loads(server.line_with("decision_id"))
        assert (told["phase"], told["action"]) == ("play", decision.legal_actions[0])
        assert json.loads(server.line_with("message"))["status"] == 200


def test_what_a_bot_prints_is_no_json(mine, decision, secret):
    (mine / "bot.py").write_text(
        "from bot_sdk import Bot\nprint('loaded')\nbot = Bot('mine')\n"
        "bot.on('river')(lambda decision: print('asked') or decision.legal[0])\n"
    )
    command = [*PROGRAM, "serve", "bot.py:bot", "--port", "0", "--json"]
    with subprocess.Popen(
        command, cwd=mine, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as told:
        try:
            port = int(json.loads(told.stdout.readline())["url"].rpartition(":")[2])
            with closing(http.client.HTTPConnection("127.0.0.1", port, PATIENCE_S)) as line:
                assert asked(line, decision, secret)[0] == 200
            assert json.loads(told.stdout.readline())["decision_id"] == decision.decision_id
        finally:
            told.kill()


def test_an_edit_is_served_though_it_is_of_the_same_second_and_size(mine):
    """Python would take what it compiled of the one before for it."""
    second = int(time.time()) * 10**9
    os.utime(mine / "bot.py", ns=(second, second))
    with served(mine, "--reload") as (server, line):
        for version in "234":
            write(mine, version)
            os.utime(mine / "bot.py", ns=(second, second + int(version)))
            server.line_with("bot.py changed, the bot is loaded anew")
            assert version_at(line) == version


def test_an_edit_that_is_no_python_is_shown_and_the_bot_plays_on(mine, decision, secret):
    with served(mine, "--reload") as (server, line):
        (mine / "bot.py").write_text("bot = (\n")
        server.line_with("bot.py changed, the bot stays as it was")
        server.line_with("SyntaxError")
        assert version_at(line) == "1"
        assert asked(line, decision, secret)[0] == 200
        write(mine, "2", index=-1)
        server.line_with("loaded anew")
        assert asked(line, decision, secret)[1]["action"] == decision.legal_actions[-1]
        assert asked(line, decision)[0] == 401  # the new one has the secret too


def test_no_request_is_dropped_while_it_loads_anew(mine, decision, secret):
    over = threading.Event()

    def ask_on(port):
        with closing(http.client.HTTPConnection("127.0.0.1", port, PATIENCE_S)) as line:
            statuses = set()
            while not over.is_set():
                statuses.add(asked(line, decision, secret)[0])
            return statuses

    with served(mine, "--reload") as (server, line), ThreadPoolExecutor(4) as pool:
        asking = [pool.submit(ask_on, line.port) for _ in range(4)]
        try:
            for version in ("2", "3"):
                write(mine, version)
                server.line_with("loaded anew")
                (mine / "bot.py").write_text("bot = (\n")
                server.line_with("stays as it was")
        finally:
            over.set()
        assert [each.result(PATIENCE_S) for each in asking] == [{200}] * 4
        assert version_at(line) == "3"


@pytest.mark.parametrize("options", [(), ("--reload", "-v")])
@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGINT])
def test_stops_cleanly(mine, by, options):
    with served(mine, *options) as (server, line):
        version_at(line)
        server.process.send_signal(by)
        assert "Traceback" not in server.line_with("stopped")
        assert server.process.wait(PATIENCE_S) == 0


def test_stops_cleanly_though_nobody_reads_what_it_shows(mine, decision, secret):
    command = [*PROGRAM, "serve", "bot.py:bot", "--port", "0", "-v", "--json"]
    with subprocess.Popen(
        command, cwd=mine, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as told:
        try:
            port = int(json.loads(told.stdout.readline())["url"].rpartition(":")[2])
            with closing(http.client.HTTPConnection("127.0.0.1", port, PATIENCE_S)) as line:
                for _ in range(200):  # more than a pipe holds
                    assert asked(line, decision, secret)[0] == 200
            told.send_signal(signal.SIGTERM)
            assert told.wait(PATIENCE_S) == 0
        finally:
            told.kill()


def test_a_port_that_is_taken_is_named(mine):
    with serving(greedy()) as server:
        said = slagbot("serve", mine / "bot.py:bot", "--port", server.server_port, status=2).output
    assert f"expected an address that is free, got 127.0.0.1:{server.server_port}" in said
    assert "in use" in said


def test_a_bot_without_all_phases_is_told_before_it_is_served(tmp_path):
    (tmp_path / "half.py").write_text(
        "from bot_sdk.bot import Bot\nbot = Bot('h')\nbot.on('river', 'bid')(lambda decision: 'bid:0')\n"
    )
    assert "expected a function for river play" in slagbot("serve", "half.py", status=2).output


def test_a_name_that_is_not_in_the_file_is_told_with_those_that_are(mine):
    said = slagbot("serve", mine / "bot.py:lowball", status=2).output
    assert "expected a Bot named 'lowball' in bot.py, got None; there is bot" in said


def test_a_file_that_is_not_there_is_2(tmp_path):
    assert "expected a file such as bot.py:bot" in slagbot("serve", "nowhere.py:bot", status=2).output


def test_the_step_after_it_is_printed_and_can_be_taken(mine):
    with served(mine) as (server, line):
        server.line_with("next")
        for command in ("register", "connect"):
            program, name, *arguments = shlex.split(server.line_with(f"slagbot {command}"), comments=True)
            assert (program, name, arguments[0]) == ("slagbot", command, "bot.py:bot")
            parsed = main.commands[name].make_context(name, arguments).params
            assert parsed.get("url", f"http://127.0.0.1:{line.port}") == f"http://127.0.0.1:{line.port}"
