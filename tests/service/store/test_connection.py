"""Every wait for the server is bounded."""

from __future__ import annotations

import os
import signal
import time

import pytest
from redis import UnixDomainSocketConnection
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError

from service.launch.valkey import EmbeddedValkey
from service.store.connection import connect
from service.store.store import Store


def test_one_user_too_many_waits_a_while_and_is_told(redis_url):
    client = connect(redis_url, max_connections=1, pool_timeout_s=0.1, retries=0)
    with client.pubsub() as held:
        held.subscribe("news")
        began = time.monotonic()
        with pytest.raises(RedisConnectionError, match="No connection available"):
            client.ping()
        assert 0.1 <= time.monotonic() - began < 6
    assert client.ping()
    client.close()


def test_dead_server_is_given_up_after_a_few_tries(tmp_path):
    with EmbeddedValkey(tmp_path) as server:
        store = Store.open(server.url)
        assert store.due.now()
        server.kill()
        began = time.monotonic()
        with pytest.raises(RedisConnectionError):
            store.due.now()
        assert time.monotonic() - began < 10
        server.start()
        assert store.due.now()
        store.close()


def test_server_that_dies_is_no_other_error_where_round_trips_are_timed(tmp_path):
    took = []
    with EmbeddedValkey(tmp_path) as server:
        never = connect(server.url, retries=0, timed=took.append)
        client = connect(server.url, retries=0, timed=took.append)
        assert client.ping()
        assert len(took) == 1
        server.kill()
        for each in (never, client, client):
            with pytest.raises(RedisConnectionError):
                each.ping()
            each.close()
    assert len(took) == 1, "what never began took no time"


@pytest.fixture
def stopped(tmp_path):
    """A server that stands still."""
    with EmbeddedValkey(tmp_path) as server:
        os.kill(server.pid, signal.SIGSTOP)
        yield server
        os.kill(server.pid, signal.SIGCONT)


def test_who_is_not_patient_waits_once_for_a_server_that_stands_still(stopped):
    client = connect(stopped.url, socket_timeout_s=0.5, is_patient=False)
    began = time.monotonic()
    with pytest.raises(RedisTimeoutError):
        client.ping()
    assert 0.5 <= time.monotonic() - began < 2.5
    client.close()


def test_who_is_patient_tries_again(stopped):
    client = connect(stopped.url, socket_timeout_s=0.2, retries=1)
    began = time.monotonic()
    with pytest.raises(RedisTimeoutError):
        client.ping()
    assert time.monotonic() - began >= 0.4
    client.close()


def test_socket_that_cannot_be_opened_in_time_is_a_server_that_stands_still(tmp_path, monkeypatch):
    def late(_):
        raise TimeoutError("timed out")

    monkeypatch.setattr(UnixDomainSocketConnection, "_connect", late)
    client = connect(f"unix://{tmp_path}/valkey.sock", is_patient=False)
    with pytest.raises(RedisTimeoutError):
        client.ping()
    client.close()


def test_database_in_the_address_is_used(valkey, redis):
    redis.set("a", 1)
    other = connect(valkey.url_of(3), max_connections=1)
    assert other.get("a") is None
    other.close()


@pytest.mark.parametrize("transaction", [True, False])
def test_error_of_a_pipeline_names_the_command_and_nothing_it_was_to_write(redis, transaction):
    redis.set("a", "text")
    with redis.pipeline(transaction=transaction) as pipe:
        pipe.hset("a", "field", "a secret")
        with pytest.raises(ResponseError) as told:
            pipe.execute()
    assert "HSET" in str(told.value)
    assert "WRONGTYPE" in str(told.value)
    assert "secret" not in str(told.value)
