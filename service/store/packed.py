"""The form in which a game that has ended and may be read is kept: one value, and another for the notes of its bots.

    1 byte    version of the form
    4 bytes   CRC-32 of the game's id and of all that follows, so that nothing damaged or moved passes for a game
    deflate   `_Form`, by a dictionary of what most games have in common; every form keeps its own for ever

What was only needed to call bots isn't kept: their URLs and how many decisions they took at once. Nor is the time at
which each event was committed: all of them have that of the game's end.
"""

from __future__ import annotations

import re
import zlib
from base64 import b32decode, b32encode
from collections.abc import Collection, Sequence
from typing import Final, NamedTuple

import msgspec
from msgspec.structs import replace

from bot_sdk.events import Decided, Event
from service.store import packing
from service.store.documents import encode, encode_over
from service.store.entities import Game
from service.store.errors import DamagedError
from service.store.packing import Packed, PackingError

VERSION: Final = 1
_HEAD: Final = 5
_ID_LENGTH: Final = 26
_ID_BYTES: Final = 17
_PADDING: Final = b"A" * 6
_RANDOM: Final = re.compile(rb"(?<=_)[a-z2-7]{26}(?![a-z2-7])|(?<=\")[0-9a-f]{64}(?=\")")
"""What ends our ids, 130 bits in base32, and hashes: they don't get smaller but by writing the bits themselves."""
_ID, _HASH, _AGAIN = b"\1", b"\2", b"\3"
_MARKS: Final = re.compile(b"[\1\2]|\3.")
_FIRST_LETTER: Final = 32
_MOST: Final = 60
_WINDOW: Final = -12
_TYPICAL: Final = (
    b'{"id":"","ruleset":"seven_up","options":{"first_dealer":0,"game_tie":"none","gift":false,"pips":"face","target":7,'
    b'"turned_jack":"every","void_play":"must_trump"},"seats":[{"kind":"human","name":"","bot_id":null,"version":null,'
    b'"url":null,"account_id":null,"max_batch":1},{"kind":"house","name":"counter","bot_id":"house:greedy","version":"'
    b'1","url":null,"account_id":null,"max_batch":1}],"limits":{"budget_ms":1000,"first_budget_ms":5000,"human_budget_'
    b'ms":120000,"max_faults":5},"label":"gam_","commitment":"","entropy":["",""],"start":"manual","owner":"acc_","for'
    b'feited":[],"slot":null,"state":"cancelled","created_at":1764484822123,"started_at":1764484822123,"ended_at":1764'
    b'484822123}{"id":"","ruleset":"river","options":{"bidding":"sequential","first_dealer":0,"hook":"always","miss":"'
    b'tricks","schedule":"down_up","start_cards":8},"seats":[{"kind":"bot","name":"","bot_id":"bot_","version":"1","ur'
    b'l":null,"account_id":"acc_","max_batch":1},{"kind":"bot","name":"","bot_id":"bot_"}],"limits":{"budget_ms":1000,'
    b'"first_budget_ms":5000,"human_budget_ms":120000,"max_faults":5},"label":"trn_","commitment":"","entropy":["","",'
    b'"",""],"start":"auto","owner":null,"forfeited":[],"slot":{"tournament_id":"trn_","round":1,"table":1,"leg":0,"at'
    b'tempt":0,"board":"1.1","is_shared":false},"state":"finished","created_at":17644848,"started_at":17644848,"ended_'
    b'at":17644848'
)
"""The dictionary of version 1."""


class Kept(NamedTuple):
    """A packed game: what is kept of it, and the notes, None if its bots noted nothing."""

    value: bytes
    notes: bytes | None


class _Form(msgspec.Struct, frozen=True, array_like=True):
    """What the deflated part holds, in this order. `notes`: CRC-32 of the packed notes, None if there are none."""

    game: bytes
    raw: bytes
    secret: bytes
    cards: bytes
    seats: bytes
    order: bytes
    times_low: bytes
    times_high: bytes
    least: tuple[int, ...]
    spelled: tuple[str, ...]
    odd: tuple[float, ...]
    shown: str | None
    notes: int | None


