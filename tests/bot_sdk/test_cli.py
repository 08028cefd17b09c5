from __future__ import annotations

import json
import sys

import pytest

from bot_sdk.bots.greedy import greedy
from bot_sdk.games import record
from bot_sdk.hosting import serving
from bot_sdk.loading import load_bot
from bot_sdk.results import export
from bot_sdk.results.export import Export, Exported
from bot_sdk.results.standings import standings
from tests.bot_sdk.commands.running import PATIENCE_S, PROGRAM, running, slagbot
from tests.bot_sdk.results.made import drawn, entered, won


@pytest.fixture(autouse=True)
def clean(monkeypatch, tmp_path):
    monkeypatch.delenv("SLAGVELD_BOT_SECRET", raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path.copy())


@pytest.fixture
def mine(tmp_path):
    slagbot("new", "mine")
    return tmp_path / "mine"


def bot_file(path, decide):
    path.write_text(
        f"from bot_sdk.bot import Bot\nbot = Bot('b')\n@bot.on('river')\ndef river(decision):\n    {decide}\n"
    )
    return f"{path}:bot"


class TestPlay:
    def test_records_verify_and_json_sums_up(self, mine, tmp_path):
        file = tmp_path / "r.jsonl"
        ran = slagbot("play", mine / "bot.py:bot", "house:random", "--ruleset", "river", "--games", 8, "--record", file,
                      "--options", '{"start_cards": 2}', "--seed", "s", "--json")  # fmt: skip
        told = json.loads(ran.stdout)
        assert (told["games"], told["options"]["start_cards"]) == (8, 2)
        assert [player["name"] for player in told["players"]] == ["mine", "random"]
        assert set(told["players"][0]["outcomes"]) == {"ok"}
        assert len(file.read_bytes().splitlines()) == 8
        assert json.loads(slagbot("verify", file, "--json").stdout) == {"verified": 8, "failures": []}

    def test_the_table_is_on_stdout_and_progress_on_stderr(self):
        ran = slagbot("play", "house:greedy", "house:random", "--games", 4)
        assert "greedy" in ran.stdout
        assert "playing" in ran.stderr
        assert "playing" not in ran.stdout

    def test_means_of_a_bot_that_sits_twice_are_named_for_what_they_are(self):
        match = ["play", "house:greedy", "house:random", "--ruleset", "river", "--games", 4, "--options"]
        shown = slagbot(*match, '{"start_cards": 1}').stdout
        assert ("wins a seat" in shown, "points a seat" in shown, "a game" in shown) == (True, True, False)
        players = json.loads(slagbot(*match, '{"start_cards": 1}', "--json").stdout)["players"]
        assert [player["seats"] for player in players] == [2, 2]
        assert sum(player["wins_per_seat"]["mean"] * 2 for player in players) == pytest.approx(1.0)
        assert {"points_per_seat"} <= set(players[0]) - {"wins", "points"}

    def test_a_bot_at_a_url_plays(self):
        with serving(greedy()) as server:
            told = json.loads(slagbot("play", server.url, "house:greedy", "--games", 2, "--json").stdout)
        assert [player["name"] for player in told["players"]] == ["greedy #1", "greedy #2"]
        assert set(told["players"][0]["outcomes"]) == {"ok"}

    def test_a_match_that_cannot_be_played_leaves_the_records_of_another(self, tmp_path):
        (tmp_path / "r.jsonl").write_text("precious\n")
        slagbot("play", "nowhere.py:bot", "house:random", "--record", "r.jsonl", status=2)
        assert (tmp_path / "r.jsonl").read_text() == "precious\n"

    def test_where_stdout_is_no_terminal_the_table_is_as_wide_as_it_takes(self, tmp_path):
        name = "a-bot-of-a-long-name-such-as-people-give-to-their-experiments"
        (tmp_path / "b.py").write_text(
            f"from bot_sdk import Bot\nbot = Bot({name!r})\nbot.on('seven_up')(lambda decision: decision.legal[0])\n"
        )
        assert f"{name} over random" in slagbot("play", "b.py", "house:random", "--games", 2).stdout

    def test_the_same_seed_plays_the_same(self, tmp_path):
        def actions(name):
            slagbot("play", "house:random", "house:greedy", "--games", 4, "--seed", "x", "--record", name)
            games = [record.read(line) for line in (tmp_path / name).read_bytes().splitlines()]
            return [[event["action"] for deal in game.deals for event in deal.events] for game in games]

        assert actions("a") == actions("b")

    def test_faults_are_in_the_table(self, tmp_path):
        bad = bot_file(tmp_path / "bad.py", "return 'play:ZZ'")
        ran = slagbot("play", bad, "house:random", "--ruleset", "river", "--games", 1, "--json")
        assert json.loads(ran.stdout)["players"][0]["outcomes"]["illegal"] == 10

    @pytest.mark.parametrize(
        ("arguments", "told"),
        [
            (["nowhere.py:bot"], "expected a file such as bot.py:bot"),
            (["house:perfect"], "expected a house bot among"),
            (["house:random", "--options", '{"target": 99}'], "from 1 to at most 50"),
            (["house:random", "--options", '{"colour": 1}'], "expected an option among"),
            (["house:random", "--options", "[1]"], "expected a JSON object"),
            (["house:random", "--options", "{"], "expected JSON"),
            (["house:random"] * 3, "expected 2 seats"),
            (["house:random", "--ruleset", "river", "--seats", "3"], "expected 4 to 8 seats"),
            (["house:random", "--ruleset", "river", "--seats", "8", "--options", '{"start_cards": 7}'], "at most 6"),
            (["http://127.0.0.1:1/"], "unreachable"),
            (["house:random", "--record", "no/such/folder/r"], "No such file"),
        ],
    )
    def test_what_cannot_be_is_2_with_a_sentence(self, arguments, told):
        assert told in slagbot("play", *arguments, status=2).output

    def test_a_file_that_raises_shows_its_error(self, tmp_path):
        (tmp_path / "broken.py").write_text("import math\nraise ValueError('math domain error')\n")
        told = slagbot("play", "broken.py:bot", status=2).output
        assert 'broken.py", line 2' in told
        assert "ValueError: math domain error" in told
        assert "importlib" not in told  # how we got there is no business of the author's

    def test_a_file_that_is_no_python_shows_the_line(self, tmp_path):
        (tmp_path / "broken.py").write_text("x = (\n")
        told = slagbot("play", "broken.py:bot", status=2).output
        assert "SyntaxError" in told
        assert 'broken.py", line 1' in told

    def test_two_versions_of_a_bot_play_each_with_its_own_modules(self, tmp_path):
        for version in ("old", "new"):
            folder = tmp_path / version
            (folder / "tables").mkdir(parents=True)
            (folder / "tables" / "names.py").write_text(f"NAME = {version!r}\n")
            (folder / "engine.py").write_text("from tables.names import NAME\n")
            (folder / "bot.py").write_text("from bot_sdk.examples.dice import any_action\nfrom bot_sdk.bot import Bot\n"
                                           "from engine import NAME\nbot = Bot(NAME)\n"
                                           "bot.on('river')(any_action)\nbot.on('seven_up')(any_action)\n")  # fmt: skip
        ran = slagbot("play", "old/bot.py:bot", "new/bot.py:bot", "--games", 2, "--json")
        assert [player["name"] for player in json.loads(ran.stdout)["players"]] == ["old", "new"]

    def test_what_a_bot_does_to_the_options_it_is_shown_changes_no_rule(self, tmp_path):
        bot = bot_file(tmp_path / "b.py", "decision.options.clear(); return decision.legal[0]")
        slagbot("play", bot, "house:random", "--ruleset", "river", "--games", 4, "--record", "r.jsonl")
        slagbot("verify", "r.jsonl")

    def test_a_seed_that_is_no_text_is_2(self):
        assert "expected a seed" in slagbot("play", "house:random", "--seed", "\udcff", status=2).output

    def test_a_bot_that_does_not_play_the_ruleset_is_told_before_the_first_game(self, tmp_path):
        bot = bot_file(tmp_path / "b.py", "return decision.legal[0]")
        told = "expected a bot that plays seven_up"
        assert told in slagbot("play", bot, "house:random", "--ruleset", "seven_up", status=2).output
        with serving(load_bot(bot)) as server:
            assert told in slagbot("play", server.url, "house:random", "--ruleset", "seven_up", status=2).output

    def test_a_name_that_is_no_bot_is_told(self, tmp_path):
        (tmp_path / "b.py").write_text("bot = 3\n")
        assert "expected a Bot named 'bot' in b.py, got 3" in slagbot("play", "b.py:bot", status=2).output


