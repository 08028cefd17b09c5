"""What is counted of requests."""

from __future__ import annotations

import threading
from time import monotonic

import pytest
from flask import Flask
from redis.exceptions import ConnectionError as StoreGone

from service.api import measuring
from service.metrics import catalogue
from service.metrics.meters import Meters, silent
from tests.service.fakes import until


@pytest.fixture
def meters():
    return Meters()


@pytest.fixture
def app(make_app, meters):
    return make_app(meters)


def counted(meters):
    """Give how many requests were counted, by operation, method and class of status."""
    return {cell.labels: sum(cell.values[:-1]) for cell in meters.requests.cells()}


def gauge(count):
    return {cell.labels: cell.values[0] for cell in count.cells()}[()]


def test_requests_are_counted_by_operation_whatever_their_paths(client, meters):
    for game_id in ("gam_" + "a" * 26, "gam_" + "b" * 26):
        client.get(f"/v1/games/{game_id}")
    client.get("/v1/rulesets")
    assert counted(meters) == {
        ("games.show_game", "GET", "4xx"): 2.0,
        ("rulesets.list_rulesets", "GET", "2xx"): 1.0,
    }


@pytest.mark.parametrize(
    ("method", "path", "labels"),
    [
        ("GET", "/nowhere/of/a/strangers/choosing", ("none", "GET", "4xx")),
        ("STRANGE", "/v1/rulesets", ("none", "other", "4xx")),
        ("POST", "/v1/rulesets", ("none", "POST", "4xx")),
    ],
)
def test_strangers_choose_no_labels(client, meters, method, path, labels):
    client.open(path, method=method)
    assert counted(meters) == {labels: 1.0}


def test_request_that_fails_is_counted_and_no_longer_in_flight(client, meters, monkeypatch):
    def gone(*_args, **_more):
        raise StoreGone

    monkeypatch.setattr("service.arena.readiness.Readiness.seen", gone)
    assert client.get("/health/ready").status_code == 503
    assert counted(meters) == {("health.ready", "GET", "5xx"): 1.0}
    assert gauge(meters.in_flight) == 0.0


def test_what_a_long_poll_waits_isnt_in_its_time(people, meters):
    _game, players = people("seven_up", 2)
    waiting = next(player for player in players.values() if not player.view()["decision_id"])
    looks, taken = spent(meters)
    wall = []

    def poll():
        began = monotonic()
        waiting("GET", "?wait_for=decision", headers={"Prefer": "wait=1"})
        wall.append(monotonic() - began)

    polling = threading.Thread(target=poll, daemon=True)
    polling.start()
    until(lambda: gauge(meters.polls) == 1.0)
    assert gauge(meters.in_flight) == 1.0
    polling.join(60)
    assert (gauge(meters.polls), gauge(meters.in_flight)) == (0.0, 0.0)
    looks_after, taken_after = spent(meters)
    assert looks_after == looks + 1
    assert taken_after - taken <= wall[0] - 0.9


def spent(meters):
    """Give how many looks from seats there were, and the seconds they took."""
    (cell,) = [cell for cell in meters.requests.cells() if cell.labels == ("seats.show_seat", "GET", "2xx")]
    return sum(cell.values[:-1]), cell.values[-1]


def test_streams_are_counted_while_they_are_open(client, people, meters):
    game, _players = people("seven_up", 2)
    answer = client.get(f"/v1/games/{game['id']}/stream")
    assert gauge(meters.streams) == 1.0
    assert gauge(meters.in_flight) == 0.0
    answer.close()
    assert gauge(meters.streams) == 0.0
    assert gauge(meters.polls) == 0.0


def test_what_people_do_is_counted_as_decisions_and_ends(people, meters):
    _game, players = people("seven_up", 2)
    acting = next(player for player in players.values() if player.view()["decision_id"])
    acting.act()
    assert {cell.labels: sum(cell.values[:-1]) for cell in meters.decisions.cells()} == {("human", "ok"): 1.0}
    acting("DELETE")
    ended = {cell.labels: cell.values[0] for cell in meters.ended.cells()}
    assert {labels: count for labels, count in ended.items() if count} == {("void",): 1.0}


def test_round_trips_to_the_store_are_timed(client, meters):
    client.get("/v1/games")
    (cell,) = meters.round_trips.cells()
    assert sum(cell.values[:-1]) > 1
    assert 0 < cell.values[-1] < 60


def test_an_app_that_isnt_measured_has_no_measure_around_it():
    app, before = Flask("app"), Flask("app")
    measuring.register(app, silent())
    assert app.wsgi_app.__func__ is before.wsgi_app.__func__
    assert app.before_request_funcs == {}
    assert catalogue.REQUESTS.labels == ("operation", "method", "status")
