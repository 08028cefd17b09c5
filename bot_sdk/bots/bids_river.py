"""The odds of a bid in Up and Down the River, from a table fitted to games of the bots against themselves.

For a hand and a bid the table tells how likely it is that the seat takes more tricks than it bid, fewer, or just as
many. It was fitted by ``benchmarks/fit_counting_river.py`` for every number of seats and of cards, under the default
options. What it knows of a hand and of the bids before is in `hand_facts` and `bid_facts`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import resources
from math import exp
from operator import mul
from typing import Final

import msgspec

from bot_sdk.bot import Decision
from bot_sdk.bots.strength import FIRST_TRUMP, NUMBERS, RANKS, SIDE_SUITS, SUIT_MASKS, TRUMPS, by_strength
from bot_sdk.cards import SUITS, mask_of, parse_card
from bot_sdk.games.river import EXACT

FILE: Final = "bids_river.json"
ACES: Final = 0b111 << SIDE_SUITS * 12
KINGS: Final = ACES >> SIDE_SUITS
"""Those of the side suits."""


class Weights(msgspec.Struct, frozen=True):
    """What adds up to the log odds of a miss against an exact bid.

    `cards` is for each card of the hand: the ranks 2 … A of side suits, then those of trumps; `hand` and `bid` go with
    `hand_facts` and `bid_facts`.
    """

    cards: list[float]
    hand: list[float]
    bid: list[float]


class Misses(msgspec.Struct, frozen=True):
    """The two ways to miss a bid: to take more tricks, or fewer."""

    over: Weights
    under: Weights


Fitted = dict[int, dict[int, Misses]]
"""By number of seats, then of cards."""


@cache
def fitted() -> Fitted:
    """Read the table; every caller gets the same one."""
    return msgspec.json.decode(resources.files(__package__).joinpath(FILE).read_bytes(), type=Fitted)


@dataclass(frozen=True, slots=True)
class Bidder:
    """Who bids: the cards as in `strength`, `place` 0 for eldest, and the sum of the bids made before."""

    seats: int
    cards: int
    hand: int
    place: int
    heard: float

    @classmethod
    def of(cls, decision: Decision) -> Bidder:
        """Read a decision in the phase ``bid``. Bids that are hidden are taken to be what is due to each seat."""
        shown = decision.observation
        seats, cards = len(decision.game.seats), shown["cards"]
        place = (decision.seat - shown["dealer"] - 1) % seats
        before = [shown["bids"][(shown["dealer"] + 1 + at) % seats] for at in range(place)]
        return cls(
            seats=seats,
            cards=cards,
            hand=by_strength(mask_of(map(parse_card, shown["hand"])), SUITS.index(shown["trump"])),
            place=place,
            heard=sum(cards / seats if each is None else each for each in before),
        )

    @property
    def excess(self) -> float:
        """How many tricks more than are due to them the seats before have bid."""
        return self.heard - self.place * self.cards / self.seats


def ranks_in(hand: int) -> Iterator[int]:
    """Yield for each card which of `Weights.cards` is its own."""
    while hand:
        number = (hand & -hand).bit_length()
        yield RANKS + number - FIRST_TRUMP if number >= FIRST_TRUMP else (number - 1) // SIDE_SUITS
        hand &= hand - 1


def hand_facts(bidder: Bidder) -> list[float]:
    """Tell what counts besides the single cards."""
    trumps = (bidder.hand & TRUMPS).bit_count()
    lengths = [(bidder.hand & suit).bit_count() for suit in SUIT_MASKS[:SIDE_SUITS]]
    return [
        1.0,
        trumps * lengths.count(0),  # tricks to be ruffed
        trumps * lengths.count(1),
        float(sum(length * length for length in lengths)),
        bidder.excess,
        float(bidder.place == 0),  # eldest leads
        bidder.place / (bidder.seats - 1),
    ]


def bid_facts(bidder: Bidder, bid: int) -> list[float]:
    """Tell what counts of a bid, above all how far it goes beyond what the hand promises."""
    hand = bidder.hand
    trumps = (hand & TRUMPS).bit_count()
    likely = trumps + (hand & ACES).bit_count()
    is_nil = float(bid == 0)
    return [
        float(bid),
        bid * bid / bidder.cards,
        is_nil,
        is_nil * trumps,
        bid * bidder.excess / bidder.cards,
        float(max(0, bid - certain(hand))),
        float(max(0, bid - likely)),
        float(bid > likely),
        float(max(0, bid - likely - (hand & KINGS).bit_count())),
        float(bid == bidder.cards),
    ]


def certain(hand: int) -> int:
    """Count the trumps from the ace down without a gap: they win whatever the others hold."""
    missing = TRUMPS & ~hand
    return len(NUMBERS) - missing.bit_length() if missing else RANKS


def chances(bidder: Bidder, bids: Sequence[int], misses: Misses) -> list[tuple[float, float, float]]:
    """Give for each bid the probabilities to take more tricks, fewer, and as many."""
    over, under = (_of_hand(weights, bidder) for weights in (misses.over, misses.under))
    found = []
    for bid in bids:
        facts = bid_facts(bidder, bid)
        more = exp(over + sum(map(mul, misses.over.bid, facts)))
        fewer = exp(under + sum(map(mul, misses.under.bid, facts)))
        every = 1.0 + more + fewer
        found.append((more / every, fewer / every, 1.0 / every))
    return found


def _of_hand(weights: Weights, bidder: Bidder) -> float:
    cards = weights.cards
    facts: float = sum(map(mul, weights.hand, hand_facts(bidder)))
    return facts + sum(cards[at] for at in ranks_in(bidder.hand))


def best(decision: Decision) -> int:
    """Give the legal bid that promises most points."""
    bidder = Bidder.of(decision)
    bids = [int(action.removeprefix("bid:")) for action in decision.legal]
    odds = dict(zip(bids, chances(bidder, bids, fitted()[bidder.seats][bidder.cards]), strict=True))
    loses_all = decision.options["miss"] == "zero"
    return max(bids, key=lambda bid: points(bid, odds[bid][2], loses_all=loses_all))


def points(bid: int, exact: float, *, loses_all: bool) -> float:
    """Give what a bid that is met with this probability brings, as far as that depends on the bid.

    Unless who misses loses all, tricks are points whatever was bid, about as many for one bid as for another.
    """
    return exact * (EXACT + bid if loses_all else EXACT)
