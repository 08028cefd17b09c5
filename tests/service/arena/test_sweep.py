"""The sweeper: what is due is attended to, by one process at a time, and nothing stays lying."""

from __future__ import annotations

import logging
from collections import Counter

import pytest
from msgspec.structs import replace

from bot_sdk.results.values import GameState
from service.arena.checking import run_alone
from service.arena.sweep import ORPHAN_MS, shards
from service.metrics.meters import Meters
from service.store import due, keys
from service.store.entities import Check
from tests.service.arena.conftest import OPEN_SEAT_MS, PATIENCE_MS
from tests.service.fakes import HeldQueue, until

FOUR = ("bot_a", "bot_b", "bot_c", "bot_d")


def is_due_in(store, name, ms):
    """Tell whether a name is due in about `ms` from now."""
    at = store.due.at(name)
    return at is not None and abs(at - store.due.now() - ms) < 1_000


def age(store, name, ms):
    """Make a name due `ms` ago."""
    store.due.add(name, store.due.now() - ms)


# --- games ------------------------------------------------------------------------------------------------------------


def test_games_of_bots_are_regrouped_into_shards(sweep, desk, queue):
    games = {desk.game("bot_a", "bot_b") for _ in range(5)}
    sweep.once()
    assert [len(shard) for shard in queue.shards] == [3, 2]
    assert {game for shard in queue.shards for game in shard} == games
    assert queue.driven == []


def test_games_with_people_are_driven_one_by_one(sweep, desk, queue):
    game = desk.game("bot_a", "human:ann")
    sweep.once()
    assert (queue.driven, queue.shards) == ([game], [])


class SwiftWorkers(HeldQueue):
    """Has each game driven and waiting for a person before the sweeper goes on."""

    def __init__(self, due):
        super().__init__()
        self.due = due

    def drive(self, game_id):
        self.due.add(due.game(game_id), self.due.now() + 60_000)


def test_time_that_a_worker_sets_at_once_stands(make_sweep, desk, store):
    games = [desk.game("bot_a", "human:ann") for _ in range(2)]
    make_sweep(queue=SwiftWorkers(store.due)).once()
    assert all(is_due_in(store, due.game(game), 60_000) for game in games)


def test_game_is_sent_again_only_when_patience_has_run_out(sweep, desk, queue, store):
    game = desk.game("bot_a", "bot_b")
    sweep.once()
    assert is_due_in(store, due.game(game), PATIENCE_MS)
    sweep.once()
    assert queue.shards == [[game]]
    age(store, due.game(game), 1)
    sweep.once()
    assert queue.shards == [[game], [game]]


def test_game_in_a_workers_hands_is_left_there(sweep, desk, queue, store):
    game = desk.game("bot_a", "bot_b")
    store.games.acquire(game, "a worker", 10_000)
    sweep.once()
    assert queue.shards == []
    assert is_due_in(store, due.game(game), PATIENCE_MS)


def test_game_of_a_dead_worker_is_found_when_its_lease_has_run_out(sweep, desk, queue, store, worker):
    game = desk.game("bot_a", "bot_b")
    assert worker.leases.take(game, "dead")
    sweep.once()
    assert queue.shards == []
    store._redis.delete(f"{{g:{game}}}:lease")
    age(store, due.game(game), 1)
    sweep.once()
    assert queue.shards == [[game]]


def test_game_that_is_not_due_yet_is_not_touched(sweep, desk, queue, store):
    game = desk.game("bot_a", "human:ann")
    store.due.add(due.game(game), at := store.due.now() + 60_000)
    sweep.once()
    assert (queue.driven, store.due.at(due.game(game))) == ([], at)


@pytest.mark.parametrize("state", [GameState.CANCELLED, GameState.ABORTED, GameState.VOID])
def test_ended_game_that_was_not_settled_is_driven_to_its_end(sweep, desk, queue, store, state, worker):
    game = desk.game("bot_a", "bot_b")
    store.games.end(game, state)
    sweep.once()
    assert queue.driven == [game]
    worker.drive(game)
    assert store.due.at(due.game(game)) is None


def test_entry_without_a_game_is_dropped_after_a_minute(sweep, queue, store):
    age(store, due.game("gam_old"), 61_000)
    age(store, due.game("gam_new"), 55_000)
    sweep.once()
    assert store.due.at(due.game("gam_old")) is None
    assert store.due.at(due.game("gam_new")) is not None
    assert (queue.driven, queue.shards) == ([], [])


def unreadable(redis, key):
    redis.hset(key, "body", b"{")


def of_another_kind(redis, key):
    redis.set(key, b"nonsense")