_BLOCKS: Final = (1, 5, 6, 7)
"""After so many parts another block begins, with a code of its own: what comes is of another kind."""
_form: Final = msgspec.msgpack.Decoder(_Form)
_game: Final = msgspec.json.Decoder(Game)
_notes: Final = msgspec.json.Decoder(list[tuple[int, str]])
_write: Final = msgspec.msgpack.Encoder().encode


def pack(
    game: Game, events: Sequence[Event], secret: bytes, *, shown: str | None = None, before: bytes = b"{}"
) -> Kept:
    """Pack a game, with the word of who showed it (see `show.lua`); raises PackingError.

    `before` is its JSON as it stood: what a newer release has put there stays.
    """
    noted = [(n, each.note) for n, each in enumerate(events) if isinstance(each, Decided) and each.note is not None]
    notes = zlib.compress(encode(noted), 9) if noted else None
    text, raw = _resting(game, before)
    packed = packing.pack(events, len(game.seats))
    form = _Form(
        **msgspec.structs.asdict(packed),
        game=text,
        raw=raw,
        secret=secret,
        shown=shown,
        notes=None if notes is None else zlib.crc32(notes),
    )
    return Kept(_sealed(game.id, form), notes)


def game_of(game_id: str, value: bytes) -> Game:
    """Give the game, without its events; raises DamagedError."""
    return _as_game(game_id, _opened(game_id, value))


def unpack(game_id: str, value: bytes, notes: bytes | None) -> tuple[Game, list[Event], bytes]:
    """Give game, events and secret; raises DamagedError."""
    form = _opened(game_id, value)
    game = _as_game(game_id, form)
    try:
        events = packing.unpack(_as_packed(form), len(game.seats))
        return game, events if form.notes is None else _with_notes(events, form.notes, notes), form.secret
    except (PackingError, zlib.error, msgspec.MsgspecError) as error:
        raise DamagedError(f"expected the events of a packed game: {error!r}") from error


def check(game_id: str, value: bytes, notes: bytes | None) -> None:
    """See whether a packed game and its notes are as they were packed; raises DamagedError."""
    form = _opened(game_id, value)
    if form.notes is not None and (notes is None or zlib.crc32(notes) != form.notes):
        raise DamagedError("expected the notes that were packed with the game")


def shown_by(game_id: str, value: bytes) -> str | None:
    """Give the word of who showed the game; raises DamagedError."""
    return _opened(game_id, value).shown


def with_game(value: bytes, game: Game) -> bytes:
    """Put `game` in the place of the one of its id, and leave the events; raises DamagedError."""
    form = _opened(game.id, value)
    try:
        text, raw = _resting(game, _awake(form))
    except (msgspec.MsgspecError, LookupError) as error:
        raise DamagedError(f"expected a packed game: {error!r}") from error
    return _sealed(game.id, replace(form, game=text, raw=raw))


def without_notes(game_id: str, value: bytes, notes: bytes | None, seats: Collection[int]) -> Kept:
    """Take out what was noted at these seats; raises DamagedError."""
    game, events, secret = unpack(game_id, value, notes)
    kept = [replace(e, note=None) if isinstance(e, Decided) and e.seat in seats else e for e in events]
    form = _opened(game_id, value)
    return pack(game, kept, secret, shown=form.shown, before=_awake(form))


def _with_notes(events: list[Event], crc: int, notes: bytes | None) -> list[Event]:
    if notes is None or zlib.crc32(notes) != crc:
        raise PackingError("expected the notes that were packed with the game")
    noted = dict(_notes.decode(zlib.decompress(notes)))
    return [replace(event, note=noted[n]) if n in noted else event for n, event in enumerate(events)]


