"""The waits must wake at once, end in time, and outlive the server."""

from __future__ import annotations

import threading
import time

import pytest

from bot_sdk.events import Decided
from bot_sdk.results.values import GameState
from service.launch.valkey import EmbeddedValkey
from service.store import keys
from service.store.store import Store
from service.store.watch import Watch


class Waiter(threading.Thread):
    """Waits in a thread of its own; tells when it ended and with what."""

    def __init__(self, watch, channel, seen, read, timeout_s):
        super().__init__()
        self.reading = threading.Event()
        self._wait = (watch, channel, seen, read, timeout_s)
        self.start()

    def run(self):
        watch, channel, seen, read, timeout_s = self._wait

        def told():
            self.reading.set()
            return read()

        self.told = watch.wait(channel, seen, told, timeout_s)
        self.ended = time.monotonic()

    def result(self):
        self.join(timeout=20)
        assert not self.is_alive()
        return self.told


def listening(watch, channel):
    """Wait until the server has confirmed that we listen."""
    ends = time.monotonic() + 10
    while not (channel in watch._channels and watch._channels[channel].listening):
        assert time.monotonic() < ends
        time.sleep(0.001)


def test_commit_wakes_all_who_wait_at_once(store, running):
    channel = keys.game_news(running.id)
    seen = store.games.pulse(running.id)
    waiters = [Waiter(store.watch, channel, seen, lambda: store.games.pulse(running.id), 20) for _ in range(20)]
    listening(store.watch, channel)
    began = time.monotonic()
    store.games.commit(running.id, [Decided(0, "bid:1")], expected=0, lease=None)
    assert all(waiter.result() for waiter in waiters)
    assert max(waiter.ended for waiter in waiters) - began < 0.5


def test_change_before_the_wait_is_seen_without_waiting(store, running):
    began = time.monotonic()
    assert store.watch.wait(keys.game_news(running.id), -1, lambda: store.games.pulse(running.id), 20)
    assert time.monotonic() - began < 5


def test_change_while_the_subscription_is_being_made_is_not_missed(store, running):
    """The change comes right after the first read: only a second read, once we listen, can see it."""
    value = [0]

    def read():
        before = value[0]
        value[0] = 1
        return before

    watch = Watch(store._redis, reread_s=60)
    try:
        assert Waiter(watch, keys.game_news(running.id), 0, read, 30).result()
    finally:
        watch.close()


@pytest.mark.parametrize("timeout_s", [0, 0.15])
def test_nothing_happens_and_the_wait_ends_in_time(store, running, timeout_s):
    seen = store.games.pulse(running.id)
    began = time.monotonic()
    assert not store.watch.wait(keys.game_news(running.id), seen, lambda: store.games.pulse(running.id), timeout_s)
    assert timeout_s <= time.monotonic() - began < timeout_s + 1


def test_message_without_a_change_is_no_change(store, running):
    channel = keys.game_news(running.id)
    waiter = Waiter(store.watch, channel, 7, lambda: 7, 0.4)
    listening(store.watch, channel)
    store._redis.publish(channel, "noise")
    assert waiter.result() is False


def test_close_sends_waiters_home(redis, running):
    watch = Watch(redis)
    waiter = Waiter(watch, "somewhere", 7, lambda: 7, 60)
    listening(watch, "somewhere")
    watch.close()
    assert waiter.result() is False
    assert watch.wait("somewhere", 7, lambda: 7, 60) is False
    assert not watch._thread.is_alive()


def test_abandoned_channels_are_left_and_can_be_waited_on_again(redis):
    watch = Watch(redis, linger_s=0, reread_s=60)
    try:
        for _ in range(3):
            waiter = Waiter(watch, "news", 7, lambda: 7, 0.05)
            assert waiter.result() is False
            ends = time.monotonic() + 10
            while redis.pubsub_numsub("news")[0][1]:
                assert time.monotonic() < ends
                watch._ring()
        value = [7]
        waiter = Waiter(watch, "news", 7, lambda: value[0], 20)
        listening(watch, "news")
        value[0] = 8
        redis.publish("news", "x")
        assert waiter.result()
    finally:
        watch.close()


def test_error_of_the_reader_is_the_waiters_and_leaves_nothing_behind(store):
    def broken():
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        store.watch.wait("news", 0, broken, 20)
    assert not store.watch._channels["news"].waiters


@pytest.fixture
def own(tmp_path):
    """Give a server to be killed, and a store on it."""
    with EmbeddedValkey(tmp_path) as server:
        store = Store.open(server.url)
        yield server, store
        store.close()


def test_waiter_outlives_a_restart_of_the_server(own, make_game):
    server, store = own
    store.games.create(make_game(state=GameState.RUNNING), secret=bytes(32), due_at=None)
    watch, channel = Watch(store._redis, reread_s=60), keys.game_news("gam_1")
    try:
        waiter = Waiter(watch, channel, 0, lambda: store.games.pulse("gam_1"), 30)
        listening(watch, channel)
        server.kill()
        server.start()
        listening(watch, channel)
        began = time.monotonic()
        assert store.games.commit("gam_1", [Decided(0, "bid:1")], expected=0, lease=None).status == "committed"
        assert waiter.result()
        assert waiter.ended - began < 3
    finally:
        watch.close()


def test_wait_on_a_dead_server_ends(own):
    server, store = own
    server.kill()
    began = time.monotonic()
    assert not store.watch.wait("news", 0, lambda: store.games.pulse("gam_1"), 0.2)
    assert time.monotonic() - began < 15
