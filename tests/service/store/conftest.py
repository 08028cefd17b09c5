from __future__ import annotations

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from bot_sdk.results.values import Slot
from service.store.entities import Bot, Game, Seat, Tournament

SECRET = bytes(range(32))


@pytest.fixture
def games(store):
    return store.games


@pytest.fixture
def due(store):
    return store.due


@pytest.fixture
def unfinished(store):
    return store.unfinished


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
def make_bot():
    def make(bot_id="bot_1", **changes):
        values = {
            "id": bot_id,
            "account_id": "acc_1",
            "name": "lowball",
            "url": "http://127.0.0.1:1/",
            "rulesets": ["river"],
            "created_at": 1_000,
        }
        return Bot(**(values | changes))

    return make


@pytest.fixture
def make_tournament():
    def make(tournament_id="trn_1", **changes):
        values = {
            "id": tournament_id,
            "name": "night",
            "owner": "acc_1",
            "ruleset": "river",
            "options": {"cards": 7},
            "table_size": 4,
            "rounds": 3,
            "seed": 2**62 + 1,
            "root": "00",
            "created_at": 1_000,
        }
        return Tournament(**(values | changes))

    return make


@pytest.fixture
def slot():
    return Slot(tournament_id="trn_1", round=2, table=1, leg=0, board="2.1")


@pytest.fixture
def running(games, make_game):
    """Give a running game, kept."""
    game = make_game()
    games.create(game, secret=SECRET, due_at=None)
    games.start(game.id)
    return game


@pytest.fixture
def lose_answers(store, monkeypatch):
    """Give a way to run a call whose first answer is lost, so that redis-py sends the command again."""

    def call(action, *, when=lambda answer: True):
        connection_class = store._redis.connection_pool.connection_class
        real, lost = connection_class.read_response, []

        def read_response(self, *args, **kwargs):
            answer = real(self, *args, **kwargs)
            if not lost and when(answer):
                lost.append(answer)
                self.disconnect()
                raise RedisConnectionError("the answer was lost")
            return answer

        with monkeypatch.context() as patch:
            patch.setattr(connection_class, "read_response", read_response)
            told = action()
        assert lost, "no answer was lost, so nothing was tested"
        return told

    return call
