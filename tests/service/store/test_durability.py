"""What a kill -9 of the server may cost: nothing acknowledged, and never a game that contradicts itself."""

from __future__ import annotations

import threading

import pytest
from redis.exceptions import RedisError

from bot_sdk.events import Decided
from bot_sdk.results.values import GameState
from service.launch.valkey import EmbeddedValkey
from service.store.store import Store

SECRET = bytes(range(32))


@pytest.fixture(params=["everysec", "always"])
def own(tmp_path, request):
    with EmbeddedValkey(tmp_path, fsync=request.param) as server:
        store = Store.open(server.url)
        yield server, store
        store.close()


def test_acknowledged_writes_outlive_kill_9(own, make_game):
    """The process dies, the machine doesn't: what was written is with the kernel, synced or not."""
    server, store = own
    store.games.create(make_game(state=GameState.RUNNING), secret=SECRET, due_at=12)
    for n in range(200):
        store.games.commit("gam_1", [Decided(0, f"play:{n}")], expected=n, lease=None)
    server.kill()
    server.start()
    game, log, secret = store.games.load("gam_1")
    assert (game.state, secret) == (GameState.RUNNING, SECRET)
    assert [event.action for _, event in log] == [f"play:{n}" for n in range(200)]
    assert store.due.peek(12, 9) == [("game:gam_1", 12)]


def test_writer_goes_on_over_kills_and_each_event_stands_once(own, make_game):
    """One writer commits 400 events and asks again after an error, while the server is killed five times."""
    server, store = own
    store.games.create(make_game(state=GameState.RUNNING), secret=SECRET, due_at=None)
    total, reached = 400, threading.Semaphore(0)
    failures = []

    def write():
        for n in range(total):
            ending = GameState.FINISHED if n == total - 1 else None
            for _ in range(100):
                try:
                    told = store.games.commit("gam_1", [Decided(0, str(n))], expected=n, lease=None, ending=ending)
                except RedisError:
                    continue
                if told.status != "committed":
                    failures.append((n, told))
                break
            reached.release()

    writer = threading.Thread(target=write)
    writer.start()
    for _ in range(5):
        for _ in range(60):
            assert reached.acquire(timeout=30)
        server.kill()
        server.start()
    writer.join(timeout=60)
    assert not writer.is_alive()
    assert failures == []
    game, log, _ = store.games.load("gam_1")
    assert [event.action for _, event in log] == [str(n) for n in range(total)]
    assert game.state is GameState.FINISHED


def test_torn_end_of_the_file_is_cut_at_a_whole_commit(own, make_game):
    """A power cut may tear the file anywhere: what is left is a prefix of whole commits."""
    server, store = own
    store.games.create(make_game(state=GameState.RUNNING), secret=SECRET, due_at=None)
    for n in range(0, 20, 2):
        pair = [Decided(0, str(n)), Decided(1, str(n + 1))]
        ending = GameState.FINISHED if n == 18 else None
        store.games.commit("gam_1", pair, expected=n, lease=None, ending=ending)
    server.stop()
    (file,) = server.log_path.parent.glob("appendonlydir/*.incr.aof")
    whole = file.read_bytes()
    for cut in (7, 60, 200, 400):
        file.write_bytes(whole[:-cut])
        server.start()
        game, log, _ = store.games.load("gam_1")
        assert 0 < len(log) < 20
        assert len(log) % 2 == 0
        assert [event.action for _, event in log] == [str(n) for n in range(len(log))]
        assert game.state is GameState.RUNNING
        server.stop()