# --- the form ---------------------------------------------------------------------------------------------------------


def _resting(game: Game, before: bytes = b"{}") -> tuple[bytes, bytes]:
    """Write down what is kept of the game itself: its JSON, and apart from that what is random in it anyway.

    What else stood there `before`, by a newer release, stays.

    In the place of an id of ours, or of a hash, stands a byte that JSON doesn't use; if it came before, another such
    byte and a letter for its number.
    """
    raw = bytearray()
    seen: dict[bytes, bytes] = {}

    def taken_out(found: re.Match[bytes]) -> bytes:
        text = found[0]
        mark = seen.get(text)
        if mark is None:
            seen[text] = _AGAIN + bytes((_FIRST_LETTER + len(seen),))
            mark = _ID if len(text) == _ID_LENGTH else _HASH
            raw.extend(b32decode(text.upper() + _PADDING)[:_ID_BYTES] if mark == _ID else bytes.fromhex(text.decode()))
        return mark

    kept = replace(game, id="", seats=[replace(seat, url=None, max_batch=1) for seat in game.seats])
    text = encode_over(before, kept)
    return _RANDOM.sub(taken_out, text, count=_MOST), bytes(raw)


def _as_game(game_id: str, form: _Form) -> Game:
    try:
        return replace(_game.decode(_awake(form)), id=game_id)
    except (msgspec.MsgspecError, LookupError) as error:
        raise DamagedError(f"expected a packed game: {error!r}") from error


def _awake(form: _Form) -> bytes:
    """Give the JSON that `_resting` made; raises LookupError for what it didn't make."""
    at = 0
    seen: list[bytes] = []

    def put_back(found: re.Match[bytes]) -> bytes:
        nonlocal at
        mark = found[0]
        if mark[:1] == _AGAIN:
            return seen[mark[1] - _FIRST_LETTER]
        start, at = at, at + (_ID_BYTES if mark == _ID else 32)
        raw = form.raw[start:at]
        seen.append(b32encode(raw + b"\0\0\0")[:_ID_LENGTH].lower() if mark == _ID else raw.hex().encode())
        return seen[-1]

    return _MARKS.sub(put_back, form.game)


def _sealed(game_id: str, form: _Form) -> bytes:
    parts = [_write(getattr(form, name)) for name in form.__struct_fields__]
    parts[0] = bytes((0x90 | len(parts),)) + parts[0]  # what msgpack begins an array of so many parts with
    deflate = zlib.compressobj(9, zlib.DEFLATED, _WINDOW, 8, zlib.Z_DEFAULT_STRATEGY, _TYPICAL)
    body = b""
    for first, end in zip((0, *_BLOCKS), (*_BLOCKS, len(parts)), strict=True):
        body += deflate.compress(b"".join(parts[first:end])) + deflate.flush(zlib.Z_BLOCK)
    body += deflate.flush()
    return bytes((VERSION,)) + _crc(game_id, body) + body


def _opened(game_id: str, value: bytes) -> _Form:
    version, crc, body = value[:1], value[1:_HEAD], value[_HEAD:]
    if version != bytes((VERSION,)):
        raise DamagedError(f"expected a game packed in form {VERSION}, got {version!r}")
    if crc != _crc(game_id, body):
        raise DamagedError("expected a packed game, got something damaged or of another game")
    try:
        return _form.decode(zlib.decompressobj(_WINDOW, _TYPICAL).decompress(body))
    except (zlib.error, msgspec.MsgspecError) as error:
        raise DamagedError(f"expected a packed game: {error!r}") from error


def _as_packed(form: _Form) -> Packed:
    return Packed(**{name: getattr(form, name) for name in Packed.__struct_fields__})


def _crc(game_id: str, body: bytes) -> bytes:
    return zlib.crc32(body, zlib.crc32(game_id.encode())).to_bytes(4, "big")
