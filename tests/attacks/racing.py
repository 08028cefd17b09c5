"""Games whose seats are all ours, and an arena with several processes to play them in at the same moment."""

from __future__ import annotations

import time

import pytest

from bot_sdk.events import Decided
from service.arena.games import Games, Policy
from service.arena.minting import Mint
from service.config import Settings
from service.jobs import BrokerQueue, open_broker
from service.referee.table import Table
from tests.attacks.at_once import call
from tests.faults.proxy import Proxy
from tests.integration.arena import OWNER, Api, Arena

PEOPLE = {"ruleset": "seven_up", "seats": [{"kind": "human", "name": "ann"}, {"kind": "human", "name": "bea"}]}
QUIET = {"SLAGVELD_LEASE_MS": "15000", "SLAGVELD_RENEW_MS": "5000", "SLAGVELD_ACCOUNTS": "open"}
BUDGET_MS = 1_500


@pytest.fixture(scope="module")
def arena(tmp_path_factory):
    """Give an arena with two processes that serve its API, and a worker."""
    folder = tmp_path_factory.mktemp("at_once") / "arena"
    rates = {"SLAGVELD_RATE_NEW_ACCOUNTS": "1000 per hour"}
    with Arena(folder, bots=["house:greedy"] * 2, **QUIET, **rates) as arena:
        arena.start_api()
        arena.second = arena._own(Api(arena.environment, folder / "api-2.log"))
        arena.start_worker()
        yield arena


@pytest.fixture
def urls(arena):
    """Give the addresses of both processes that serve the API."""
    return [arena.api.address, arena.second.address]


@pytest.fixture(scope="module")
def host(arena):
    """Give the token of an account that makes games."""
    return call("POST", f"{arena.api.address}/v1/accounts", {"name": "host"}).body["token"]


@pytest.fixture(scope="module")
def proxy(arena):
    """Give a proxy before the store."""
    with Proxy(arena.valkey.socket_path) as proxy:
        yield proxy


@pytest.fixture(scope="module")
def start_behind(arena, proxy, tmp_path_factory):
    """Start processes that serve the API and reach the store through the proxy."""
    folder, started = tmp_path_factory.mktemp("behind"), []

    def start():
        environment = arena.environment | {"REDIS_URL": proxy.redis_url()}
        started.append(Api(environment, folder / f"api-{len(started)}.log"))
        return started[-1]

    yield start
    for each in started:
        each.close()


class Sitting:
    """A game whose seats are all ours, made by the account of a token."""

    def __init__(self, url, host, order):
        self._host = host
        made = call("POST", f"{url}/v1/games", order, host)
        assert made.status == 201, made
        self.id = made.body["id"]
        self.tokens = [seat["token"] for seat in made.body["seats"]]
        self.url = url

    def view(self, seat):
        return call("GET", f"{self.url}/v1/games/{self.id}/seats/{seat}", token=self.tokens[seat]).body

    def owed(self):
        """Give the seats that owe a decision, each with what it owes."""
        views = [self.view(seat) for seat in range(len(self.tokens))]
        return {seat: view for seat, view in enumerate(views) if view["decision_id"] is not None}

    def act(self, seat, decision_id, action, url=None):
        path = f"{url or self.url}/v1/games/{self.id}/seats/{seat}/actions"
        return call("POST", path, {"decision_id": decision_id, "action": action}, self.tokens[seat])

    def leave(self, seat):
        call("DELETE", f"{self.url}/v1/games/{self.id}/seats/{seat}", token=self.tokens[seat])

    def cancel(self, url=None):
        return call("PUT", f"{url or self.url}/v1/games/{self.id}/state", {"state": "cancelled"}, self._host)


def games_of(arena):
    policy = Policy(anonymous_games=True, max_open_games=1_000, open_seat_ms=60_000)
    queue = BrokerQueue(open_broker(Settings.from_env(arena.environment)))
    return Games(arena.store, queue, policy, clock=arena.store.due.now, pack_secret=lambda: bytes(range(32)))


class Endgame:
    """A game of people that is played in this process up to its last decision."""

    def __init__(self, arena, number):
        order = {
            "ruleset": "seven_up",
            "options": {"target": 1},
            "seats": PEOPLE["seats"],
            "limits": {"human_budget_ms": BUDGET_MS},
            "start": "auto",
        }
        self._arena = arena
        made = games_of(arena).create(OWNER, order, Mint(bytes(32), f"endgame {number}".encode()))
        self.id, self._tokens = made.game.id, made.tokens

    def table(self):
        return Table.replayed(*self._arena.store.games.load(self.id))

    def play_to_the_last(self):
        """Play all decisions but the one after which the game is over; give who owes that one, and the game then."""
        while True:
            table = self.table()
            (seat,) = table.game.owed()
            action = table.game.fallback(seat)
            after = table.game.state.copy()
            after.apply(seat, action)
            if after.is_over:
                return table, seat, action
            events = table.game.apply(table.game.judged(seat, action, ms=1.0))
            self._arena.store.games.commit(self.id, events, expected=table.length, lease=None)

    def act(self, seat, decision_id, action, url):
        path = f"{url}/v1/games/{self.id}/seats/{seat}/actions"
        return call("POST", path, {"decision_id": decision_id, "action": action}, self._tokens[seat])

    def race(self, url, offset_ms):
        """Take the last action so many ms after its time is over; give what it was told, and where it was taken."""
        table, seat, action = self.play_to_the_last()
        moment = self._arena.store.clock.read()
        ends = table.deadline(seat, moment)
        self._arena.store.due.add(f"game:{self.id}", ends)
        time.sleep(max(0.0, (ends + offset_ms - moment.now) / 1000))
        return self.act(seat, table.decision_id(seat), action, url), table, seat


def decided(arena, game_id, seat):
    events = [event for _, event in arena.store.games.log(game_id)]
    return [event for event in events if isinstance(event, Decided) and event.seat == seat]
