"""What every game's state promises, and the trick-taking that the games share.

Terms follow OpenSpiel where it has one. A state is mutable and has `copy`. Outside, an action is a string such as
``play:QH``; inside it is a small integer, its *code*, whose order is the order of `legal_actions`. Search and training
use `codes` and `step`, which check nothing.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Final, Self

from bot_sdk.cards import NAMES, SUITS, suit_of
from bot_sdk.errors import SdkError, quoted

Packs = Callable[[int], Sequence[int]]
"""Gives the pack of a deal: deal number, from 0 -> the 52 cards, top first."""

Tell = Callable[[dict[str, Any]], None]
"""Receives what has just become known to everybody, as one JSON object."""

NO_TRUMP: Final = -1
"""The trump of a deal where none is fixed yet."""

PLAY: Final = tuple(f"play:{name}" for name in NAMES)


class IllegalAction(SdkError, ValueError):  # noqa: N818 - the field's own word for it
    """An action that the seat may not take now."""


class UnknownAction(IllegalAction):
    """A text that is no action of this game at all."""


@dataclass(frozen=True, slots=True)
class Deal:
    """How one deal ended: `points` is its net change, `totals` what stands after it, both by seat."""

    number: int
    dealer: int
    void: bool
    points: list[int]
    totals: list[int]


class State(ABC):
    """A game between two actions. Every unfinished state has an actor, and every actor a legal action."""

    __slots__ = (
        "deal_number",
        "dealer",
        "deals",
        "hands",
        "options",
        "pack",
        "packs",
        "phase",
        "seats",
        "tell",
        "totals",
        "trick",
        "tricks",
        "trump",
    )

    ACTIONS: ClassVar[tuple[str, ...]]
    """Every action text of the game; the index is the action's code."""
    CODES: ClassVar[dict[str, int]]

    options: dict[str, Any]
    seats: int
    phase: str
    """What kind of action is owed; ``over`` at the end."""
    deal_number: int
    """The number of the deal that is on, from 0, void deals counted; of the last one when the game is over."""
    dealer: int
    totals: list[int]
    deals: list[Deal]
    """The deals that have ended, in order."""
    pack: Sequence[int]
    """The pack of the deal that is on."""
    hands: list[int]
    """The cards each seat holds, as masks."""
    trump: int
    trick: Trick
    """The trick that is on, or will be when the play begins."""
    tricks: list[Trick]
    """The tricks of this deal that are won, in order."""
    tell: Tell | None
    """Called with each public event, in order; `copy` drops it."""

    def __init__(self, options: dict[str, Any], seats: int, packs: Packs, tell: Tell | None = None) -> None:
        """Start a game: `options` are resolved (see `registry`), `packs` gives the pack of each deal."""
        self.options = options
        self.seats = seats
        self.packs = packs
        self.tell = tell
        self.totals = [0] * seats
        self.deals = []
        self.deal_number = -1

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return self.phase == "over"

    @property
    def places(self) -> list[int]:
        """The place of each seat by its total: 1 + the number of seats with more."""
        return [1 + sum(other > own for other in self.totals) for own in self.totals]

    @abstractmethod
    def actors(self) -> list[int]:
        """List the seats that owe an action, ascending: several in a sealed phase, none when the game is over."""

    @abstractmethod
    def turn(self, audience: int | None) -> list[int]:
        """List the seats that owe an action as far as `audience` (a seat, or None for spectators) may know.

        In a sealed phase nobody sees how far the others are: they all seem to owe until the last is in.
        """

    @property
    @abstractmethod
    def is_sealed(self) -> bool:
        """Whether the actions of this phase are hidden from other seats when they are taken."""

    @abstractmethod
    def codes(self, seat: int) -> list[int]:
        """List the codes of the legal actions of `seat`, ascending; empty if it owes none."""

    @abstractmethod
    def step(self, seat: int, code: int) -> None:
        """Take an action known to be legal. Not checked; use `apply` for anything that comes from outside."""

    @abstractmethod
    def observe(self, seat: int | None) -> dict[str, Any]:
        """Build all that `seat` may know, as JSON (docs/contract.md); None is a spectator, who sees no hand."""

    @abstractmethod
    def _copy_own(self, twin: Self) -> None:
        """Copy into `twin` what this game adds to the fields of every game."""

    def copy(self) -> Self:
        """Make an independent state that shares nothing mutable, and tells nobody."""
        twin = type(self).__new__(type(self))
        twin.options = self.options
        twin.seats = self.seats
        twin.packs = self.packs
        twin.tell = None
        twin.phase = self.phase
        twin.deal_number = self.deal_number
        twin.dealer = self.dealer
        twin.totals = self.totals.copy()
        twin.deals = self.deals.copy()
        twin.pack = self.pack
        twin.hands = self.hands.copy()
        twin.trump = self.trump
        twin.trick = self.trick.copy()
        twin.tricks = self.tricks.copy()
        self._copy_own(twin)
        return twin

    def legal_actions(self, seat: int) -> list[str]:
        """List every legal action of `seat` in the fixed order; empty if it owes none."""
        return [self.ACTIONS[code] for code in self.codes(seat)]

    def apply(self, seat: int, action: str) -> None:
        """Take an action; raises `IllegalAction` and changes nothing if it isn't legal now."""
        code = self.CODES.get(action) if isinstance(action, str) else None
        if code is None:
            raise UnknownAction(f"expected an action such as {self.ACTIONS[0]!r}, got {quoted(action)}")
        if code not in self.codes(seat):
            legal = self.legal_actions(seat)
            expected = f"one of {', '.join(legal)}" if legal else f"no action of seat {seat} now"
            raise IllegalAction(f"expected {expected}, got {action!r}")
        self.step(seat, code)

    def _lay(self, seat: int, card: int) -> int | None:
        """Play a card to the trick; give the winner of a trick that is full, who leads the next."""
        trick = self.trick
        self.hands[seat] ^= 1 << card
        trick.cards.append(card)
        if len(trick.cards) < self.seats:
            return None
        winner = trick.close(self.trump, self.seats)
        self.tricks.append(trick)
        self.trick = Trick(winner, [])
        if self.tell:
            self.tell({"event": "trick", "winner": winner})
        return winner

    def _end_deal(self, points: list[int], *, void: bool = False) -> None:
        self.deals.append(Deal(self.deal_number, self.dealer, void, points, self.totals.copy()))
        if self.tell:
            self.tell(
                {
                    "event": "deal_ended",
                    "deal": self.deal_number,
                    "void": void,
                    "points": points,
                    "totals": self.totals.copy(),
                }
            )


