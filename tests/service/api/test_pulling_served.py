"""Polls at the API as it is deployed: whoever has hung up is given nothing, and isn't there."""

from __future__ import annotations

import signal
import socket
from urllib.parse import urlsplit

import requests

from service.store import keys
from service.store.mailbox import Mailboxes, Office
from tests.integration.arena import wait_until
from tests.service.api.serving import serve


def poll(address, bot, token, seconds):
    """Send a poll, and give the connection on which it is answered."""
    parts = urlsplit(address)
    connection = socket.create_connection((parts.hostname, parts.port), timeout=30)
    head = f"GET /v1/bots/{bot}/decisions/next HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n"
    connection.sendall(f"{head}Prefer: wait={seconds}\r\n\r\n".encode())
    return connection


def calls(connection):
    """Read the calls that a poll is answered with, and hang up."""
    with connection:
        answer = b""
        while not answer.endswith(b"]"):
            more = connection.recv(65_536)
            assert more, answer
            answer += more
    return answer.partition(b"\r\n\r\n")[2]


def test_a_poll_whose_connection_has_ended_takes_nothing_and_keeps_nobody_there(redis_url, redis):
    with serve(redis_url) as (address, process, _):
        token = requests.post(f"{address}/v1/accounts", json={"name": "ann"}, timeout=30).json()["token"]
        auth = {"Authorization": f"Bearer {token}"}
        order = {"name": "lowball", "transport": "pull", "rulesets": ["river"]}
        bot = requests.post(f"{address}/v1/bots", json=order, headers=auth, timeout=30).json()["id"]
        office = Office(redis, "w1")

        dead = poll(address, bot, token, 60)
        wait_until(lambda: redis.exists(keys.mail_polled(bot)), 20, "a poll that waits")
        dead.close()
        assert office.put([(bot, "msg_1", b'{"id":"msg_1"}', 60_000)]) != [None], "it may be back in a moment"
        wait_until(lambda: office.put([(bot, "msg_2", b"{}", 1)]) == [None], 30, "a bot that counts as gone", every_s=1)
        redis.lrem(keys.mail_waiting(bot), 0, "msg_2")
        assert Mailboxes(redis).waiting(bot) == 1

        assert calls(poll(address, bot, token, 60)) == b'[{"id":"msg_1"}]'

        waiting = poll(address, bot, token, 60)
        wait_until(lambda: redis.exists(keys.mail_polled(bot)), 20, "a poll that waits")
        process.send_signal(signal.SIGTERM)
        assert calls(waiting) == b"[]", "an API that is to stop sends home who waits"
