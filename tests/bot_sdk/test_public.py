"""What authors import from `bot_sdk` itself."""

from __future__ import annotations

import subprocess
import sys
from importlib import resources

import pytest

import bot_sdk
from bot_sdk import bot, local


def test_the_public_face_is_what_its_homes_define():
    from bot_sdk import Arena, Bot, Decision, play  # noqa: PLC0415 - the statement is what is tested

    assert (Bot, Decision, play) == (bot.Bot, bot.Decision, local.play)
    assert Arena.__name__ == "Arena"
    assert set(bot_sdk.__all__) <= set(dir(bot_sdk))


def test_type_checkers_are_told_that_it_is_typed():
    assert resources.files(bot_sdk).joinpath("py.typed").is_file()


def test_a_name_that_is_not_there_is_no_attribute():
    with pytest.raises(AttributeError, match="module 'bot_sdk' has no attribute 'Robot'"):
        _ = bot_sdk.Robot


def test_importing_the_package_loads_nothing_and_a_bot_neither_client_nor_commands():
    program = (
        "import sys; before = set(sys.modules); import bot_sdk; first = set(sys.modules) - before;"
        "print([name for name in first if name.partition('.')[0] not in sys.stdlib_module_names]);"
        "from bot_sdk import Bot, Decision;"
        "print([name for name in ('click', 'requests', 'rich', 'urllib3') if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert ran.stdout == "['bot_sdk']\n[]\n"
