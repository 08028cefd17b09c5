"""Cards as small integers, hands as bit masks, and their text at the edge.

A card is ``suit * 13 + rank`` with suits in the order C D H S and ranks 2 … A, so 0 is the two of clubs and 51 the
ace of spades. A hand is an integer whose bit *c* is set when it holds card *c*; iterating a mask from the lowest bit
gives the fixed order of docs/rules.md. Text is rank then suit, ``QH``, with ``T`` for ten.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from bot_sdk.errors import SdkError, quoted

SUITS: Final = "CDHS"
RANKS: Final = "23456789TJQKA"
NAMES: Final = tuple(rank + suit for suit in SUITS for rank in RANKS)
JACK: Final = RANKS.index("J")
BITS: Final = tuple(1 << card for card in range(len(NAMES)))
"""The mask of each card alone."""
SUIT_MASKS: Final = tuple(0x1FFF << (13 * suit) for suit in range(4))

_NUMBERS: Final = {name: number for number, name in enumerate(NAMES)}


class CardError(SdkError, ValueError):
    """A text that names no card, or a pack that isn't one."""


def parse_card(text: str) -> int:
    """Read a card such as ``QH``; raises `CardError` for anything else."""
    try:
        return _NUMBERS[text]
    except (KeyError, TypeError):
        raise CardError(f"expected a card such as 'QH', got {quoted(text)}") from None


def suit_of(card: int) -> int:
    """Give the suit of a card, 0 … 3 for C D H S."""
    return card // 13


def rank_of(card: int) -> int:
    """Give the rank of a card, 0 for a two … 12 for an ace."""
    return card % 13


def mask_of(cards: Iterable[int]) -> int:
    """Give the mask that holds exactly these cards."""
    mask = 0
    for card in cards:
        mask |= BITS[card]
    return mask


def cards_in(mask: int) -> Iterator[int]:
    """Yield the cards of a mask in the fixed order: C D H S, each 2 … A."""
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


def names_in(mask: int) -> list[str]:
    """Name the cards of a mask in the fixed order."""
    names = []
    while mask:
        others = mask & mask - 1
        names.append(NAMES[(mask ^ others).bit_length() - 1])
        mask = others
    return names
