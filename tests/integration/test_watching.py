"""A game of a whole arena, watched while it is played, and its decisions asked again from its record."""

from __future__ import annotations

import json

import pytest

from bot_sdk import messages
from bot_sdk.bot import Bot
from bot_sdk.client import Arena as Client
from bot_sdk.games import record
from bot_sdk.hosting import serving
from bot_sdk.loading import load_asked_again
from bot_sdk.replaying import Steps, decisions
from tests.bot_sdk.commands.running import slagbot
from tests.integration.arena import PATIENT_LIMITS, SECRET, Arena

SEATS = {"seven_up": 2, "river": 4}
BOT = """
from bot_sdk.bot import Bot
bot = Bot("ears")
for ruleset in ("seven_up", "river"):
    bot.on(ruleset)(lambda decision: decision.rng.choice(decision.legal))
"""


class Listening(Bot):
    """Keeps what it is asked, and plays by chance."""

    def __init__(self):
        super().__init__("ears", secret=SECRET)
        self.heard = []

    def decide(self, decision):
        self.heard.append(messages.encode(decision.message))
        return decision.rng.choice(decision.legal)


@pytest.fixture(scope="module")
def arena(tmp_path_factory):
    with Arena(tmp_path_factory.mktemp("watching") / "arena", bots=["house:greedy"] * 3) as opened:
        opened.start_worker()
        opened.start_api()
        yield opened


@pytest.mark.parametrize("ruleset", SEATS)
def test_a_game_is_watched_to_its_end_and_asked_again_as_it_was(arena, ruleset, tmp_path):
    bot = Listening()
    with serving(bot) as server:
        arena.register(f"bot_{ruleset}", "ears", server.url)
        others = [f"bot_{number}" for number in range(SEATS[ruleset] - 1)]
        game_id = arena.start_game(ruleset, [f"bot_{ruleset}", *others], PATIENT_LIMITS)
        watched = slagbot("watch", game_id, "--arena", arena.api.address, "--json").stdout
        with Client(arena.api.address) as client:
            made = record.read(client.record(game_id))
    seen = [json.loads(line) for line in watched.splitlines()]
    steps = Steps(made)
    told = [*steps.opening, *(news for step in steps for news in step.news)]
    assert [{key: value for key, value in event.items() if key != "id"} for event in seen] == told
    asked = [decision for decision in decisions(made) if decision.message.seat == 0]
    assert [messages.encode(decision.message) for decision in asked] == bot.heard
    (tmp_path / "ears.py").write_text(BOT)
    again = load_asked_again(str(tmp_path / "ears.py"), made, {"SLAGVELD_BOT_SECRET": SECRET})
    assert [again.ask(decision.message).action for decision in asked] == [one.decided.action for one in asked]
