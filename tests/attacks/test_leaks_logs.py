"""The logs of API and worker, as their processes write them, hold no card, no secret and no token."""

from __future__ import annotations

import contextlib

import pytest

from bot_sdk.client import Arena as Client
from bot_sdk.client import ArenaError
from bot_sdk.games import record
from tests.attacks.knowledge import CARD, secrets_of
from tests.integration.arena import PATIENT_LIMITS, Arena, wait_until
from tests.integration.conftest import finish


@pytest.mark.attack
def test_no_log_of_a_process_names_a_card_a_secret_or_a_token(tmp_path):
    with Arena(tmp_path / "arena", bots=["house:random", "house:greedy"]) as arena:
        arena.start_api()
        arena.start_worker()
        arena.register("bot_gone", "gone", "http://127.0.0.1:9/")
        bots = [
            arena.start_game("seven_up", [*pair], PATIENT_LIMITS)
            for pair in (("bot_0", "bot_1"), ("bot_gone", "bot_0"))
        ]
        with Client(arena.api.address) as client:
            made = [people_game(client, ruleset, seats) for ruleset, seats in (("seven_up", 2), ("river", 4))]
            ids = [*bots, *(game["id"] for game in made)]
            wait_until(lambda: all(arena.store.games.get(name).state.is_end for name in ids), 60, "games that end")
            records = [record.read(client.record(name)) for name in ids]
        arena.workers[0].terminate()
        logs = {log.name: log.read_bytes() for log in (tmp_path / "arena").glob("*.log") if log.name != "bots.log"}
        assert len(logs) >= 2
        tokens = [seat["token"].encode() for game in made for seat in game["seats"] if seat["token"]]
        told = [*tokens, *(form for each in records for form in secrets_in(each))]
        for name, said in logs.items():
            assert CARD.findall(said) == [], name
            assert [secret for secret in told if secret in said] == [], name


def people_game(client, ruleset, seats):
    """Play a game as a person against house bots, and try what isn't allowed."""
    house = [{"kind": "house", "name": "random"}] * (seats - 1)
    options = {"target": 2} if ruleset == "seven_up" else {"start_cards": 2, "bidding": "simultaneous"}
    made = client.create_game(ruleset, [{"kind": "human", "name": "ann"}, *house], options=options)
    token = made["seats"][0]["token"]
    for action in ("play:QH", "discard:2C", "play:??"):
        with contextlib.suppress(ArenaError):  # a refusal is what may be logged
            client.act(made["id"], 0, f"{made['id']}.0.0", action, token)
    finish(client, made)
    return made


def secrets_in(made):
    fairness = made.fairness
    return secrets_of(bytes.fromhex(fairness.secret), fairness.label, fairness.entropy, len(made.deals) + 1)
