"""Packs the events of a game that has ended into a few hundred bytes, and reads them again. Pure, and knows no rules.

Only the alphabet of this form is known here: how actions are usually spelled, and that a card is mostly played once a
deal. What doesn't fit takes more room, and comes back as it was all the same. When an event was committed isn't kept.

The events are parted into streams of like things, which then compress well (`Packed`):

    order   what happened, a byte each or more: a run of 1–52 cards (0–51), another action of the alphabet (64–132), one
            that is spelled out (160), a retirement (176 and its reason); 192 and an outcome come before what isn't `ok`
    cards   one large number: of each card played its rank among those not yet played in the run
    seats   another such number: for each turn of the table who begins it, seen from who was last; if not all others
            follow in order, the same of each of them, after a digit that is no seat
    times   1 + 90 * exponent + mantissa of each `quantised` time, 0 for none, less the least of that seat
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final

import msgspec

from bot_sdk.events import Decided, Event, Outcome, Retired, RetiredBecause
from service.store.errors import StoreError

_CARDS: Final = tuple(rank + suit for suit in "CDHS" for rank in "23456789TJQKA")
_PLAYS: Final = {f"play:{card}": code for code, card in enumerate(_CARDS)}
_TEXTS: Final = (
    *("beg", "stand", "give", "run"),
    *(f"bid:{bid}" for bid in range(13)),
    *(f"discard:{card}" for card in _CARDS),
)
ALPHABET: Final = frozenset((*_PLAYS, *_TEXTS))
"""Actions that take little room."""
_OTHERS: Final = {text: code for code, text in enumerate(_TEXTS, 64)}
_PLAYED: Final = tuple(_PLAYS)
_SPELLED: Final = 160
_RETIRED: Final = 176
_REASONS: Final = (RetiredBecause.FAULTS, RetiredBecause.LEFT, RetiredBecause.DISABLED)
_OUTCOME: Final = 192
_OK: Final = Outcome.OK
_OUTCOMES: Final = (
    Outcome.OK,
    Outcome.LATE,
    Outcome.UNREACHABLE,
    Outcome.BAD_STATUS,
    Outcome.BAD_REPLY,
    Outcome.ILLEGAL,
    Outcome.RETIRED,
    Outcome.OUR_FAULT,
)
_LEAST_EXPONENT: Final = -9
_ODD: Final = 0xFFFF
"""In the place of a time that isn't `quantised`, or is out of all proportion: it stands among the odd ones."""


class PackingError(StoreError):
    """Events that can't be packed, since no game is made of them, or a form that can't be read; what it says tells."""


class Packed(msgspec.Struct, frozen=True, array_like=True):
    """The events of a game; see the module. `least` is by seat; the high and low bytes of `times` are apart."""

    order: bytes
    cards: bytes
    seats: bytes
    least: tuple[int, ...]
    times_high: bytes
    times_low: bytes
    spelled: tuple[str, ...] = ()
    odd: tuple[float, ...] = ()


# --- packing ----------------------------------------------------------------------------------------------------------


def pack(events: Sequence[Event], seats: int) -> Packed:
    """Pack the events of a game of `seats`, but for their notes; raises PackingError for a seat that isn't there."""
    places = _packed_seats([event.seat for event in events], seats)
    decided = [event for event in events if isinstance(event, Decided)]
    order, cards, spelled = _packed_order(events)
    codes = [(event.seat, _code_of(event.ms)) for event in decided]
    least = [_ODD] * seats
    for seat, code in codes:
        least[seat] = min(least[seat], code)
    times = [_ODD if code - least[seat] >= _ODD or code == _ODD else code - least[seat] for seat, code in codes]
    return Packed(
        order=order,
        cards=cards,
        seats=places,
        least=tuple(least),
        times_high=bytes(time >> 8 for time in times),
        times_low=bytes(time & 0xFF for time in times),
        spelled=spelled,
        odd=tuple(event.ms for event, time in zip(decided, times, strict=True) if time == _ODD),
    )


