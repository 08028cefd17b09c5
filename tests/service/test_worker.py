"""The worker process as a whole: who waits behind whom, what its parts do at its end."""

from __future__ import annotations

import resource
import sys
import threading
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from bot_sdk.results.values import GameState
from service.arena.checks import OurFaultError
from service.config import Settings
from service.referee.run import Run
from service.store import keys, packed
from service.worker import process as worker
from service.worker import serving
from service.worker.process import CHECK_THREADS, WorkerProcess
from tests.service.fakes import until
from tests.service.rated import Season


class Stopping:
    """A Dramatiq worker whose stop takes until the other's has begun, too."""

    def __init__(self, both: threading.Barrier) -> None:
        self._both = both
        self.is_stopped = False

    def stop(self, timeout):
        self._both.wait(timeout=timeout / 1000)
        self.is_stopped = True


class Stuck(WorkerProcess):
    """A worker process whose checks don't end before `gate` opens, and whose games only say that they are driven."""

    def __init__(self, settings: Settings) -> None:
        self.gate, self.has_checked, self.has_driven = threading.Event(), threading.Event(), threading.Event()
        super().__init__(settings)

    def check_bot(self, check_id):
        self.has_checked.set()
        self.gate.wait(timeout=30)

    def drive(self, game_id):
        self.has_driven.set()


class Noted(WorkerProcess):
    """A worker process that only notes which games it is given."""

    def __init__(self, settings: Settings, takes: list[str]) -> None:
        self.taken: list[str] = []
        super().__init__(settings, takes)

    def drive(self, game_id):
        self.taken.append(game_id)

    def drive_shard(self, game_ids):
        self.taken.extend(game_ids)


@pytest.fixture
def settings(redis_url):
    return Settings.from_env({"REDIS_URL": redis_url})


@pytest.fixture
def process(settings):
    return WorkerProcess(settings)


@pytest.fixture
def stuck(settings):
    before = sys.getswitchinterval()
    process = Stuck(settings)
    process.start()
    yield process
    process.gate.set()
    process.stop()
    sys.setswitchinterval(before)


def test_checks_of_slow_bots_keep_no_person_waiting(stuck):
    for number in range(2 * CHECK_THREADS):
        stuck._queue.check(f"chk_{number}")
    assert stuck.has_checked.wait(timeout=10)
    stuck._queue.drive("gam_1")
    assert stuck.has_driven.wait(timeout=5)


@pytest.mark.parametrize(
    ("takes", "queues", "run"),
    [
        ("interactive", [{"interactive"}, {"checks"}], {"people"}),
        ("tournament", [{"tournament"}, {"fits"}], {"tournaments"}),
    ],
)
def test_worker_serves_only_the_queues_of_what_it_takes_on_and_sweeps(settings, store, redis, takes, queues, run):
    before = sys.getswitchinterval()
    process = WorkerProcess(settings, [takes])
    assert [worker.consumer_whitelist for worker in process._workers] == queues
    process.start()
    try:
        runs = (process._people, process._tournaments)
        assert {each.name for each in runs if each.is_alive()} == run
        until(lambda: store.due.workers(60_000) == (takes == "tournament"))
        until(lambda: redis.exists(keys.SWEEPER), timeout_s=30)
    finally:
        process.stop()
        sys.setswitchinterval(before)


def test_what_one_worker_leaves_another_takes_on(settings, desk):
    """A game of bots waits for a worker of tournaments, however many others there are."""
    before = sys.getswitchinterval()
    people = Noted(settings, ["interactive"])
    people.start()
    try:
        people._queue.drive_shard(["gam_1"])
        people._queue.drive("gam_2")
        until(lambda: people.taken == ["gam_2"])
        tournaments = Noted(settings, ["tournament"])
        tournaments.start()
        try:
            until(lambda: tournaments.taken == ["gam_1"])
        finally:
            tournaments.stop()
        assert people.taken == ["gam_2"]
    finally:
        people.stop()
        sys.setswitchinterval(before)


