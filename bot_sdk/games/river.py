"""Up and Down the River for four to eight seats: docs/rules.md, "Up and Down the River"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Final, Self

from bot_sdk.cards import NAMES, mask_of, names_in, suit_of
from bot_sdk.games.base import PLAY, Deal, Packs, State, Tell, suit_name
from bot_sdk.games.options import Choice, Option, Whole
from bot_sdk.games.tricks import LED

BID: Final = 52
EXACT: Final = 10
MOST_CARDS: Final = 12
BIDS: Final = tuple(((2 << cards) - 1) << BID for cards in range(MOST_CARDS + 1))
"""The mask of all bids, by the number of cards."""


def most_cards(seats: int) -> int:
    """Give the longest hand that leaves a card to turn."""
    return (len(NAMES) - 1) // seats


def options(seats: int) -> tuple[Option, ...]:
    """Declare the options of a table of `seats`."""
    most = most_cards(seats)
    return (
        Whole(
            "start_cards",
            1,
            most,
            min(8, most),
            "cards each in the longest round",
            f"{seats} seats leave a card to turn",
        ),
        Whole("first_dealer", 0, seats - 1, 0, "the seat that deals first"),
        Choice(
            "bidding",
            ("sequential", "simultaneous"),
            "bids in turn, or all at once and hidden until the last is in",
        ),
        Choice("hook", ("always", "off", "not_one"), "whether the dealer may not make the bids sum to the tricks"),
        Choice("miss", ("tricks", "zero"), "what a missed bid keeps: its trick points, or nothing"),
        Choice("schedule", ("down_up", "up_down", "down"), "the rounds: S … 1 … S, 1 … S … 1, or S … 1"),
    )


def schedule_of(options: dict[str, Any]) -> list[int]:
    """List the cards each of every round (docs/rules.md, Up and Down the River 1)."""
    up = list(range(1, options["start_cards"] + 1))
    down = up[::-1]
    return {"down_up": down + up[1:], "up_down": up + down[1:], "down": down}[options["schedule"]]


class River(State):
    """The state of a game of Up and Down the River; phases ``bid play over``."""

    __slots__ = ("bids", "cards", "exact_bids", "schedule", "tricks_won", "upcard")

    ACTIONS: ClassVar[tuple[str, ...]] = (*PLAY, *(f"bid:{bid}" for bid in range(MOST_CARDS + 1)))
    CODES: ClassVar[dict[str, int]] = {action: code for code, action in enumerate(ACTIONS)}

    def __init__(
        self,
        options: dict[str, Any],
        seats: int,
        packs: Packs,
        tell: Tell | None = None,
        deals: Sequence[Deal] = (),
    ) -> None:
        """Start a game and deal a round."""
        super().__init__(options, seats, packs, tell, deals)
        self.schedule = schedule_of(options)
        self.exact_bids = [0] * seats
        self._deal()

    @property
    def eldest(self) -> int:
        """The seat after the dealer."""
        return (self.dealer + 1) % self.seats

    def seen(self, seat: int | None) -> dict[str, Any]:
        """Build what `seat` may know besides the tricks that are won (docs/contract.md, River)."""
        bids = self.bids.copy()
        if self.is_sealed:
            bids = [bid if bidder == seat else None for bidder, bid in enumerate(bids)]
        return {
            "deal": self.deal_number,
            "cards": self.cards,
            "dealer": self.dealer,
            "hand": None if seat is None else names_in(self.hands[seat]),
            "upcard": NAMES[self.upcard],
            "trump": suit_name(self.trump),
            "bids": bids,
            "tricks_won": self.tricks_won.copy(),
            "totals": self.totals.copy(),
            "trick": self._shown_trick(),
        }

    def _copy_own(self, twin: Self) -> None:
        twin.bids = self.bids.copy()
        twin.cards = self.cards
        twin.exact_bids = self.exact_bids.copy()
        twin.schedule = self.schedule
        twin.tricks_won = self.tricks_won.copy()
        twin.upcard = self.upcard

    def _deal(self) -> None:
        self.deal_number += 1
        seats = self.seats
        self.dealer = (self.options["first_dealer"] + self.deal_number) % seats
        self.cards = self.schedule[self.deal_number]
        pack = self.pack = self.packs(self.deal_number)
        eldest = self.eldest
        dealt = seats * self.cards
        from_eldest = [mask_of(pack[at:dealt:seats]) for at in range(seats)]
        self.hands = from_eldest[-eldest:] + from_eldest[:-eldest]
        self.upcard = pack[dealt]
        self.trump = suit_of(self.upcard)
        self.bids: list[int | None] = [None] * seats
        self.tricks_won = [0] * seats
        self.played = []
        self.leaders = [eldest]
        self.phase = "bid"
        self.is_sealed = self.options["bidding"] == "simultaneous"
        self.actor = 0 if self.is_sealed else eldest
        self.legal = BIDS[self.cards]
        if self.tell is not None:
            self.tell(
                {
                    "event": "deal",
                    "deal": self.deal_number,
                    "dealer": self.dealer,
                    "cards": self.cards,
                    "upcard": NAMES[self.upcard],
                    "trump": suit_name(self.trump),
                }
            )

    def _sealed_mask(self, seat: int) -> int:
        return BIDS[self.cards] if self.bids[seat] is None else 0

    def _decide(self, seat: int, code: int) -> None:
        bids = self.bids
        bids[seat] = code - BID
        if None not in bids:
            self._reveal()
            self._lead(self.eldest)
        elif self.is_sealed:
            self.actor = bids.index(None)
        else:
            self.actor = (seat + 1) % self.seats
            if self.actor == self.dealer:
                self.legal ^= self._hooked()

    def _hooked(self) -> int:
        """Give the bid that the hook forbids to the dealer, who bids last, as a mask; 0 if none."""
        hook = self.options["hook"]
        if hook == "off" or (hook == "not_one" and self.cards == 1):
            return 0
        barred = self.cards - sum(bid for bid in self.bids if bid is not None)
        return 1 << BID + barred if barred >= 0 else 0

    def _reveal(self) -> None:
        """Tell the bids that were hidden until now."""
        if self.is_sealed and self.tell is not None:
            for bidder, bid in enumerate(self.bids):
                self.tell({"event": "action", "seat": bidder, "action": f"bid:{bid}"})

    def _binding_on(self, led: int) -> int:
        return LED[led]

    def _trick_won(self, winner: int) -> None:
        self.tricks_won[winner] += 1
        if not self.legal:
            self._score_round()

    def _score_round(self) -> None:
        bids, totals, loses_all = self.bids, self.totals, self.options["miss"] == "zero"
        points = self.tricks_won.copy()
        for seat, won in enumerate(self.tricks_won):
            if won == bids[seat]:
                points[seat] += EXACT
                self.exact_bids[seat] += 1
            elif loses_all:
                points[seat] = 0
            totals[seat] += points[seat]
        is_last = self.deal_number + 1 == len(self.schedule)
        if is_last:
            self._end()
        self._end_deal(points)
        if not is_last:
            self._deal()