@pytest.mark.parametrize("damage", [unreadable, of_another_kind])
def test_game_that_can_not_be_read_keeps_nobody_from_the_others(sweep, desk, queue, redis, caplog, damage):
    damaged, good = desk.game("human:ann", "bot_a"), desk.game("human:bea", "bot_a")
    damage(redis, keys.game_meta(damaged))
    with caplog.at_level(logging.ERROR):
        sweep.once()
    assert queue.driven == [good]
    assert damaged in caplog.text


def test_open_seat_expires(sweep, desk, queue, store, worker):
    old = desk.game("bot_a", "human:ann", state=GameState.OPEN, created_at=store.due.now() - OPEN_SEAT_MS - 1)
    sweep.once()
    assert desk.state(old) is GameState.CANCELLED
    assert queue.driven == [old]
    worker.drive(old)
    assert store.due.at(due.game(old)) is None


def test_open_seat_waits_its_time(sweep, desk, queue, store):
    game = desk.game("bot_a", "human:ann", state=GameState.OPEN, created_at=store.due.now() - 1_000)
    sweep.once()
    assert desk.state(game) is GameState.OPEN
    assert is_due_in(store, due.game(game), OPEN_SEAT_MS - 1_000)
    assert queue.driven == []


# --- shards -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("games", "workers", "sizes"),
    [
        (0, 1, []),
        (1, 1, [1]),
        (1, 8, [1]),
        (10, 1, [5, 5]),
        (10, 2, [3, 3, 3, 1]),
        (10, 0, [5, 5]),
        (128, 1, [64, 64]),
        (200, 1, [64, 64, 64, 8]),
        (200, 4, [25] * 8),
    ],
)
def test_shards_give_every_worker_two_of_at_most_64_games(games, workers, sizes):
    ids = [f"gam_{number}" for number in range(games)]
    cut = list(shards(ids, workers))
    assert [len(shard) for shard in cut] == sizes
    assert [game for shard in cut for game in shard] == ids


def test_shards_are_cut_for_the_workers_that_are_there(make_sweep, desk, queue):
    for token in ("one", "two", "three"):
        make_sweep(token).once()
    for _ in range(12):
        desk.game("bot_a", "bot_b")
    make_sweep("one").once()
    assert [len(shard) for shard in queue.shards] == [2] * 6


# --- processes --------------------------------------------------------------------------------------------------------


def test_of_several_sweepers_one_acts(make_sweep, desk, queue):
    first, second = make_sweep("one"), make_sweep("two")
    first.once()
    game = desk.game("bot_a", "bot_b")
    second.once()
    assert queue.shards == []
    first.once()
    assert queue.shards == [[game]]


def test_another_takes_over_when_the_sweeper_is_gone(make_sweep, desk, queue):
    make_sweep("one", every_ms=10).once()
    game, second = desk.game("bot_a", "bot_b"), make_sweep("two", every_ms=10)

    def has_swept():
        second.once()
        return queue.shards != []

    until(has_swept)
    assert queue.shards == [[game]]


def test_sweeper_that_was_slow_stops_when_another_has_taken_over(make_sweep, start, desk, queue, store, caplog):
    started = [start("bot_a", "bot_b"), start("bot_a", "bot_b")]
    desk.game("bot_a", "bot_b")
    looked_at = []

    class Slow:
        def advance(self, tournament_id, workers):
            looked_at.append(tournament_id)
            store._redis.delete(keys.SWEEPER)  # it ran out
            assert store.due.lock("another", 60_000)
            return []

    make_sweep(running=Slow()).once()
    assert len(looked_at) == 1
    assert set(looked_at) < set(started)
    assert (queue.driven, queue.shards) == ([], [])
    assert "another process" in caplog.text


# --- tournaments ------------------------------------------------------------------------------------------------------


def test_started_tournament_gets_its_games_driven(sweep, start, queue, store, desk):
    tournament = start("bot_a", "bot_b", "bot_c")
    sweep.once()
    games = [game for shard in queue.shards for game in shard]
    assert Counter(desk.state(game) for game in games) == {GameState.RUNNING: 3}
    assert is_due_in(store, due.tournament(tournament), PATIENCE_MS)
    sweep.once()
    assert [game for shard in queue.shards for game in shard] == games


