"""`slagbot connect` as an author behind NAT runs it, against an arena in processes."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time

import pytest

from bot_sdk import signing
from bot_sdk.client import Arena as Client
from tests.integration.arena import ROOT, Arena, wait_until

BOT = """
from bot_sdk import Bot

print("loaded")  # which is no JSON
bot = Bot("lowball", version="{version}", max_batch=4)


@bot.on("river")
def river(decision):
    return decision.legal[-1]
"""
PATIENCE_S = 60


class Author:
    """A folder with a bot, and the command in it."""

    def __init__(self, folder, url):
        self.folder, self.url = folder, url
        folder.mkdir()
        (folder / ".secret").write_text(signing.make_secret(bytes(range(32))))
        self.write("1")
        self._started = []

    def write(self, version):
        (self.folder / "bot.py").write_text(BOT.format(version=version))

    def connect(self, *options, token=None, apart=False):
        """Start the command; gives the file of what it prints, `apart` from what it says on stderr."""
        environment = {key: value for key, value in os.environ.items() if not key.startswith("SLAGVELD_")}
        environment |= {"PYTHONPATH": str(ROOT)} | ({"SLAGVELD_TOKEN": token} if token else {})
        log = self.folder / f"said-{len(self._started)}"
        with log.open("wb") as said:
            process = subprocess.Popen(
                [sys.executable, "-m", "bot_sdk.cli", "connect", "bot.py:bot", "--arena", self.url, *options],
                cwd=self.folder,
                env=environment,
                stdout=said,
                stderr=subprocess.DEVNULL if apart else subprocess.STDOUT,
            )
        self._started.append(process)
        return process, log

    def close(self):
        for process in self._started:
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def arena(tmp_path_factory):
    settings = {"SLAGVELD_ACCOUNTS": "open"}
    with Arena(tmp_path_factory.mktemp("connect") / "arena", bots=[], **settings) as running:
        running.start_api()
        running.start_worker()
        yield running


@pytest.fixture
def author(arena, tmp_path):
    made = Author(tmp_path / "mine", arena.api.address)
    yield made
    made.close()


def until(process, log, pattern):
    ends = time.monotonic() + PATIENCE_S
    while (found := re.search(pattern, log.read_text())) is None:
        assert process.poll() is None, log.read_text()
        assert time.monotonic() < ends, log.read_text()
        time.sleep(0.02)
    return found


def test_a_newcomer_is_registered_checked_and_plays_by_one_command(arena, author):
    process, log = author.connect()
    token = until(process, log, r"SLAGVELD_TOKEN=(\S+)")[1]
    bot_id = until(process, log, r"lowball \((bot_\w+)\) is connected")[1]
    assert "check passed" in log.read_text()
    with Client(author.url, token) as client:
        shown = client.bot(bot_id)
        assert (shown.transport, shown.url, shown.state, shown.max_batch) == ("pull", None, "active", 4)
        seats = [{"kind": "bot", "bot_id": bot_id}, *[{"kind": "house", "name": "greedy"}] * 3]
        game = client.create_game("river", seats, options={"start_cards": 3}).id
        wait_until(lambda: client.game(game).state == "finished", PATIENCE_S, log.read_text())
        assert {line.outcome for line in client.decisions(bot_id)} == {"ok"}
    until(process, log, rf"river play .* ms .*{game}")
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20) == 0
    assert "stopped" in log.read_text()


def test_programs_get_nothing_but_json(author):
    process, log = author.connect("--json", apart=True)
    until(process, log, r'"check": ?"passed"')
    assert [line for line in log.read_text().splitlines() if not line.startswith("{")] == []


def test_it_comes_back_without_a_check_unless_its_card_has_changed(author):
    process, log = author.connect()
    token = until(process, log, r"SLAGVELD_TOKEN=(\S+)")[1]
    bot_id = until(process, log, r"\((bot_\w+)\) is connected")[1]
    again, more = author.connect(token=token)
    assert until(again, more, r"\((bot_\w+)\) is connected")[1] == bot_id
    assert "check" not in more.read_text()
    author.write("2")
    changed, last = author.connect(token=token)
    until(changed, last, r"is connected")
    assert "check passed" in last.read_text()
    with Client(author.url, token) as client:
        assert client.bot(bot_id).version == "2"


def test_a_bot_that_fails_its_check_is_told_why_and_ends_with_status_1(author):
    (author.folder / "bot.py").write_text(BOT.format(version="1").replace("decision.legal[-1]", '"play:ZZ"'))
    process, log = author.connect()
    assert process.wait(timeout=PATIENCE_S) == 1
    said = log.read_text()
    assert "illegal: expected for bid one of" in said
    assert "what to do: choose out of legal_actions" in said
    assert f"slagbot connect bot.py:bot --arena {author.url}\n" in said


def test_one_that_is_paused_is_told_how_to_go_on(author):
    process, log = author.connect()
    token = until(process, log, r"SLAGVELD_TOKEN=(\S+)")[1]
    bot_id = until(process, log, r"\((bot_\w+)\) is connected")[1]
    with Client(author.url, token) as client:
        client.change_bot(bot_id, state="paused")
    again, more = author.connect(token=token)
    until(
        again, more, rf"is connected to {author.url}, but paused: slagbot pause lowball --resume --arena {author.url};"
    )


def test_without_a_secret_or_with_a_bad_token_it_says_so(author):
    process, log = author.connect(token="slt_" + "x" * 43)
    assert process.wait(timeout=PATIENCE_S) == 2
    assert "token" in log.read_text()
    (author.folder / ".secret").unlink()
    process, log = author.connect()
    assert process.wait(timeout=PATIENCE_S) == 2
    assert "SLAGVELD_BOT_SECRET" in log.read_text()
