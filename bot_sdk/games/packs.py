"""Where packs come from: committed to in advance (docs/deals.md), seeded for offline play, or given."""

from __future__ import annotations

import hashlib
import hmac
import itertools
import struct
from collections.abc import Iterator, Sequence
from typing import Final

from bot_sdk.cards import NAMES
from bot_sdk.errors import SdkError
from bot_sdk.games.base import Packs

SECRET_BYTES: Final = 32
MAX_ENTROPY_BYTES: Final = 256
OFFLINE: Final = "offline:"
"""How the labels of games begin that no arena dealt."""
_WORDS: Final = 1 << 32
_EIGHT_WORDS: Final = struct.Struct(">8I")
_USABLE: Final = tuple((i, _WORDS - _WORDS % (i + 1)) for i in range(len(NAMES) - 1, 0, -1))
"""For each swap of the shuffle, from the last card on: the least word that would bias it."""


class FairnessError(SdkError, ValueError):
    """A secret, label or entropy that can't make packs."""


def commitment(secret: bytes, label: str) -> str:
    """Give the hex SHA-256 that commits to `secret` (32 bytes) under `label` before the first deal."""
    _check(secret, label)
    return hashlib.sha256(_tag("commit") + label.encode() + b"\0" + secret).hexdigest()


def committed(secret: bytes, label: str, entropy: Sequence[str]) -> Packs:
    """Give the packs that a secret, its label and the seats' entropy determine (docs/deals.md)."""
    _check(secret, label)
    mixed = bytearray(_tag("mix") + label.encode())
    for part in entropy:
        given = part.encode()
        if len(given) > MAX_ENTROPY_BYTES:
            raise FairnessError(f"expected at most {MAX_ENTROPY_BYTES} bytes of entropy, got {len(given)}")
        mixed += len(given).to_bytes(2, "big") + given
    key = hmac.digest(secret, bytes(mixed), "sha256")

    def pack(deal_number: int) -> list[int]:
        return shuffled(hmac.digest(key, b"deal" + deal_number.to_bytes(4, "big"), "sha256"))

    return pack


def shuffled(deal_key: bytes) -> list[int]:
    """Shuffle 52 cards by Fisher–Yates with unbiased words from `deal_key`."""
    words = _words(deal_key)
    deck = list(range(len(NAMES)))
    for i, usable in _USABLE:
        x = next(words)
        while x >= usable:
            x = next(words)
        j = x % (i + 1)
        deck[i], deck[j] = deck[j], deck[i]
    return deck


def root_commitment(root_secret: bytes, tournament_id: str) -> str:
    """Give the hex SHA-256 by which a tournament commits to the secret of all its boards."""
    return hashlib.sha256(_tag("root") + tournament_id.encode() + b"\0" + root_secret).hexdigest()


def board_secret(root_secret: bytes, board: str) -> bytes:
    """Derive the pack secret of one board of a tournament."""
    return hmac.digest(root_secret, b"board\0" + board.encode(), "sha256")


def offline_secret(seed: str, board: int) -> tuple[bytes, str]:
    """Derive the secret and the label of an offline board; raises `FairnessError` for a seed with lone surrogates."""
    label = f"{OFFLINE}{seed}/{board}"
    try:
        return hashlib.sha256(_tag("offline") + label.encode()).digest(), label
    except UnicodeEncodeError:
        raise FairnessError(f"expected a seed that is text, got {seed!r:.80}") from None


def seeded(seed: str, seats: int, board: int = 0) -> Packs:
    """Give the packs of an offline board, played by `seats` that brought no entropy; raises `FairnessError`."""
    secret, label = offline_secret(seed, board)
    return committed(secret, label, [""] * seats)


def given(decks: Sequence[Sequence[int]]) -> Packs:
    """Give these packs in turn; asking for more raises `FairnessError`."""

    def pack(deal_number: int) -> Sequence[int]:
        if deal_number >= len(decks):
            raise FairnessError(f"expected a pack for deal {deal_number}, got {len(decks)} packs")
        return decks[deal_number]

    return pack


def _words(deal_key: bytes) -> Iterator[int]:
    for counter in itertools.count():
        yield from _EIGHT_WORDS.unpack(hmac.digest(deal_key, counter.to_bytes(8, "big"), "sha256"))


def _tag(purpose: str) -> bytes:
    """Begin what is hashed for a purpose, so that nothing hashed for another can pass for it."""
    return f"slagveld/{purpose}/v1\0".encode()


def _check(secret: bytes, label: str) -> None:
    if len(secret) != SECRET_BYTES:
        raise FairnessError(f"expected a secret of {SECRET_BYTES} bytes, got {len(secret)}")
    if "\0" in label:
        raise FairnessError(f"expected a label without NUL, got {label!r}")