class TestVerify:
    @pytest.fixture
    def lines(self, tmp_path):
        slagbot("play", "house:random", "house:greedy", "--games", 3, "--record", "r.jsonl")
        return (tmp_path / "r.jsonl").read_bytes().splitlines()

    def test_a_changed_record_is_named_by_its_line(self, lines, tmp_path):
        lines[1] = lines[1].replace(b'"points":[', b'"points":[1', 1)
        (tmp_path / "bad.jsonl").write_bytes(b"\n".join(lines) + b"\n")
        ran = slagbot("verify", "bad.jsonl", status=1)
        assert ran.stdout.startswith("line 2: expected record.deals[0].points")
        assert "2 verified, 1 refused" in ran.stdout

    def test_a_record_laid_out_over_many_lines_is_one(self, lines, tmp_path):
        shown = json.loads(lines[0])
        (tmp_path / "one.json").write_text(f"\n{json.dumps(shown, indent=2)}\n")
        assert "1 verified, 0 refused" in slagbot("verify", "one.json").stdout
        shown["totals"][0] += 1
        (tmp_path / "one.json").write_text(json.dumps(shown, indent=2))
        assert "line 1: expected record.totals[0]" in slagbot("verify", "one.json", status=1).stdout

    @pytest.mark.parametrize("line", [b"nonsense", b"{}", b"[" * 100_000, b"\xff"])
    def test_a_line_that_is_no_record_is_refused(self, lines, tmp_path, line):
        (tmp_path / "bad.jsonl").write_bytes(lines[0] + b"\n" + line + b"\n")
        assert "line 2: expected a record" in slagbot("verify", "bad.jsonl", status=1).stdout

    def test_no_record_at_all_is_no_success(self, tmp_path):
        (tmp_path / "empty").write_bytes(b"")
        slagbot("verify", "empty", status=1)

    def test_a_file_that_is_not_there_is_2(self):
        slagbot("verify", "missing", status=2)


