"""What became of asking a seat, before the rules have looked at it."""

from __future__ import annotations

from dataclasses import dataclass

from bot_sdk.events import Decided, Outcome
from bot_sdk.games.game import Game


@dataclass(frozen=True, slots=True)
class Verdict:
    """One decision's answer: an `action` if the seat gave one in time, else the `outcome` that names its fault.

    `error` and `head` are for the owner of the bot alone: what went wrong, and the first bytes of what it sent.
    """

    outcome: Outcome
    ms: float
    action: str | None = None
    note: str | None = None
    error: str | None = None
    head: bytes = b""

    def decided(self, game: Game, seat: int) -> Decided:
        """Let the rules judge it, as the decision that `seat` owes in `game`."""
        if self.action is None:
            return game.failed(seat, self.outcome, ms=self.ms)
        return game.judged(seat, self.action, ms=self.ms, note=self.note)
