"""What everybody may read of a game now. Whatever shows a game to the public asks here.

While other games are played on its board, a game is `Covered`: whoever is yet to play there must learn nothing of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

import msgspec

from service.arena import views
from service.referee.table import Logged, Table
from service.store.clock import Moment
from service.store.door import Marks
from service.store.entities import Game
from service.store.tournaments import TournamentStore

BOARD_OPEN: Final = "other games are still played on its board; this can be read when the last of them has ended"

encode = msgspec.json.Encoder().encode


@dataclass(frozen=True, slots=True)
class Look:
    """What somebody sees of a game, ready to be sent as JSON, and the tag that names it.

    `is_final` says that there will never be more to see, `is_called` that its seat needn't wait for a decision: it owes
    one, or never will again.
    """

    tag: str
    body: bytes
    is_final: bool
    is_called: bool = False

    @property
    def view(self) -> dict[str, Any]:
        """The same as values, the reader's own."""
        view: dict[str, Any] = msgspec.json.decode(self.body)
        return view


@dataclass(frozen=True, slots=True)
class _SeatLook:
    """A look from a seat, and what its deadline was reckoned from: the stamp since which the seat owes a decision."""

    look: Look
    deadline: int | None


@dataclass(frozen=True)
class Shown:
    """A game as it stood at one moment, and what of it each audience may see; without a table it hasn't begun.

    Many share it and nobody changes it, but for what is kept ready here once somebody has asked for it: each audience's
    own, and nothing of another's.
    """

    meta: Game
    table: Table | None
    _seats: dict[int, _SeatLook] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def marks(self) -> Marks | None:
        """What tells whether it still stands so; None before it begins."""
        table = self.table
        if table is None or self.meta.started_at is None:
            return None
        return Marks(self.meta.state, self.meta.started_at, table.length, table.stamp)

    @property
    def length(self) -> int:
        """How many events its log has."""
        return self.table.length if self.table else 0

    @property
    def last(self) -> list[Logged]:
        """The last event of its log, if it has any."""
        return [(self.table.times[-1], self.table.game.log[-1])] if self.table and self.table.length else []

    @property
    def version(self) -> int:
        """How much there has been to see."""
        return views.version(self.meta, self.table, None)

    @cached_property
    def tag(self) -> str:
        """The name of what there is to see."""
        return views.tag(self.meta, self.table, None)

    @property
    def view(self) -> dict[str, Any]:
        """The game as it stands."""
        return views.game(self.meta, self.table)

    @cached_property
    def look(self) -> Look:
        """The game as it stands, ready to be sent."""
        return Look(self.tag, encode(self.view), self.is_final)

    @cached_property
    def events(self) -> list[bytes]:
        """The public events as JSON, each with its id from 1."""
        return [encode(event) for event in views.events(self.meta, self.table)]

    @property
    def is_final(self) -> bool:
        """Whether there will never be more to see."""
        return self.meta.state.is_end

    def seat(self, number: int, moment: Moment) -> Look:
        """Give what a seat sees, with its deadline by the clock at this moment."""
        deadline = views.deadline(self.meta, self.table, number, moment)
        known = self._seats.get(number)
        if known is None or known.deadline != deadline:
            view = views.seat(self.meta, self.table, number, deadline)
            called = views.is_called(self.meta, self.table, number)
            look = Look(views.tag(self.meta, self.table, number), encode(view), self.is_final, called)
            known = self._seats[number] = _SeatLook(look, deadline)
        return known.look

    def followed_by(self, meta: Game, tail: Sequence[Logged]) -> Shown:
        """Give the game as it stands under that meta after these events, too. Raises SdkError if they can't follow."""
        if self.table is None:
            raise ValueError("expected a game that has begun")
        if not tail and meta == self.meta:
            return self
        return self.then(self.table.followed_by(meta, tail))

    def then(self, table: Table) -> Shown:
        """Give the game as it stands by a table that went on from this one's."""
        shown = Shown(table.meta, table)
        if "events" in self.__dict__:
            known = self.events
            more = views.events(shown.meta, table, after=len(known))
            shown.__dict__["events"] = [*known, *map(encode, more)]
        return shown


@dataclass(frozen=True, slots=True)
class Covered:
    """A game on an open board: seats and state. It holds nothing that could tell more."""

    meta: Game

    @property
    def version(self) -> int:
        """How much there has been to see: nothing."""
        return 0

    @property
    def tag(self) -> str:
        """The name of what there is to see: the state, and that the board is open."""
        return f"{self.meta.state.value}.board_open"

    @property
    def look(self) -> Look:
        """Who plays, and the state, ready to be sent."""
        return Look(self.tag, encode(views.covered(self.meta)), self.is_final)

    @property
    def events(self) -> list[bytes]:
        """No events: they come when the board is closed."""
        return []

    @property
    def is_final(self) -> bool:
        """Whether there will never be more to see: there will, ended or not."""
        return False


Reading = Shown | Covered


def summaries(tournaments: TournamentStore, games: Sequence[Game]) -> list[dict[str, Any]]:
    """Show games as lists do."""
    readable = tournaments.are_readable([game.slot for game in games])
    return [views.summary(game, is_readable=each) for game, each in zip(games, readable, strict=True)]
