"""What a player sees of the trick on the table, in integers: shared by the house bots."""

from __future__ import annotations

from dataclasses import dataclass

from bot_sdk.bot import Decision
from bot_sdk.cards import SUITS, mask_of, parse_card
from bot_sdk.games.tricks import best


@dataclass(frozen=True, slots=True)
class Table:
    """A decision in the phase ``play``: cards as integers, sorted by suit and rank."""

    playable: list[int]
    hand: list[int]
    trick: list[int]
    """The cards already in the trick, led first; empty for the leader."""
    trump: int
    seen: int
    """The mask of all cards this seat knows the place of: its hand, its discards, what was turned and played."""
    is_last: bool

    @classmethod
    def of(cls, decision: Decision) -> Table:
        """Read the table from a decision."""
        shown = decision.observation
        trick = [parse_card(name) for name in shown["trick"]["cards"]]
        hand = [parse_card(name) for name in shown["hand"]]
        upcards = shown["upcards"] if "upcards" in shown else [shown["upcard"]]
        played = [name for past in shown["tricks"] for name in past["cards"]]
        known = mask_of(parse_card(name) for name in (*upcards, *shown.get("discards", ()), *played))
        return cls(
            playable=[parse_card(action.removeprefix("play:")) for action in decision.legal],
            hand=hand,
            trick=trick,
            trump=SUITS.index(shown["trump"]),
            seen=known | mask_of(hand) | mask_of(trick),
            is_last=len(trick) == len(decision.game.seats) - 1,
        )

    def wins(self, card: int) -> bool:
        """Whether the card would be the best of the trick so far."""
        return best([*self.trick, card], self.trump) == len(self.trick)

    def unseen_above(self, card: int) -> int:
        """Count the cards of the same suit that beat it and may still be out."""
        suit_end = (card // 13 + 1) * 13
        return (~self.seen & ((1 << suit_end) - (2 << card))).bit_count()

    def strength(self, card: int) -> int:
        """Order cards by how likely they are to win: rank, trumps above all others."""
        return card % 13 + (13 if card // 13 == self.trump else 0)
