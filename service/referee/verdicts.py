"""What became of asking a seat, before the rules have looked at it."""

from __future__ import annotations

import msgspec

from bot_sdk.events import Decided, Outcome, quantised
from bot_sdk.games.game import Game


class Verdict(msgspec.Struct, frozen=True):
    """One decision's answer: an `action` if the seat gave one in time, else the `outcome` that names its fault.

    `is_unattended`, of our_fault: asking hasn't failed, it was only that we were busy with something else.
    `error`, `status` and `head` are for the owner of the bot alone: what went wrong, and what it sent.
    """

    outcome: Outcome
    ms: float
    action: str | None = None
    note: str | None = None
    error: str | None = None
    status: int | None = None
    head: bytes = b""
    is_unattended: bool = False

    def decided(self, game: Game, seat: int) -> Decided:
        """Let the rules judge it, as the decision that `seat` owes in `game`."""
        if self.action is None:
            return game.failed(seat, self.outcome, ms=quantised(self.ms))
        return game.judged(seat, self.action, ms=quantised(self.ms), note=self.note)
