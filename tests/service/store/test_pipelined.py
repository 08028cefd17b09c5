"""Many commands in one round trip: what one is told is never taken for what another was."""

from __future__ import annotations

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import ResponseError

from service.launch.valkey import EmbeddedValkey
from service.store.connection import connect
from service.store.pipelined import exchange


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
