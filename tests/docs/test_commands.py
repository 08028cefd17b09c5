"""Every command of ours that a page shows exists, with the options that it is shown with."""

from __future__ import annotations

import re
import shutil

import click
import pytest

from bot_sdk.cli import main as slagbot
from service.cli import main as slagveld
from tests.docs.pages import blocks, pages, prose, text

ROOTS = {"slagbot": slagbot, "slagveld": slagveld}
SPOKEN = re.compile(r"(?:^|[\s(;&|{])(slagbot|slagveld)((?:[ \t]+(?:'[^']*'|[^\s|;&)}#]+))*)", re.MULTILINE)


def shown(page):
    """List the commands of ours on a page: in its shell scripts, and in the code within its sentences."""
    scripts = [code.replace("\\\n", " ") for language, code in blocks(page) if language in {"sh", "bash"}]
    spans = [span for span in re.findall(r"`([^`\n]+)`", prose(page)) if span.startswith(tuple(ROOTS))]
    return [(name, rest.split()) for code in (*scripts, *spans) for name, rest in SPOKEN.findall(code)]


def wrong(name, words):
    """Say what of a command doesn't exist; nothing if all of it does."""
    command, rest = ROOTS[name], words
    while isinstance(command, click.Group) and rest and not rest[0].startswith("-"):
        if rest[0] == "…":
            return None
        found = command.get_command(click.Context(command), rest[0])
        if found is None:
            return f"{name} has no command {rest[0]}"
        command, rest = found, rest[1:]
    known = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    asked = {word.partition("=")[0] for word in rest if re.match(r"--?[a-z]", word)}
    unknown = asked - known - {"--help", "--version"}
    return f"{name} {command.name} has no {', '.join(sorted(unknown))}" if unknown else None


@pytest.mark.parametrize("page", pages(), ids=str)
def test_every_command_shown_exists_with_its_options(page):
    assert [said for name, words in shown(page) if (said := wrong(name, words))] == []


def test_commands_are_found_and_a_wrong_one_is_seen():
    found = {(name, *words[:1]) for page in pages() for name, words in shown(page)}
    assert {("slagbot", "check"), ("slagveld", "up"), ("slagveld", "tournament")} <= found
    assert wrong("slagbot", ["fly"]) == "slagbot has no command fly"
    assert wrong("slagveld", ["tournament", "create", "x", "--colour=red"]) == "slagveld create has no --colour"
    assert wrong("slagbot", ["play", "bot.py:bot", "--games", "3", "--json"]) is None


def test_every_piece_of_python_can_be_read():
    for page in pages():
        for language, code in blocks(page):
            if language == "python":
                compile(code, str(page), "exec")


@pytest.mark.skipif(not shutil.which("openssl"), reason="the page's commands use openssl")
def test_the_commands_of_the_deals_give_the_vectors_beside_them(shell):
    (script,) = [code for language, code in blocks("docs/deals.md") if language == "sh"]
    said, status = shell(script)
    assert status == 0, said
    sums = re.findall(r"[0-9a-f]{64}", said)
    assert len(sums) == 2
    assert [each for each in sums if each not in text("docs/deals.md")] == []
