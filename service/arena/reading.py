"""What everybody may read of a game now. Whatever shows a game to the public asks here.

While other games are played on its board, a game is `Covered`: whoever is yet to play there must learn nothing of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

from service.arena import views
from service.referee.table import Table
from service.store.entities import Game
from service.store.tournaments import TournamentStore

BOARD_OPEN: Final = "other games are still played on its board; this can be read when the last of them has ended"


@dataclass(frozen=True)
class Shown:
    """A game whose public part can be read; without a table it hasn't begun. Many may share it: nobody changes it."""

    meta: Game
    table: Table | None

    @property
    def version(self) -> int:
        """How much there has been to see."""
        return views.version(self.meta, self.table, None)

    @property
    def tag(self) -> str:
        """The name of what there is to see."""
        return views.tag(self.meta, self.table, None)

    @property
    def view(self) -> dict[str, Any]:
        """The game as it stands."""
        return views.game(self.meta, self.table)

    @cached_property
    def events(self) -> list[dict[str, Any]]:
        """The public events, each with its id from 1."""
        return views.events(self.meta, self.table)

    @property
    def is_final(self) -> bool:
        """Whether there will never be more to see."""
        return self.meta.state.is_end


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
    def view(self) -> dict[str, Any]:
        """Who plays, and the state."""
        return views.covered(self.meta)

    @property
    def events(self) -> list[dict[str, Any]]:
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
