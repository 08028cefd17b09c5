"""What one seat knows at a decision, in masks: `Knowledge`."""

from __future__ import annotations

from random import Random
from typing import Any, Final

from bot_sdk import messages
from bot_sdk.cards import SUIT_MASKS, SUITS, mask_of, parse_card
from bot_sdk.games.base import NO_TRUMP
from bot_sdk.games.seven_up import HAND, RUN
from bot_sdk.games.tricks import BEATS, LED, Trick, best
from bot_sdk.knowledge.dealing import Hidden

ALL_CARDS: Final = (1 << 52) - 1


class Knowledge:
    """All that a seat knows of the cards at one decision, in both games.

    Cards are integers and sets of cards masks, as in `bot_sdk.cards`. The message isn't checked: it is taken to come
    from a game.
    """

    __slots__ = (
        "_hidden", "cards_left", "hand", "message", "out", "played", "seat", "seats", "seen", "taken", "trick",
        "tricks", "trump", "voids",
    )  # fmt: skip

    message: messages.Decision
    """The decision that all of this follows from."""
    seat: int
    """Whose knowledge it is."""
    seats: int
    trump: int
    """The suit of trumps, `NO_TRUMP` until it is fixed."""
    hand: int
    """The seat's own cards."""
    tricks: list[Trick]
    """The tricks of this deal that are won, in order."""
    trick: Trick
    """The trick that is on; without cards if the seat leads, or before the play begins."""
    played: list[int]
    """The cards each seat has played in this deal."""
    taken: list[int]
    """The cards in the tricks that each seat has won in this deal."""
    seen: int
    """The cards whose place is known: the own hand and discards, all that was turned, all that was played."""
    out: int
    """The cards still out, all others: some are in other hands, some nobody holds."""
    voids: list[int]
    """The cards of all suits that a seat has shown not to hold any more; 0 for one that has always followed.

    In Seven Up under `must_trump`, who neither follows nor trumps has neither the led suit nor a trump.
    """
    cards_left: list[int]
    """How many cards each seat holds. While discards are owed, what others hold before they discard."""

    def __init__(self, message: messages.Decision) -> None:
        """Work out what follows from a decision's message."""
        shown = message.observation
        self.message = message
        self.seat = message.seat
        self.seats = len(message.game.seats)
        self.trump = NO_TRUMP if shown["trump"] is None else SUITS.index(shown["trump"])
        self.hand = _mask(shown["hand"])
        self.tricks = [_trick(past) for past in shown["tricks"]]
        eldest = (shown["dealer"] + 1) % self.seats
        self.trick = _trick(shown["trick"]) if shown["trick"] else Trick(eldest, [])
        self.played, self.taken, self.voids = ([0] * self.seats for _ in range(3))
        for trick in (*self.tricks, self.trick):
            self._watch(trick)
        lying_open = shown["upcards"] if "upcards" in shown else [shown["upcard"]]
        self.seen = self.hand | _mask(lying_open) | _mask(shown.get("discards", ())) | sum(self.played)
        self.out = ALL_CARDS ^ self.seen
        self.cards_left = [self._cards_left(seat) for seat in range(self.seats)]
        self._hidden: Hidden | None = None

    @property
    def winner(self) -> int | None:
        """The seat that would win the trick as it lies; None while it has no cards."""
        cards = self.trick.cards
        return (self.trick.leader + best(cards, self.trump)) % self.seats if cards else None

    @property
    def winning(self) -> int | None:
        """The card that would win the trick as it lies; None while it has none."""
        cards = self.trick.cards
        return cards[best(cards, self.trump)] if cards else None

    @property
    def is_last(self) -> bool:
        """Whether the trick that is on lacks one card only."""
        return len(self.trick.cards) == self.seats - 1

    def takes(self, card: int) -> bool:
        """Whether the card, played now, would be winning the trick."""
        winning = self.winning
        return winning is None or BEATS[self.trump][winning][card]

    def above(self, card: int) -> int:
        """Give the cards still out that are higher in the card's own suit."""
        return self.out & LED[card] & -(2 << card)

    def may_hold(self, seat: int) -> int:
        """Give the cards that `seat` may hold: those still out, without the suits it is void in; the own hand as is."""
        return self.hand if seat == self.seat else self.out & ~self.voids[seat]

    def draw_hands(self, rng: Random) -> list[int]:
        """Draw what every seat may hold now, the own hand included; each possibility is equally likely.

        What others bid, discarded or chose to play says nothing here, only what they had to. While discards are owed,
        others are taken to have discarded nothing yet: how far they are isn't known. Raises `Unexplained` if the
        message allows no deal at all, as one from a game never does. The first draw costs more than those after it.
        """
        others = [seat for seat in range(self.seats) if seat != self.seat]
        if self._hidden is None:
            self._hidden = Hidden(self.out, [(self.cards_left[seat], self.voids[seat]) for seat in others])
        hands = self._hidden.draw(rng)
        hands.insert(self.seat, self.hand)
        return hands

    def _watch(self, trick: Trick) -> None:
        """Note who played and took what in a trick, and what that shows."""
        for at, card in enumerate(trick.cards):
            seat = (trick.leader + at) % self.seats
            self.played[seat] |= 1 << card
            self.voids[seat] |= self._lacks(trick.cards[0], card)
        if trick.winner is not None:
            self.taken[trick.winner] |= mask_of(trick.cards)

    def _lacks(self, led: int, card: int) -> int:
        """Give the suits that whoever plays `card` to the led one can't hold (docs/rules.md, 5 of either game)."""
        if LED[led] >> card & 1:
            return 0
        if self.message.game.ruleset == "river":
            return LED[led]
        trumps = SUIT_MASKS[self.trump]
        if trumps >> card & 1:
            return 0  # one may trump and still hold the led suit
        return LED[led] | trumps if self.message.game.options["void_play"] == "must_trump" else LED[led]

    def _cards_left(self, seat: int) -> int:
        if seat == self.seat:
            return self.hand.bit_count()
        shown = self.message.observation
        dealt: int = shown.get("cards", HAND)
        if self.message.phase == "discard":
            dealt += RUN * (len(shown["upcards"]) - 1)
        return dealt - self.played[seat].bit_count()


def _mask(names: list[str]) -> int:
    return mask_of(parse_card(name) for name in names)


def _trick(shown: dict[str, Any]) -> Trick:
    return Trick(shown["leader"], [parse_card(name) for name in shown["cards"]], shown.get("winner"))
