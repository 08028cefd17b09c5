"""Deals of Seven Up laid out by hand, each with a legal play and what comes of it. Dealer 0, eldest 1."""

from __future__ import annotations

from bot_sdk.games.base import State
from tests.bot_sdk.tables import act, play, seven_up, seven_up_pack

TWO_ALL = seven_up_pack("AS AD JC QC KC 2C", "JS 2S TD JD QD KD", "9S")
TWO_ALL_PLAY = "JC JS TD AS QC 2S JD AD KC QD 2C KD"
"""A deal where eldest scores high and game, the dealer low and jack."""

DEALER_3 = seven_up_pack("2C 3C 4C 5C 6C 7C", "5S 2D 3D 4D 5D 6D", "9S")
DEALER_3_PLAY = "2C 5S 2D 3C 3D 4C 4D 5C 5D 6C 6D 7C"
"""The dealer trumps once and takes all: high, low and game."""

ELDEST_3 = seven_up_pack("5S AC KC QC JC TC", "2D 3D 4D 5D 6D 7D", "9S")
ELDEST_3_PLAY = "5S 2D AC 3D KC 4D QC 5D JC 6D TC 7D"

NO_TRUMPS = seven_up_pack("2C 3C 4C 5C 6C 7C", "2D 3D 4D 5D 6D 7D", "9S")
NO_TRUMPS_PLAY = "2C 2D 3C 3D 4C 4D 5C 5D 6C 6D 7C 7D"

EVEN_PIPS = seven_up_pack("AC KC QC 2H 3H 4H", "2D 3D 4D AH KH QH", "9S")
EVEN_PIPS_PLAY = "AC 2D KC 3D QC 4D 2H AH KH 3H QH 4H"
"""No trumps, and 18 pips each."""

NOTHING_CLASSIC = seven_up_pack("2C 3C 4C 5C 6C 7C", "2H 3H 4H 5H 6H 7H", "9S")
NOTHING_CLASSIC_PLAY = "2C 2H 3C 3H 4C 4H 5C 5H 6C 6H 7C 7H"

RUN_OUT = seven_up_pack("", "", "2S", "3S", "4S", "5S", "6S", "7S")
"""Five runs that all turn spades."""


def deal_and_play(pack: list[int], cards: str, **options: object) -> State:
    """Play one deal to its end on `pack`, eldest standing; further deals have the same pack."""
    return play(act(seven_up([pack] * 3, **options), "stand"), cards)


def points(pack: list[int], cards: str, **options: object) -> list[int]:
    return deal_and_play(pack, cards, **options).deals[0].points
