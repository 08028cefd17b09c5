"""The record of a game: the complete log that anyone can replay and verify (docs/record.md, format 1)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any, Final, Literal

import msgspec
from msgspec import Meta, Struct

from bot_sdk.cards import NAMES
from bot_sdk.errors import SdkError
from bot_sdk.events import Decided, Event, Outcome, Retired, RetiredBecause, quantised
from bot_sdk.games.base import Packs
from bot_sdk.games.game import Game
from bot_sdk.games.packs import commitment, committed
from bot_sdk.games.registry import pinned

FORMAT: Final = 1

Status = Literal["finished", "void", "aborted", "cancelled"]
Positive = Annotated[int, Meta(ge=1)]


class RecordError(SdkError, ValueError):
    """A record that can't be read, or that doesn't hold; the message says where and why."""


class DecidedShown(Struct, frozen=True, forbid_unknown_fields=True):
    """A decision in a record."""

    seat: int
    action: str
    outcome: Outcome
    ms: float
    note: str | None


class RetiredShown(Struct, frozen=True, forbid_unknown_fields=True, tag_field="event", tag="retired"):
    """A retirement in a record."""

    seat: int
    reason: RetiredBecause


class LimitsShown(Struct, frozen=True, forbid_unknown_fields=True):
    """What the game allowed its bots."""

    budget_ms: Positive
    first_budget_ms: Positive
    max_faults: Positive


class SeatShown(Struct, frozen=True, forbid_unknown_fields=True):
    """A player in a record; `bot_id` and `version` are null for a human."""

    name: str
    kind: Literal["bot", "house", "human"]
    bot_id: str | None = None
    version: str | None = None
    retired: bool = False
    forfeited: bool = False


class Fairness(Struct, frozen=True, forbid_unknown_fields=True):
    """What the packs were made from (docs/deals.md)."""

    label: str
    commitment: str
    secret: str
    entropy: list[str]


class DealShown(Struct, frozen=True, forbid_unknown_fields=True):
    """One deal of a record: `points` is its net change, `totals` what stands after it."""

    number: int
    dealer: int
    deck: list[str]
    void: bool
    events: list[dict[str, Any]]
    points: list[int]
    totals: list[int]


class Record(Struct, frozen=True, forbid_unknown_fields=True, kw_only=True, omit_defaults=True):
    """A record of format 1, field by field as in docs/record.md; `rules` is only written where it isn't 1."""

    record: Literal[1]
    game_id: str
    ruleset: str
    rules: Positive = 1
    options: dict[str, Any]
    status: Status
    ended_by: Literal["play", "retirement", "forfeit"] | None
    limits: LimitsShown
    seats: list[SeatShown]
    fairness: Fairness
    deals: list[DealShown]
    totals: list[int]
    places: list[int] | None


_decoder: Final = msgspec.json.Decoder(Record)


def build(
    game: Game,
    *,
    game_id: str,
    status: Status,
    limits: LimitsShown,
    seats: Iterable[SeatShown],
    label: str,
    secret: bytes,
    entropy: list[str],
) -> Record:
    """Make the record of a game that has ended, or was stopped where it stands (`aborted`, `cancelled`).

    Whether a seat retired or forfeited is taken from the game, whatever `seats` say.
    """
    ended_well = status == "finished"
    return Record(
        record=FORMAT,
        game_id=game_id,
        ruleset=game.ruleset.name,
        rules=game.ruleset.version,
        options=game.state.options,
        status=status,
        ended_by=game.ending.value if ended_well and game.ending else None,
        limits=limits,
        seats=[
            msgspec.structs.replace(shown, retired=game.retired[seat] is not None, forfeited=seat in game.forfeited)
            for seat, shown in enumerate(seats)
        ],
        fairness=Fairness(label, commitment(secret, label), secret.hex(), entropy),
        deals=list(_deals(game, committed(secret, label, entropy))),
        totals=game.state.totals.copy(),
        places=game.places if ended_well else None,
    )


def encode(record: Record) -> bytes:
    """Write a record as one line of JSON, without the line break."""
    return msgspec.json.encode(record)


def read(line: bytes | str) -> Record:
    """Read one record; raises `RecordError` if it isn't of format 1."""
    try:
        return _decoder.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise RecordError(f"expected a record of format {FORMAT}, got something else: {error}") from None


def lines(text: Iterable[bytes]) -> Iterator[tuple[int, bytes]]:
    """Split what a file holds into records: (number of the line from 1, text), not read yet, blank lines left out.

    That is one record a line; or one alone, laid out over many lines, which begins with a line that is only ``{``.
    """
    numbered = ((number, line) for number, line in enumerate(text, start=1) if line.strip())
    for number, line in numbered:
        if line.strip() == b"{":
            yield number, line + b"".join(rest for _, rest in numbered)
        else:
            yield number, line


