from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from redis.exceptions import TimeoutError as RedisTimeoutError
from werkzeug.test import Client

from service.api.limits import Limits
from service.config import Settings
from service.store import keys

TIGHT = "3 per minute"


def statuses(client, times, **environ):
    return [client.get("/v1/rulesets", environ_overrides=environ).status_code for _ in range(times)]


def test_an_address_that_asks_too_often_waits(make_app):
    client = make_app(SLAGVELD_RATE_PER_ADDRESS=TIGHT).test_client()
    assert statuses(client, 4, REMOTE_ADDR="10.0.0.1") == [200, 200, 200, 429]
    assert statuses(client, 1, REMOTE_ADDR="10.0.0.2") == [200]
    refused = client.get("/v1/rulesets", environ_overrides={"REMOTE_ADDR": "10.0.0.1"})
    assert refused.content_type == "application/problem+json"
    assert refused.get_json()["code"] == "rate_limited"
    assert 1 <= int(refused.headers["Retry-After"]) <= 61


def test_addresses_of_one_ipv6_network_count_together(make_app):
    client = make_app(SLAGVELD_RATE_PER_ADDRESS=TIGHT).test_client()
    seen = [statuses(client, 1, REMOTE_ADDR=f"2001:db8::{n}")[0] for n in range(1, 5)]
    assert seen == [200, 200, 200, 429]
    assert statuses(client, 1, REMOTE_ADDR="2001:db8:0:1::1") == [200]


def test_a_token_counts_from_all_addresses(make_app):
    client = make_app(SLAGVELD_RATE_PER_TOKEN=TIGHT).test_client()
    token = client.post("/v1/accounts", json={"name": "ann"}).get_json()["token"]
    headers = {"Authorization": f"Bearer {token}"}
    seen = [
        client.get("/v1/accounts/me", headers=headers, environ_overrides={"REMOTE_ADDR": f"10.0.0.{n}"}).status_code
        for n in range(4)
    ]
    assert seen == [200, 200, 200, 429]


def test_accounts_have_a_limit_of_their_own(make_app):
    client = make_app(SLAGVELD_RATE_NEW_ACCOUNTS="1 per hour").test_client()
    assert client.post("/v1/accounts", json={"name": "ann"}).status_code == 201
    assert client.post("/v1/accounts", json={"name": "bob"}).status_code == 429
    assert client.get("/v1/rulesets").status_code == 200


def test_two_processes_count_together(make_app):
    one, two = (make_app(SLAGVELD_RATE_PER_ADDRESS=TIGHT).test_client() for _ in range(2))
    assert statuses(one, 2) + statuses(two, 2) == [200, 200, 200, 429]


def test_limits_stay_on_while_the_store_is_away(make_app, tmp_path):
    app = make_app(REDIS_URL=f"unix://{tmp_path}/nothing.sock", SLAGVELD_RATE_PER_ADDRESS=TIGHT)
    assert statuses(app.test_client(), 4) == [200, 200, 200, 429]


def test_health_is_never_limited(make_app):
    client = make_app(SLAGVELD_RATE_PER_ADDRESS="1 per hour").test_client()
    assert [client.get("/health/live").status_code for _ in range(5)] == [200] * 5


def test_forwarded_addresses_are_believed_from_our_proxies_alone(make_app):
    def forwarded(client: Client, sender: str) -> int:
        return client.get("/v1/rulesets", headers={"X-Forwarded-For": sender}).status_code

    doubted = make_app(SLAGVELD_RATE_PER_ADDRESS="1 per hour").test_client()
    assert [forwarded(doubted, f"10.0.0.{n}") for n in range(2)] == [200, 429]
    believed = make_app(SLAGVELD_RATE_PER_ADDRESS="1 per hour", SLAGVELD_PROXIES="1").test_client()
    assert [forwarded(believed, f"10.0.1.{n}") for n in range(2)] == [200, 200]


class Doors:
    """A store that is away, as many requests find at once; it answers again when it is `back`."""

    def __init__(self, at_once=1):
        self.gate = threading.Barrier(at_once)
        self.asked = 0
        self.is_back = False

    def count(self, _counters):
        self.asked += 1
        if self.is_back:
            return
        self.gate.wait(10)
        raise RedisTimeoutError("away")


@pytest.fixture
def limits():
    """Make limits over a store that fails so, and a clock that is set by hand."""

    def make(doors):
        now = [100.0]
        made = Limits(
            Settings.from_env({"SLAGVELD_RATE_PER_ADDRESS": "100000 per second"}), doors, monotonic=lambda: now[0]
        )
        return made, now

    return make


def ask(app, limits):
    with app.test_request_context("/v1/rulesets"):
        limits.check()


def test_a_store_that_many_find_away_at_once_is_tried_again_after_a_second(app, limits):
    doors = Doors(at_once=8)
    counted, now = limits(doors)
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda _: ask(app, counted), range(8)))
    doors.is_back = True
    ask(app, counted)
    assert doors.asked == 8
    now[0] += 1.0
    ask(app, counted)
    assert doors.asked == 9


def test_a_store_that_stays_away_is_tried_ever_less_often(app, limits):
    counted, now = limits(doors := Doors())
    tried = []
    while now[0] < 250:
        before = doors.asked
        ask(app, counted)
        tried += [now[0] - 100] * (doors.asked - before)
        now[0] += 0.5
    assert tried == [0, 1, 3, 7, 15, 31, 63, 95, 127]


def test_a_counter_that_is_damaged_is_counted_in_memory_and_the_others_in_the_store(make_app, redis):
    client = make_app(SLAGVELD_RATE_PER_ADDRESS=TIGHT).test_client()
    assert statuses(client, 1, REMOTE_ADDR="10.0.0.1") == [200]
    (name,) = redis.keys(keys.rate("*10.0.0.1*"))
    redis.delete(name)
    redis.rpush(name, "no count")
    assert statuses(client, 4, REMOTE_ADDR="10.0.0.1") == [200, 200, 200, 429]
    assert statuses(client, 1, REMOTE_ADDR="10.0.0.2") == [200]
    (other,) = redis.keys(keys.rate("*10.0.0.2*"))
    assert redis.get(other) == b"1"


@pytest.mark.parametrize("setting", [("maxmemory", 1, 0), ("min-replicas-to-write", 1, 0)])
def test_limits_stay_on_while_the_store_takes_no_writes(make_app, redis, setting):
    client = make_app(SLAGVELD_RATE_PER_ADDRESS=TIGHT).test_client()
    name, bad, good = setting
    redis.config_set(name, bad)
    try:
        assert statuses(client, 4) == [200, 200, 200, 429]
    finally:
        redis.config_set(name, good)
