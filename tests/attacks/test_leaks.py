"""Nobody is told a card, a secret or another's doings before he may know them: all answers are searched byte by byte."""

from __future__ import annotations

import pytest

from bot_sdk.games.registry import RULESETS
from service.api import stream
from tests.attacks.watching import ADMIN, Arena, Judge
from tests.bot_sdk.tables import values_of

MANY = 200


@pytest.fixture
def arena(make_app, redis, store, monkeypatch):
    monkeypatch.setattr(stream, "HEARTBEAT_S", 0.002)
    monkeypatch.setattr(stream, "LIFE_S", 0.003)
    app = make_app(SLAGVELD_ADMIN_TOKEN=ADMIN)
    return lambda seed: Arena(app, store, seed)


@pytest.mark.parametrize("name", RULESETS)
def test_x(arena, name):
    night = arena(name)
    for number in range(5):
        rng = night.rng
        rules = RULESETS[name]
        seats = rng.randint(rules.min_seats, rules.max_seats)
        options = {each.name: rng.choice(values_of(each)) for each in rules.options_for(seats)}
        if name == "seven_up":
            options["target"] = rng.randint(1, 4)
        else:
            options["start_cards"] = min(options["start_cards"], rng.choice([1, 2, 3]))
        kinds = [rng.choice(["human", "human", "bot", "house"]) for _ in range(seats)]
        kinds[rng.randrange(seats)] = "human"
        game = night.begin(name, kinds, options)
        record = game.play()
        Judge(game, record).check()
        print(number, game.steps, game.events, len(game.receipts))
