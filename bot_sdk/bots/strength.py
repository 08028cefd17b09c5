"""Cards numbered by strength, so that the questions of a trick are single operations on masks.

The number of a card is 1 to 52: the deuces of the side suits first, then their threes … aces, then the trumps 2 … A. A
card is the bit ``1 << number - 1`` of a mask, so `int.bit_length` gives the number of a mask's strongest card and
``mask & -mask`` its weakest one. Which suits the side suits were is forgotten, since they are all alike.
"""

from __future__ import annotations

from typing import Final

from bot_sdk.cards import NAMES, SUITS, rank_of, suit_of

RANKS: Final = 13
SIDE_SUITS: Final = 3
FIRST_TRUMP: Final = SIDE_SUITS * RANKS + 1
NUMBERS: Final = range(1, len(NAMES) + 1)


def _number(card: int, trump: int) -> int:
    if suit_of(card) == trump:
        return FIRST_TRUMP + rank_of(card)
    return 1 + SIDE_SUITS * rank_of(card) + (suit_of(card) - trump) % len(SUITS) - 1


NUMBER: Final = tuple(tuple(_number(card, trump) for card in range(len(NAMES))) for trump in range(len(SUITS)))
"""``NUMBER[trump][card]``: the number of a card of `bot_sdk.cards`."""
CARD: Final = tuple((-1, *sorted(range(len(NAMES)), key=numbers.__getitem__)) for numbers in NUMBER)
"""``CARD[trump][number]``: the card of a number; there is none of number 0."""

ALL: Final = (1 << len(NAMES)) - 1
TRUMPS: Final = ((1 << RANKS) - 1) << FIRST_TRUMP - 1
SUIT_MASKS: Final = (
    *(sum(1 << SIDE_SUITS * rank + suit for rank in range(RANKS)) for suit in range(SIDE_SUITS)),
    TRUMPS,
)
"""The masks of the three side suits and of the trumps."""


def _suit_mask(number: int) -> int:
    return next(mask for mask in SUIT_MASKS if mask >> number - 1 & 1)


SUIT: Final = (0, *(_suit_mask(number) for number in NUMBERS))
"""By number, the mask of the card's suit; by 0, of none."""
ABOVE: Final = (0, *(SUIT[number] >> number << number for number in NUMBERS))
"""By number, the mask of the higher cards of the card's suit."""
BEATING: Final = (0, *(ABOVE[number] | (0 if number >= FIRST_TRUMP else TRUMPS) for number in NUMBERS))
"""By number, the mask of the cards that take a trick which the card would win, if they may be played."""


def by_strength(cards: int, trump: int) -> int:
    """Turn a mask of `bot_sdk.cards` into one of cards numbered by strength."""
    mask, number = 0, NUMBER[trump]
    while cards:
        low = cards & -cards
        mask |= 1 << number[low.bit_length() - 1] - 1
        cards ^= low
    return mask