@dataclass(slots=True)
class Trick:
    """The cards of one trick in the order played; `winner` is None while it is open."""

    leader: int
    cards: list[int]
    winner: int | None = None

    def copy(self) -> Trick:
        """Make an independent trick."""
        return Trick(self.leader, self.cards.copy(), self.winner)

    def next_seat(self, seats: int) -> int:
        """Give the seat that plays the next card."""
        return (self.leader + len(self.cards)) % seats

    def close(self, trump: int, seats: int) -> int:
        """Settle the winner of a full trick: the highest trump, else the highest card of the led suit."""
        winner = (self.leader + best(self.cards, trump)) % seats
        self.winner = winner
        return winner

    def as_json(self) -> dict[str, Any]:
        """Give the trick as an observation shows it."""
        shown: dict[str, Any] = {"leader": self.leader, "cards": [NAMES[card] for card in self.cards]}
        if self.winner is not None:
            shown["winner"] = self.winner
        return shown


def best(cards: Sequence[int], trump: int) -> int:
    """Give the position of the winning card among `cards`, led first."""
    best_at = 0
    best_card = cards[0]
    for at in range(1, len(cards)):
        card = cards[at]
        suit = suit_of(card)
        if suit == suit_of(best_card):
            if card > best_card:
                best_at, best_card = at, card
        elif suit == trump:
            best_at, best_card = at, card
    return best_at


def suit_name(suit: int) -> str | None:
    """Name a suit, or give None for `NO_TRUMP`."""
    return None if suit == NO_TRUMP else SUITS[suit]
