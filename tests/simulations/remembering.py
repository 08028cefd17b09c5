"""A bot with a perfect memory, as a cheat would write it: it knows nothing but what bots are told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bot_sdk import messages
from bot_sdk.bot import Bot, Decision
from bot_sdk.bots import greedy_river

POINTS_FOR_EXACT = 10


@dataclass(frozen=True)
class Memory:
    """A game of River: the last thing seen of each deal, and the totals it ended with."""

    deals: list[dict[str, Any]]
    totals: list[int]

    def may_be(self, decision: Decision) -> bool:
        """Tell whether this deal, just dealt, was the same: by what was turned, and what was played from this seat."""
        deal = self.deals[decision.observation["deal"]]
        laid = self._laid(deal, decision.seat)
        return deal["upcard"] == decision.observation["upcard"] and laid <= {*decision.hand}

    def took(self, deal: int, seat: int) -> int:
        """Work out how many tricks a seat took: fewer than ten, so that points tell."""
        after = self.deals[deal + 1]["totals"] if deal + 1 < len(self.deals) else self.totals
        return (after[seat] - self.deals[deal]["totals"][seat]) % POINTS_FOR_EXACT

    def was_exact(self, deal: int, seat: int) -> bool:
        """Tell whether a seat met its bid."""
        return self.deals[deal]["bids"][seat] == self.took(deal, seat)

    def _laid(self, deal: dict[str, Any], seat: int) -> set[str]:
        """Collect a seat's cards of a deal but the last: who has played that is asked no more."""
        seats = len(self.totals)
        return {trick["cards"][(seat - trick["leader"]) % seats] for trick in deal["tricks"]}


class Remembering(Bot):
    """Plays as ``house:greedy``, but what a hand took when it was played before, it bids on it.

    `recognised` counts the games it found itself in again.
    """

    plays = ("river",)

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.memories: list[Memory] = []
        self.recognised = 0
        self._seen: dict[str, dict[int, dict[str, Any]]] = {}
        self._known: dict[str, list[Memory]] = {}

    def decide(self, decision: Decision) -> str:
        """Look, remember, and act."""
        game_id, shown = decision.game.id, decision.observation
        self._seen.setdefault(game_id, {})[shown["deal"]] = shown
        if decision.phase == "play":
            return greedy_river.play(decision)
        known = self._known.get(game_id, self.memories)
        self._known[game_id] = [memory for memory in known if memory.may_be(decision)]
        return self._bid(decision)

    def game_ended(self, ended: messages.GameEnded) -> None:
        """Keep the game."""
        self.memories.append(Memory(list(self._seen.pop(ended.game.id).values()), ended.totals))
        self.recognised += bool(self._known.pop(ended.game.id))

    def _bid(self, decision: Decision) -> str:
        deal, seat, known = decision.observation["deal"], decision.seat, self._known[decision.game.id]
        if not known:
            return greedy_river.bid(decision)
        best = max(known, key=lambda memory: memory.was_exact(deal, seat))
        return min(decision.legal, key=lambda bid: abs(int(bid.removeprefix("bid:")) - best.took(deal, seat)))
