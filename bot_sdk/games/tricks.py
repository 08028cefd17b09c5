"""Trick-taking, as tables over cards: which card beats which, and what binds those who follow.

Tables, since a playout asks these questions for every card; each is filled by the one function that states the rule.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from bot_sdk.cards import NAMES, SUIT_MASKS, SUITS, suit_of

CARDS: Final = range(len(NAMES))
LED: Final = tuple(SUIT_MASKS[suit_of(card)] for card in CARDS)
"""For each card, the mask of its suit."""


def beats(card: int, winning: int, trump: int) -> bool:
    """Whether `card`, played to a trick that `winning` would win, takes it: a higher one of its suit, or a trump."""
    if suit_of(card) == suit_of(winning):
        return card > winning
    return suit_of(card) == trump


BEATS: Final = tuple(
    tuple(tuple(beats(card, winning, trump) for card in CARDS) for winning in CARDS) for trump in range(len(SUITS))
)
"""`beats` as a table: ``BEATS[trump][winning][card]``."""


def best(cards: Sequence[int], trump: int) -> int:
    """Give the position of the winning card among `cards`, led first."""
    best_at = 0
    for at in range(1, len(cards)):
        if BEATS[trump][cards[best_at]][cards[at]]:
            best_at = at
    return best_at


@dataclass(frozen=True, slots=True)
class Trick:
    """The cards of one trick in the order played; `winner` is None while it is open."""

    leader: int
    cards: list[int]
    winner: int | None = None
