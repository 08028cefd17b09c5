"""What is wrong with the server, its clock, its queue: on one of the test's own, or by what one says of itself."""

from __future__ import annotations

import time

import pytest

from service.doctor import surroundings
from service.doctor.surroundings import of_server
from service.jobs import DeadLetters, open_broker
from service.launch.valkey import EmbeddedValkey
from service.store.connection import connect
from service.store.inspection import Inspection
from service.store.store import Store
from tests.service.bench import Desk, Worker
from tests.service.doctor.conftest import World

WELL = {
    "redis_version": "7.0.0",
    "maxmemory_policy": "noeviction",
    "evicted_keys": 0,
    "aof_enabled": 1,
    "aof_last_write_status": "ok",
    "aof_last_bgrewrite_status": "ok",
    "rdb_last_bgsave_status": "ok",
}


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, []),
        ({"redis_version": "8.1.3"}, []),
        ({"redis_version": "6.2.14"}, [("store_old", "6.2.14")]),
        ({"redis_version": "what"}, [("store_old", "what")]),
        ({"maxmemory_policy": "allkeys-lru"}, [("store_evicts", "maxmemory-policy is allkeys-lru")]),
        ({"evicted_keys": 3}, [("keys_evicted", "3 keys")]),
        ({"aof_enabled": 0}, [("no_log", "appendonly is no")]),
        ({"rdb_last_bgsave_status": "err"}, [("not_saved", "rdb_last_bgsave_status: err")]),
        ({"aof_last_write_status": "err"}, [("not_saved", "aof_last_write_status: err")]),
    ],
)
def test_a_server_is_judged_by_what_it_says_of_itself(changes, expected):
    assert [(each.code, each.where) for each in of_server(WELL | changes)] == expected


@pytest.fixture
def own(tmp_path, calls):
    """Give an arena on a server of the test's own, which may be ill-treated."""
    with EmbeddedValkey(tmp_path / "own") as server:
        store, redis = Store.open(server.url), connect(server.url)
        yield World(store, redis, Worker(store, calls), Desk(store), server.url)
        redis.close()
        store.close()


def codes(world, **settings):
    return [code for code, _ in world.found(**settings)]


def test_what_is_wrong_with_a_real_server_is_found_while_the_rest_is_looked_at(own):
    assert codes(own) == []
    own.redis.config_set("maxmemory-policy", "volatile-lru")
    own.redis.config_set("appendonly", "no")
    assert codes(own) == ["store_evicts", "no_log"]
    own.redis.config_set("maxmemory-policy", "noeviction")
    own.redis.config_set("maxmemory", own.redis.info("memory")["used_memory"] * 11 // 10)
    assert codes(own) == ["no_log", "memory_low"]
    own.redis.config_set("maxmemory", 1)
    assert codes(own) == ["store_refuses_writes", "no_log", "memory_low"]


def test_a_queue_that_is_away_is_found(world):
    assert codes(world, SLAGVELD_BROKER_URL="redis://127.0.0.1:1/0") == ["queue_away"]


@pytest.mark.parametrize(("ahead_s", "where"), [(60, "60 s ahead"), (-3_600, "3600 s behind")])
def test_a_clock_that_is_apart_is_found(world, ahead_s, where):
    inspection = Inspection(world.redis)
    letters = DeadLetters(open_broker(world.settings))
    clock = lambda: int((time.time() + ahead_s) * 1000)  # noqa: E731 - a clock
    looked = surroundings.Surroundings(world.settings, inspection, letters, clock=clock, is_still=False).look()
    assert [(each.code, each.where) for each in looked] == [("clock_apart", f"this machine's is {where}")]
