"""Up and Down the River for four to eight seats: docs/rules.md, "Up and Down the River"."""

from __future__ import annotations

from typing import Any, ClassVar, Final, Self

from bot_sdk.cards import NAMES, SUIT_MASKS, cards_in, names_in, suit_of
from bot_sdk.games.base import PLAY, Packs, State, Tell, Trick, suit_name
from bot_sdk.games.options import Choice, Option, Whole

BID: Final = 52
EXACT: Final = 10
MOST_CARDS: Final = 12
NO_BID: Final = -1


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

    def __init__(self, options: dict[str, Any], seats: int, packs: Packs, tell: Tell | None = None) -> None:
        """Start a game and deal the first round."""
        super().__init__(options, seats, packs, tell)
        self.schedule = schedule_of(options)
        self.exact_bids = [0] * seats
        self._deal()

    @property
    def eldest(self) -> int:
        """The seat after the dealer."""
        return (self.dealer + 1) % self.seats

    @property
    def is_sealed(self) -> bool:
        """Whether bids are owed that stay hidden until the last is in."""
        return self.phase == "bid" and self.options["bidding"] == "simultaneous"

    def actors(self) -> list[int]:
        """List the seats that owe an action."""
        if self.phase == "play":
            return [self.trick.next_seat(self.seats)]
        if self.phase == "over":
            return []
        if self.is_sealed:
            return [seat for seat, bid in enumerate(self.bids) if bid == NO_BID]
        made = self.seats - self.bids.count(NO_BID)
        return [(self.eldest + made) % self.seats]

    def turn(self, audience: int | None) -> list[int]:
        """List the seats that owe an action as far as `audience` may know."""
        if not self.is_sealed:
            return self.actors()
        return [seat for seat in range(self.seats) if seat != audience or self.bids[seat] == NO_BID]

    def codes(self, seat: int) -> list[int]:
        """List the codes of the legal actions of `seat`."""
        if seat not in self.actors():
            return []
        if self.phase == "play":
            return list(cards_in(self.playable(seat)))
        barred = self._barred_bid(seat)
        return [BID + bid for bid in range(self.cards + 1) if bid != barred]

    def playable(self, seat: int) -> int:
        """Give the mask of the cards that `seat`, on turn, may play: follow suit if able."""
        hand = self.hands[seat]
        if not self.trick.cards:
            return hand
        return hand & SUIT_MASKS[suit_of(self.trick.cards[0])] or hand

    def step(self, seat: int, code: int) -> None:
        """Take an action known to be legal."""
        if self.tell and not self.is_sealed:
            self.tell({"event": "action", "seat": seat, "action": self.ACTIONS[code]})
        if code < BID:
            self._play(seat, code)
        else:
            self._bid(seat, code - BID)

    def observe(self, seat: int | None) -> dict[str, Any]:
        """Build all that `seat` may know (docs/contract.md, River)."""
        sealed = self.is_sealed
        return {
            "deal": self.deal_number,
            "cards": self.cards,
            "dealer": self.dealer,
            "hand": None if seat is None else names_in(self.hands[seat]),
            "upcard": NAMES[self.upcard],
            "trump": suit_name(self.trump),
            "bids": [
                None if bid == NO_BID or (sealed and bidder != seat) else bid for bidder, bid in enumerate(self.bids)
            ],
            "tricks_won": self.tricks_won.copy(),
            "totals": self.totals.copy(),
            "trick": self.trick.as_json() if self.phase == "play" else None,
            "tricks": [trick.as_json() for trick in self.tricks],
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
        self.dealer = (self.options["first_dealer"] + self.deal_number) % self.seats
        self.cards = self.schedule[self.deal_number]
        self.pack = self.packs(self.deal_number)
        dealt = self.seats * self.cards
        self.hands = [0] * self.seats
        for at in range(dealt):
            self.hands[(self.eldest + at) % self.seats] |= 1 << self.pack[at]
        self.upcard = self.pack[dealt]
        self.trump = suit_of(self.upcard)
        self.bids = [NO_BID] * self.seats
        self.tricks_won = [0] * self.seats
        self.trick = Trick(self.eldest, [])
        self.tricks = []
        self.phase = "bid"
        if self.tell:
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

    def _barred_bid(self, seat: int) -> int:
        """Give the bid that the hook forbids to `seat`, or `NO_BID`."""
        hooked = (
            seat == self.dealer
            and self.options["bidding"] == "sequential"
            and self.options["hook"] != "off"
            and not (self.options["hook"] == "not_one" and self.cards == 1)
        )
        if not hooked:
            return NO_BID
        return self.cards - sum(bid for bid in self.bids if bid != NO_BID)

    def _bid(self, seat: int, bid: int) -> None:
        sealed = self.is_sealed
        self.bids[seat] = bid
        if NO_BID in self.bids:
            return
        self.phase = "play"
        if sealed and self.tell:
            for bidder, made in enumerate(self.bids):
                self.tell({"event": "action", "seat": bidder, "action": self.ACTIONS[BID + made]})

    def _play(self, seat: int, card: int) -> None:
        winner = self._lay(seat, card)
        if winner is None:
            return
        self.tricks_won[winner] += 1
        if len(self.tricks) == self.cards:
            self._score_round()

    def _score_round(self) -> None:
        points = [self._points(seat) for seat in range(self.seats)]
        for seat, bid in enumerate(self.bids):
            self.exact_bids[seat] += bid == self.tricks_won[seat]
        self.totals = [total + gained for total, gained in zip(self.totals, points, strict=True)]
        is_last = self.deal_number + 1 == len(self.schedule)
        if is_last:
            self.phase = "over"
        self._end_deal(points)
        if not is_last:
            self._deal()

    def _points(self, seat: int) -> int:
        won = self.tricks_won[seat]
        if won == self.bids[seat]:
            return won + EXACT
        return won if self.options["miss"] == "tricks" else 0
