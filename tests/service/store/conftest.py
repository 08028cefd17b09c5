from __future__ import annotations

import pytest

from service.store.due import Due
from service.store.entities import Game, Seat
from service.store.games import GameStore
from service.store.unfinished import Unfinished

SECRET = bytes(range(32))


@pytest.fixture
def games(redis):
    return GameStore(redis)


@pytest.fixture
def due(redis):
    return Due(redis)


@pytest.fixture
def unfinished(redis):
    return Unfinished(redis)


@pytest.fixture
def make_game():
    def make(game_id="gam_1", **changes):
        values = {
            "id": game_id,
            "ruleset": "river",
            "options": {"cards": 7},
            "seats": [Seat(kind="house", name="random"), Seat(kind="human", name="Ada")],
            "label": game_id,
            "commitment": "00",
            "entropy": ["", ""],
            "created_at": 1_700_000_000_000,
        }
        return Game(**(values | changes))

    return make


@pytest.fixture
def running(games, make_game):
    """Give a running game, kept."""
    game = make_game()
    games.create(game, secret=SECRET, due_at=None)
    games.start(game.id)
    return game
