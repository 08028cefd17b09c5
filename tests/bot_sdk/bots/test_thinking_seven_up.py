"""What ``house:counting`` and ``house:search`` make of Seven Up, in positions where one answer is right."""

from __future__ import annotations

import pytest

from bot_sdk.bot import Decision
from bot_sdk.bots import counting_seven_up, search_seven_up
from bot_sdk.cards import SUIT_MASKS
from tests.bot_sdk.knowledge.asking import shown

SPADES = SUIT_MASKS[3]
TRICKS = "2C 5C 3C 6C 4C 7C"


def playing(hand: str, on: str = "", *, tricks: str = "", upcards: str = "9S", discards: str = "") -> Decision:
    """Ask seat 1 to play, with spades as trump; seat 0 has led what lies on the table, and won all tricks before."""
    cards = tricks.split()
    observation = {
        "deal": 0, "dealer": 0, "hand": hand.split(), "upcards": upcards.split(), "trump": "S",
        "begged": bool(discards), "discards": discards.split(), "to_discard": 0, "totals": [0, 0],
        "trick": {"leader": 0 if on else 1, "cards": on.split()},
        "tricks": [{"leader": 1, "cards": cards[at : at + 2], "winner": 0} for at in range(0, len(cards), 2)],
    }  # fmt: skip
    return Decision(shown("seven_up", 1, observation, {}))


@pytest.mark.parametrize("bot", [counting_seven_up, search_seven_up])
@pytest.mark.parametrize(
    ("hand", "on", "tricks", "played"),
    [
        ("4S QS", "JS", "2C 5C 3C 6C 4C 7C 8C 9C", "QS"),  # catch the Jack
        ("JS 9S", "AS", "2C 5C 3C 6C 4C 7C 8C 9C", "9S"),  # keep the Jack from the ace
        ("TC 3C", "AC", "2C 5C 4C 6C 7C 8C 9D TD", "3C"),  # ten pips are not for the other side
        ("JS 3D", "TD", "2C 5C 3C 6C 4C 7C 8C 9C", "JS"),  # bring the Jack home, and ten pips
    ],
)
def test_takes_what_is_worth_taking(bot, hand, on, tricks, played):
    assert bot.play(playing(hand, on, tricks=tricks)) == f"play:{played}"
