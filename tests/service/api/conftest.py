"""The real app on a real store. Most tests need no worker: there the queue is ours, and remembers what it was given."""

from __future__ import annotations

import functools

import pytest

from service.app import create_app
from service.config import Settings
from service.jobs import BrokerQueue, open_broker
from service.services import open_services
from service.store.entities import Bot, BotState
from service.worker.process import WorkerProcess

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
def make_app(redis_url, queue, routes_compiled_once):
    """Build apps on the empty store, with settings as the environment gives them."""
    built = []

    def make(meters=None, **environment):
        defaults = {
            "REDIS_URL": redis_url,
            "SLAGVELD_ACCOUNTS": "open",
            "SLAGVELD_BOT_NETWORKS": "127.0.0.0/8",
            "SLAGVELD_RATE_PER_ADDRESS": PATIENT,
            "SLAGVELD_RATE_PER_TOKEN": PATIENT,
            "SLAGVELD_RATE_NEW_ACCOUNTS": PATIENT,
        }
        services = open_services(Settings.from_env(defaults | environment), queue, meters=meters)
        built.append(services)
        return create_app(services)

    yield make
    for services in built:
        services.close()


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


class Seated:
    """A person at a seat of a game."""

    def __init__(self, client, game_id, number, token):
        self.client = client
        self.path = f"/v1/games/{game_id}/seats/{number}"
        self.number = number
        self.token = token

    def __call__(self, method, path="", **kwargs):
        headers = {"Authorization": f"Bearer {self.token}", **kwargs.pop("headers", {})}
        return self.client.open(self.path + path, method=method, headers=headers, **kwargs)

    def view(self):
        answer = self("GET")
        assert answer.status_code == 200, answer.text
        return answer.get_json()

    def decision(self, seconds=20):
        """Wait until a decision is owed, and give the view."""
        answer = self("GET", "?wait_for=decision", headers={"Prefer": f"wait={seconds}"})
        assert answer.status_code == 200, answer.text
        return answer.get_json()

    def act(self, action=None, decision_id=None):
        """Take an action, by default the first legal one."""
        if decision_id is None:
            view = self.view()
            decision_id, action = view["decision_id"], action or view["legal_actions"][0]
        return self("POST", "/actions", json={"decision_id": decision_id, "action": action})


@pytest.fixture
def seated():
    """Make a game as ordered and give its view and its people by seat."""

    def make(asking, order, client):
        answer = asking("POST", "/v1/games", json=order)
        assert answer.status_code == 201, answer.text
        game = answer.get_json()
        people = {
            number: Seated(client, game["id"], number, seat["token"])
            for number, seat in enumerate(game["seats"])
            if "token" in seat
        }
        return game, people

    return make


@pytest.fixture
def host(person):
    """Give the account that makes the games."""
    return person("host")


@pytest.fixture
def people(app, host, seated):
    """Make a game of people only, which needs no worker."""

    def make(ruleset="seven_up", seats=2, **order):
        sitting = [{"kind": "human", "name": f"p{number}"} for number in range(seats)]
        return seated(host, {"ruleset": ruleset, "seats": sitting, **order}, app.test_client())

    return make


@pytest.fixture
def night(redis_url, routes_compiled_once):
    """Give an app with a worker beside it, as they run together, but quick to look again."""
    environment = {
        "REDIS_URL": redis_url,
        "SLAGVELD_ACCOUNTS": "open",
        "SLAGVELD_ANONYMOUS_GAMES": "1",
        "SLAGVELD_BOT_NETWORKS": "127.0.0.0/8",
        "SLAGVELD_RATE_PER_ADDRESS": PATIENT,
        "SLAGVELD_RATE_PER_TOKEN": PATIENT,
        "SLAGVELD_RATE_NEW_ACCOUNTS": PATIENT,
        "SLAGVELD_SWEEP_MS": "50",
        "SLAGVELD_LEASE_MS": "1000",
        "SLAGVELD_RENEW_MS": "300",
        "SLAGVELD_RATINGS_MS": "100",
    }
    settings = Settings.from_env(environment)
    broker = open_broker(settings)
    services = open_services(settings, BrokerQueue(broker))
    worker = WorkerProcess(settings)
    worker.start()
    try:
        yield create_app(services)
    finally:
        worker.stop()
        services.close()
        broker.client.close()


@pytest.fixture
def registered():
    """Put a bot into the store of an app as if its check had passed, and give its id."""

    def put(app, owner, letters, **more):
        fields = {"name": f"bot {letters}", "url": "http://127.0.0.1:9/", "rulesets": ["seven_up", "river"]}
        fields |= {"account_id": owner.id, "state": BotState.ACTIVE, "version": "1", "created_at": 1} | more
        bot = Bot(id="bot_" + (letters * 26)[:26], **fields)
        assert app.extensions["slagveld"].store.bots.create(bot, secret="whsec_" + "A" * 32)
        return bot.id

    return put
