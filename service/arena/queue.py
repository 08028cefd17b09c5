"""What the use cases leave to the workers. A queue only hints: whatever must not be lost is in the store already."""

from __future__ import annotations

from typing import Protocol

from service.referee.table import HUMAN
from service.store.entities import Game


class Queue(Protocol):
    """Carries ids to the workers. An enqueued thing may run twice or, if the queue dies, never."""

    def check(self, check_id: str) -> None:
        """Have a conformance check of a bot run."""

    def drive(self, game_id: str) -> None:
        """Have a game driven now: a bot may have to act, or its end to be settled."""

    def drive_shard(self, game_ids: list[str]) -> None:
        """Have tournament games driven side by side."""

    def fit_tournament(self, tournament_id: str) -> None:
        """Have the ratings of a tournament's own games computed."""

    def erase(self, account_id: str) -> None:
        """Have an account that is to be erased looked at."""

    def fit(self, ruleset: str) -> None:
        """Have the ratings of a ruleset computed anew."""


def set_going(queue: Queue, game: Game) -> None:
    """Have a game driven: at once if people wait for it, else among those that run side by side."""
    if has_people(game):
        queue.drive(game.id)
    else:
        queue.drive_shard([game.id])


def has_people(game: Game) -> bool:
    """Whether a person sits at the table."""
    return any(seat.kind == HUMAN for seat in game.seats)
