"""Decisions reached by chance from a seed: what a check asks, the same again for the same seed."""

from __future__ import annotations

from random import Random
from typing import Any, Final

from bot_sdk import messages
from bot_sdk.games.game import Game
from bot_sdk.games.packs import seeded
from bot_sdk.games.registry import RULESETS

VARIANTS: Final[dict[str, tuple[tuple[int, dict[str, Any]], ...]]] = {
    "seven_up": (
        (2, {}),
        (2, {"gift": True, "void_play": "free", "pips": "classic"}),
        (2, {"gift": True, "turned_jack": "final", "game_tie": "non_dealer", "target": 3}),
    ),
    "river": (
        (4, {}),
        (6, {"bidding": "simultaneous", "miss": "zero", "start_cards": 4}),
        (8, {"schedule": "up_down", "hook": "not_one"}),
    ),
}
"""The tables that positions come from: seats and options. A bot that claims a ruleset plays all of it."""
_MOST_GAMES: Final = 200


def positions(ruleset: str, phase: str, number: int, seed: str) -> list[messages.Decision]:
    """Reach `number` decisions of a phase by chance, over all `VARIANTS` in turn; the same seed gives the same ones."""
    found: list[messages.Decision] = []
    for at in range(_MOST_GAMES):
        seats, options = VARIANTS[ruleset][at % len(VARIANTS[ruleset])]
        met = _decisions(ruleset, phase, seats, options, f"{seed}/{at}")
        if met:
            found.append(Random(f"{seed}/{phase}/{at}").choice(met))
        if len(found) == number:
            break
    return found


def _decisions(ruleset: str, phase: str, seats: int, options: dict[str, Any], seed: str) -> list[messages.Decision]:
    """Play one game by chance and give its decisions of a phase."""
    rng = Random(seed)
    game = Game(RULESETS[ruleset], options, seats, seeded(seed, seats))
    info = messages.GameInfo(f"check-{seed}", ruleset, game.state.options, [f"player {seat}" for seat in range(seats)])
    met = []
    while owed := game.owed():
        seat = rng.choice(owed)
        if game.state.phase == phase:
            met.append(messages.decision_of(game, info, seat, messages.BUDGET_MS))
        game.apply(game.judged(seat, rng.choice(game.state.legal_actions(seat)), ms=0.0))
    return met
