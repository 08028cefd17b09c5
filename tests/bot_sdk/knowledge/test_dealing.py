from __future__ import annotations

import random
from collections import Counter
from itertools import combinations
from math import sqrt

import pytest

from bot_sdk.cards import SUIT_MASKS, cards_in, mask_of, parse_card
from bot_sdk.knowledge import Hidden, Unexplained

CLUBS, DIAMONDS, HEARTS, SPADES = SUIT_MASKS


def cards(names: str) -> int:
    return mask_of(parse_card(name) for name in names.split())


def every_deal(left: int, hands: list[tuple[int, int]]) -> list[tuple[int, ...]]:
    """List every way to deal the hands, by trying them all."""
    if not hands:
        return [()]
    size, barred = hands[0]
    return [
        (mask, *others)
        for mask in map(mask_of, combinations(cards_in(left & ~barred), size))
        for others in every_deal(left & ~mask, hands[1:])
    ]


CASES = {
    "no voids": ("2C 3C 4D 5H 6S", [(2, 0), (1, 0)]),
    "nothing left over": ("2C 3C 4D 5H 6S", [(2, 0), (2, CLUBS), (1, 0)]),
    "the same void twice": ("2C 3C 4D 5H 6S 7H", [(2, CLUBS), (1, CLUBS), (1, 0)]),
    "different voids": ("2C 3C 4D 5H 6S 7H", [(2, CLUBS), (1, HEARTS), (1, HEARTS | SPADES)]),
    "three voids, few cards": ("2C 3C 4D 5D 6H 7H", [(2, CLUBS), (2, DIAMONDS), (2, HEARTS)]),
    "one suit only": ("2C 3C 4C 5H 6S", [(2, DIAMONDS | HEARTS | SPADES), (1, SPADES), (1, 0)]),
    "a void in what isn't there": ("2C 3C 4D 5D", [(2, SPADES), (1, DIAMONDS | SPADES)]),
    "an empty hand": ("2C 3C 4D", [(0, CLUBS), (2, DIAMONDS)]),
    "one way only": ("2C 3D 4H", [(1, DIAMONDS | HEARTS), (1, CLUBS | HEARTS), (1, 0)]),
}


@pytest.mark.parametrize("case", CASES)
def test_every_possible_deal_is_equally_likely_and_no_other_comes(case: str) -> None:
    hidden, hands = cards(CASES[case][0]), CASES[case][1]
    possible = every_deal(hidden, hands)
    dealing, rng, number = Hidden(hidden, hands), random.Random(case), 60 * len(possible)
    drawn = Counter(tuple(dealing.draw(rng)) for _ in range(number))
    assert drawn.keys() == set(possible)
    expected = number / len(possible)
    square = sum((drawn[deal] - expected) ** 2 for deal in possible) / expected
    freedom = len(possible) - 1
    assert square <= freedom + 5 * sqrt(2 * freedom)


def test_many_voids_at_a_full_table_are_dealt_at_once() -> None:
    voids = [CLUBS, DIAMONDS, HEARTS, CLUBS | DIAMONDS, CLUBS | HEARTS, DIAMONDS | HEARTS, CLUBS | DIAMONDS | HEARTS]
    dealing = Hidden(
        cards(" ".join(f"{rank}{suit}" for suit in "CDHS" for rank in "789TJQKA")), [(3, v) for v in voids]
    )
    for hand, void in zip(dealing.draw(random.Random(1)), voids, strict=True):
        assert (hand.bit_count(), hand & void) == (3, 0)


@pytest.mark.parametrize(
    ("names", "hands"),
    [
        ("2C 3C", [(2, 0), (1, 0)]),
        ("2C 3C 4D", [(2, CLUBS)]),
        ("2C 3C 4D", [(1, CLUBS), (1, CLUBS)]),
        ("2C 3C 4D", [(1, CLUBS), (1, CLUBS | HEARTS), (1, 0)]),
    ],
)
def test_hands_that_cannot_be_dealt_are_refused(names: str, hands: list[tuple[int, int]]) -> None:
    with pytest.raises(Unexplained, match="expected cards for hands of"):
        Hidden(cards(names), hands)
