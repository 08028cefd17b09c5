"""Up and Down the River by rule of thumb: bid the sum of the cards' chances, then win cheaply or dump high."""

from __future__ import annotations

from functools import partial
from typing import Final

from bot_sdk.bot import Decision
from bot_sdk.bots.playing import playable, strength_of
from bot_sdk.cards import NAMES, SUITS, parse_card, rank_of, suit_of
from bot_sdk.knowledge import Knowledge

SIDE: Final = {
    4: (-0.10, -0.09, -0.07, -0.07, -0.06, -0.01, 0.00, 0.03, 0.10, 0.16, 0.24, 0.35, 0.57),
    5: (-0.09, -0.10, -0.10, -0.08, -0.06, -0.05, -0.03, 0.02, 0.03, 0.08, 0.15, 0.25, 0.48),
    6: (-0.09, -0.09, -0.08, -0.08, -0.07, -0.05, -0.04, -0.04, -0.01, 0.03, 0.09, 0.18, 0.43),
    7: (-0.07, -0.07, -0.07, -0.06, -0.07, -0.05, -0.04, -0.03, -0.01, 0.02, 0.05, 0.13, 0.30),
    8: (-0.05, -0.06, -0.05, -0.05, -0.05, -0.05, -0.04, -0.03, -0.02, 0.01, 0.04, 0.10, 0.21),
}
"""What a card of a side suit adds to the tricks a hand wins, by number of seats, for the ranks 2 … A.

Fitted by ``benchmarks/fit_greedy_river.py``: least squares over games of this bot against itself.
"""

TRUMP: Final = {
    4: (0.53, 0.57, 0.59, 0.60, 0.65, 0.68, 0.72, 0.80, 0.85, 0.92, 1.00, 1.15, 1.33),
    5: (0.41, 0.46, 0.47, 0.56, 0.58, 0.61, 0.66, 0.73, 0.79, 0.88, 0.97, 1.05, 1.26),
    6: (0.34, 0.36, 0.40, 0.46, 0.51, 0.54, 0.58, 0.68, 0.73, 0.81, 0.91, 1.05, 1.27),
    7: (0.30, 0.31, 0.32, 0.38, 0.39, 0.47, 0.51, 0.61, 0.71, 0.77, 0.87, 0.98, 1.22),
    8: (0.20, 0.24, 0.24, 0.29, 0.33, 0.38, 0.45, 0.54, 0.66, 0.75, 0.84, 0.97, 1.18),
}
"""The same for a trump."""


def bid(decision: Decision) -> str:
    """Bid the rounded sum of the hand's chances, or the legal bid nearest to it."""
    hoped = hopes(decision)
    return min(decision.legal, key=lambda action: abs(int(action.removeprefix("bid:")) - hoped))


def hopes(decision: Decision) -> float:
    """Sum up what each card in hand can be expected to win."""
    seats = len(decision.game.seats)
    trump = SUITS.index(decision.observation["trump"])
    hand = [parse_card(name) for name in decision.hand]
    return sum((TRUMP if suit_of(card) == trump else SIDE)[seats][rank_of(card)] for card in hand)


def play(decision: Decision) -> str:
    """Win the trick cheaply while the bid isn't met; else lose it with the highest card that can."""
    return f"play:{NAMES[choose(decision.knowledge, playable(decision), needed(decision))]}"


def needed(decision: Decision) -> int:
    """Count the tricks still missing to the own bid; negative once there are too many."""
    shown = decision.observation
    missing: int = shown["bids"][decision.seat] - shown["tricks_won"][decision.seat]
    return missing


def choose(known: Knowledge, cards: list[int], missing: int) -> int:
    """Choose the card to play with `missing` tricks to go."""
    strength = partial(strength_of, trump=known.trump)
    if not known.trick.cards:
        return lead(known, cards, missing)
    winning = [card for card in cards if known.takes(card)]
    losing = [card for card in cards if card not in winning]
    if missing > 0:
        if not winning:
            return min(losing, key=strength)
        return min(winning, key=strength) if known.is_last else max(winning, key=strength)
    if losing:
        return max(losing, key=strength)
    return max(winning, key=strength) if known.is_last else min(winning, key=strength)


def lead(known: Knowledge, cards: list[int], missing: int) -> int:
    """Lead the card least likely to be beaten while tricks are needed, else the lowest."""
    if missing > 0:
        return min(cards, key=lambda card: (known.above(card).bit_count(), -strength_of(card, known.trump)))
    return min(cards, key=lambda card: strength_of(card, known.trump))
