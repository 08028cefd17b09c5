"""`slagveld tournament …` as an organiser uses it, against one arena for the whole module."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys

import msgspec
import pytest
from click.testing import CliRunner
from rich.console import Console

from bot_sdk.client import Arena
from bot_sdk.games import record
from service import cli
from service.api.tournaments import TournamentNew
from service.organising import asking, creating, exporting, shown, words
from service.tournaments.boards import FIELD, FRESH, ROTATE
from service.tournaments.formats import FORMATS
from tests.bot_sdk.specified import example
from tests.bot_sdk.stub import Stub
from tests.integration.running import SLAGVELD, START_S, Up, wait_until

ID = r"trn_[a-z2-7]{26}"
QUICK = ("--ruleset", "seven_up", "--option", "target=1")
"""Settings of games that are over after a deal or two."""
END_S = 60


@pytest.fixture(scope="module")
def up(tmp_path_factory):
    running = Up(tmp_path_factory.mktemp("arena"), "--workers", "1")
    running.url = running.ready()
    yield running
    running.close()


@pytest.fixture(scope="module")
def client(up):
    with Arena(up.url) as arena:
        arena.token = arena.create_account("host")["token"]
        yield arena


@pytest.fixture(scope="module")
def ask(up, client):
    """Give a function that runs a command as the host, and gives what it says; other exit statuses are to be named."""

    def run(*arguments, status=0, token=client.token):
        environment = {"SLAGVELD_ARENA": up.url, "SLAGVELD_TOKEN": token, "COLUMNS": None}
        ran = CliRunner().invoke(cli.main, ["tournament", *arguments], env=environment)
        assert ran.exit_code == status, ran.output
        return ran

    return run


@pytest.fixture(scope="module")
def answer(ask):
    """Give a function that runs a command with --json, and gives the one object that it prints."""

    def run(*arguments, **more):
        (line,) = ask(*arguments, "--json", **more).stdout.splitlines()
        return json.loads(line)

    return run


@pytest.fixture(scope="module")
def entered(answer):
    """Make a tournament as set, enter two house bots, and give its id."""

    def make(*settings):
        made = answer("create", "some", *settings)
        answer("enter", made["id"], "house:greedy", "house:random")
        return made["id"]

    return make


@pytest.fixture(scope="module")
def played(entered, ask):
    """Give the id of a tournament of six games that has ended."""
    tournament_id = entered(*QUICK, "--rounds", "6")
    ask("start", tournament_id)
    ask("watch", tournament_id)
    return tournament_id


def test_a_tournament_from_its_making_to_its_standings(ask, answer, client, tmp_path):
    said = ask("create", "friday", *QUICK, "--rounds", "4", "--seed", "7").stdout
    assert re.match(rf"made friday, a round_robin of seven_up with field deals: {ID}\n", said)
    tournament_id = re.search(ID, said)[0]
    assert f"next: slagveld tournament enter {tournament_id} BOT..." in said

    assert ask("start", "friday", "--dry-run", status=1).stdout.startswith(
        "it can't start: expected at least 2 entries"
    )
    assert answer("start", "friday", "--dry-run", status=1)["can_start"] is False

    assert ask("enter", "friday", "house:greedy", "house:random").stdout.splitlines() == [
        "entered greedy (house:greedy)",
        "entered random (house:random)",
    ]
    said = ask("start", "friday", "--dry-run").stdout
    assert re.search(
        r"^it would be 4 games on 4 boards in 4 rounds, about 4 for each entry\nabout [\d,]+ decisions, about ", said
    )
    assert "this assumes:\n- " in said
    assert client.tournament(tournament_id)["state"] == "open"

    assert re.search(r"^friday is running: \d of 4 games", ask("start", "friday").stdout)
    watched = ask("watch", "friday")
    assert re.search(r"^friday is finished: all its 4 games ", watched.stdout)
    assert "final, from 4 results" in watched.stdout
    assert "friday is finished: 4 of 4 games" in watched.stderr
    assert "greedy" in ask("standings", "friday").stdout

    assert answer("show", "friday") == msgspec.to_builtins(client.tournament(tournament_id))
    assert answer("standings", "friday") == msgspec.to_builtins(client.standings(tournament_id))
    assert answer("crosstable", "friday") == msgspec.to_builtins(client.crosstable(tournament_id))
    assert ask("crosstable", tournament_id).stdout.count("/4 ") == 2
    text = ask("show", "friday").stdout
    assert "finished: 4 of 4 games" in text
    assert "seed 7" in text
    assert re.search(r"^entries +greedy \(house:greedy\) *$", text, re.MULTILINE)


def test_every_setting_of_the_api_has_an_option():
    parameters = {parameter.name for parameter in creating.create.params}
    assert set(TournamentNew().fields) <= parameters
    assert set(creating.FORMATS) == set(FORMATS)
    assert set(creating.DEALS) == {FIELD, FRESH, ROTATE}


def test_settings_come_to_the_arena_as_they_are_given(answer):
    made = answer(
        "create", "all of it", "--ruleset", "seven_up", "--format", "match", "--deals", "rotate", "--table-size", "2",
        "--rounds", "30", "--sprt", "-5,20.5,0.1,0.2", "--challenger", "house:random", "--seed", "9",
        "--invite", "acc_" + "a" * 26, "--invite", "house:random", "--entries-per-account", "3",
        "--option", "target=9", "--option", "pips=classic", "--option", "gift=false",
        "--budget-ms", "300", "--first-budget-ms", "900", "--human-budget-ms", "6000", "--max-faults", "2",
    )  # fmt: skip
    assert (made["format"], made["deals"], made["table_size"], made["rounds"], made["seed"]) == (
        "match", "rotate", 2, 30, 9,
    )  # fmt: skip
    assert made["sprt"] == {"elo0": -5, "elo1": 20.5, "alpha": 0.1, "beta": 0.2}
    assert made["challenger"] == "house:random"
    assert made["invited"] == ["acc_" + "a" * 26, "house:random"]
    assert made["entries_per_account"] == 3
    assert (made["options"]["target"], made["options"]["pips"], made["options"]["gift"]) == (9, "classic", False)
    assert made["limits"] == {"budget_ms": 300, "first_budget_ms": 900, "human_budget_ms": 6000, "max_faults": 2}
    cup = answer("create", "cup", "--ruleset", "river", "--format", "knockout", "--table-size", "5", "--advance", "2")
    assert (cup["table_size"], cup["advance"]) == (5, 2)
    assert answer("create", "steps", *QUICK, "--format", "ladder", "--max-games", "40")["max_games"] == 40


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (["--sprt", "0"], "expected ELO0,ELO1 or ELO0,ELO1,ALPHA,BETA such as 0,20, got '0'"),
        (["--sprt", "0,x"], "got '0,x'"),
        (["--option", "target"], "expected KEY=VALUE such as target=7, got 'target'"),
        (["--format", "lottery"], "'lottery' is not one of"),
        (["--rounds", "many"], "'many' is not a valid integer"),
    ],
)
def test_settings_that_are_none_are_wrong_use(ask, settings, said):
    assert said in ask("create", "x", "--ruleset", "seven_up", *settings, status=2).stderr


def test_what_the_arena_refuses_is_a_sentence_with_its_fields(ask, answer):
    said = ask("create", "x", *QUICK, "--rounds", "-1", "--advance", "9", status=1).stderr
    assert re.fullmatch(r"Error: (\w+): [^(]+ \((\w+): [^(]+\)\n", said)
    assert ask("create", "x", *QUICK, "--option", "target=0", status=1).stderr.count("options.target: ") == 1
    made = answer("create", "refusals", *QUICK)
    said = ask("enter", "refusals", "house:greedy", "house:nobody", status=1).stderr
    assert said == ("Error: house:nobody isn't entered: there is no such bot; entered before it: house:greedy\n")
    assert "expected the id or the name of a tournament, got 'saturday'" in ask("show", "saturday", status=1).stderr
    assert "it wasn't started yet: slagveld tournament start" in ask("resume", made["id"], status=1).stderr
    assert ask("show", "trn_" + "a" * 26, status=1).stderr == "Error: there is no such tournament\n"


def test_no_arena_is_a_sentence_too():
    with Stub([]) as stub:
        pass
    ran = CliRunner().invoke(cli.main, ["tournament", "list", "--arena", stub.url])
    assert ran.exit_code == 1
    assert ran.stderr == f"Error: no arena at {stub.url}: Connection refused\n"


def test_who_has_no_account_gets_one_and_its_token(ask, up):
    ran = ask("create", "of nobody", *QUICK, "--json", token="")
    made = json.loads(ran.stdout)
    assert re.fullmatch(r"made account of nobody: export SLAGVELD_TOKEN=(\S+)\n", ran.stderr)
    token = ran.stderr.strip().partition("=")[2]
    with Arena(up.url, token) as arena:
        assert arena.me()["id"] == made["owner"]
    said = ask("start", made["id"], status=1, token="").stderr
    assert said.endswith("--token or SLAGVELD_TOKEN\n")


def test_withdrawn_before_the_start_is_as_never_entered(entered, ask, answer, client):
    tournament_id = entered(*QUICK)
    assert answer("withdraw", tournament_id, "house:greedy")["entries"] == 1
    assert ask("withdraw", tournament_id, "house:random").stdout == "withdrew house:random\n"
    assert list(client.entries(tournament_id)) == []


def test_paused_gone_on_with_and_called_off(entered, ask, answer):
    tournament_id = entered("--ruleset", "seven_up", "--rounds", "200")
    assert answer("start", tournament_id)["state"] == "running"
    assert " is paused: " in ask("pause", tournament_id).stdout
    assert answer("resume", tournament_id)["state"] == "running"
    assert " is cancelled: " in ask("cancel", tournament_id).stdout
    assert "can't become running" in ask("resume", tournament_id, status=1).stderr
    assert "a ladder" in ask("finish", tournament_id, status=1).stderr
    listed = answer("list", "--mine", "--state", "cancelled")
    assert [(each["id"], each["state"]) for each in listed["items"]] == [(tournament_id, "cancelled")]
    assert tournament_id in ask("list").stdout
    watched = ask("watch", tournament_id).stdout
    assert " is cancelled: cancelled by its host\n" in watched


def test_a_ladder_goes_on_until_it_is_told_to_finish(entered, answer, ask):
    tournament_id = entered(*QUICK, "--format", "ladder")
    ask("start", tournament_id)
    ask("finish", tournament_id)
    ask("watch", tournament_id)
    assert answer("show", tournament_id)["state"] == "finished"


def test_watching_tells_each_message_to_programs(entered, ask):
    tournament_id = entered(*QUICK, "--rounds", "20")
    ask("start", tournament_id)
    told = [json.loads(line) for line in ask("watch", tournament_id, "--json").stdout.splitlines()]
    assert all(set(one) >= {"state", "reason", "games", "finished", "running", "seconds_left"} for one in told)
    assert [one["finished"] for one in told] == sorted(one["finished"] for one in told)
    assert (told[-1]["state"], told[-1]["finished"]) == ("finished", 20)


def test_a_terminal_shows_one_line_that_changes(played, ask, monkeypatch):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("TERM", "xterm")
    ran = ask("watch", played)
    assert "some is finished: 6 of 6 games" in ran.stderr
    assert ran.stderr.endswith("\x1b[2K")  # and it is gone at the end
    assert ran.stdout.startswith("some is finished: ")


class Watch:
    """A `watch` in a process of its own."""

    def __init__(self, url, *arguments):
        self.process = subprocess.Popen(
            [sys.executable, "-c", SLAGVELD, "tournament", "watch", "--arena", url, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
        )

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()


def test_interrupt_leaves_a_watch_quietly(up, entered):
    tournament_id = entered(*QUICK)
    with Watch(up.url, tournament_id, "--json") as watch:
        assert json.loads(watch.process.stdout.readline())["state"] == "open"
        watch.process.send_signal(signal.SIGINT)
        out, err = watch.process.communicate(timeout=10)
    assert (watch.process.returncode, out, err) == (130, "", "")


def test_watching_outlives_a_restart_of_the_arena(up, entered, ask, client):
    tournament_id = entered(*QUICK, "--rounds", "2")
    with Watch(up.url, tournament_id, "--json") as watch:
        assert json.loads(watch.process.stdout.readline())["state"] == "open"
        killed = up.child("gunicorn")
        os.kill(killed, signal.SIGKILL)
        wait_until(lambda: up.child("gunicorn") not in {None, killed} and client.ready(), START_S, "no new API")
        ask("start", tournament_id)
        out, _ = watch.process.communicate(timeout=END_S)
    assert watch.process.returncode == 0
    assert json.loads(out.splitlines()[-1])["state"] == "finished"


def test_an_arena_that_stays_away_ends_the_watch_with_a_sentence():
    tournament_id = "trn_" + "a" * 26
    with Stub([(200, example("TournamentView", name="friday")), None, None, None]) as stub:
        ran = CliRunner().invoke(
            cli.main, ["tournament", "watch", tournament_id, "--arena", stub.url, "--patience", "0"]
        )
    assert ran.exit_code == 1
    assert ran.stderr.startswith(f"Error: no arena at {stub.url}: ")


def test_exports_in_every_format(played, ask, tmp_path):
    table = list(csv.DictReader(io.StringIO(ask("export", played).stdout)))
    assert len(table) == 12
    assert ask("export", played, "--format", "jsonl").stdout.startswith("{")
    records = ask("export", played, "--format", "records").stdout_bytes.splitlines()
    assert len(records) == 6
    assert all(record.verify(record.read(line)).is_over for line in records)

    file = tmp_path / "records.jsonl"
    said = ask("export", played, "--format", "records", "--output", str(file)).stdout
    assert said == f"wrote {file}: {file.stat().st_size:,} bytes\n"
    assert file.read_bytes().splitlines() == records
    written = json.loads(ask("export", played, "--output", str(file), "--json").stdout)
    assert written == {"file": str(file), "format": "csv", "bytes": file.stat().st_size}
    assert [path.name for path in tmp_path.iterdir()] == ["records.jsonl"]
    assert "expected --output with --json" in ask("export", played, "--json", status=2).stderr


def test_half_an_export_never_takes_the_files_name(tmp_path):
    file = tmp_path / "results.csv"
    file.write_text("of last week")
    tournament_id = "trn_" + "a" * 26
    with Stub([(200, (b"half\n", None), {"Content-Type": "text/csv"})]) as stub:
        ran = CliRunner().invoke(
            cli.main, ["tournament", "export", tournament_id, "--arena", stub.url, "--output", str(file)]
        )
    assert ran.exit_code == 1
    assert "broke off" in ran.stderr
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"results.csv": "of last week"}


def test_a_file_appears_when_it_is_whole(tmp_path):
    with exporting.whole(tmp_path / "a") as file:
        file.write(b"x")
        file.flush()
        assert not (tmp_path / "a").exists()
    assert (tmp_path / "a").read_bytes() == b"x"


def test_the_leaderboard_is_the_apis(up, client, played):
    command = ["leaderboard", "seven_up", "--arena", up.url]
    ran = CliRunner().invoke(cli.main, [*command, "--json"])
    assert ran.exit_code == 0, ran.output
    assert set(json.loads(ran.stdout)) == set(msgspec.to_builtins(client.leaderboard("seven_up")))
    ran = CliRunner().invoke(cli.main, command)
    assert ran.exit_code == 0, ran.output
    assert "Seven Up: ratings" in ran.stdout


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        (0, "0 seconds"),
        (1, "1 second"),
        (59, "59 seconds"),
        (60, "1 minute"),
        (119, "1 minute 59 seconds"),
        (3_599, "59 minutes 59 seconds"),
        (3_600, "1 hour"),
        (7_530, "2 hours 6 minutes"),
        (90_000, "1 day 1 hour"),
    ],
)
def test_durations_in_words(seconds, said):
    assert words.duration(seconds) == said


def test_progress_in_words():
    far = {"state": "running", "finished": 1_200, "planned": 3_000, "running": 4, "seconds_left": 125}
    assert words.progress(far) == "running: 1,200 of 3,000 games, 4 running, about 2 minutes 5 seconds left"
    endless = {"state": "paused", "finished": 1, "planned": None, "running": 0, "seconds_left": None}
    assert words.progress(endless) == "paused: 1 game"


def test_how_a_test_stands_in_words():
    names = {"bot_1": "new", "bot_2": "old"}
    test = {"challenger": "bot_1", "opponent": "bot_2", "pairs": 1, "llr": -3, "lower": -2.944, "upper": 2.944}
    assert words.test({**test, "verdict": "H0"}, names) == (
        "new against old: H0 holds after 1 pair, log-likelihood ratio -3.00 between -2.94 and 2.94"
    )
    assert "not decided after 1 pair" in words.test({**test, "verdict": None}, names)


def test_a_crosstable_says_who_is_likely_the_better_one(capsys):
    cell = {"points": 7.5, "games": 10}
    cells = [{**cell, "superiority": likely} for likely in (0.999, 0.004, 0.5, 1, None)]
    asking.screen().print(
        shown.crosstable("t", {"items": [{"name": "a", "cells": cells}, *[{"name": "b", "cells": []}] * 4]})
    )
    found = capsys.readouterr().out
    assert found.count("7.5/10") == 5
    assert re.findall(r"[<>]?\d+%", found) == [">99%", "<1%", "50%", "100%"]


def test_a_leaderboard_shows_what_is_not_known_as_such(capsys):
    known = {"rank": 1, "name": "new", "version": "2", "rating": 1610.4, "low": 1580.4, "high": 1640.4, "games": 1_000}
    hidden = {**known, "rank": None, "name": None, "bot_id": "bot_1", "rating": 1500, "low": None, "high": None}
    method = {"rating": "by fit", "interval": "by boards", "rated": "some", "rank": "by rating"}
    board = {"items": [known, hidden], "computed_at": None, "results": 1, "method": method}
    asking.screen().print(shown.leaderboard("ratings", board))
    found = capsys.readouterr().out
    assert re.search(r"^ 1 +new +2 +1610 ± 30 +1000 *$", found, re.MULTILINE)
    assert re.search(r"^ +bot_1 +2 +1500 +1000 *$", found, re.MULTILINE)
    assert "not computed yet, from 1 rated result\nrating: by fit; interval: by boards\n" in found


def standing(name, **more):
    """Make a row of standings as the API shows it."""
    row = {"place": 1, "name": name, "games": 85, "points": 66.5, "mean": {"mean": 0.76, "low": 0.67, "high": 0.85}}
    kinds = ("byes", "forfeits", "forfeit_wins", "retirements", "voids", "aborted", "missing")
    return {**row, "wins": 65, **dict.fromkeys(kinds, 0), "reached": None, "outcomes": {"ok": 9}, **more}


def shown_standings(*rows):
    method = {"score": "points", "mean": "of a game", "tiebreaks": ["wins"], "interval": "by boards"}
    return shown.standings("friday", {"items": rows, "method": method, "is_final": True, "results": 300})


def test_standings_show_faults_and_how_far_a_knockout_went_where_there_are_any(capsys):
    asking.screen().print(shown_standings(standing("a")))
    assert re.search(r"games +points +a game +wins *$", capsys.readouterr().out, re.MULTILINE)
    faulty = {"ok": 3, "late": 2, "unreachable": 3, "retired": 70, "our_fault": 1}
    asking.screen().print(shown_standings(standing("a", reached=2), standing("b", reached=1, outcomes=faulty)))
    found = capsys.readouterr().out
    assert re.search(r"wins +reached +faults *$", found, re.MULTILINE)
    assert re.search(r" a .* 65 +2 +0 *$", found, re.MULTILINE)
    assert re.search(r" b .* 65 +1 +5 *$", found, re.MULTILINE)


def test_tables_cut_nothing_off_in_80_columns(capsys):
    narrow = Console(width=80)
    full = dict.fromkeys(("byes", "forfeits", "forfeit_wins"), 100)
    narrow.print(shown_standings(standing("by_the_book", is_withdrawn=True, **full)))
    found = capsys.readouterr().out
    assert "by_the_book" in found
    assert "(withdrawn)" in found
    assert re.search(r" 85 +66.5 +0.76 ± 0.09 +65 +100 +100 +100 *$", found, re.MULTILINE)
    made = {"id": "trn_" + "a" * 26, "name": "friday", "ruleset": "seven_up", "format": "round_robin"}
    narrow.print(shown.tournaments([{**made, "state": "cancelled", "created_at": 0}]))
    found = capsys.readouterr().out
    assert re.search(r"trn_a{26}  friday +round_robin +cancelled", found)
    assert "…" not in found


def test_a_plan_in_words_writes_large_numbers_out():
    plan = {"games": 100_000, "boards": 100_000, "rounds": 100_000, "games_per_entry": 200_000 / 7}
    assert words.plan({**plan, "decisions": 5_750_000, "seconds": 60, "assumes": ["x"], "warnings": []}).splitlines()[
        :2
    ] == [
        "it would be 100,000 games on 100,000 boards in 100,000 rounds, about 28,571.4 for each entry",
        "about 5,750,000 decisions, about 1 minute",
    ]


def test_names_are_no_markup(capsys):
    named = {"id": "trn_1", "name": "[/red] :smile:", "ruleset": "river", "format": "swiss", "state": "open"}
    table = shown.tournaments([{**named, "created_at": 0}])
    asking.screen().print(table)
    assert "[/red] :smile:" in capsys.readouterr().out
