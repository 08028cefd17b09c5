"""How the tests of this folder come to decisions: whatever is owed in games played at random."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, NamedTuple

import msgspec

from bot_sdk import messages
from bot_sdk.games.base import State
from bot_sdk.games.registry import ruleset
from bot_sdk.knowledge import Knowledge
from tests.bot_sdk.tables import Table, choose


class Asked(NamedTuple):
    """A decision with the truth behind it; `known` comes from the message alone, as it travels."""

    state: State
    seat: int
    message: messages.Decision
    known: Knowledge
    acted: list[tuple[int, str]]
    """What has been done in this deal."""


def asked(table: Table) -> Iterator[Asked]:
    """Play a game at random and give every decision owed on the way."""
    state, rng, acted, deal = table.state(), table.rng(), [], 0
    while not state.is_over:
        for seat in state.actors():
            message = decision(table, state, seat)
            yield Asked(state, seat, message, Knowledge(message), acted)
        seat = rng.choice(state.actors())
        action = choose(rng, state.legal_actions(seat))
        acted.append((seat, action))
        state.apply(seat, action)
        if state.deal_number != deal:
            acted, deal = [], state.deal_number


def decision(table: Table, state: State, seat: int) -> messages.Decision:
    """Build what a seat is asked, through the JSON that it would get."""
    made = messages.Decision(
        decision_id="g.0.0",
        budget_ms=1000,
        last=None,
        game=messages.GameInfo("g", table.ruleset, state.options, ["x"] * table.seats),
        seat=seat,
        phase=state.phase,
        observation=state.observe(seat),
        legal_actions=state.legal_actions(seat),
    )
    return msgspec.json.decode(messages.encode(made), type=messages.Decision)


def shown(name: str, seat: int, observation: dict[str, Any], options: dict[str, Any]) -> messages.Decision:
    """Build a decision of the play from an observation written by hand."""
    rules, seats = ruleset(name), len(observation["totals"])
    info = messages.GameInfo("g", name, rules.resolve(options, seats), ["x"] * seats)
    return messages.Decision(
        decision_id="g.0.0",
        budget_ms=1000,
        last=None,
        game=info,
        seat=seat,
        phase="play",
        observation=observation,
        legal_actions=[f"play:{name}" for name in observation["hand"]],
    )


def few(decisions: Iterator[Asked], rng: random.Random, number: int) -> list[Asked]:
    """Draw some of the decisions of a game, with the state as it was."""
    kept = [one._replace(state=one.state.copy(), acted=one.acted.copy()) for one in decisions]
    return rng.sample(kept, min(number, len(kept)))
