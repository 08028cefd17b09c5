"""The cookbook is cooked: its files are written and its commands run, in their order, in one folder."""

from __future__ import annotations

import re

from bot_sdk.envs import river_v1, seven_up_v1
from tests.docs.pages import blocks, text

PAGE = "docs/cookbook.md"


def test_every_file_and_command_does_what_the_cookbook_says(shell):
    ran = []
    for language, code in blocks(PAGE):
        if language == "python":
            name = re.match(r"# (\w+\.py)\n", code)[1]
            assert not (shell.folder / name).exists()
            (shell.folder / name).write_text(code, encoding="utf-8")
        else:
            assert language == "sh"
            said, status = shell(code)
            assert status == 0, said
            ran.append(code.split()[0])
    assert ran == ["slagbot", "pytest", "pytest", "pytest", "slagbot", "python"]


def test_the_parts_of_an_observation_are_listed():
    listed = text(PAGE).split("| part |")[1]
    named = set(re.findall(r"`(\w+)`", "".join(re.findall(r"^\| ([^|]*) \|", listed, re.MULTILINE))))
    assert named == {*river_v1.raw_env().layout, *seven_up_v1.raw_env().layout}
