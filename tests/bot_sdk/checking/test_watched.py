"""The author's lines are told from all others."""

from __future__ import annotations

import sys
import threading
from pathlib import Path

import pytest

import bot_sdk
from bot_sdk import messages
from bot_sdk.checking.faults import Fault, Finding
from bot_sdk.checking.watched import watching
from bot_sdk.checking.whole import Manner, check_bot
from bot_sdk.loading import load_bot
from bot_sdk.positions import positions

DECISION = positions("river", "bid", 1, "watched")[0]


@pytest.fixture
def load(tmp_path):
    def loaded(code):
        file = tmp_path / "bot.py"
        file.write_text(f"from bot_sdk.bot import Bot\nbot = Bot('watched')\n@bot.on('river')\ndef river(d):\n{code}\n")
        return load_bot(f"{file}:bot")

    return loaded


def where(bot, folder, fault):
    with watching(bot, folder) as watched:
        try:
            watched.answer(DECISION)
        except Exception:  # noqa: BLE001 - the author's code may raise anything
            assert fault is not Fault.ILLEGAL
        return watched.look(Finding(fault, "?"), [DECISION], None)


def test_an_error_inside_a_library_is_laid_to_the_line_that_called_it(load, tmp_path):
    found = where(load("    import json\n    return json.loads('{')"), tmp_path, Fault.RAISED)
    assert found.where == "bot.py:6, in river: return json.loads('{')"
    assert found.detail.startswith("raised JSONDecodeError")


def test_an_error_in_a_module_beside_the_bot_is_its_own(load, tmp_path):
    (tmp_path / "engine_of_watched.py").write_text("def think():\n    return [][0]\n")
    found = where(load("    import engine_of_watched\n    return engine_of_watched.think()"), tmp_path, Fault.RAISED)
    assert found.where == "engine_of_watched.py:2, in think: return [][0]"


def test_of_several_returns_the_one_that_was_taken_is_named(load, tmp_path):
    code = "    if d.phase == 'bid':\n        return 'bid:99'\n    return d.legal[0]"
    assert where(load(code), tmp_path, Fault.ILLEGAL).where == "bot.py:6, in river: return 'bid:99'"


def test_the_sdk_beneath_the_bots_folder_is_not_the_authors(load, tmp_path):
    bot = load("    return d.rng.choice([])")
    found = where(bot, Path(bot_sdk.__file__).parents[1], Fault.RAISED)
    assert found.where is None  # the bot's file lies elsewhere, and the SDK's lines aren't an author's


def test_asking_again_for_the_line_leaves_no_profiler_behind(load, tmp_path):
    where(load("    return 'bid:99'"), tmp_path, Fault.ILLEGAL)
    assert sys.getprofile() is None


def test_stdout_is_given_back_and_heard_only_from_the_author(load, tmp_path, capsys):
    bot = load("    print('mine')\n    return d.legal[0]")
    with watching(bot, tmp_path) as watched:
        sys.stdout.write("somebody else's\n")
        assert watched.prints() is None
        thread = threading.Thread(target=watched.answer, args=(DECISION,))
        thread.start()
        thread.join()
        step = watched.prints()
    assert (step.fault, step.where) == ("printed", "bot.py:5, in river: print('mine')")
    sys.stdout.write("after\n")
    told = capsys.readouterr()
    assert told.out == "after\n"
    assert "mine" in told.err


def test_what_is_printed_instead_of_returned_is_told_with_it(load, tmp_path):
    found = where(load("    print(d.legal[0])"), tmp_path, Fault.BAD_STATUS)
    assert found.fault is Fault.RETURNED_NONE
    assert found.detail.endswith(f"after it printed {DECISION.legal_actions[0]!r}")


def test_answers_are_those_of_the_bot(load, tmp_path):
    bot = load("    return d.legal[-1], 'a note'")
    with watching(bot, tmp_path) as watched:
        assert watched.answer(DECISION) == bot.answer(DECISION)
        assert watched.card() == bot.card()
        assert isinstance(watched.answer(DECISION), messages.ActionReply)


def test_code_that_exits_is_named_like_any_that_raises(load, tmp_path):
    bot = load("    raise SystemExit(3)")
    with watching(bot, tmp_path) as watched:
        with pytest.raises(SystemExit):
            watched.answer(DECISION)
        found = watched.look(Finding(Fault.RAISED, "?"), [DECISION], None)
    assert (found.fault, found.detail) == (Fault.RAISED, "raised SystemExit: 3")
    assert found.where == "bot.py:5, in river: raise SystemExit(3)"


def test_a_hook_that_fails_at_news_is_named_by_its_line(load, tmp_path):
    bot = load("    return d.legal[0]\n@bot.on_game_started\ndef warm(started):\n    return {}['weights']")
    steps = {step.name: step for step in check_bot(bot, tmp_path, Manner("fresh text"))}
    assert (steps["game_started"].ok, steps["game_started"].fault) == (False, "raised")
    assert steps["game_started"].where == "bot.py:8, in warm: return {}['weights']"
    assert steps["game_ended"].ok
