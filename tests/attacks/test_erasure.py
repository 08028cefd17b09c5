"""An erased account is named nowhere: not in any answer to any reader, not in any byte of the store.

A real worker and real bots over HTTP; whatever an account can name holds one word, which is then looked for. The short
form, without bots and API, is in tests/service/arena/test_erasing.py.
"""

from __future__ import annotations

import itertools
import json
from contextlib import ExitStack

import pytest

from bot_sdk.bot import Bot
from bot_sdk.games.record import read, verify
from service.api import scoreboard, stream
from service.app import create_app
from service.arena import erasing
from service.config import Settings
from service.jobs import BrokerQueue, open_broker
from service.services import open_services
from service.store.connection import connect
from service.store.entities import BotState
from service.worker.process import WorkerProcess
from tests.service.api.conftest import PATIENT, Person, Seated
from tests.service.api.test_open_boards import paths
from tests.service.api.test_tournaments import hosted
from tests.service.fakes import until
from tests.service.plain import plain

WORD = "zanzibar"
ADMIN = "operator-token-of-thirty-two-characters"
OPERATOR = {"Authorization": f"Bearer {ADMIN}"}
PATIENCE = {"budget_ms": 30_000, "first_budget_ms": 30_000, "human_budget_ms": 600_000}
SHORT_RIVER = {"ruleset": "river", "options": {"start_cards": 2}}


class Talkative(Bot):
    """Plays the first legal action and says its name each time."""

    def decide(self, decision):
        return decision.legal[0], f"{self.name} says hello"


class World:
    """An arena with an account that leaves its name wherever it can, and others who play with it."""

    def __init__(self, app, worker, urls):
        self.app, self.worker, self.urls = app, worker, urls
        self.services = app.extensions["slagveld"]
        self.store = self.services.store
        self.keys = map("key-number-{}-of-this-world".format, itertools.count())
        self.client = app.test_client()
        self.ann, self.bob = self.account(WORD), self.account("bob")
        self.bots = [self.bot(self.ann, f"{WORD} {number}") for number in range(3)]
        self.other = self.bot(self.bob, "honest")

    def operator(self, method, path, **more):
        return self.client.open(path, method=method, headers=OPERATOR, **more)

    def account(self, name):
        key = {"Idempotency-Key": next(self.keys)}
        return Person(self.client, self.client.post("/v1/accounts", json={"name": name}, headers=key).get_json())

    def make(self, asking, path, **order):
        answer = asking("POST", path, json=order, headers={"Idempotency-Key": next(self.keys)})
        assert answer.status_code in {201, 202}, answer.text
        return answer.get_json()

    def bot(self, owner, name):
        """Register a bot and have it checked."""
        url = self.urls[owner is self.ann]
        made = self.make(owner, "/v1/bots", name=name, url=url, rulesets=["river", "seven_up"], secret=SECRET)
        self.make(owner, f"/v1/bots/{made['id']}/checks")
        until(lambda: self.store.bots.get(made["id"]).state is BotState.ACTIVE, timeout_s=60)
        return made["id"]

    def tournament(self, owner, *bots, name="cup", state="running", **order):
        made = self.make(owner, "/v1/tournaments", name=name, **{"ruleset": "river", "table_size": 4, **order})
        for bot in bots:
            by = self.ann if bot in self.bots else self.bob if bot == self.other else owner
            assert by("PUT", f"/v1/tournaments/{made['id']}/entries/{bot}", json={}).status_code == 200
        if state != "open":
            answer = owner("PUT", f"/v1/tournaments/{made['id']}/state", json={"state": state})
            assert answer.status_code == 200, answer.text
        return made["id"]

    def await_end(self, tournament_id):
        until(lambda: self.store.tournaments.get(tournament_id).state.is_end, timeout_s=120)

    def game(self, owner, *seats, **order):
        made = self.make(owner, "/v1/games", seats=list(seats), **{**SHORT_RIVER, **PATIENCE, **order})
        tokens = {number: seat["token"] for number, seat in enumerate(made["seats"]) if "token" in seat}
        return made["id"], {n: Seated(self.client, made["id"], n, token) for n, token in tokens.items()}

    def play_out(self, seat):
        """Play a person's game to its end."""
        while (view := seat.decision())["state"] == "running":
            if view["decision_id"] is not None:
                seat.act(view["legal_actions"][0], view["decision_id"])

    def records(self):
        games, _ = self.store.games.list_all(limit=1_000)
        ended = [game.id for game in games if game.state.is_end and game.started_at]
        return [self.client.get(f"/v1/games/{game_id}/record").data for game_id in ended]

    def waits_for_games(self):
        """Tell whether all has been gone over, and games of its bots go on."""
        erasure = self.store.erasures.get(self.ann.id)
        return erasure.step == len(self.worker._erasing._steps) - 1 and erasure.running

    def erased(self):
        account = self.operator("GET", f"/v1/admin/accounts/{self.ann.id}").get_json()
        assert account["name"] == "erased"
        return account["state"] == "erased"


