"""What the store counts of itself."""

from __future__ import annotations

import pytest

from bot_sdk.results.values import GameState
from service.metrics.meters import Meters
from service.store.store import Store


@pytest.fixture
def meters():
    return Meters()


@pytest.fixture
def measured(redis_url, meters):
    opened = Store.open(redis_url, meters=meters)
    yield opened
    opened.close()


def round_trips(meters):
    (cell,) = meters.round_trips.cells()
    return sum(cell.values[:-1])


def test_each_round_trip_is_timed_and_waiting_for_news_is_none(measured, meters):
    measured.due.now()
    assert round_trips(meters) == 1.0
    assert measured.office("office").hear(20) == []
    assert round_trips(meters) == 1.0
    measured.games.get_many(["gam_1", "gam_2"])
    assert round_trips(meters) > 1.0


def test_game_that_is_ended_is_counted_once_however_often_it_is_ended(measured, meters, desk):
    game = desk.game("bot_a", "bot_b")
    for _ in range(3):
        assert measured.games.end(game, GameState.CANCELLED)
    assert not measured.games.end(game, GameState.ABORTED)
    counted = {cell.labels: cell.values[0] for cell in meters.ended.cells()}
    assert counted == {("finished",): 0.0, ("void",): 0.0, ("aborted",): 0.0, ("cancelled",): 1.0}
