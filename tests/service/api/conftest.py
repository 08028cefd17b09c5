"""The real app on a real store; only the workers' queue is ours, and remembers what it was given."""

from __future__ import annotations

import functools

import pytest

from service.app import create_app
from service.config import Settings
from service.services import open_services

PATIENT = "100000 per second"


class HeldQueue:
    """Keeps what is enqueued, for tests to look at."""

    def __init__(self):
        self.checks = []
        self.games = []

    def check(self, check_id):
        self.checks.append(check_id)

    def drive(self, game_id):
        self.games.append(game_id)


class Person:
    """A client that sends its account's token."""

    def __init__(self, client, answer):
        self.client = client
        self.id = answer["id"]
        self.token = answer["token"]

    def __call__(self, method, path, **kwargs):
        headers = {"Authorization": f"Bearer {self.token}", **kwargs.pop("headers", {})}
        return self.client.open(path, method=method, headers=headers, **kwargs)


@pytest.fixture
def queue():
    return HeldQueue()


@pytest.fixture
def make_app(redis_url, queue):
    """Build apps on the empty store, with settings as the environment gives them."""
    built = []

    def make(**environment):
        defaults = {
            "REDIS_URL": redis_url,
            "SLAGVELD_ACCOUNTS": "open",
            "SLAGVELD_BOT_NETWORKS": "127.0.0.0/8",
            "SLAGVELD_RATE_PER_ADDRESS": PATIENT,
            "SLAGVELD_RATE_PER_TOKEN": PATIENT,
            "SLAGVELD_RATE_NEW_ACCOUNTS": PATIENT,
        }
        services = open_services(Settings.from_env(defaults | environment), queue)
        built.append(services)
        return create_app(services)

    yield make
    for services in built:
        services.store.close()


@pytest.fixture
def app(make_app):
    return make_app()


@pytest.fixture
def client(app):
    return app.test_client()


@pytest.fixture
def person_at():
    """Make people with accounts at an app."""

    def make(app, name="ann"):
        client = app.test_client()
        answer = client.post("/v1/accounts", json={"name": name})
        assert answer.status_code == 201, answer.text
        return Person(client, answer.get_json())

    return make


@pytest.fixture
def person(app, person_at):
    """Make people with accounts at the usual app."""
    return functools.partial(person_at, app)
