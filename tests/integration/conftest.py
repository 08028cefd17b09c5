from __future__ import annotations

import time

import pytest

from bot_sdk.client import Arena
from tests.integration.running import Up


@pytest.fixture
def start():
    """Start arenas; what is left of them at the end is killed."""
    started = []

    def begin(data, *options, **more):
        started.append(Up(data, *options, **more))
        return started[-1]

    yield begin
    for each in started:
        each.close()


@pytest.fixture
def play():
    """Play one whole game as a human against greedy, the first legal action at every turn; give its record."""

    def run(url, ruleset="seven_up", seats=2):
        with Arena(url) as arena:
            house = [{"kind": "house", "name": "greedy"}] * (seats - 1)
            made = arena.create_game(ruleset, [{"kind": "human", "name": "ann"}, *house], options={"target": 3})
            finish(arena, made)
            return arena.record(made["id"])

    return run


def finish(arena, made):
    """Play a game on from wherever it is."""
    token = made["seats"][0]["token"]
    ends = time.monotonic() + 60
    while True:
        assert time.monotonic() < ends, arena.game(made["id"])
        shown = arena.seat(made["id"], 0, token, wait_s=5)
        if shown["decision_id"] is None:
            if arena.game(made["id"])["state"] != "running":
                return
            continue
        arena.act(made["id"], 0, shown["decision_id"], shown["legal_actions"][0], token)
