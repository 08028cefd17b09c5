"""The golden games still come out as they were looked at; how to write them again stands in golden_games.py."""

from __future__ import annotations

import json
import random
from typing import Any

import msgspec
import pytest

from bot_sdk.games import record
from bot_sdk.games.options import Choice
from bot_sdk.games.registry import RULESETS
from tests.bot_sdk.golden_games import (
    FOLDER,
    Case,
    cases,
    decisions_of,
    drawn,
    golden_messages,
    message_path,
    playthrough,
    shows,
    written,
)
from tests.bot_sdk.tables import every_table_size, values_of

BY_NAME = {case.name: case for case in cases()}
each_case = pytest.mark.parametrize("case", BY_NAME.values(), ids=list(BY_NAME))


def kept(case: Case) -> dict[str, Any]:
    assert case.path.exists(), f"expected a golden game {case.path.name}; see golden_games.py"
    made: dict[str, Any] = json.loads(case.path.read_text(encoding="utf-8"))
    return made


@each_case
def test_the_playthrough_comes_out_as_kept(case: Case) -> None:
    made = kept(case)
    assert playthrough(case.game(made["seed"]), decisions_of(made["steps"])) == made["steps"]


@each_case
def test_the_game_is_still_drawn_by_its_seed_and_its_file_written_alike(case: Case) -> None:
    made = kept(case)
    game = case.game(made["seed"])
    steps = playthrough(game, drawn(game, random.Random(f"{case.name} {made['seed']}")))
    again = made | {"steps": steps, "record": msgspec.to_builtins(case.record(game, made["seed"]))}
    assert written(again) == case.path.read_text(encoding="utf-8")


@each_case
def test_the_golden_record_verifies_and_is_that_of_the_playthrough(case: Case) -> None:
    made = kept(case)
    read = record.read(json.dumps(made["record"]))
    game = record.verify(read)
    assert [msgspec.to_builtins(event) for event in game.log] == [
        event for step in made["steps"][1:] for event in step["logged"]
    ]
    assert game.news == [item for step in made["steps"] for item in step["news"]]
    assert msgspec.to_builtins(read) == made["record"]


@each_case
def test_the_golden_game_shows_its_option_value(case: Case) -> None:
    made = kept(case)
    assert made["options"] == case.given
    assert shows(case, made["seed"], decisions_of(made["steps"]), made["steps"])


def test_every_registered_ruleset_table_size_and_option_value_has_a_golden_game() -> None:
    missing = [f"{name} with {seats} seats" for name, seats in every_table_size() if Case(name, seats) not in cases()]
    for name, rules in RULESETS.items():
        for option in rules.options_for(rules.min_seats):
            shown = [case.value for case in cases() if (case.ruleset, case.option) == (name, option.name)]
            short = isinstance(option, Choice) or len(values_of(option)) <= 8
            missing += [
                f"{name} {option.name}={value!r}" for value in values_of(option) if short and value not in shown
            ]
            if len(shown) < 2:
                missing.append(f"{name} {option.name}")
    assert missing == []
    assert [case.name for case in cases() if not case.path.exists()] == []


def test_every_phase_comes_up_in_the_golden_games() -> None:
    for name, rules in RULESETS.items():
        met = {step["phase"] for case in cases() if case.ruleset == name for step in kept(case)["steps"][1:]}
        assert met == set(rules.phases)


def test_no_golden_file_is_left_over() -> None:
    asked = {case.path for case in cases()} | {message_path(name) for name in golden_messages()}
    assert set(FOLDER.rglob("*.json")) == asked
