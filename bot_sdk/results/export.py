"""The export of a tournament as JSON Lines: the arena writes it, anybody reads it and recomputes what it says.

The first line is the head: ``{"export":1,"tournament":{…},"counts":{"entry":8,…}}``. Each other line holds one
thing under its kind: ``{"entry":{…}}``, then `round`, `result`, `standing`, `rating`. Readers ignore keys and
kinds that they don't know; what a reader must know to understand the rest raises the number of the format.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

import msgspec

from bot_sdk.errors import SdkError, quoted
from bot_sdk.games.registry import RulesetError, ruleset
from bot_sdk.results.attendance import legs_of
from bot_sdk.results.rated import Rating
from bot_sdk.results.standings import Standing
from bot_sdk.results.values import Entry, GameState, Result, Round

FORMAT: Final = 1
T = TypeVar("T")

_MOST: Final = 1_000_000_000  # far beyond any game, and still exact wherever it is summed


class ExportError(SdkError, ValueError):
    """An export that can't be read; the message says in which line, what was expected and what came."""


class Exported(msgspec.Struct, frozen=True, kw_only=True):
    """The tournament of an export, with the settings that its format takes; the others are None.

    `secret` is the root secret in hex, None while games are played (docs/deals.md). Times are in ms since 1970.
    """

    id: str
    name: str
    ruleset: str
    options: dict[str, Any]
    format: str
    deals: str
    table_size: int
    rounds: int | None = None
    challenger: str | None = None
    advance: int | None = None
    max_games: int | None = None
    sprt: dict[str, Any] | None = None
    seed: int
    root: str
    secret: str | None = None
    state: str
    reason: str | None = None
    created_at: int | None = None
    started_at: int | None = None
    ended_at: int | None = None


@dataclass(frozen=True, slots=True)
class Export:
    """All that an export holds. `rounds` and `results` are those that count for the standings beside them.

    `ratings` are fitted to the rated results of this tournament alone; there may be none.
    """

    tournament: Exported
    entries: list[Entry] = field(default_factory=list)
    rounds: dict[int, Round] = field(default_factory=dict)
    results: list[Result] = field(default_factory=list)
    standings: list[Standing] = field(default_factory=list)
    ratings: list[Rating] = field(default_factory=list)


class _NumberedRound(msgspec.Struct, frozen=True):
    number: int
    tables: tuple[tuple[str, ...], ...]
    byes: tuple[str, ...]


class _Head(msgspec.Struct, frozen=True):
    export: int
    tournament: Exported
    counts: dict[str, int]


_KINDS: Final[dict[str, type[msgspec.Struct]]] = {
    "entry": Entry,
    "round": _NumberedRound,
    "result": Result,
    "standing": Standing,
    "rating": Rating,
}


def write(export: Export) -> Iterator[bytes]:
    """Yield the lines of an export, each with its line break."""
    things = _things(export)
    counts = {kind: len(found) for kind, found in things.items()}
    yield msgspec.json.encode(_Head(FORMAT, export.tournament, counts)) + b"\n"
    for kind, found in things.items():
        for thing in found:
            yield msgspec.json.encode({kind: thing}) + b"\n"


def _things(export: Export) -> Mapping[str, list[Any]]:
    return {
        "entry": export.entries,
        "round": [_NumberedRound(number, each.tables, each.byes) for number, each in sorted(export.rounds.items())],
        "result": export.results,
        "standing": export.standings,
        "rating": export.ratings,
    }


def read(lines: Iterable[bytes]) -> Export:
    """Read an export; raises `ExportError` unless it is whole and its things fit together.

    Checked: the form of every line, that each entry, round, game and standing comes once, that a result has as
    many of everything as seats and is a leg of a table that was drawn, and the counts of the head. Not checked:
    whether the standings follow from the results (see `recompute`).
    """
    numbered = ((number, line) for number, line in enumerate(lines, 1) if line.strip())
    head = _read_head(*next(numbered, (1, b"")))
    export = Export(head.tournament)
    seen: dict[str, set[object]] = {kind: set() for kind in _KINDS}
    for number, line in numbered:
        for kind, raw in _split(number, line).items():
            if kind in _KINDS:
                _add(export, seen[kind], number, kind, _decoded(number, kind, raw, _KINDS[kind]))
    for kind, expected in head.counts.items():
        if kind in seen and len(seen[kind]) != expected:
            got = len(seen[kind])
            raise ExportError(f"expected {expected} lines of kind {kind!r}, as line 1 says, got {got}: it isn't whole")
    _check_drawn(export)
    return export


