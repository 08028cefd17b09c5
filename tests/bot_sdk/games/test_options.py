"""Options and tables, over the registry: what is accepted, what is refused and how it says so."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bot_sdk.games.options import OptionError, Whole
from bot_sdk.games.registry import RULESETS, RulesetError, ruleset
from tests.bot_sdk.tables import Table, every_table_size, values_of

SIZES = every_table_size()


def cases() -> list[tuple[str, int, str, Any]]:
    return [
        (name, seats, option.name, value)
        for name, seats in SIZES
        for option in RULESETS[name].options_for(seats)
        for value in values_of(option)
    ]


@pytest.mark.parametrize(("name", "seats", "option", "value"), cases())
def test_every_option_value_starts_a_game(name: str, seats: int, option: str, value: object) -> None:
    state = Table(name, {option: value}, seats, 4).state()
    assert state.options[option] == value
    assert state.actors() or state.is_over


DEFAULTS = {
    ("seven_up", 2): {
        "target": 7, "first_dealer": 0, "turned_jack": "every", "gift": False, "void_play": "must_trump",
        "pips": "face", "game_tie": "none",
    },
    ("river", 4): {
        "start_cards": 8, "first_dealer": 0, "bidding": "sequential", "hook": "always", "miss": "tricks",
        "schedule": "down_up",
    },
}  # fmt: skip


@pytest.mark.parametrize(("name", "seats"), DEFAULTS)
def test_defaults_are_those_of_the_rules(name: str, seats: int) -> None:
    assert ruleset(name).resolve({}, seats) == DEFAULTS[name, seats]


@pytest.mark.parametrize(("name", "seats"), SIZES)
def test_no_value_of_another_kind_is_taken(name: str, seats: int) -> None:
    rules = ruleset(name)
    for option in rules.options_for(seats):
        junk: list[Any] = [None, "", [], {}, "7", 1.0, 10**5000, -1, "EVERY"]
        junk += [True, False] if True not in values_of(option) or isinstance(option, Whole) else [1, 0]
        if isinstance(option, Whole):
            junk += [option.low - 1, option.high + 1]
        for value in junk:
            if any(type(value) is type(each) and value == each for each in values_of(option)):
                continue
            with pytest.raises(OptionError, match=rf"^expected {option.name} to be ") as caught:
                rules.resolve({option.name: value}, seats)
            assert caught.value.field == option.name
            assert len(str(caught.value)) < 250


@pytest.mark.parametrize(("name", "seats"), SIZES)
def test_an_unknown_option_is_named(name: str, seats: int) -> None:
    with pytest.raises(OptionError, match="got 'colour'") as caught:
        ruleset(name).resolve({"colour": 1}, seats)
    assert caught.value.field == "colour"


@pytest.mark.parametrize(
    ("name", "seats", "allowed"),
    [("seven_up", 1, "2"), ("seven_up", 3, "2"), ("river", 3, "4 to 8"), ("river", 9, "4 to 8")],
)
def test_a_table_of_another_size_is_refused(name: str, seats: int, allowed: str) -> None:
    with pytest.raises(RulesetError, match=rf"^expected {allowed} seats for {name}, got {seats}$") as caught:
        ruleset(name).resolve({}, seats)
    assert caught.value.field == "seats"


def test_eight_seats_with_seven_cards_are_told_that_six_is_the_most() -> None:
    with pytest.raises(OptionError, match="at most 6") as caught:
        ruleset("river").resolve({"start_cards": 7}, 8)
    assert caught.value.field == "start_cards"


@pytest.mark.parametrize("name", ["whist", "", None, []])
def test_an_unknown_ruleset_is_refused(name: object) -> None:
    with pytest.raises(RulesetError, match="expected a ruleset among seven_up, river"):
        ruleset(name)


@pytest.mark.parametrize(("name", "seats"), SIZES)
def test_the_schema_tells_the_values_and_defaults_of_every_option(name: str, seats: int) -> None:
    rules = ruleset(name)
    schema = rules.options_schema(seats)
    assert json.loads(json.dumps(schema)) == schema
    assert schema["additionalProperties"] is False
    assert list(schema["properties"]) == [option.name for option in rules.options_for(seats)]
    for option in rules.options_for(seats):
        shown = schema["properties"][option.name]
        told = shown["enum"] if "enum" in shown else list(range(shown["minimum"], shown["maximum"] + 1))
        assert told == values_of(option)
        assert shown["default"] == rules.resolve({}, seats)[option.name]
        assert shown["description"]
