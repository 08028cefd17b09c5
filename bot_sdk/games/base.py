"""What every game's state promises, and the trick-taking that the games share.

Terms follow OpenSpiel where it has one. A state is mutable and has `copy`. Outside, an action is a string such as
``play:QH``; inside it is a small integer, its *code*, whose order is the order of `legal_actions`, and the legal ones
are a mask of codes. Search and training use these alone; a playout is::

    while state.actor != NOBODY:
        state.step(state.actor, drawn(state.legal, random))

The strings stand on top of them: whatever a game's rules say, they say once, in codes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Final, NamedTuple, Self

from bot_sdk.cards import BITS, NAMES, SUITS, cards_in
from bot_sdk.errors import SdkError, quoted
from bot_sdk.games.tricks import BEATS, Trick

Packs = Callable[[int], Sequence[int]]
"""Gives the pack of a deal: deal number, from 0 -> the 52 cards, top first."""

Tell = Callable[[dict[str, Any]], None]
"""Receives what has just become known to everybody, as one JSON object."""

NO_TRUMP: Final = -1
"""The trump of a deal where none is fixed yet."""

NOBODY: Final = -1
"""The actor of a game that is over."""

PLAY: Final = tuple(f"play:{name}" for name in NAMES)

_CARDS: Final = len(NAMES)


class IllegalAction(SdkError, ValueError):  # noqa: N818 - the field's own word for it
    """An action that the seat may not take now."""


class UnknownAction(IllegalAction):
    """A text that is no action of this game at all."""


class Deal(NamedTuple):
    """How one deal ended: `points` is its net change, `totals` what stands after it, both by seat."""

    number: int
    dealer: int
    void: bool
    points: list[int]
    totals: list[int]


def drawn(mask: int, random: Callable[[], float]) -> int:
    """Draw one of the codes of a mask, all equally likely; `random` gives floats below 1 as `Random.random` does.

    The mask isn't checked; an empty one has nothing to draw.
    """
    ahead = random() * mask.bit_count()
    while ahead >= 1.0:
        mask &= mask - 1
        ahead -= 1.0
    return (mask ^ mask - 1).bit_length() - 1


class State(ABC):
    """A game between two actions. Every unfinished state has an actor, and every actor a legal action."""

    __slots__ = (
        "_binding",
        "_leader",
        "_taking",
        "_winner",
        "actor",
        "deal_number",
        "dealer",
        "deals",
        "hands",
        "is_sealed",
        "leaders",
        "legal",
        "options",
        "pack",
        "packs",
        "phase",
        "played",
        "seats",
        "tell",
        "totals",
        "trump",
    )

    ACTIONS: ClassVar[tuple[str, ...]]
    """Every action text of the game; the index is the action's code. The first 52 play the card of that number."""
    CODES: ClassVar[dict[str, int]]

    options: dict[str, Any]
    seats: int
    phase: str
    """What kind of action is owed; ``over`` at the end."""
    actor: int
    """The seat that owes an action, the lowest of them if several do; `NOBODY` when the game is over."""
    legal: int
    """The codes that `actor` may take, as a mask."""
    is_sealed: bool
    """Whether the actions of this phase are hidden from other seats when they are taken."""
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
    played: list[int]
    """The cards played in this deal, in order."""
    leaders: list[int]
    """Who leads each trick of this deal, up to the one that is on: each but the first has won the one before."""
    tell: Tell | None
    """Called with each public event, in order; `copy` drops it."""

    def __init__(
        self,
        options: dict[str, Any],
        seats: int,
        packs: Packs,
        tell: Tell | None = None,
        deals: Sequence[Deal] = (),
    ) -> None:
        """Start a game: `options` are resolved (see `registry`), `packs` gives the pack of each deal.

        With `deals` the game starts after these, which have ended and left it unfinished; neither is checked.
        """
        self.options = options
        self.seats = seats
        self.packs = packs
        self.tell = tell
        self.totals = deals[-1].totals.copy() if deals else [0] * seats
        self.deals = list(deals)
        self.deal_number = len(deals) - 1
        self._taking = BEATS[0][0]
        self._binding = self._leader = self._winner = 0

    @property
    def is_over(self) -> bool:
        """Whether the game has ended."""
        return self.actor == NOBODY

    @property
    def places(self) -> list[int]:
        """The place of each seat by its total: 1 + the number of seats with more."""
        return [1 + sum(other > own for other in self.totals) for own in self.totals]

    @property
    def tricks(self) -> list[Trick]:
        """The tricks of this deal that are won, in order."""
        seats, leaders = self.seats, self.leaders
        return [
            Trick(leaders[at], self.played[at * seats : (at + 1) * seats], leaders[at + 1])
            for at in range(len(leaders) - 1)
        ]

    @property
    def trick(self) -> Trick:
        """The trick that is on, or will be when the play begins."""
        return Trick(self.leaders[-1], self.played[(len(self.leaders) - 1) * self.seats :])

    def actors(self) -> list[int]:
        """List the seats that owe an action, ascending: several in a sealed phase, none when the game is over."""
        if self.is_sealed:
            return [seat for seat in range(self.seats) if self._sealed_mask(seat)]
        return [] if self.actor == NOBODY else [self.actor]

    def turn(self, audience: int | None) -> list[int]:
        """List the seats that owe an action as far as `audience` (a seat, or None for spectators) may know.

        In a sealed phase nobody sees how far the others are: they all seem to owe until the last is in.
        """
        if not self.is_sealed:
            return self.actors()
        return [seat for seat in range(self.seats) if seat != audience or self._sealed_mask(seat)]

    def mask(self, seat: int) -> int:
        """Give the codes of the legal actions of `seat` as a mask; 0 if it owes none."""
        if seat == self.actor:
            return self.legal
        return self._sealed_mask(seat) if self.is_sealed and 0 <= seat < self.seats else 0

    def codes(self, seat: int) -> list[int]:
        """List the codes of the legal actions of `seat`, ascending; empty if it owes none."""
        return list(cards_in(self.mask(seat)))

    def legal_actions(self, seat: int) -> list[str]:
        """List every legal action of `seat` in the fixed order; empty if it owes none."""
        actions, legal, mask = self.ACTIONS, [], self.mask(seat)
        while mask:
            others = mask & mask - 1
            legal.append(actions[(mask ^ others).bit_length() - 1])
            mask = others
        return legal

    def first_legal(self, seat: int) -> str:
        """Give the first of the legal actions of `seat`; raises `LookupError` if it owes none."""
        mask = self.mask(seat)
        if not mask:
            raise LookupError(f"expected a seat that owes an action, got {seat}")
        return self.ACTIONS[(mask & -mask).bit_length() - 1]

    def is_legal(self, seat: int, action: str) -> bool:
        """Whether `seat` may take `action` now; anything that is no action isn't legal."""
        code = self.CODES.get(action)
        return code is not None and self.mask(seat) >> code & 1 == 1

    def apply(self, seat: int, action: str) -> None:
        """Take an action; raises `IllegalAction` and changes nothing if it isn't legal now."""
        code = self.CODES.get(action) if isinstance(action, str) else None
        if code is None:
            raise UnknownAction(f"expected an action such as {self.ACTIONS[0]!r}, got {quoted(action)}")
        if not self.mask(seat) >> code & 1:
            legal = self.legal_actions(seat)
            expected = f"one of {', '.join(legal)}" if legal else f"no action of seat {seat} now"
            raise IllegalAction(f"expected {expected}, got {action!r}")
        self.step(seat, code)

    def step(self, seat: int, code: int) -> None:
        """Take an action known to be legal. Not checked; use `apply` for anything that comes from outside."""
        if self.tell is not None and not self.is_sealed:
            self.tell({"event": "action", "seat": seat, "action": self.ACTIONS[code]})
        if code >= _CARDS:
            self._decide(seat, code)
            return
        self.hands[seat] ^= BITS[code]
        self.played.append(code)
        if seat == self._leader:
            self._binding = self._binding_on(code)
            self._winner = seat
            self._taking = BEATS[self.trump][code]
        elif self._taking[code]:
            self._winner = seat
            self._taking = BEATS[self.trump][code]
        seat += 1
        if seat == self.seats:
            seat = 0
        if seat == self._leader:
            self._end_trick(self._winner)
        else:
            self.actor = seat
            hand = self.hands[seat]
            self.legal = hand & self._binding or hand

    def observe(self, seat: int | None) -> dict[str, Any]:
        """Build all that `seat` may know, as JSON (docs/contract.md); None is a spectator, who sees no hand."""
        seen = self.seen(seat)
        seen["tricks"] = self.tricks_shown()
        return seen

    @abstractmethod
    def seen(self, seat: int | None) -> dict[str, Any]:
        """Build what `observe` gives, without the tricks that are won, which come last in it."""

    def tricks_shown(self) -> list[dict[str, Any]]:
        """Build the tricks of this deal that are won, as an observation shows them to everybody."""
        names = [NAMES[card] for card in self.played]
        seats, leaders = self.seats, self.leaders
        return [
            {"leader": leaders[at], "cards": names[at * seats : (at + 1) * seats], "winner": leaders[at + 1]}
            for at in range(len(leaders) - 1)
        ]

    def copy(self) -> Self:
        """Make an independent state that shares nothing mutable, and tells nobody."""
        twin = type(self).__new__(type(self))
        twin.options = self.options
        twin.seats = self.seats
        twin.packs = self.packs
        twin.tell = None
        twin.phase = self.phase
        twin.actor = self.actor
        twin.legal = self.legal
        twin.is_sealed = self.is_sealed
        twin.deal_number = self.deal_number
        twin.dealer = self.dealer
        twin.totals = self.totals.copy()
        twin.deals = self.deals.copy()
        twin.pack = self.pack
        twin.hands = self.hands.copy()
        twin.trump = self.trump
        twin.played = self.played.copy()
        twin.leaders = self.leaders.copy()
        twin._binding = self._binding
        twin._leader = self._leader
        twin._winner = self._winner
        twin._taking = self._taking
        self._copy_own(twin)
        return twin

    @abstractmethod
    def _copy_own(self, twin: Self) -> None:
        """Copy into `twin` what this game adds to the fields of every game."""

    @abstractmethod
    def _sealed_mask(self, seat: int) -> int:
        """Give what `seat` may do in the sealed phase that is on, as a mask; 0 if it owes no more."""

    @abstractmethod
    def _decide(self, seat: int, code: int) -> None:
        """Take an action other than playing a card."""

    @abstractmethod
    def _binding_on(self, led: int) -> int:
        """Give the mask of the cards that who follows the led card must play from; who holds none plays any."""

    @abstractmethod
    def _trick_won(self, winner: int) -> None:
        """Count a trick that is full; it leaves nobody a card when it was the last."""

    def _lead(self, seat: int) -> None:
        """Have `seat` lead to the first trick of the deal."""
        self.phase = "play"
        self.is_sealed = False
        self.actor = self._leader = seat
        self.legal = self.hands[seat]

    def _end_trick(self, winner: int) -> None:
        self.leaders.append(winner)
        self.actor = self._leader = winner
        self.legal = self.hands[winner]
        if self.tell is not None:
            self.tell({"event": "trick", "winner": winner})
        self._trick_won(winner)

    def _end_deal(self, points: list[int], *, void: bool = False) -> None:
        self.deals.append(Deal(self.deal_number, self.dealer, void, points, self.totals.copy()))
        if self.tell is not None:
            self.tell(
                {
                    "event": "deal_ended",
                    "deal": self.deal_number,
                    "void": void,
                    "points": points,
                    "totals": self.totals.copy(),
                }
            )

    def _end(self) -> None:
        self.phase = "over"
        self.is_sealed = False
        self.actor = NOBODY
        self.legal = 0

    def _shown_trick(self) -> dict[str, Any] | None:
        """Show the trick that is on, to an observation; None outside the play."""
        if self.phase != "play":
            return None
        begun = (len(self.leaders) - 1) * self.seats
        return {"leader": self.leaders[-1], "cards": [NAMES[card] for card in self.played[begun:]]}


def suit_name(suit: int) -> str | None:
    """Name a suit, or give None for `NO_TRUMP`."""
    return None if suit == NO_TRUMP else SUITS[suit]
