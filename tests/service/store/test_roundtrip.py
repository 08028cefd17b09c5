"""Many commands in one round trip: what one is told is never taken for what another was."""

from __future__ import annotations

from hashlib import sha1

import pytest
from redis import Redis
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import NoScriptError, ResponseError
from redis.exceptions import TimeoutError as RedisTimeoutError
from redis.maint_notifications import MaintNotificationsConfig

from service.launch.valkey import EmbeddedValkey
from service.store.connection import _ByPath, connect
from service.store.roundtrip import as_fields, exchange, raised, transaction


def test_each_command_has_its_answer_and_an_error_stands_in_its_place(redis):
    told = exchange(redis, [("SET", "a", "x"), ("RPUSH", "a", b"1"), ("GET", "a"), ("INCRBY", "n", 3)])
    assert isinstance(told[1], ResponseError)
    assert [told[0], told[2], told[3]] == [b"OK", b"x", 3]


def test_connection_that_died_while_it_idled_is_opened_anew(tmp_path):
    with EmbeddedValkey(tmp_path) as server:
        client = connect(server.url, max_connections=1)
        assert exchange(client, [("SET", "a", "x")]) == [b"OK"]
        server.kill()
        server.start()
        assert exchange(client, [("PING",), ("ECHO", "b")]) == [b"PONG", b"b"]
        client.close()


def test_nothing_to_say_is_not_said(tmp_path):
    client = connect(f"unix://{tmp_path}/nobody", retries=0)
    assert exchange(client, []) == []


def test_server_that_is_gone_is_given_up_and_the_connection_given_back(tmp_path):
    with EmbeddedValkey(tmp_path) as server:
        client = connect(server.url, max_connections=1, pool_timeout_s=0.1, retries=1)
        client.ping()
        server.kill()
        for _ in range(3):
            with pytest.raises(RedisConnectionError) as told:
                exchange(client, [("PING",)])
            assert "No connection available" not in str(told.value)
        server.start()
        assert exchange(client, [("PING",)]) == [b"PONG"]
        client.close()


def test_answers_that_nobody_read_are_not_taken_for_the_next_ones(redis_url, monkeypatch):
    client = connect(redis_url, max_connections=1)
    client.ping()

    class Stopped(BaseException):
        """What a signal may raise anywhere."""

    connection = client.connection_pool.get_connection()
    client.connection_pool.release(connection)
    with monkeypatch.context() as patch:

        def interrupted(*_args, **_more):
            raise Stopped

        patch.setattr(connection, "read_response", interrupted)
        with pytest.raises(Stopped):
            exchange(client, [("ECHO", "old"), ("ECHO", "older")])
    assert exchange(client, [("ECHO", "new")]) == [b"new"]
    client.close()


# --- transactions -----------------------------------------------------------------------------------------------------


def test_transaction_is_one_step_whose_errors_stand_in_their_places(redis):
    told = transaction(redis, [("HSET", "h", "a", "1", "b", "2"), ("RPUSH", "h", "x"), ("HGETALL", "h")])
    assert (told[0], as_fields(told[2])) == (2, {b"a": b"1", b"b": b"2"})
    assert isinstance(told[1], ResponseError)


def test_transaction_that_the_server_does_not_begin_does_nothing_and_raises_why(redis):
    with pytest.raises(ResponseError, match="wrong number of arguments"):
        transaction(redis, [("SET", "a", "x"), ("GET",)])
    assert redis.get("a") is None
    assert transaction(redis, [("SET", "a", "y")]) == [b"OK"]


def test_transaction_is_sent_again_as_a_whole_when_the_connection_died(tmp_path):
    with EmbeddedValkey(tmp_path) as server:
        client = connect(server.url, max_connections=1)
        client.ping()
        server.kill()
        server.start()
        assert transaction(client, [("SET", "a", "x"), ("GET", "a")]) == [b"OK", b"x"]
        client.close()


def test_fields_of_a_hash_are_the_same_by_either_protocol(redis_url):
    none = MaintNotificationsConfig(enabled=False)  # redis-py before 8 has none by a socket in the file system
    for protocol in (2, 3):
        client = Redis.from_url(redis_url, protocol=protocol, connection_class=_ByPath, maint_notifications_config=none)
        client.hset("h", mapping={"a": "1", "b": "2"})
        (told,) = exchange(client, [("HGETALL", "h")])
        assert as_fields(told) == {b"a": b"1", b"b": b"2"}
        client.close()


# --- scripts ----------------------------------------------------------------------------------------------------------

ADD = "#!lua\nreturn redis.call('INCRBY', KEYS[1], ARGV[1])"
KEEP = "#!lua\nredis.call('SET', KEYS[1], ARGV[1])\nreturn redis.status_reply('KEPT')"


def digest(text):
    return sha1(text.encode()).hexdigest()


def test_script_that_the_server_has_forgotten_is_loaded_and_nothing_before_it_is_done_twice(redis):
    redis.script_flush()
    redis.script_load(ADD)
    commands = [
        ("EVALSHA", digest(ADD), 1, "n", 1),
        ("RPUSH", "l", "before"),
        ("EVALSHA", digest(KEEP), 1, "k", "x"),
        ("GET", "k"),
    ]
    assert exchange(redis, commands, [ADD, KEEP]) == [1, 1, b"KEPT", b"x"]
    assert exchange(redis, commands, [ADD, KEEP]) == [2, 2, b"KEPT", b"x"]
    redis.script_flush()
    assert exchange(redis, commands, [ADD, KEEP])[0] == 3


def test_script_that_cannot_be_loaded_stays_unknown(redis):
    told = exchange(redis, [("EVALSHA", digest("no"), 0), ("ECHO", "b")], ["no lua"])
    assert isinstance(told[0], NoScriptError)
    assert told[1] == b"b"
    with pytest.raises(NoScriptError):
        raised(told[0])


def test_answers_that_come_too_late_are_not_taken_for_the_next_ones(redis, redis_url):
    slow = connect(redis_url, max_connections=1, socket_timeout_s=0.1, retries=0)
    assert exchange(slow, [("ECHO", "first")]) == [b"first"]
    redis.execute_command("CLIENT", "PAUSE", 400, "ALL")
    with pytest.raises(RedisTimeoutError):
        exchange(slow, [("ECHO", "old"), ("ECHO", "older")])
    redis.execute_command("CLIENT", "UNPAUSE")
    assert exchange(slow, [("ECHO", "new")]) == [b"new"]
    slow.close()
