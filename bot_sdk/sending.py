"""Decisions on their way to bots: the messages of ``bot_sdk/messages.py``, byte for byte, made for sending alone.

A game's id, options and players stand in every request, and so do the tricks that are won. Here these are encoded once
and copied into each. What isn't going to be sent is made by `messages.decision_of`.
"""

from __future__ import annotations

from typing import Any

from msgspec import Raw, Struct

from bot_sdk.games.game import Game
from bot_sdk.messages import API, GameInfo, Last, decision_id, encode, last_of


class SentDecision(Struct, frozen=True, tag_field="type", tag="decision", kw_only=True):
    """A `messages.Decision` with parts that are JSON already."""

    api: int = API
    decision_id: str
    budget_ms: int
    last: Last | None
    game: Raw
    seat: int
    phase: str
    observation: dict[str, Any]
    legal_actions: list[str]


class SentDecisions(Struct, frozen=True, tag_field="type", tag="decisions", kw_only=True):
    """A `messages.Decisions` of such decisions."""

    api: int = API
    budget_ms: int
    decisions: list[SentDecision]


class Sender:
    """Makes the requests of one game."""

    def __init__(self, game: Game, info: GameInfo) -> None:
        """Encode what stands in every request of the game."""
        self._game = game
        self._id = info.id
        self._info = Raw(encode(info))
        self._tricks = Raw(b"[]")
        self._tricks_of = (-1, 0)

    def decision(self, seat: int, budget_ms: int) -> SentDecision:
        """Build the request for the decision that `seat` owes."""
        game = self._game
        state = game.state
        seen = state.seen(seat)
        seen["tricks"] = self._won()
        return SentDecision(
            decision_id=decision_id(self._id, seat, game.decisions[seat]),
            budget_ms=budget_ms,
            last=last_of(game.last[seat]),
            game=self._info,
            seat=seat,
            phase=state.phase,
            observation=seen,
            legal_actions=state.legal_actions(seat),
        )

    def _won(self) -> Raw:
        """Give the tricks that are won, encoded anew only when there is another one."""
        state = self._game.state
        now = (state.deal_number, len(state.leaders))
        if now != self._tricks_of:
            self._tricks_of = now
            self._tricks = Raw(encode(state.tricks_shown()))
        return self._tricks