def test_both_queues_stop_being_served_at_once(process):
    """Else the one still served would take up again, for seconds, the games just handed back."""
    both = threading.Barrier(2)
    process._workers = [Stopping(both), Stopping(both)]
    process.stop()
    assert [worker.is_stopped for worker in process._workers] == [True, True]


def test_game_that_comes_when_the_run_has_ended_is_left_to_another_process(process):
    """Jobs already fetched are still done while the process stops; nobody would hear of these."""
    sent = []
    process._queue = SimpleNamespace(drive=sent.append)
    process._stopping.set()
    process.drive("gam_1")
    assert sent == ["gam_1"]


def test_games_of_tournaments_that_find_no_room_go_back_into_the_queue(process, monkeypatch):
    sent = []
    process._queue = SimpleNamespace(drive_shard=sent.append)
    monkeypatch.setattr(worker, "ROOM_S", 0.01)
    process.drive_shard(["gam_1", "gam_2"])
    assert sent == []
    process.drive_shard(["gam_3"])  # nobody has taken up those before
    assert sent == [["gam_3"]]


@pytest.mark.parametrize(
    ("workers", "left", "pauses"), [(1, 0, False), (2, 0, True), (2, 4, True), (2, 5, False), (3, 6, True)]
)
def test_worker_among_others_leaves_them_the_last_shards(process, workers, left, pauses):
    """While there are many they needn't be waited for."""
    waited = []
    process._stopping = SimpleNamespace(is_set=lambda: False, wait=waited.append, set=lambda: None)
    process._sweep.workers = workers
    for number in range(left):
        process._queue.drive_shard([f"gam_{number}"])
    assert process._queue.count_shards() == left
    process.drive_shard(["gam_taken"])
    assert waited == ([worker.SHARE_S] if pauses else [])


def test_games_of_tournaments_that_come_when_the_run_has_ended_are_left_to_another_process(process):
    sent = []
    process._queue = SimpleNamespace(drive_shard=sent.append)
    process._stopping.set()
    process.drive_shard(["gam_1", "gam_2"])
    assert sent == [["gam_1", "gam_2"]]


def test_run_that_breaks_is_followed_by_another(desk, redis_url, monkeypatch, caplog):
    process = WorkerProcess(Settings.from_env({"REDIS_URL": redis_url}))
    broken = process._tournaments.current
    monkeypatch.setattr(broken, "_turn", lambda: 1 / 0)
    process._tournaments.start()
    until(lambda: process._tournaments.current is not broken)
    game = desk.game("house:random", "house:greedy")
    process.drive_shard([game])
    until(lambda: desk.state(game) is GameState.FINISHED, timeout_s=20)
    assert "the games of tournaments broke; another begins" in caplog.text
    process.stop()


def test_run_that_breaks_is_followed_by_another_though_that_takes_two_tries(desk, redis_url, monkeypatch):
    process = WorkerProcess(Settings.from_env({"REDIS_URL": redis_url}))
    broken, tries = process._tournaments.current, [OSError(24, "too many open files")]

    def make(referee, **more):
        if tries:
            raise tries.pop()
        return Run(referee, **more)

    monkeypatch.setattr(broken, "_turn", lambda: 1 / 0)
    monkeypatch.setattr(serving, "Run", make)
    monkeypatch.setattr(serving, "AGAIN_S", 0.01)
    process._tournaments.start()
    until(lambda: process._tournaments.current is not broken)
    game = desk.game("house:random", "house:greedy")
    process.drive_shard([game])
    until(lambda: desk.state(game) is GameState.FINISHED, timeout_s=20)
    process.stop()


def test_worker_takes_the_descriptors_that_it_may_have(redis_url):
    before, limits = sys.getswitchinterval(), resource.getrlimit(resource.RLIMIT_NOFILE)
    process = WorkerProcess(Settings.from_env({"REDIS_URL": redis_url}))
    resource.setrlimit(resource.RLIMIT_NOFILE, (1_024, limits[1]))
    try:
        process.start()
        process.stop()
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == min(worker.DESCRIPTORS, limits[1])
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        sys.setswitchinterval(before)


