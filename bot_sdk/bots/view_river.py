"""What a seat of Up and Down the River sees of the trick it plays to, as masks: cards are those of `strength`."""

from __future__ import annotations

from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from bot_sdk.bot import Decision
from bot_sdk.bots.strength import BEATING, CARD, NUMBER, SUIT, by_strength
from bot_sdk.cards import mask_of
from bot_sdk.games.base import PLAY
from bot_sdk.games.river import River
from bot_sdk.knowledge import Knowledge


class Turn(NamedTuple):
    """How a trick lies for the seat whose turn it is."""

    seat: int
    suit: int
    """The cards of the suit that was led; 0 for the leader."""
    beating: int
    """The cards that would take the trick as it lies."""
    winner: int
    """Who wins the trick as it lies."""
    to_come: int
    """How many seats have still to play, this one included."""

    @classmethod
    def to_lead(cls, seat: int, seats: int) -> Turn:
        """Give the turn of a leader."""
        return cls(seat, 0, 0, seat, seats)


@dataclass(frozen=True, slots=True)
class View:
    """A decision in the phase ``play``; lists are by seat."""

    known: Knowledge
    turn: Turn
    hand: int
    legal: int
    out: int
    """The cards still out: others hold them, or nobody does."""
    on_table: int
    """The cards in the trick."""
    bids: list[int]
    won: list[int]

    @classmethod
    def of(cls, decision: Decision) -> View:
        """Read the view from a decision."""
        known = decision.knowledge
        trump = known.trump
        return cls(
            known=known,
            turn=_turn(known),
            hand=by_strength(known.hand, trump),
            legal=by_strength(sum(1 << River.CODES[action] for action in decision.legal), trump),
            out=by_strength(known.out, trump),
            on_table=by_strength(mask_of(known.trick.cards), trump),
            bids=decision.observation["bids"],
            won=decision.observation["tricks_won"],
        )

    @property
    def wants(self) -> bool:
        """Whether the seat wants tricks: it needs some, or its bid is lost and each is a point."""
        return self.won[self.known.seat] != self.bids[self.known.seat]

    def draw(self, rng: Random) -> list[int]:
        """Draw what every seat may hold, the own hand included."""
        return [by_strength(hand, self.known.trump) for hand in self.known.draw_hands(rng)]

    def action(self, number: int) -> str:
        """Name the action that plays the card of that number."""
        return PLAY[CARD[self.known.trump][number]]


def _turn(known: Knowledge) -> Turn:
    trick, winning, winner = known.trick.cards, known.winning, known.winner
    if winning is None or winner is None:
        return Turn.to_lead(known.seat, known.seats)
    number = NUMBER[known.trump]
    return Turn(known.seat, SUIT[number[trick[0]]], BEATING[number[winning]], winner, known.seats - len(trick))