class TestRecompute:
    @pytest.fixture
    def lines(self):
        rounds = drawn("ab cd", "ac bd")
        terms = {"ruleset": "seven_up", "format": "swiss", "deals": "field", "table_size": 2, "seed": 1}
        rows = standings(entered("abcd"), won(rounds), "seven_up", seed=1, format="swiss", rounds=rounds)
        about = Exported(id="trn_1", name="Friday cup", options={}, root="ab" * 32, state="finished", **terms)
        return list(export.write(Export(about, entered("abcd"), rounds, won(rounds), rows)))

    def test_an_export_that_says_what_follows_agrees(self, lines, tmp_path):
        (tmp_path / "cup.jsonl").write_bytes(b"".join(lines))
        assert slagbot("recompute", "cup.jsonl").stdout == "Friday cup: 4 entries, 4 results: the standings agree\n"
        assert json.loads(slagbot("recompute", "cup.jsonl", "--json").stdout) == {
            "tournament_id": "trn_1",
            "agrees": True,
            "entries": 4,
            "results": 4,
            "ratings": 0,
            "differences": [],
        }

    def test_what_a_tournament_is_called_is_no_command_to_the_terminal(self, lines, tmp_path):
        lines[0] = lines[0].replace(b"Friday cup", b"Fri\\u001b[2Jday")
        (tmp_path / "cup.jsonl").write_bytes(b"".join(lines))
        assert slagbot("recompute", "cup.jsonl").stdout.startswith("Fri\N{REPLACEMENT CHARACTER}[2Jday: 4 entries")

    def test_what_differs_is_named_with_1(self, lines, tmp_path):
        lines[-4] = lines[-4].replace(b'"points":2.0', b'"points":3.0')
        (tmp_path / "cup.jsonl").write_bytes(b"".join(lines))
        assert slagbot("recompute", "cup.jsonl", status=1).stdout == (
            "standing of A (a): expected points 2.0, got 3.0\nFriday cup: 4 entries, 4 results: 1 difference\n"
        )
        told = json.loads(slagbot("recompute", "cup.jsonl", "--json", status=1).stdout)
        assert not told["agrees"]
        assert told["differences"] == [
            {"kind": "standing", "bot_id": "a", "version": None, "column": "points", "expected": 2.0, "got": 3.0}
        ]

    def test_what_cannot_be_read_is_2(self, lines, tmp_path):
        (tmp_path / "cut.jsonl").write_bytes(b"".join(lines)[:-50])
        assert "line 15: expected an object" in slagbot("recompute", "cut.jsonl", status=2).output
        (tmp_path / "games.jsonl").write_bytes(b'{"record":1}\n')
        assert "expected the head of an export" in slagbot("recompute", "games.jsonl", status=2).output
        slagbot("recompute", "missing", status=2)


