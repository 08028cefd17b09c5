"""What is kept can be read by releases before and after: a shape changes by what both understand, or with the form."""

from __future__ import annotations

import copy
import importlib
import json
import pkgutil
from collections import Counter

import msgspec
import pytest

import service.store
from bot_sdk.events import Event
from service.store.appearances import Appearance
from service.store.entities import Bot
from service.store.form import FORM
from service.store.leaderboard import Kept
from tests.golden_stores.dumping import get
from tests.golden_stores.shapes import PLACES, RARE, complaints, declared, shapes, values
from tests.golden_stores.test_stores import HERE, STORES

NOT_KEPT = {"Begun", "Commit", "Seen", "Fitted", "Told", "Packed", "Suspension", "Limits", "Sprt", "Row", "Seat"}
"""Structs of the store's modules that only pass through them, or are parts of others."""

ORDERED = (Event, Appearance, Kept)
FREE = {"options", "outcomes", "steps"}
"""Fields that hold values by names which aren't ours."""


def test_shapes_are_those_that_are_declared():
    assert declared().form == FORM
    assert complaints(declared().first, shapes()) == [], "raise FORM in service/store/form.py, or take that back"
    assert shapes() == declared().now, "if it is meant so: python -m tests.golden_stores.shapes"


def test_every_struct_of_the_store_is_declared():
    modules = [
        importlib.import_module(f"service.store.{each.name}") for each in pkgutil.iter_modules(service.store.__path__)
    ]
    own = {
        each
        for module in modules
        for each in vars(module).values()
        if isinstance(each, type) and issubclass(each, msgspec.Struct) and each.__module__.startswith("service.store")
    }
    kept = {place.kind for place in PLACES} | set(RARE)
    listed = {kind for kind in own if f"list[{kind.__module__}.{kind.__qualname__}]" in map(str, kept)}
    assert {each.__name__ for each in own - kept - listed} - NOT_KEPT == set()
    assert {each.__name__ for each in own} >= NOT_KEPT


# What may change, and what may not


@pytest.fixture
def changed():
    """Give the shapes, for a test to change."""
    return copy.deepcopy(shapes())


def test_a_field_that_may_be_missing_can_be_added(changed):
    changed["Bot"]["properties"]["colour"] = {"type": "string", "default": "red"}
    changed["Decided"]["prefixItems"].append({"type": "string", "default": ""})
    changed["Another"] = {"type": "object"}
    assert complaints(shapes(), changed) == []


def test_a_field_that_must_be_there_cannot_be_added(changed):
    changed["Bot"]["properties"]["colour"] = {"type": "string"}
    changed["Bot"]["required"].append("colour")
    assert complaints(shapes(), changed) == ["Bot.colour is required now"]


@pytest.mark.parametrize("field", ["name", "suspension"])
def test_a_field_cannot_be_taken_away_or_renamed(changed, field):
    changed["Bot"]["properties"][f"new_{field}"] = changed["Bot"]["properties"].pop(field)
    assert complaints(shapes(), changed) == [f"Bot.{field} is gone, or another"]


def test_a_field_cannot_hold_something_else(changed):
    changed["Bot"]["properties"]["created_at"] = {"type": "string"}
    changed["BotState"]["enum"].append("asleep")
    changed["Limits"]["properties"]["max_faults"]["default"] = 6
    assert complaints(shapes(), changed) == [
        "Bot.created_at is gone, or another",
        "BotState is another",
        "Limits.max_faults is gone, or another",
    ]


def test_what_stands_in_order_keeps_its_order(changed):
    items = changed["Decided"]["prefixItems"]
    items[1], items[2] = items[2], items[1]
    changed["Retired"]["prefixItems"].insert(1, {"type": "integer"})
    changed["Kept"]["prefixItems"].append({"type": "integer"})
    changed["Kept"]["minItems"] = 3
    del changed["Round"]
    assert complaints(shapes(), changed) == [
        "the first 6 of Decided are others",
        "Kept has 3 at least, and had 2",
        "the first 3 of Retired are others",
        "Round is gone",
    ]


def test_a_renamed_field_of_a_real_struct_is_found(monkeypatch):
    newer = msgspec.defstruct("Bot", [("id", str), ("title", str)], frozen=True, kw_only=True)
    monkeypatch.setattr(
        "tests.golden_stores.shapes.PLACES", [p._replace(kind=newer) if p.kind is Bot else p for p in PLACES]
    )
    assert "Bot.name is gone, or another" in complaints(declared().first, shapes())


# What was kept


@pytest.mark.parametrize("name", STORES)
def test_all_that_earlier_releases_kept_is_read_and_so_will_be_what_later_ones_add_to_it(name):
    seen = Counter()
    for line in get(HERE / name / "store.jsonl.gz").splitlines():
        key, form, _, value = json.loads(line)
        for kind, text in values(key, form, value):
            read = msgspec.json.decode(text, type=kind)
            assert msgspec.json.decode(more_of(json.loads(text), kind), type=kind) == read, (key, text)
            seen[str(kind)] += 1
    if name == STORES[-1]:
        assert seen.keys() == {str(place.kind) for place in PLACES}


def more_of(value, kind):
    """Add to a value what a later release might: a field where there are any, or something at the end of an order."""
    return json.dumps([*value, "later"] if kind in ORDERED else _grown(value))


def _grown(value):
    if isinstance(value, dict):
        return {name: value[name] if name in FREE else _grown(value[name]) for name in value} | {"later": [1, {"x": 0}]}
    return [_grown(each) for each in value] if isinstance(value, list) else value
