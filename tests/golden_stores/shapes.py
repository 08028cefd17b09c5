"""The shapes of all that is kept in the store, where each stands, and which changes of a shape need no new form.

`python -m tests.golden_stores.shapes` writes down in `shapes.json` how they are now. It refuses where a release of the
same form would misread, or couldn't read, what another one keeps (docs/upgrades.md).
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from bot_sdk.events import Event
from bot_sdk.results.comparison import Opponent
from bot_sdk.results.rated import Rating
from bot_sdk.results.values import Entry, Result, Round
from service.store import (
    accounts,
    alarms,
    appearances,
    audit,
    bots,
    clock,
    entities,
    erasures,
    idempotency,
    leaderboard,
    ledger,
    maintenance,
    packed,
)
from service.store.form import FORM

FILE = Path(__file__).parent / "shapes.json"


class Place(NamedTuple):
    """Where values of a kind stand: a pattern of keys, one of fields, and how a value is taken out of what is there."""

    key: str
    kind: Any
    field: str = ""
    taken_out: Callable[[str], str] = str


def document(text: str) -> str:
    return text[17:]


def line(text: str) -> str:
    return text.partition(" ")[2]


ID = r"[a-z]{3}_[a-z2-7]{26}"
PLACES = (
    Place(f"account:{ID}", entities.Account, taken_out=document),
    Place(f"bot:{ID}", entities.Bot, taken_out=document),
    Place(f"secret:bot:{ID}", bots.BotSecrets, taken_out=document),
    Place(f"check:{ID}", entities.Check, taken_out=document),
    Place(f"erasure:{ID}", erasures.Erasure, taken_out=document),
    Place("secret:token:[0-9a-f]{64}", accounts.Token),
    Place(f"bot:{ID}:ledger", ledger.LedgerLine, taken_out=line),
    Place(f"bot:{ID}:endings", ledger.Ending, taken_out=line),
    Place(f"bot:({ID}|house:[a-z]+):appearances", appearances.Appearance, taken_out=line),
    Place("audit:(operator|accounts):lines", audit.Line, field=".*"),
    Place(f"{{g:{ID}}}:meta", entities.Game, field="body"),
    Place(f"{{g:{ID}}}:meta", entities.Seat, field=r"seat:\d"),
    Place(f"{{g:{ID}}}:log", Event, taken_out=line),
    Place(f"{{t:{ID}}}:meta", entities.Tournament, taken_out=document),
    Place(f"{{t:{ID}}}:entries", Entry, field=".*"),
    Place(f"{{t:{ID}}}:rounds", Round, field=".*"),
    Place(f"{{t:{ID}}}:results", Result, field=".*"),
    Place(f"{{t:{ID}}}:ratings", list[Rating]),
    Place("{r:[a-z_]+}:rated", leaderboard.Kept, field=".*"),
    Place("{r:[a-z_]+}:leaderboard", leaderboard.Leaderboard, field="body"),
    Place("{r:[a-z_]+}:history", list[leaderboard.Line], field=".*"),
    Place("{r:[a-z_]+}:opponents", list[Opponent], field=".*"),
)
RARE = (maintenance.Maintenance, alarms.Alarm, clock._Kept, idempotency.Answer, packed._Form)
"""What no golden store needs to hold, since it stays for a moment or is no JSON."""


def values(key: str, kind: str, value: Any) -> Iterator[tuple[Any, str]]:
    """Give the values at a key of a dump, each with what it is by its place."""
    for place in PLACES:
        if re.fullmatch(place.key, key):
            pairs = value if kind == "hash" else [("", each[0]) for each in value] if kind == "zset" else None
            for field, text in pairs or [("", each) for each in (value if kind == "list" else [value])]:
                if re.fullmatch(place.field, field):
                    yield place.kind, place.taken_out(text)


def shapes() -> dict[str, Any]:
    """Describe all kinds as JSON Schema, without words."""
    kinds = {place.kind for place in PLACES} | set(RARE)
    ordered = sorted(kinds, key=str)
    schemas, parts = msgspec.json.schema_components(ordered, ref_template="{name}")
    named = zip(map(str, ordered), schemas, strict=True)
    described = {**parts, **{name: each for name, each in named if "$ref" not in each}}
    return bare(json.loads(json.dumps(described)))


def bare(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: bare(each) for name, each in sorted(value.items()) if name not in {"title", "description"}}
    return [bare(each) for each in value] if isinstance(value, list) else value


def complaints(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """Tell what keeps releases with these shapes from reading what each other keeps."""
    found = []
    for name, shape in before.items():
        if name not in now:
            found.append(f"{name} is gone")
        elif "properties" in shape and "properties" in now[name]:
            found += _of_fields(name, shape, now[name])
        elif "prefixItems" in shape and "prefixItems" in now[name]:
            found += _of_items(name, shape, now[name])
        elif shape != now[name]:
            found.append(f"{name} is another")
    return found


def _of_fields(name: str, before: dict[str, Any], now: dict[str, Any]) -> Iterator[str]:
    for field, shape in before["properties"].items():
        if now["properties"].get(field) != shape:
            yield f"{name}.{field} is gone, or another"
    for field in sorted(set(now.get("required", ())) - set(before.get("required", ()))):
        yield f"{name}.{field} is required now"
    for field in sorted(set(before.get("required", ())) - set(now.get("required", ()))):
        yield f"{name}.{field} may be missing now, and was required"


def _of_items(name: str, before: dict[str, Any], now: dict[str, Any]) -> Iterator[str]:
    count = len(before["prefixItems"])
    if now["prefixItems"][:count] != before["prefixItems"]:
        yield f"the first {count} of {name} are others"
    if now.get("minItems") != before.get("minItems"):
        yield f"{name} has {now.get('minItems')} at least, and had {before.get('minItems')}"


class Declared(NamedTuple):
    """The shapes of the form `form`: as they were at `first`, and those that were added to or changed since."""

    form: int
    first: dict[str, Any]
    since: dict[str, Any]

    @property
    def now(self) -> dict[str, Any]:
        return self.first | self.since


def declared() -> Declared:
    return Declared(**json.loads(FILE.read_bytes()))


def main() -> None:
    """Write down the shapes as they are now."""
    now = shapes()
    first = declared().first if FILE.exists() and declared().form == FORM else now
    if found := complaints(first, now):
        sys.exit("\n".join(["raise FORM in service/store/form.py, or take back that", *found]))
    since = {name: shape for name, shape in now.items() if first.get(name) != shape}
    FILE.write_text(f'{{"form": {FORM}, "first": {_lines(first)}, "since": {_lines(since)}}}\n')


def _lines(described: dict[str, Any]) -> str:
    """Give each shape a line of its own, so that a change is seen."""
    each = (f"{json.dumps(name)}: {json.dumps(shape)}" for name, shape in described.items())
    return "{" + ",\n".join(each) + "}"


if __name__ == "__main__":
    main()