def _read_head(number: int, line: bytes) -> _Head:
    version = _decoded(number, "head", _split(number, line).get("export", msgspec.Raw(b"null")), object)
    if version != FORMAT:
        raise ExportError(f"line {number}: expected the head of an export of format {FORMAT}, got {quoted(line)}")
    head = _decoded(number, "head", line, _Head)
    try:
        ruleset(head.tournament.ruleset).check_seats(head.tournament.table_size)
    except RulesetError as error:
        raise ExportError(f"line {number}: {error}") from None
    return head


def _split(number: int, line: bytes) -> dict[str, msgspec.Raw]:
    return _decoded(number, "object", line, dict[str, msgspec.Raw])


def _decoded(number: int, what: str, raw: bytes | msgspec.Raw, wanted: type[T]) -> T:
    try:
        return msgspec.json.decode(raw, type=wanted)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        article = "an" if what[0] in "aeiou" else "a"
        raise ExportError(f"line {number}: expected {article} {what}, got {quoted(bytes(raw))}: {error}") from None


def _add(export: Export, seen: set[object], number: int, kind: str, thing: msgspec.Struct) -> None:
    """Put a thing where it belongs, unless it is there already."""
    key: object
    match thing:
        case Result():
            _check(number, thing, export.tournament)
            key = (thing.slot.round, thing.slot.table, thing.slot.leg)
            export.results.append(thing)
        case _NumberedRound():
            key = thing.number
            export.rounds[thing.number] = Round(thing.tables, thing.byes)
        case Rating():
            key = (thing.bot_id, thing.version)
            export.ratings.append(thing)
        case Entry():
            key = thing.bot_id
            export.entries.append(thing)
        case Standing():
            key = thing.bot_id
            export.standings.append(thing)
    if key in seen:
        raise ExportError(f"line {number}: expected each {kind} once, got that of {key!r} again")
    seen.add(key)


def _check(number: int, result: Result, tournament: Exported) -> None:
    seats = tournament.table_size
    for name in ("bots", "versions", "totals", "places", "retired", "outcomes", "exact_bids"):
        found = getattr(result, name)
        if found is not None and len(found) != seats:
            raise ExportError(f"line {number}: expected {name} for {seats} seats, got {len(found)}")
    if result.state is GameState.FINISHED and result.places is None:
        raise ExportError(f"line {number}: expected places in a finished game, got none")
    if result.state is not GameState.FINISHED and result.is_rated:
        raise ExportError(f"line {number}: expected a finished game if it is rated, got one that is {result.state}")
    if not set(result.forfeited) <= set(range(seats)) or len(set(result.bots)) < seats:
        raise ExportError(f"line {number}: expected {seats} different bots and forfeits by seat, got {quoted(result)}")
    if max(abs(count) for count in (result.deals, *result.totals, *(result.exact_bids or ()))) > _MOST:
        raise ExportError(f"line {number}: expected points, bids and deals up to {_MOST}, got {quoted(result)}")


def _check_drawn(export: Export) -> None:
    for result in export.results:
        at, drawn = result.slot, export.rounds.get(result.slot.round)
        table = drawn.tables[at.table - 1] if drawn and 1 <= at.table <= len(drawn.tables) else ()
        if set(table) != set(result.bots):
            raise ExportError(
                f"expected at table {at.table} of round {at.round} the entries drawn there, {quoted(table)}, "
                f"got {quoted(result.bots)} in game {result.game_id}"
            )
        legs = legs_of(len(table), export.tournament.deals)
        if not 0 <= at.leg < legs:
            raise ExportError(f"expected a leg from 0 to {legs - 1} at such a table, got {at.leg} in {result.game_id}")
