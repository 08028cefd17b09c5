"""Up and Down the River by looking ahead: bids as `counting_river` does, then plays what does best in sampled worlds.

A world is a way in which the cards that aren't seen may lie. In each one every card that may be played is tried, and
the round is played to its end by the rules of thumb of `counting_river`, every seat to its own need. The number of
worlds is fixed, not the time: a bot that thinks for less on a busy machine has no strength of its own.
"""

from __future__ import annotations

from random import Random
from typing import Final

from bot_sdk.bot import Decision
from bot_sdk.bots import bids_river
from bot_sdk.bots.counting_river import follow, lead
from bot_sdk.bots.strength import ABOVE, ALL, BEATING, SUIT
from bot_sdk.bots.view_river import Turn, View
from bot_sdk.games.river import EXACT

WORLDS: Final = 60


def bid(decision: Decision) -> str:
    """Bid what promises most points."""
    return f"bid:{bids_river.best(decision)}"


def play(decision: Decision) -> str:
    """Play the card that makes most points on the average of the worlds."""
    view = View.of(decision)
    cards = different(view)
    if len(cards) == 1:
        return view.action(cards[0])
    made = values(view, cards, decision.rng, loses_all=decision.options["miss"] == "zero")
    return view.action(cards[made.index(max(made))])


def different(view: View) -> list[int]:
    """Give the legal cards, weakest first; of those with no card between them that counts, the strongest alone."""
    counts = view.out | view.hand | view.on_table
    cards, left = [], view.legal
    while left:
        card = (left & -left).bit_length()
        left &= left - 1
        above = counts & ABOVE[card]
        if not above & -above & view.hand:
            cards.append(card)
    return cards


def values(view: View, cards: list[int], rng: Random, *, loses_all: bool) -> list[int]:
    """Give for each card the sum of the points that it makes in the worlds."""
    sums = [0] * len(cards)
    seat = view.turn.seat
    bid = view.bids[seat]
    for _ in range(WORLDS):
        hands = view.draw(rng)
        for at, card in enumerate(cards):
            won = played_out(hands, view.won, view.bids, view.turn, card)[seat]
            sums[at] += won + EXACT if won == bid else 0 if loses_all else won
    return sums


def played_out(hands: list[int], won: list[int], bids: list[int], turn: Turn, card: int) -> list[int]:
    """Play a round to its end, `card` first, and give the tricks that each seat takes in it.

    Lists are by seat and stay as they are; `won` are the tricks taken so far. A leader is taken to know which cards
    others hold, nobody more than that.
    """
    hands, won = hands.copy(), won.copy()
    seats = len(hands)
    seat, suit, beating, winner, to_come = turn
    if not suit:
        suit, beating = SUIT[card], ALL
    while True:
        while True:
            bit = 1 << card - 1
            hands[seat] ^= bit
            if beating & bit:
                winner, beating = seat, BEATING[card]
            to_come -= 1
            if not to_come:
                break
            seat = seat + 1 if seat + 1 < seats else 0
            hand = hands[seat]
            card = follow(hand & suit or hand, beating, won[seat] != bids[seat], to_come == 1)
        won[winner] += 1
        hand = hands[winner]
        if not hand:
            return won
        out = 0
        for other in hands:
            out |= other
        card = lead(hand, out ^ hand, won[winner] != bids[winner])
        seat, to_come, suit, beating = winner, seats, SUIT[card], ALL
