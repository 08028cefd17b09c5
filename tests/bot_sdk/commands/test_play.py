from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from bot_sdk.bots.greedy import greedy
from bot_sdk.games import record
from bot_sdk.hosting import serving
from bot_sdk.replaying import decisions
from tests.bot_sdk.commands.jobs import started
from tests.bot_sdk.commands.running import slagbot
from tests.bot_sdk.parallel.made import Line, bot_file, untimed

SMALL = ("--ruleset", "river", "--options", '{"start_cards": 2}')


@pytest.fixture(autouse=True)
def clean(monkeypatch, tmp_path):
    monkeypatch.delenv("SLAGVELD_BOT_SECRET", raising=False)
    monkeypatch.chdir(tmp_path)


def records(name):
    return [record.read(line) for line in Path(name).read_bytes().splitlines()]


def test_records_and_results_are_the_same_by_any_number_of_jobs(tmp_path):
    bot = bot_file(tmp_path)
    with serving(greedy()) as server:
        match = ["play", bot, "house:random", server.url, *SMALL, "--games", 8, "--seed", "j", "--json"]
        one, three = (
            json.loads(slagbot(*match, "--jobs", jobs, "--record", f"{jobs}.jsonl").stdout) for jobs in (1, 3)
        )
    assert [untimed(one) for one in records("1.jsonl")] == [untimed(one) for one in records("3.jsonl")]
    for player in (*one["players"], *three["players"]):
        player.pop("mean_ms")
    assert one == three


def test_pairs_are_compared_by_interval_and_likelihood():
    match = ["play", "house:greedy", "house:random", "--games", 20]
    (pair,) = json.loads(slagbot(*match, "--json").stdout)["pairs"]
    assert (pair["first"], pair["second"], pair["boards"], pair["games"]) == ("greedy", "random", 10, 20)
    assert pair["wins_less_losses"]["low"] < pair["wins_less_losses"]["mean"] < pair["wins_less_losses"]["high"]
    assert pair["points_ahead"]["mean"] > 0
    assert 0.5 < pair["superiority"] < 1
    shown = slagbot(*match).stdout
    assert "greedy over random" in shown
    assert f"{100 * pair['superiority']:.1f}%" in shown


def test_a_bot_alone_at_the_table_is_compared_with_nobody():
    assert "superiority" not in slagbot("play", "house:random", "--games", 2).stdout


def test_a_seat_that_is_looked_into_shows_what_it_saw_and_chose(tmp_path):
    bot = bot_file(tmp_path, "return 'play:ZZ', 'why not'", "decision.id == 'offline:0/0.0.0.1'")
    match = ["play", bot, "house:random", *SMALL, "--games", 2, "--debug-seat", 0, "--record", "r.jsonl"]
    ran = slagbot(*match)
    shown = ran.stdout
    assert "playing" not in ran.stderr  # a bar would stand amid it
    *told, results = slagbot(*match, "--json").stdout.splitlines()
    assert json.loads(results)["games"] == 2
    seen = [json.loads(line) for line in told]
    expected = [asked for one in records("r.jsonl") for asked in decisions(one) if asked.message.seat == 0]
    assert [one["message"]["decision_id"] for one in seen] == [asked.message.decision_id for asked in expected]
    assert [one["message"]["legal_actions"] for one in seen] == [asked.message.legal_actions for asked in expected]
    wrong = seen[1]
    assert (wrong["answer"]["action"], wrong["answer"]["outcome"]) == ("play:ZZ", "illegal")
    assert wrong["recorded"]["action"] == wrong["message"]["legal_actions"][0]
    assert "play:ZZ, which is illegal" in shown
    assert "(why not)" in shown
    assert shown.count("budget ") == len(expected)


def test_a_seat_that_is_not_at_the_table_is_2():
    assert "a seat from 0 to 1" in slagbot("play", "house:random", "--debug-seat", 2, status=2).output


def test_a_bot_that_takes_its_process_down_is_told_and_counted(tmp_path):
    bot = bot_file(tmp_path, "os._exit(7)", "decision.id == 'offline:0/0.0.0.1'")
    ran = slagbot("play", bot, "house:random", *SMALL, "--games", 4, "--json")
    assert json.loads(ran.stdout)["players"][0]["outcomes"]["unreachable"] == 1
    assert "made is unreachable: its process ended with status 7 in decision offline:0/0.0.0.1" in ran.stderr


@pytest.mark.parametrize("whom", [os.kill, os.killpg], ids=["the command", "all of the terminal's job"])
def test_ctrl_c_stops_with_130_and_leaves_no_process(tmp_path, whom):
    with Line() as line:
        bot = bot_file(tmp_path, f"{line.call}; time.sleep(1000)")
        match = ["play", bot, "house:random", *SMALL, "--jobs", 2, "--games", 2, "--budget-ms", 30_000]
        with started(*match, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            calls = [line.wait_for_call() for _ in range(2)]
            whom(process.pid, signal.SIGINT)
            _, said = process.communicate(timeout=60)
        assert process.returncode == 130
        assert [call.recv(1) for call in calls] == [b"", b""]
        for call in calls:
            call.close()
    assert "Traceback" not in said
    assert "stopped" in said


def test_the_processes_of_a_command_that_was_killed_end_by_themselves_and_leave_no_file(tmp_path, monkeypatch):
    Path("temporary").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "temporary"))
    with Line() as line:
        bot = bot_file(tmp_path, f"{line.call}; time.sleep(1000)")
        command = started("play", bot, *SMALL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with command as process, line.wait_for_call() as call:
            process.kill()
            assert call.recv(1) == b""
    assert [path.name for path in Path("temporary").iterdir()] == []


def test_records_that_were_written_before_ctrl_c_stay(tmp_path):
    with Line() as line:
        bot = bot_file(tmp_path, f"{line.call}; time.sleep(1000)", "decision.game.id == 'offline:0/0.3'")
        match = ["play", bot, *SMALL, "--games", 4, "--record", tmp_path / "r.jsonl"]
        command = started(*match, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        with command as process, line.wait_for_call():
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 130
    written = [one.game_id for one in records("r.jsonl")]
    assert written[:2] == ["offline:0/0.0", "offline:0/0.1"]
    assert written[2:] in ([], ["offline:0/0.2"])


def test_what_a_bot_calls_itself_is_no_command_to_the_terminal(tmp_path):
    file = tmp_path / "odd.py"
    file.write_text(
        "from bot_sdk.bot import Bot\nbot = Bot('[/b] :boom: \\x1b[2J')\n"
        "bot.on('seven_up')(lambda decision: decision.legal[0])\n"
    )
    shown = slagbot("play", file, "house:random", "--games", 2, "--debug-seat", 0).stdout
    assert "[/b] :boom: �[2J" in shown
    assert "\x1b" not in shown
