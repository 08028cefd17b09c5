"""Who follows a channel must hear of news at once, end in time, and outlive the server."""

from __future__ import annotations

import threading
import time

import pytest
from redis.exceptions import TimeoutError as StoreTooSlow

from bot_sdk.events import Decided
from bot_sdk.results.values import GameState
from service.launch.valkey import EmbeddedValkey
from service.store import keys
from service.store.store import Store
from service.store.watch import Watch


class Follower(threading.Thread):
    """Follows in a thread of its own until what is read isn't `seen`; tells when it ended, and with what."""

    def __init__(self, watch, channel, read, timeout_s, *, seen=0, is_new=True):
        super().__init__()
        self._follow = lambda: watch.follow(channel, read, "it", lambda found: found != seen, timeout_s, is_new=is_new)
        self.start()

    def run(self):
        self.told = self._follow()
        self.ended = time.monotonic()

    def result(self):
        self.join(timeout=20)
        assert not self.is_alive()
        return self.told


class Value:
    """Something that is read, and how often it was."""

    def __init__(self, value=0):
        self.value = value
        self.reads = 0

    def read(self, _name):
        self.reads += 1
        return self.value


@pytest.fixture
def watch(redis):
    """Give one that reads only when it is told to."""
    made = Watch(redis, reread_s=60)
    yield made
    made.close()


def until(is_so, seconds=10):
    ends = time.monotonic() + seconds
    while not is_so():
        assert time.monotonic() < ends
        time.sleep(0.001)


def listening(watch, channel, waiters=1):
    """Wait until the server has confirmed that we listen, and so many have done what they do when it has."""
    until(lambda: channel in watch._channels and watch._channels[channel].listening)
    until(lambda: sum(not waiter.is_set() for waiter in watch._channels[channel].waiters) == waiters)


def length_of(store, game_id):
    return lambda _name: store.games.length(game_id)


def test_commit_wakes_all_who_follow_at_once(store, running):
    channel, read = keys.game_news(running.id), length_of(store, running.id)
    followers = [Follower(store.watch, channel, read, 20) for _ in range(20)]
    listening(store.watch, channel, waiters=20)
    began = time.monotonic()
    store.games.commit(running.id, [Decided(0, "bid:1")], expected=0, lease=None)
    assert [follower.result() for follower in followers] == [1] * 20
    assert max(follower.ended for follower in followers) - began < 0.5


def test_all_who_follow_share_what_one_reads(watch, redis):
    it = Value()
    followers = [Follower(watch, "news", it.read, 20) for _ in range(20)]
    listening(watch, "news", waiters=20)
    before = it.reads
    it.value = 1
    redis.publish("news", "x")
    assert [follower.result() for follower in followers] == [1] * 20
    assert it.reads == before + 1


def test_one_who_is_not_new_takes_what_others_found_since_the_last_news(watch, redis):
    it = Value()
    other = Follower(watch, "news", it.read, 20)
    listening(watch, "news")
    before = it.reads
    for _ in range(5):
        assert Follower(watch, "news", it.read, 0, is_new=False).result() == 0
    assert it.reads == before
    it.value = 1
    redis.publish("news", "x")
    assert other.result() == 1


def test_one_who_is_new_finds_what_nobody_was_told_of(watch):
    it = Value()
    other = Follower(watch, "news", it.read, 1)
    listening(watch, "news")
    it.value = 1
    assert Follower(watch, "news", it.read, 20).result() == 1
    assert other.result() in {0, 1}


def test_news_while_somebody_reads_is_read_again(watch, redis):
    """The one who reads is held until there was news; the others must not take what he found."""
    reading, go_on = threading.Event(), threading.Event()
    value = [0]

    def read(_name):
        found = value[0]
        if watch._channels["news"].listening and not reading.is_set():
            reading.set()
            assert go_on.wait(10)
        return found

    followers = [Follower(watch, "news", read, 20) for _ in range(3)]
    assert reading.wait(10)
    value[0] = 1
    heard = watch._channels["news"].news
    redis.publish("news", "x")
    until(lambda: watch._channels["news"].news > heard)
    go_on.set()
    assert [follower.result() for follower in followers] == [1] * 3


