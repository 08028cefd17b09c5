"""The games that are packed (`packed.py`): how they are, and how a game comes to be one of them.

A game is either here or there, never both: one script puts its packed form in the place of meta, log and secret. So who
doesn't find it there looks here. Only what may be read by everybody is packed, since its secret is then none.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

from service.store import keys, packed
from service.store.errors import DamagedError, told_apart
from service.store.lua import Args, Scripts
from service.store.roundtrip import as_fields, transaction
from service.store.stored import Log, as_game, as_log

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from redis import Redis

    from service.store.entities import Game
    from service.store.packed import Kept


class Shelf:
    """All packed games."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._scripts = Scripts(redis)

    def find(self, game_ids: Sequence[str]) -> list[Game | DamagedError | None]:
        """Give packed games in one round trip, in the order asked; an error in the place of one that can't be read."""
        if not game_ids:
            return []
        with self._redis.pipeline(transaction=False) as pipe:
            for game_id in game_ids:
                pipe.get(keys.game_packed(game_id))
            found = told_apart(pipe.execute(raise_on_error=False))
        return [_as_found(game_id, value) for game_id, value in zip(game_ids, found, strict=True)]

    def load(self, game_id: str) -> tuple[Game, Log, bytes] | None:
        """Give game, log and secret; raises DamagedError. All events bear the time at which the game ended."""
        value, notes = self._values(game_id)
        if value is None:
            return None
        game, events, secret = packed.unpack(game_id, value, notes)
        at = game.ended_at or game.created_at
        return game, [(at, event) for event in events], secret

    def pack(self, game_id: str) -> bool:
        """Pack a game that has ended, and that everybody may read, which isn't checked.

        True if it is packed, by this call or an earlier one. False if there is no such game, or it has not begun,
        goes on, or changes meanwhile. Raises DamagedError, PackingError for what it can't be made of.
        """
        told, lines, secret, is_packed = readable(
            transaction(
                self._redis,
                [
                    ("HGETALL", keys.game_meta(game_id)),
                    ("LRANGE", keys.game_log(game_id), 0, -1),
                    ("GET", keys.game_secret(game_id)),
                    ("EXISTS", keys.game_packed(game_id)),
                ],
            )
        )
        fields = as_fields(told)
        game = as_game(fields)
        if game is None:
            return bool(is_packed)
        if game.started_at is None or not game.state.is_end:
            return False
        if secret is None:
            raise DamagedError(f"no secret is kept for game {game_id}")
        return self._put(game, fields, lines, secret)

    def _put(self, game: Game, fields: dict[bytes, bytes], lines: list[bytes], secret: bytes) -> bool:
        shown = fields.get(b"shown")
        events = [event for _, event in as_log(lines)]
        word = None if shown is None else shown.decode()
        kept = packed.pack(game, events, secret, shown=word, before=fields[b"body"])
        each = (keys.game_meta, keys.game_log, keys.game_secret, keys.game_packed, keys.game_notes)
        told = hashlib.sha1(b"\n".join(lines), usedforsecurity=False).hexdigest()
        seen = [part for pair in fields.items() for part in pair]
        args: Args = [kept.value, kept.notes or b"", told, *seen]
        return bool(self._scripts.run("pack", [key(game.id) for key in each], args))

    def shown_by(self, game_id: str) -> str | None:
        """Give the word of who showed a packed game, None if there is none; raises DamagedError."""
        value, _ = self._values(game_id)
        return None if value is None else packed.shown_by(game_id, value)

    def change(self, game_id: str, edit: Callable[[bytes, bytes | None], Kept]) -> bool:
        """Put `edit(value, notes)` in the place of a packed game; True if that stands, False if it changed meanwhile.

        True also if it isn't packed: then there is nothing to change here.
        """
        value, notes = self._values(game_id)
        if value is None:
            return True
        kept = edit(value, notes)
        if kept == (value, notes):
            return True
        names = [keys.game_packed(game_id), keys.game_notes(game_id)]
        return bool(self._scripts.run("repack", names, [value, kept.value, kept.notes or b""]))

    def _values(self, game_id: str) -> tuple[bytes | None, bytes | None]:
        names = (keys.game_packed(game_id), keys.game_notes(game_id))
        value, notes = readable(transaction(self._redis, [("GET", name) for name in names]))
        return value, notes


def readable(answers: Sequence[Any]) -> list[Any]:
    """Give the answers of a pipeline as `told_apart`; raises DamagedError if the server refused a command for good."""
    told = told_apart(answers)
    for each in told:
        if isinstance(each, DamagedError):
            raise each
    return told


def _as_found(game_id: str, value: bytes | DamagedError | None) -> Game | DamagedError | None:
    if value is None or isinstance(value, DamagedError):
        return value
    try:
        return packed.game_of(game_id, value)
    except DamagedError as error:
        return error
