"""The organiser's form: every setting of a new tournament, with its sense and its limits. A module sends it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Final

from flask import Blueprint, Response
from marshmallow import Schema, fields, validate

from bot_sdk.games.registry import RULESETS, Ruleset
from service.api.context import services
from service.api.tournaments import TournamentNew
from service.tournaments.formats import FORMATS
from service.web.site import page

SIZES: Final = tuple(sorted(set().union(*(each.sizes for each in FORMATS.values()))))

pages = Blueprint("organise", __name__)


@dataclass(frozen=True, slots=True)
class Setting:
    """What may be said of one setting: from `low` to `high`, and what it is if nothing is said."""

    low: float
    high: float
    default: Any = None

    def __str__(self) -> str:
        return f"{self.low:,} to {self.high:,}"


@dataclass(frozen=True, slots=True)
class Option:
    """An option of a game's rules: one of `values`, or a whole number within `bounds`, which depend on the seats."""

    name: str
    meaning: str
    values: tuple[Any, ...]
    bounds: dict[int, Setting]


@dataclass(frozen=True, slots=True)
class Game:
    """A game that a tournament can be of."""

    name: str
    title: str
    sizes: tuple[int, ...]
    options: tuple[Option, ...]


@pages.get("/tournaments/new")
def new() -> Response:
    """Show the form."""
    settings = services().settings
    return page(
        "organise.html",
        here="tournaments",
        games=games(),
        formats=FORMATS,
        sizes=SIZES,
        settings=settings_of(TournamentNew()),
        accounts="open" if settings.accounts == "open" else ("invite" if settings.invite_code else "closed"),
    )


@cache
def games() -> tuple[Game, ...]:
    """Give all games with the options of their rules."""
    return tuple(map(_game, RULESETS.values()))


def _game(rules: Ruleset) -> Game:
    sizes = tuple(range(rules.min_seats, rules.max_seats + 1))
    schemas = {size: rules.options_schema(size)["properties"] for size in sizes}
    options = tuple(_option(name, schemas) for name in schemas[sizes[0]])
    return Game(rules.name, rules.title, sizes, options)


def _option(name: str, schemas: dict[int, dict[str, dict[str, Any]]]) -> Option:
    each = {size: properties[name] for size, properties in schemas.items()}
    first = next(iter(each.values()))
    if "enum" in first:
        return Option(name, first["description"], tuple(first["enum"]), {})
    bounds = {size: Setting(one["minimum"], one["maximum"], one["default"]) for size, one in each.items()}
    return Option(name, first["description"], (), bounds)


def settings_of(schema: Schema, prefix: str = "") -> dict[str, Setting]:
    """Give the limits of all settings of a schema that have any, by their dotted paths."""
    found: dict[str, Setting] = {}
    for name, field in schema.fields.items():
        if isinstance(field, fields.Nested):
            found |= settings_of(field.schema, f"{prefix}{name}.")
        for each in field.validators:
            if isinstance(each, validate.Range | validate.Length):
                found[f"{prefix}{name}"] = Setting(each.min or 0, each.max, field.load_default)  # type: ignore[arg-type]  # all of ours have an end
    return found
