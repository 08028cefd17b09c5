"""Watching a game of an arena from its beginning to its end, whenever that is."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Final

from bot_sdk import showing
from bot_sdk.client import Arena, ArenaError
from bot_sdk.transport import Json

_GAME: Final = re.compile(r"gam_[a-z2-7]{26}")


def is_game_id(text: str) -> bool:
    """Whether the text is what an arena calls a game."""
    return _GAME.fullmatch(text) is not None


class Watching:
    """One game, and who plays it."""

    def __init__(self, arena: Arena, game_id: str, *, patience_s: float, tell: Callable[[str], None]) -> None:
        """Aim at a game; nothing is sent yet. `tell` is told in a sentence what isn't an event."""
        self.names: list[str] = []
        """The players by seat, once something has happened."""
        self._arena = arena
        self._id = game_id
        self._patience_s = patience_s
        self._tell = tell

    def events(self) -> Iterator[Json]:
        """Give each public event (docs/contract.md) as it happens; raises `ArenaError` as following does."""
        self._meet()
        for event in self._arena.follow_game(self._id, patience_s=self._patience_s, away=self._away):
            if not self._is_met:
                self._meet()
            yield event
        self._tell(f"{self._id} is {self._arena.game(self._id).state}")

    def _meet(self) -> None:
        """Read who plays, and say why nothing may be seen yet; people still sit down while a game is open."""
        view = self._arena.game(self._id)
        self.names = showing.seat_names([seat.name for seat in view.seats])
        self._is_met = view.state != "open"
        if not self._is_met:
            self._tell(f"{self._id} hasn't begun")
        elif not view.readable:
            self._tell(f"{self._id} is shown when all games of its board have ended")
        else:
            self._tell(showing.game_text(self._id, view.ruleset, self.names))

    def _away(self, error: ArenaError | None) -> None:
        self._tell("the arena is back" if error is None else f"the arena is away, trying again: {error}")