def test_tournament_that_breaks_holds_up_no_other(make_sweep, running, start, queue, caplog, store):
    bad, good = start("bot_a", "bot_b"), start("bot_a", "bot_b")

    class Breaking:
        def advance(self, tournament_id, workers):
            if tournament_id == bad:
                raise RuntimeError("a mistake of ours")
            return running.advance(tournament_id, workers)

    with caplog.at_level(logging.ERROR):
        make_sweep(running=Breaking()).once()
    assert "can't go on" in caplog.text
    assert len(queue.shards) == 1
    assert is_due_in(store, due.tournament(bad), PATIENCE_MS)
    assert store.tournaments.started(good) == {"1.1.0": 0}


def test_sweeps_and_workers_play_a_tournament_to_its_end(sweep, start, queue, store, worker):
    tournament = start(*FOUR, "house:random", ruleset="river", options={"start_cards": 1})
    for _ in range(10):
        sweep.once()
        for shard in queue.shards:
            worker.drive(*shard)
        queue.shards.clear()
    assert store.tournaments.get(tournament).state == "finished"
    assert len(store.tournaments.results(tournament)) == 5
    assert store.due.count() == 0


# --- checks of bots ---------------------------------------------------------------------------------------------------


def new_check(store, desk, check_id="chk_1"):
    desk.bot("bot_a")
    check = Check(id=check_id, bot_id="bot_a", url="http://127.0.0.1:9/", created_at=store.due.now())
    assert store.bots.create_check(check)
    return check_id


def test_check_whose_job_is_lost_is_sent_again(sweep, desk, queue, store):
    check = new_check(store, desk)
    sweep.once()
    assert queue.checks == [], "its own job is on the way"
    age(store, due.check(check), 1)
    sweep.once()
    assert queue.checks == [check]
    assert is_due_in(store, due.check(check), PATIENCE_MS)


def test_check_that_is_run_is_nobody_elses_and_due_no_more_when_it_has_ended(desk, store):
    check, ran = new_check(store, desk), []

    def run(check_id):
        ran.append(check_id)
        run_alone(store, check_id, "another", ran.append)
        store.bots.change_check(check_id, lambda old: replace(old, state="passed", ended_at=1))

    run_alone(store, check, "one", run)
    assert ran == [check]
    assert store.due.at(due.check(check)) is None
    run_alone(store, check, "two", ran.append)
    assert ran == [check] * 2, "whoever runs it finds that it has ended"


def test_check_that_broke_stays_due_and_may_be_run_by_the_next(desk, store):
    check, ran = new_check(store, desk), []

    def breaks(_check_id):
        raise RuntimeError("a mistake of ours")

    with pytest.raises(RuntimeError):
        run_alone(store, check, "one", breaks)
    assert store.due.at(due.check(check)) is not None
    run_alone(store, check, "two", ran.append)
    assert ran == [check]


def test_check_of_a_dead_worker_is_run_when_its_lease_has_run_out(desk, store):
    check, ran = new_check(store, desk), []
    assert store.bots.lease_check(check, "dead", 30)

    def has_run():
        run_alone(store, check, "two", ran.append)
        return ran != []

    until(has_run)


def test_check_that_never_came_to_be_is_dropped_after_a_minute(sweep, queue, store):
    age(store, due.check("chk_old"), 61_000)
    age(store, due.check("chk_new"), 55_000)
    sweep.once()
    assert store.due.at(due.check("chk_old")) is None
    assert store.due.at(due.check("chk_new")) is not None
    assert queue.checks == []


def test_check_that_can_not_be_read_keeps_nobody_from_the_others(sweep, desk, queue, store, redis, caplog):
    damaged, good = new_check(store, desk, "chk_1"), new_check(store, desk, "chk_2")
    redis.set(keys.check(damaged), b"nonsense that is no check")
    age(store, due.check(damaged), 2)
    age(store, due.check(good), 1)
    sweep.once()
    assert queue.checks == [good]
    assert "check chk_1 can't be looked at now" in caplog.text
    assert is_due_in(store, due.check(damaged), PATIENCE_MS), "it doesn't stand before all others for ever"


# --- ratings ----------------------------------------------------------------------------------------------------------


def test_ratings_that_are_due_are_asked_for(sweep, season, queue):
    sweep.once()
    assert queue.fits == []
    season.play(*FOUR)
    sweep.once()
    assert queue.fits == ["river"]


def test_what_is_found_is_counted(store, make_sweep):
    meters = Meters()
    now = store.due.now()
    store.due.add_many({due.game("gam_never"): now - ORPHAN_MS - 1_000, due.fit("trn_1"): now - 1})
    make_sweep(meters=meters).once()
    found = {cell.labels[0]: cell.values[0] for cell in meters.found.cells() if cell.values[0]}
    assert found == {"orphan": 1.0, "fit": 1.0}
    assert [cell.values for cell in meters.sweeps.cells()] == [[1.0]]