def verify(record: Record) -> Game:
    """Replay a record and compare all that it claims; give the replayed game, or raise `RecordError`.

    Checked: the commitment and every pack, the legality of each action, the fallback after each fault, retirements,
    points, totals, places, status and how the game ended. Not checked, since nothing in a record can prove it: that a
    seat really chose its action, how long it took, and what it noted.
    """
    try:
        game = _replayed(record)
    except RecordError:
        raise
    except (SdkError, ValueError) as error:
        raise RecordError(str(error)) from None
    _check_status(record, game)
    shown = build(
        game,
        game_id=record.game_id,
        status=record.status,
        limits=record.limits,
        seats=record.seats,
        label=record.fairness.label,
        secret=bytes.fromhex(record.fairness.secret),
        entropy=record.fairness.entropy,
    )
    _compare(msgspec.to_builtins(shown), msgspec.to_builtins(record), "record")
    return game


def begun(record: Record) -> Game:
    """Give the game of a record as it was before its first event; raises like `Game` for one that can't be."""
    fairness = record.fairness
    return Game(
        pinned(record.ruleset, record.rules),
        record.options,
        len(record.seats),
        committed(bytes.fromhex(fairness.secret), fairness.label, fairness.entropy),
        max_faults=record.limits.max_faults,
        forfeited=[seat for seat, shown in enumerate(record.seats) if shown.forfeited],
    )


def event_of(shown: Mapping[str, Any]) -> Event:
    """Read an event of a record; raises `RecordError` for what is none."""
    try:
        if "event" in shown:
            retired = msgspec.convert(shown, RetiredShown)
            return Retired(retired.seat, retired.reason)
        decided = msgspec.convert(shown, DecidedShown)
    except msgspec.ValidationError as error:
        raise RecordError(f"expected an event, got {shown!r:.120}: {error}") from None
    if decided.ms != quantised(decided.ms):
        raise RecordError(f"expected a time of two significant digits, got {decided.ms!r}")
    return Decided(decided.seat, decided.action, decided.outcome, decided.ms, decided.note)


def _replayed(record: Record) -> Game:
    game = begun(record)
    game.replay(event_of(shown) for deal in record.deals for shown in deal.events)
    return game


def _check_status(record: Record, game: Game) -> None:
    expected = ["void" if game.void else "finished"] if game.is_over else ["aborted", "cancelled"]
    if record.status not in expected:
        raise RecordError(f"expected status {' or '.join(expected)}, got {record.status!r}")


def _deals(game: Game, packs: Packs) -> Iterator[DealShown]:
    state = game.state
    start = 0
    for deal, end in zip(state.deals, game.deal_ends, strict=True):
        events = [_shown(event) for event in game.log[start:end]]
        start = end
        yield DealShown(
            deal.number, deal.dealer, _deck(packs, deal.number), deal.void, events, deal.points, deal.totals
        )
    if not state.is_over:
        before = state.deals[-1].totals if state.deals else [0] * state.seats
        yield DealShown(
            state.deal_number,
            state.dealer,
            _deck(packs, state.deal_number),
            False,  # noqa: FBT003 - a deal cut short isn't void
            [_shown(event) for event in game.log[start:]],
            [now - then for now, then in zip(state.totals, before, strict=True)],
            state.totals.copy(),
        )


def _deck(packs: Packs, number: int) -> list[str]:
    return [NAMES[card] for card in packs(number)]


def _shown(event: Event) -> dict[str, Any]:
    if isinstance(event, Retired):
        shown: DecidedShown | RetiredShown = RetiredShown(event.seat, event.reason)
    else:
        shown = DecidedShown(event.seat, event.action, event.outcome, event.ms, event.note)
    return msgspec.to_builtins(shown)  # type: ignore[no-any-return]  # a Struct becomes a dict


def _compare(expected: Any, got: Any, path: str) -> None:
    if isinstance(expected, dict) and isinstance(got, dict) and expected.keys() == got.keys():
        for key, value in expected.items():
            _compare(value, got[key], f"{path}.{key}")
    elif isinstance(expected, list) and isinstance(got, list) and len(expected) == len(got):
        for at, value in enumerate(expected):
            _compare(value, got[at], f"{path}[{at}]")
    elif expected != got or isinstance(expected, bool) != isinstance(got, bool):
        raise RecordError(f"expected {path} to be {expected!r:.120}, got {got!r:.120}")