def test_process_that_stops_leaves_the_sweeping_to_others_at_once(redis_url, store):
    settings = Settings.from_env({"REDIS_URL": redis_url, "SLAGVELD_SWEEP_MS": "60000"})
    process = WorkerProcess(settings)
    process._sweep.once()
    assert not store.due.lock("another", 1_000)
    process._sweeper.start()
    process.stop()
    assert store.due.lock("another", 1_000)


# --- retention ------------------------------------------------------------------------------------------------------


@pytest.fixture
def old_game(desk, worker, redis):
    """Make a game that ended in 2020."""
    game = desk.game("house:random", "house:random")
    worker.drive(game)
    meta = replace(desk.meta(game), ended_at=1_577_836_800_000)
    redis.set(keys.game_packed(game), packed.with_game(redis.get(keys.game_packed(game)), meta))
    return game


def test_old_games_leave_for_the_archive_of_a_worker_that_has_one(redis_url, store, old_game, tmp_path):
    environment = {"REDIS_URL": redis_url, "SLAGVELD_ARCHIVE": str(tmp_path / "archive")}
    process = WorkerProcess(Settings.from_env(environment))
    process._retainer.start()
    until(lambda: store.games.get(old_game) is None, timeout_s=30)
    process.stop()
    (path,) = tmp_path.glob("archive/records/*")
    assert path.name == "2020-01-01.jsonl"
    assert store.retention.lock("another", 1)


def test_without_an_archive_nothing_leaves(redis_url, store, old_game):
    before = sys.getswitchinterval()
    process = WorkerProcess(Settings.from_env({"REDIS_URL": redis_url}))
    process.start()
    assert process._retainer is None
    process.stop()
    sys.setswitchinterval(before)
    assert store.games.get(old_game) is not None


# --- ratings ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def quick(redis_url):
    """Run a worker process that looks for what is due all the time."""
    before = sys.getswitchinterval()
    settings = {"REDIS_URL": redis_url, "SLAGVELD_SWEEP_MS": "50", "SLAGVELD_RATINGS_MS": "100"}
    process = WorkerProcess(Settings.from_env(settings))
    process.start()
    yield process
    process.stop()
    sys.setswitchinterval(before)


@pytest.fixture
def leaderboard(store):
    """Wait until the ratings are made from so many results, and give them."""

    def wait(results):
        until(lambda: (board := store.ratings.leaderboard("river")) and board.results == results, timeout_s=30)
        return store.ratings.leaderboard("river")

    return wait


def test_results_are_fitted_by_the_worker_as_they_come(quick, store, leaderboard):
    season = Season(store, quick._ratings)
    season.play("bot_a", "bot_b", "bot_c", "house:greedy", times=12)
    first = leaderboard(12)
    assert [row.bot_id for row in first.rows] == ["bot_a", "bot_b", "bot_c", "house:greedy"]
    season.play("bot_d", "bot_a", "bot_b", "bot_c")
    second = leaderboard(13)
    assert second.number > first.number
    assert {row.games for row in second.rows if row.bot_id == "bot_d"} == {1}


def test_fit_that_breaks_keeps_the_worker_from_nothing(quick, store, leaderboard, redis, caplog):
    redis.hset(keys.rated("seven_up"), "gam_1", b"{")
    until(lambda: "the ratings of seven_up stay as they are for now" in caplog.text, timeout_s=30)
    Season(store, quick._ratings).play("bot_a", "bot_b", "bot_c", "bot_d")
    assert len(leaderboard(1).rows) == 4
    assert caplog.text.count("the ratings of seven_up stay") == 1


def test_check_that_came_to_nothing_by_our_own_fault_is_left_to_the_sweeper(process, monkeypatch, caplog):
    """Else the queue would try it again, too, and so would all the jobs that the sweeper sends."""

    def breaks(_check_id):
        raise OurFaultError("check chk_1 of bot_a came to nothing by our own fault")

    monkeypatch.setattr(process._checks, "run", breaks)
    process.check_bot("chk_1")
    assert "it is run again" in caplog.text