def test_change_while_the_subscription_is_being_made_is_not_missed(watch, redis):
    """The change comes right after the first read, and nobody hears of it: we must read again once we listen."""
    value = [0]

    def read(_name):
        before = value[0]
        value[0] = 1
        redis.publish("news", "x")
        return before

    assert Follower(watch, "news", read, 30).result() == 1


@pytest.mark.parametrize("timeout_s", [0, 0.15])
def test_nothing_happens_and_it_ends_in_time(watch, timeout_s):
    began = time.monotonic()
    assert Follower(watch, "news", Value().read, timeout_s).result() == 0
    assert timeout_s <= time.monotonic() - began < timeout_s + 4


def test_message_without_a_change_is_no_change(watch, redis):
    follower = Follower(watch, "news", Value().read, 0.4)
    listening(watch, "news")
    redis.publish("news", "noise")
    assert follower.result() == 0


def test_close_sends_all_home(redis):
    watch = Watch(redis)
    follower = Follower(watch, "somewhere", Value().read, 60)
    listening(watch, "somewhere")
    watch.close()
    assert follower.result() == 0
    assert Follower(watch, "somewhere", Value().read, 60).result() == 0
    assert not watch._thread.is_alive()


def test_abandoned_channels_are_left_and_can_be_followed_again(redis):
    watch = Watch(redis, linger_s=0, reread_s=60)
    try:
        for _ in range(3):
            assert Follower(watch, "news", Value().read, 0.05).result() == 0
            ends = time.monotonic() + 10
            while redis.pubsub_numsub("news")[0][1]:
                assert time.monotonic() < ends
                watch._ring()
        it = Value()
        follower = Follower(watch, "news", it.read, 20)
        listening(watch, "news")
        it.value = 8
        redis.publish("news", "x")
        assert follower.result() == 8
    finally:
        watch.close()


def test_error_of_the_reader_is_the_followers_and_leaves_nothing_behind(store):
    def broken(_name):
        raise ZeroDivisionError

    for is_new in (True, False):
        with pytest.raises(ZeroDivisionError):
            store.watch.follow("news", broken, "it", bool, 20, is_new=is_new)
    assert not store.watch._channels["news"].waiters
    assert not store.watch._channels["news"].turn.locked()


def test_one_who_reads_for_ever_does_not_hold_the_others_for_ever(redis):
    watch, go_on = Watch(redis, reread_s=0.2), threading.Event()

    def stuck(_name):
        assert go_on.wait(20)
        return 0

    first = Follower(watch, "news", stuck, 0, is_new=False)
    try:
        until(lambda: "news" in watch._channels and watch._channels["news"].turn.locked())
        with pytest.raises(StoreTooSlow):
            watch.follow("news", stuck, "it", bool, 5, is_new=False)
    finally:
        go_on.set()
        assert first.result() == 0
        watch.close()


@pytest.fixture
def own(tmp_path):
    """Give a server to be killed, and a store on it."""
    with EmbeddedValkey(tmp_path) as server:
        store = Store.open(server.url)
        yield server, store
        store.close()


def test_follower_outlives_a_restart_of_the_server(own, make_game):
    server, store = own
    store.games.create(make_game(state=GameState.RUNNING), secret=bytes(32), due_at=None)
    watch, channel = Watch(store._redis, reread_s=60), keys.game_news("gam_1")
    try:
        follower = Follower(watch, channel, length_of(store, "gam_1"), 30)
        listening(watch, channel)
        server.kill()
        until(lambda: not watch._channels[channel].listening)
        server.start()
        listening(watch, channel)
        began = time.monotonic()
        assert store.games.commit("gam_1", [Decided(0, "bid:1")], expected=0, lease=None).status == "committed"
        assert follower.result() == 1
        assert follower.ended - began < 3
    finally:
        watch.close()


def test_following_ends_though_the_server_is_dead(own):
    server, store = own
    began = time.monotonic()
    follower = Follower(store.watch, "news", length_of(store, "gam_1"), 0.5)
    listening(store.watch, "news")
    server.kill()
    assert follower.result() == 0
    assert time.monotonic() - began < 15