class TestCheck:
    def test_a_bot_that_plays_illegally_fails_with_1(self, tmp_path):
        told = json.loads(slagbot("check", bot_file(tmp_path / "b.py", "return 'x'"), "--json", status=1).stdout)
        assert not told["passed"]
        failed = {step["name"]: step for step in told["steps"] if not step["ok"]}
        assert {"river bid", "river play"} <= set(failed)
        assert (failed["river bid"]["fault"], failed["river bid"]["where"].split(":")[0]) == ("illegal", "b.py")

    def test_what_a_bot_prints_leaves_json_alone_and_is_a_warning(self, tmp_path):
        file = bot_file(tmp_path / "b.py", "print('hm'); return decision.legal[0]")
        told = json.loads(slagbot("check", file, "--json").stdout)
        assert [step["fault"] for step in told["steps"] if step["warning"]] == ["printed"]
        assert not json.loads(slagbot("check", file, "--json", "--strict", status=1).stdout)["passed"]
        assert "1 warning" in slagbot("check", file).stdout.splitlines()[-1]

    def test_nobody_at_the_url_fails_with_1_and_says_what_to_do(self):
        with serving(greedy()) as server:
            pass
        said = slagbot("check", server.url, status=1).stdout
        assert "unreachable" in said
        assert "see that its server runs" in said

    def test_what_is_no_url_is_2(self):
        assert "expected a URL" in slagbot("check", "http://", status=2).output

    def test_a_url_is_checked_with_the_secret_found_here(self, mine, monkeypatch):
        bot = greedy()
        bot.secret = (mine / ".secret").read_text().strip()
        with serving(bot) as server:
            assert "expected" not in slagbot("check", server.url, status=1).output.splitlines()[-1]
            monkeypatch.chdir(mine)
            slagbot("check", server.url)

    def test_a_secret_that_is_none_is_2(self, mine, monkeypatch):
        monkeypatch.setenv("SLAGVELD_BOT_SECRET", "hunter2")
        said = slagbot("check", mine / "bot.py:bot", status=2).output
        assert "whsec_" in said
        assert "hunter2" not in said


@pytest.mark.parametrize("command", ["check", "serve", "connect"])
def test_ctrl_c_ends_any_command_with_130(tmp_path, command):
    (tmp_path / "b.py").write_text("raise KeyboardInterrupt\n")
    said = slagbot(command, "b.py", status=130).output
    assert said == "stopped\n"


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_what_stdout_has_no_letters_for_is_written_all_the_same(tmp_path, options):
    (tmp_path / "b.py").write_text(
        "from bot_sdk import Bot\nbot = Bot('\u0142')\nbot.on('seven_up')(lambda decision: decision.legal[0])\n",
        encoding="utf-8",
    )
    with running(*PROGRAM, "play", "b.py", "house:random", "--games", "2", *options, cwd=tmp_path,
                 PYTHONIOENCODING="cp1252") as program:  # fmt: skip
        assert program.process.wait(PATIENCE_S) == 0


def test_help_and_version():
    assert "register" in slagbot("--help").stdout
    for command in ("new", "serve", "play", "verify", "recompute", "check", "register"):
        slagbot(command, "--help")


def test_register_before_it_is_served_says_how_to(mine):
    with serving(greedy()) as server:
        pass
    said = slagbot("register", mine / "bot.py:bot", "--url", server.url, status=2).output
    assert f"expected a bot at {server.url}, got unreachable" in said
    assert said.endswith(f"next: in another terminal, slagbot serve {mine / 'bot.py:bot'}\n")


def test_register_without_a_secret_says_what_to_set(tmp_path):
    said = slagbot("register", "http://127.0.0.1:1", status=2).output
    assert "SLAGVELD_BOT_SECRET" in said