SECRET = "whsec_" + "A" * 32


@pytest.fixture
def world(redis_url, monkeypatch):
    monkeypatch.setattr(erasing, "LATER_MS", 100)
    monkeypatch.setattr(stream, "HEARTBEAT_S", 0.01)
    monkeypatch.setattr(stream, "LIFE_S", 0.0)
    monkeypatch.setattr(scoreboard, "PROGRESS_PAUSE_S", 0.0)
    environment = {
        "REDIS_URL": redis_url,
        "SLAGVELD_ADMIN_TOKEN": ADMIN,
        "SLAGVELD_ACCOUNTS": "open",
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
    services = open_services(settings, BrokerQueue(open_broker(settings)))
    worker = WorkerProcess(settings)
    worker._erasing._settle_ms = 500
    worker.start()
    with ExitStack() as stack:
        stack.callback(services.close)
        stack.callback(worker.stop)
        bots = [Talkative(name, max_games=64, secret=SECRET) for name in ("honest", WORD)]
        urls = [stack.enter_context(hosted(bot)) + bot.name for bot in bots]
        yield World(create_app(services), worker, urls)


def leave_traces(world):
    """Let the account do all that names it; give the games, and a seat of bob's in one that runs on."""
    ann, bob, (first, second, third) = world.ann, world.bob, world.bots
    house = {"kind": "house", "name": "random"}
    with_first = [{"kind": "bot", "bot_id": first}, house, house]
    world.make(ann, "/v1/accounts/me/tokens", name=f"{WORD} token")
    rated = world.tournament(bob, first, world.other, "house:greedy", "house:random", rounds=1, deals="fresh")
    own = world.tournament(ann, "house:greedy", "house:random", ruleset="seven_up", table_size=2, name=f"{WORD} cup")
    world.await_end(rated)
    world.await_end(own)
    world.tournament(ann, second, world.other, state="open", name=f"{WORD} open")
    world.tournament(bob, second, world.other, "house:greedy", state="open", name="waits")
    world.game(ann, {"kind": "human", "name": f"{WORD} me"}, {"kind": "open"}, ruleset="seven_up", options={})
    waiting, _ = world.game(bob, {"kind": "human", "name": "bob"}, *[{"kind": "open"}] * 3)
    ann("PUT", f"/v1/games/{waiting}/seats/1", json={"name": f"{WORD} joins"})
    _, seats = world.game(ann, {"kind": "human", "name": f"{WORD} plays"}, *with_first)
    world.play_out(seats[0])
    four = (third, world.other, "house:greedy", "house:random")
    missed = world.tournament(bob, *four, state="open", rounds=2, options={"start_cards": 2})
    ann("PATCH", f"/v1/bots/{third}", json={"state": "paused"})
    bob("PUT", f"/v1/tournaments/{missed}/state", json={"state": "running"})
    world.await_end(missed)
    assert f"; {WORD} 2 (paused by its owner) forfeited 2 games" in world.store.tournaments.get(missed).reason
    deleted = world.bot(ann, f"{WORD} deleted")
    ann("DELETE", f"/v1/bots/{deleted}")
    world.operator("PUT", f"/v1/admin/bots/{second}/state", json={"state": "disabled", "reason": f"{WORD} cheats"})
    _, running = world.game(bob, {"kind": "human", "name": "bob"}, *with_first)
    view = running[0].decision()
    running[0].act(view["legal_actions"][0], view["decision_id"])
    assert running[0].decision()["decision_id"], "it waits for him"
    until(lambda: world.store.ratings.leaderboard("river") is not None, timeout_s=60)
    return running[0]


def tellers(world, redis_url):
    """Give the keys, of all databases, in which the word stands."""
    found = set()
    for number in (0, 1):
        redis = connect(redis_url.replace("db=0", f"db={number}"))
        redis.config_set("rdbcompression", "no")  # so that DUMP shows plain bytes
        found |= {(number, name) for name in redis.scan_iter() if WORD.encode() in plain(redis, name) + name}
        redis.close()
    return found


def told(world):
    """Give the paths whose answers hold the word, whoever of those that are left reads all there is to read."""
    games, _ = world.store.games.list_all(limit=1_000)
    tournaments, _ = world.store.tournaments.list_all(limit=1_000)
    filled = {
        "game_id": [game.id for game in games],
        "tournament_id": [each.id for each in tournaments],
        "bot_id": [*world.bots, world.other, "house:greedy"],
        "account_id": [world.ann.id, world.bob.id],
        "number": "0",
        "check_id": ["chk_" + "a" * 26],
        "name": ["river"],
    }
    readers = [world.bob, world.operator, lambda method, path: world.client.open(path, method=method)]
    asked = paths(world.app, "/", filled)
    return {path for path in asked for ask in readers if WORD.encode() in whole(ask("GET", path))}


def whole(answer):
    assert answer.status_code < 500, answer.text
    return str(answer.headers).encode() + answer.data


@pytest.mark.attack
def test_an_erased_account_is_named_nowhere_and_all_else_stands(world, redis_url):
    seat = leave_traces(world)
    assert {key.split(b":")[0].strip(b"{") for _, key in tellers(world, redis_url)} >= {
        b"account", b"bot", b"check", b"g", b"t", b"r", b"secret", b"audit",
    }  # fmt: skip
    paths = told(world)
    expected = ("games", "bots", "leaderboards", "admin/accounts", "admin/audit", "tournaments")
    assert all(any(path.startswith(f"/v1/{start}") for path in paths) for start in expected), paths
    before = standing(world)

    assert world.ann("DELETE", "/v1/accounts/me").status_code == 204
    assert world.ann("GET", "/v1/accounts/me").status_code == 401, "at once"
    until(world.waits_for_games, timeout_s=60)
    assert not world.erased(), "a game of its bot still runs, and its notes are in the log"
    world.play_out(seat)
    until(world.erased, timeout_s=60)

    assert tellers(world, redis_url) == set()
    assert told(world) == set()
    assert standing(world) == before
    records = world.records()
    assert len(records) >= 5
    for record in records:
        verify(read(record))
    assert b'"erased"' in b"".join(records)


def standing(world):
    """Give what must not change: who is where in standings, by ids, and the ratings."""
    tournaments, _ = world.store.tournaments.list_all(limit=1_000)
    ended = [each.id for each in tournaments if each.state.value == "finished"]
    shown = {name: world.client.get(f"/v1/tournaments/{name}/standings").get_json()["items"] for name in ended}
    for row in itertools.chain(*shown.values()):
        row.pop("name", None)
    return json.dumps(shown), [row.rating for row in world.store.ratings.leaderboard("river").rows]
