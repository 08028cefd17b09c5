"""Keeps how far the erasure of each account is, and takes names out of what is kept of games.

An erasure is written down before anything is erased, so that it is taken to its end whatever dies meanwhile.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, cast

import msgspec
from msgspec.structs import replace

from bot_sdk.events import Decided, Event
from service.store import keys, packed
from service.store.documents import Documents, encode, encode_over
from service.store.entities import Game, Seat
from service.store.errors import ContendedError, DamagedError
from service.store.lua import Args, Scripts
from service.store.packed import Kept
from service.store.shelf import Shelf

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from redis import Redis

_MOST_TRIES = 32
_game = msgspec.json.Decoder(Game)
_seat = msgspec.json.Decoder(Seat)
_event: msgspec.json.Decoder[Event] = msgspec.json.Decoder(Event)


class Erasure(msgspec.Struct, frozen=True, kw_only=True):
    """How far the erasure of an account is: at the `step`-th step, and within that at `cursor`.

    Found so far: its `bots`, the `names` they were entered by, and the games of theirs that still run.
    """

    account_id: str
    asked_at: int
    step: int = 0
    cursor: str | None = None
    bots: list[str] = []
    names: list[str] = []
    running: list[str] = []


class ErasureStore:
    """All erasures that aren't done."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._scripts = Scripts(redis)
        self._shelf = Shelf(redis)
        self._erasures = Documents(redis, Erasure, keys.erasure)
        self.get = self._erasures.get
        self.change = self._erasures.change

    def create(self, erasure: Erasure) -> None:
        """Write down that an account is to be erased; one that is being erased already goes on as it is."""
        self._erasures.create(erasure.account_id, erasure)

    def drop(self, account_id: str) -> None:
        """Forget an erasure that is done, and what of the account is left: the lists of what it had."""
        lists = (keys.account_bots, keys.account_games, keys.account_tournaments)
        self._redis.delete(keys.erasure(account_id), *(each(account_id) for each in lists))

    def rewrite_seats(self, game_id: str, edit: Callable[[Seat], Seat]) -> None:
        """Put `edit(seat)` in the place of every seat of a game, of those before the present one too."""
        for _ in range(_MOST_TRIES):
            fields = cast("dict[bytes, bytes]", self._redis.hgetall(keys.game_meta(game_id)))
            swaps: Args = [part for swap in _edited(fields, edit) for part in swap]
            is_packed = not fields
            if is_packed and self._shelf.change(
                game_id, lambda value, notes: _renamed(game_id, Kept(value, notes), edit)
            ):
                return
            if not is_packed and (not swaps or self._scripts.run("swap_fields", [keys.game_meta(game_id)], swaps)):
                return
        raise ContendedError(f"the seats of game {game_id} changed {_MOST_TRIES} times while we changed them")

    def strip_notes(self, game_id: str, seats: Collection[int]) -> None:
        """Take out what bots noted at these seats of a game that has ended: a log that grows must stay as it is."""
        key = keys.game_log(game_id)
        lines = cast("list[bytes]", self._redis.lrange(key, 0, -1))
        swaps = [(number, line, _without_note(line, seats)) for number, line in enumerate(lines)]
        changed: Args = [part for swap in swaps if swap[1] != swap[2] for part in swap]
        if changed:
            self._scripts.run("swap_lines", [key], changed)
        with suppress(DamagedError):  # nobody can read it, and it keeps nobody from the rest
            self._strip_packed(game_id, seats)

    def _strip_packed(self, game_id: str, seats: Collection[int]) -> None:
        for _ in range(_MOST_TRIES):
            if self._shelf.change(game_id, lambda value, notes: packed.without_notes(game_id, value, notes, seats)):
                return
        raise ContendedError(f"the notes of game {game_id} changed {_MOST_TRIES} times while we took some out")


def _renamed(game_id: str, kept: Kept, edit: Callable[[Seat], Seat]) -> Kept:
    game = packed.game_of(game_id, kept.value)
    return kept._replace(value=packed.with_game(kept.value, replace(game, seats=[edit(seat) for seat in game.seats])))


def _edited(fields: dict[bytes, bytes], edit: Callable[[Seat], Seat]) -> Iterator[tuple[bytes, bytes, bytes]]:
    """Give the fields that differ once their seats are edited, each with its old and its new value."""
    for name, value in fields.items():
        new = value
        if name == b"body":
            game = _game.decode(value)
            seats = [edit(seat) for seat in game.seats]
            new = value if seats == game.seats else encode_over(value, replace(game, seats=seats))
        elif name.startswith(b"seat:"):
            seat = _seat.decode(value)
            new = value if edit(seat) == seat else encode_over(value, edit(seat))
        if new != value:
            yield name, value, new


def _without_note(line: bytes, seats: Collection[int]) -> bytes:
    stamp, _, raw = line.partition(b" ")
    try:
        event = _event.decode(raw)
    except msgspec.MsgspecError:  # damaged: nobody can read it, and it keeps nobody from the rest
        return line
    if not isinstance(event, Decided) or event.note is None or event.seat not in seats:
        return line
    return stamp + b" " + encode(replace(event, note=None))
