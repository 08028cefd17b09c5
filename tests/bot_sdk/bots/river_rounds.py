"""Decisions in Up and Down the River, written by hand."""

from __future__ import annotations

from bot_sdk import messages
from bot_sdk.bot import Decision
from bot_sdk.cards import SUITS
from bot_sdk.games.registry import RULESETS

UPCARD = "2S"


def river(phase, legal, *, seats=4, seat=0, options=None, **observation):
    """Give a decision of seat 0 of four, spades trump, seat 3 the dealer, unless it is said otherwise."""
    info = messages.GameInfo("g", "river", RULESETS["river"].resolve(options or {}, seats), ["x"] * seats)
    shown = {"upcard": UPCARD, "trump": "S", "dealer": seats - 1, "tricks": [], **observation}
    return Decision(
        messages.Decision(
            decision_id="g.0.0", budget_ms=1000, last=None, game=info, seat=seat, phase=phase,
            observation=shown, legal_actions=legal,
        )
    )  # fmt: skip


def bidding(hand, bids=(), *, legal=None, seats=4, options=None):
    """Give a bid to make after `bids`, None for one that is hidden."""
    cards = hand.split()
    asked = legal if legal is not None else range(len(cards) + 1)
    return river(
        "bid", [f"bid:{bid}" for bid in asked], seats=seats, seat=len(bids), options=options,
        hand=cards, cards=len(cards), bids=[*bids, *[None] * (seats - len(bids))],
    )  # fmt: skip


def playing(hand, trick="", *, missing, tricks=(), seats=4, options=None):
    """Give a card to play with `missing` tricks to go; who is not last to play leads from the right."""
    cards, on_table = hand.split(), trick.split()
    legal = [card for card in cards if on_table and card[1] == on_table[0][1]] or cards
    legal.sort(key=lambda card: (SUITS.index(card[1]), "23456789TJQKA".index(card[0])))
    leader = -len(on_table) % seats
    won = [{"leader": lead, "cards": of.split(), "winner": winner} for lead, of, winner in tricks]
    return river(
        "play", [f"play:{card}" for card in legal], seats=seats, options=options,
        hand=cards, cards=len(cards) + len(won), bids=[missing, *[0] * (seats - 1)], tricks_won=[0] * seats,
        trick={"leader": leader, "cards": on_table}, tricks=won,
    )  # fmt: skip
