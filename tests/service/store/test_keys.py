"""What is kept under which key, and that no script can write half."""

from __future__ import annotations

import inspect
import re
from importlib import resources
from pathlib import Path

import pytest

from service.store import keys, lua

SCRIPTS = sorted(path.name.removesuffix(".lua") for path in (resources.files("service.store") / "scripts").iterdir())
RUN = re.compile(r'\b_?(?:run|run_many|call|source)\(\s*"(\w+)"')


def test_scripts_that_are_run_are_those_there_are():
    modules = Path(str(resources.files("service"))).rglob("*.py")
    assert {name for module in modules for name in RUN.findall(module.read_text("utf-8"))} == set(SCRIPTS)


@pytest.mark.parametrize("name", SCRIPTS)
def test_script_has_the_header_that_makes_it_refused_as_a_whole_and_explains_itself(name):
    first, *rest = lua.source(name).splitlines()
    assert re.fullmatch(r"#!lua( flags=(allow-oom|no-writes))?", first)
    head = [line for line in rest[:20] if line.startswith("--")]
    assert any(line.startswith("-- KEYS") for line in head)
    assert any(line.startswith("-- Gives") for line in head)


@pytest.mark.parametrize("name", SCRIPTS)
def test_script_touches_only_keys_it_is_given(name):
    """Every command on a key names it as KEYS[n], or KEYS[i] in a loop; TIME and PUBLISH have none."""
    for command, argument in re.findall(r"redis\.call\('(\w+)'(?:, ([^,)]+))?", lua.source(name)):
        assert command in {"TIME", "PUBLISH"} or re.fullmatch(r"KEYS\[[\di]\]", argument), (command, argument)


def test_secrets_live_under_their_own_prefix(redis, store, make_game, make_bot, make_tournament):
    store.games.create(make_game(), secret=b"secret-1" * 4, due_at=1, tokens={1: "secret-2"})
    store.bots.create(make_bot(), secret="whsec_secret-3")
    store.tournaments.create(make_tournament(), secret=b"secret-4" * 4)
    store.secrets.arena_key(b"secret-5" * 4)
    redis.config_set("rdbcompression", "no")  # so that DUMP shows plain bytes
    telling = {name for name in redis.scan_iter() if b"secret-" in redis.dump(name)}
    assert len(telling) == 5
    assert all(name.startswith(b"secret:") for name in telling)


@pytest.mark.parametrize(("prefix", "listed"), [("{g:x}", keys.of_game("x")), ("{t:x}", keys.of_tournament("x"))])
def test_every_key_of_a_game_or_a_tournament_is_listed(prefix, listed):
    """What isn't listed there would stay for ever when a game or a tournament expires."""
    functions = [each for name, each in inspect.getmembers(keys, inspect.isfunction) if not name.startswith("of_")]
    named = [each("x") for each in functions if not each.__name__.endswith("_news")]
    own = [name for name in named if prefix in name]
    assert len(own) >= 5
    assert sorted(own) == sorted(listed)
