"""Seven Up by counting: what is still out, how likely the other side holds it, and what it would answer.

Each card out is as likely theirs as any other, but for what they have shown: a suit they are void in, and that whoever
discards keeps trumps. A lead is weighed against every answer to it, a card that follows by the trick it makes.
``house:greedy`` gives and discards as well; it begs too often.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from bot_sdk.bot import Decision
from bot_sdk.bots.greedy_seven_up import suit_strength
from bot_sdk.bots.playing import playable, strength_of
from bot_sdk.cards import JACK, NAMES, SUIT_MASKS, cards_in, rank_of, suit_of
from bot_sdk.games.seven_up import PIPS, RUN
from bot_sdk.games.tricks import BEATS, LED
from bot_sdk.knowledge import Knowledge

STAND_FROM: Final = 1.4
"""Two trumps, or one that is a queen at least or the Jack. Measured: 0.12 points a deal better than greedy's 2.4."""
PIP: Final = 0.03
"""What a captured pip is worth in points, as long as it can decide who scores game."""
KEEP: Final = 0.036
"""What it is worth to keep a card for later, for each step of its strength."""


def beg(decision: Decision) -> str:
    """Stand on a suit in which the hand isn't quite weak: to lead is worth something, too."""
    return "stand" if suit_strength(decision) >= STAND_FROM else "beg"


def play(decision: Decision) -> str:
    """Play the card that can be expected to bring most."""
    count = Count.of(decision)
    cards = playable(decision)
    if count.known.trick.cards:
        led = count.known.trick.cards[0]
        return f"play:{NAMES[max(cards, key=lambda card: -count.exchange(led, card))]}"
    return f"play:{NAMES[max(cards, key=count.leading)]}"


@dataclass(frozen=True, slots=True)
class Count:
    """What cards are worth, and where they probably are."""

    known: Knowledge
    pips: tuple[float, ...]
    """What a captured card counts towards game, in points, by rank."""
    trump_share: float
    """How likely they hold a certain trump that is out and that they can hold."""
    side_share: float
    """The same for a card of another suit."""

    @classmethod
    def of(cls, decision: Decision) -> Count:
        """Count the cards."""
        known = decision.knowledge
        they = 1 - known.seat
        out = known.may_hold(they)
        trumps = (out & SUIT_MASKS[known.trump]).bit_count()
        thrown = RUN * (len(decision.observation["upcards"]) - 1)
        trump_share = min(1.0, (known.cards_left[they] + thrown) / known.out.bit_count())
        side = max(0.0, known.cards_left[they] - trumps * trump_share)
        values = PIPS[decision.options["pips"]]
        return cls(
            known,
            tuple(PIP * value for value in values),
            trump_share,
            min(1.0, side / max(1, out.bit_count() - trumps)),
        )

    def stake(self, card: int) -> float:
        """Value what a captured card scores: pips for game, the Jack of trumps, a trump that may be the lowest."""
        worth = self.pips[rank_of(card)]
        if suit_of(card) == self.known.trump:
            worth += (rank_of(card) == JACK) + self.is_lowest(card)
        return worth

    def is_lowest(self, card: int) -> float:
        """Give how likely no lower trump takes part in the play."""
        lower = SUIT_MASKS[self.known.trump] & ((1 << card) - 1)
        if lower & (self.known.hand | sum(self.known.played)):
            return 0.0
        return (1 - self.trump_share) ** (lower & self.known.may_hold(1 - self.known.seat)).bit_count()

    def exchange(self, led: int, card: int) -> float:
        """Value a trick for the side that leads it: what is captured, and what both cards were still good for."""
        captured = self.stake(led) + self.stake(card)
        won = -captured if BEATS[self.known.trump][led][card] else captured
        return won + self.kept(card) - self.kept(led)

    def kept(self, card: int) -> float:
        """Value a card that isn't played yet."""
        return KEEP * strength_of(card, self.known.trump)

    def leading(self, led: int) -> float:
        """Value a lead by what they may answer: the best they hold of what the rules let them play."""
        value, left, answer = 0.0, 1.0, 0.0
        for card in self.answers(led):
            answer = self.exchange(led, card)
            held = left * (self.trump_share if suit_of(card) == self.known.trump else self.side_share)
            value += held * answer
            left -= held
        return value + left * answer

    def answers(self, led: int) -> Iterator[int]:
        """Yield the cards they may hold, best answer first; what doesn't follow after all that does."""
        cards = self.known.may_hold(1 - self.known.seat)
        following = cards & (LED[led] | SUIT_MASKS[self.known.trump])
        for group in (following, cards ^ following):
            yield from sorted(cards_in(group), key=lambda card: self.exchange(led, card))