def _packed_order(events: Sequence[Event]) -> tuple[bytes, bytes, tuple[str, ...]]:
    order = bytearray()
    ranks: list[tuple[int, int]] = []
    spelled: list[str] = []
    left: list[int] = []  # the cards that may go on with the run, none if there is no run
    for event in events:
        if isinstance(event, Retired):
            order.append(_RETIRED + _REASONS.index(event.reason))
            left = []
            continue
        if event.outcome is not _OK:
            order.append(_OUTCOME + _OUTCOMES.index(event.outcome))
            left = []
        card = _PLAYS.get(event.action)
        if card is None:
            order.append(_OTHERS.get(event.action, _SPELLED))
            left = []
            if order[-1] == _SPELLED:
                spelled.append(event.action)
            continue
        if card in left:
            order[-1] += 1
        else:
            order.append(0)
            left = list(range(len(_CARDS)))
        rank = left.index(card)
        ranks.append((rank, len(left)))
        del left[rank]
        if event.outcome is not _OK:
            left = []
    return bytes(order), _as_number(ranks), tuple(spelled)


def _as_number(digits: Sequence[tuple[int, int]]) -> bytes:
    """Write digits, each with the base it is to, as one number; the first is the least."""
    number = 0
    for digit, base in reversed(digits):
        number = number * base + digit
    return number.to_bytes((number.bit_length() + 7) // 8, "little")


def _packed_seats(places: Sequence[int], seats: int) -> bytes:
    if not all(0 <= place < seats for place in places):
        raise PackingError(f"expected seats from 0 to {seats - 1}, got {min(places)} to {max(places)}")
    steps = [(place - last - 1) % seats for last, place in zip((-1, *places), places, strict=False)]
    digits: list[int] = []
    for at in range(0, len(steps), seats):
        turn = steps[at : at + seats]
        digits += [seats, *turn] if any(turn[1:]) else turn[:1]
    return _as_number([(digit, seats + 1) for digit in digits])


@lru_cache(4096)
def _code_of(ms: float) -> int:
    """Give the number of a quantised time, `_ODD` for another."""
    if ms == 0:
        return 0
    digits, _, power = f"{ms:.1e}".partition("e")
    mantissa, exponent = int(digits.replace(".", "")), int(power)
    code = 1 + 90 * (exponent - _LEAST_EXPONENT) + mantissa - 10
    return code if 0 < code < _ODD and _time_of(code) == ms else _ODD


# --- reading ----------------------------------------------------------------------------------------------------------


def unpack(packed: Packed, seats: int) -> list[Event]:
    """Give the events of a game of `seats`, without notes; raises PackingError for what `pack` didn't make."""
    cards = int.from_bytes(packed.cards, "little")
    spelled, odd = iter(packed.spelled), iter(packed.odd)
    events: list[Event] = []
    outcome = _OK

    def decided(action: str) -> Decided:
        seat, code = next(places), next(codes)
        return Decided(seat, action, outcome, next(odd) if code == _ODD else _time_of(code + packed.least[seat]))

    try:
        places, codes = _seats(packed.seats, seats), _codes(packed)
        for code in packed.order:
            if code < len(_CARDS):
                left = list(_PLAYED)
                for _ in range(code + 1):
                    cards, rank = divmod(cards, len(left))
                    events.append(decided(left.pop(rank)))
            elif code >= _OUTCOME:
                outcome = _OUTCOMES[code - _OUTCOME]
                continue
            elif code >= _RETIRED:
                events.append(Retired(next(places), _REASONS[code - _RETIRED]))
            else:
                events.append(decided(next(spelled) if code == _SPELLED else _TEXTS[code - 64]))
            outcome = _OK
    except (StopIteration, LookupError, ValueError) as error:
        raise PackingError("expected the events of a game, got streams that don't fit each other") from error
    if cards or any(next(each, None) is not None for each in (codes, spelled, odd)):
        raise PackingError("expected the events of a game, got streams that are too long")
    return events


def _seats(packed: bytes, seats: int) -> Iterator[int]:
    """Give seats without end: who knows how many there are takes so many."""
    number = int.from_bytes(packed, "little")
    last = -1
    while True:
        number, digit = divmod(number, seats + 1)
        steps = [digit] + [0] * (seats - 1)
        if digit == seats:
            for n in range(seats):
                number, steps[n] = divmod(number, seats + 1)
        for step in steps:
            last = (last + 1 + step) % seats
            yield last


def _codes(packed: Packed) -> Iterator[int]:
    pairs = zip(packed.times_high, packed.times_low, strict=True)
    return (high << 8 | low for high, low in pairs)


@lru_cache(4096)
def _time_of(code: int) -> float:
    if code == 0:
        return 0.0
    exponent, mantissa = divmod(code - 1, 90)
    return float(f"{mantissa + 10}e{exponent + _LEAST_EXPONENT - 1}")
