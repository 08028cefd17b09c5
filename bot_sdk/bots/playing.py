"""What rules of thumb ask in the phase ``play`` besides `bot_sdk.knowledge`: which cards there are, and how strong."""

from __future__ import annotations

from bot_sdk.bot import Decision
from bot_sdk.cards import RANKS, parse_card, rank_of, suit_of


def playable(decision: Decision) -> list[int]:
    """Read the cards that may be played, sorted by suit and rank."""
    return [parse_card(action.removeprefix("play:")) for action in decision.legal]


def strength_of(card: int, trump: int) -> int:
    """Order cards by how likely they are to win: rank, trumps above all others."""
    return rank_of(card) + (len(RANKS) if suit_of(card) == trump else 0)
