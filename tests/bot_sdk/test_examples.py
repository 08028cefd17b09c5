"""The example bots do what they say, pass the arena's check, and are of different strength."""

from __future__ import annotations

import importlib
import pkgutil
from collections import Counter
from pathlib import Path

import pytest

from bot_sdk import check, examples
from bot_sdk.check import passed
from bot_sdk.checking.whole import Manner, check_bot
from bot_sdk.games.registry import RULESETS
from bot_sdk.local import Match, in_process, play

NAMES = sorted(module.name for module in pkgutil.iter_modules(examples.__path__))


def example(name):
    return importlib.import_module(f"bot_sdk.examples.{name}").bot


def test_there_are_five_that_differ():
    assert len(NAMES) >= 5
    assert len({example(name).name for name in NAMES}) == len(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_example_passes_the_check(name):
    steps = list(check_bot(example(name), Path(examples.__path__[0]), Manner("fresh text")))
    assert passed(steps), steps
    assert not [step for step in steps if step.fault == "printed"]
    assert check.POSITIONS > 1


def won(name, other, games=60):
    """Count the games of Seven Up that one bot wins against another, with the seats swapped on every board."""
    players = [in_process(example(name)), in_process(example(other))]
    wins = Counter()
    for played in play(Match(RULESETS["seven_up"]), players, games=games, seed="examples"):
        places = played.record.places
        wins.update(seat.name for seat, place in zip(played.record.seats, places, strict=True) if place == 1)
    return wins[example(name).name]


@pytest.mark.parametrize("name", ["by_the_book", "counter", "bold"])
def test_example_that_thinks_beats_dice(name):
    assert won(name, "dice") > 36


def test_clumsy_shows_every_fault_it_promises():
    players = [in_process(example("clumsy")), in_process(example("bold"))]
    outcomes = Counter()
    for played in play(Match(RULESETS["seven_up"], {}, 50), players, games=60, seed="clumsy"):
        for deal in played.record.deals:
            for event in deal.events:
                if "outcome" in event and played.record.seats[event["seat"]].name == "clumsy":
                    outcomes[event["outcome"]] += 1
    assert {"ok", "late", "bad_status", "illegal"} <= set(outcomes)
    assert outcomes["ok"] > 0.95 * outcomes.total()
