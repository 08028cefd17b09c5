from __future__ import annotations

from random import Random

import pytest

from bot_sdk.bots.strength import ABOVE, BEATING, CARD, NUMBER, NUMBERS, SUIT, SUIT_MASKS, by_strength
from bot_sdk.cards import NAMES, mask_of, parse_card
from bot_sdk.games.tricks import LED, beats

TRUMP = range(4)


@pytest.mark.parametrize("trump", TRUMP)
def test_each_card_has_a_number_of_its_own(trump):
    assert sorted(NUMBER[trump]) == list(NUMBERS)
    assert all(CARD[trump][NUMBER[trump][card]] == card for card in range(52))


def test_the_weakest_are_deuces_and_the_strongest_trumps():
    ranked = [NAMES[card] for card in CARD[2][1:]]
    assert {name[0] for name in ranked[:3]} == {"2"}
    assert {name[0] for name in ranked[36:39]} == {"A"}
    assert ranked[39:] == [f"{rank}H" for rank in "23456789TJQKA"]


@pytest.mark.parametrize("trump", TRUMP)
def test_cards_beat_each_other_as_the_rules_say(trump):
    number = NUMBER[trump]
    for winning in range(52):
        for card in set(range(52)) - {winning}:
            bit = 1 << number[card] - 1
            assert bool(BEATING[number[winning]] & bit) == beats(card, winning, trump)
            assert bool(SUIT[number[winning]] & bit) == bool(LED[winning] >> card & 1)
            assert bool(ABOVE[number[winning]] & bit) == bool(LED[winning] >> card & 1 and card > winning)


def test_a_mask_keeps_its_cards():
    rng = Random(1)
    for _ in range(50):
        cards, trump = rng.sample(range(52), 13), rng.randrange(4)
        numbers = by_strength(mask_of(cards), trump)
        assert numbers == sum(1 << NUMBER[trump][card] - 1 for card in cards)


def test_suits_have_thirteen_cards_each():
    assert [mask.bit_count() for mask in SUIT_MASKS] == [13] * 4
    assert sum(SUIT_MASKS) == (1 << 52) - 1
    assert SUIT[NUMBER[0][parse_card("2C")]] == SUIT_MASKS[-1]
