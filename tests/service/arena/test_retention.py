"""What ended long ago is in the archive first, and then nowhere else; what isn't old, or can't be kept, stays."""

from __future__ import annotations

import errno
import itertools
import os
import re

import pytest
from click.testing import CliRunner
from msgspec.structs import replace
from redis.exceptions import OutOfMemoryError

from bot_sdk.cli import main as slagbot
from bot_sdk.games import record
from bot_sdk.results.values import GameState
from service.arena.errors import NotFoundError
from service.arena.exports import Exports
from service.arena.retention import DAY_MS, Retention
from service.arena.running import Running
from service.arena.scoreboard import Scoreboard
from service.store import archive as archive_module
from service.store import due, keys, listing, packed
from service.store.alarms import standing
from service.store.archive import Archive, ArchiveError
from service.store.entities import TournamentState
from service.store.unfinished import account
from tests.service.arena.conftest import PATIENCE_MS

KEPT_FOR_BOTS = re.compile(r"bot:.*:(ledger|endings|appearances)")
"""What is kept of how bots did lately: capped by itself."""


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "archive"


@pytest.fixture
def make_retention(store, folder, tournaments, clock):
    names = map("retention {}".format, itertools.count())

    def make(archive=None):
        exports = Exports(store, tournaments, Scoreboard(store, tournaments, clock=clock))
        archive = archive or Archive(folder)
        return Retention(store, archive, exports, clock=clock, token=next(names), keep_ms=30 * DAY_MS)

    return make


@pytest.fixture
def retention(make_retention):
    return make_retention()


@pytest.fixture
def running(store, queue, ratings, clock):
    return Running(store, queue, ratings, clock=clock, patience_ms=PATIENCE_MS)


@pytest.fixture
def finish(running, worker, store, queue):
    """Take a tournament to its end, and see to all that follows."""

    def go_on(tournament_id):
        while not store.tournaments.get(tournament_id).state.is_end:
            worker.drive(*running.advance(tournament_id, 1))
        worker.drive(*itertools.chain(*queue.shards))
        store.due.drop(due.fit(tournament_id))

    return go_on


@pytest.fixture
def alarms(redis, clock):
    return lambda: standing(redis.hgetall(keys.ALARMS), clock.now)


def run(retention):
    """Do a whole pass."""
    while retention.step():
        pass


def age(clock, days=31):
    clock.forward(days * DAY_MS)


def records(folder, pattern="records/*.jsonl"):
    """Give the ids of the games in the archive, each record verified."""
    lines = [line for path in sorted(folder.glob(pattern)) for line in path.read_bytes().splitlines()]
    read = [record.read(line) for line in lines]
    for each in read:
        record.verify(each)
    return [each.game_id for each in read]


def traces(redis, ident):
    """Name the keys that are about a thing, or hold its id."""
    readers = {b"string": redis.get, b"hash": redis.hgetall, b"list": lambda key: redis.lrange(key, 0, -1)}
    readers[b"zset"] = lambda key: redis.zrange(key, 0, -1)
    found = [key for key in redis.scan_iter() if ident.encode() in key + str(readers[redis.type(key)](key)).encode()]
    return sorted(key.decode() for key in found if not KEPT_FOR_BOTS.fullmatch(key.decode()))


# --- games ------------------------------------------------------------------------------------------------------------


def test_old_game_is_archived_and_leaves_no_trace(desk, worker, retention, redis, folder, clock):
    game = desk.game("bot_a", "human:ann", id="gam_old", owner="acc_9")
    redis.zadd(keys.unfinished("bot:bot_a"), {game: 1})  # as a crash before its end was settled leaves it
    redis.hset(keys.game_tokens(game), "1", "hash")
    worker.drive(game)
    desk.store.games.end(game, GameState.CANCELLED)
    worker.drive(game)
    before = traces(redis, game)
    assert {keys.game_packed(game), keys.game_tokens(game), keys.GAMES} <= set(before)
    assert keys.account_games("acc_9") in before
    age(clock)
    run(retention)
    assert traces(redis, game) == []
    assert records(folder) == [game]


def test_archived_record_is_the_one_that_the_api_gives(desk, worker, play, retention, folder, clock):
    game = desk.game("bot_a", "bot_b")
    worker.drive(game)
    given = record.encode(play.record(game))
    age(clock)
    run(retention)
    (path,) = folder.glob("records/*.jsonl")
    assert path.read_bytes() == given + b"\n"


def test_record_stands_in_the_file_of_the_day_on_which_its_game_ended(desk, worker, retention, redis, folder, clock):
    for number in range(2):
        game = desk.game("bot_a", "bot_b", id=f"gam_{number}")
        worker.drive(game)
        meta = replace(desk.meta(game), ended_at=1_709_251_199_999 + number)
        redis.set(keys.game_packed(game), packed.with_game(redis.get(keys.game_packed(game)), meta))
    run(retention)
    assert records(folder, "records/2024-02-29.jsonl") == ["gam_0"]
    assert records(folder, "records/2024-03-01.jsonl") == ["gam_1"]


def test_what_is_not_old_or_has_not_ended_stays(desk, worker, retention, clock):
    running, ended = desk.game("human:ann", "human:bob"), desk.game("bot_a", "bot_b")
    worker.drive(ended)
    clock.now = desk.meta(ended).ended_at + 30 * DAY_MS
    run(retention)
    assert [desk.state(game) for game in (running, ended)] == [GameState.RUNNING, GameState.FINISHED]
    clock.forward(1)
    run(retention)
    assert desk.store.retention.exist([running, ended]) == [True, False]


def test_game_whose_end_is_not_seen_to_stays(desk, retention, clock):
    game = desk.game("bot_a", "bot_b")
    desk.store.games.end(game, GameState.CANCELLED)
    age(clock)
    run(retention)
    assert desk.state(game) is GameState.CANCELLED


def test_game_that_never_began_goes_without_a_record(desk, retention, redis, folder, clock):
    game = desk.game("human:ann", "human:bob", state=GameState.OPEN)
    desk.store.games.end(game, GameState.CANCELLED)
    desk.store.games.settle(desk.meta(game))
    age(clock)
    run(retention)
    assert traces(redis, game) == []
    assert records(folder) == []


def test_lists_and_links_know_an_expired_game_no_more(desk, worker, games, play, retention, owner, clock):
    game = desk.game("bot_a", "bot_b", owner=owner.account_id)
    worker.drive(game)
    age(clock)
    run(retention)
    for mine in (True, False):
        assert games.list_all(owner, limit=10, cursor=None, state=None, mine=mine) == ([], None)
    with pytest.raises(NotFoundError):
        games.get(game)
    with pytest.raises(NotFoundError):
        play.record(game)


def test_entry_of_a_game_that_never_came_to_be_leaves_the_list(store, retention, redis, clock):
    redis.zadd(keys.GAMES, {listing.member(clock.now, "gam_lost"): 0})
    redis.zadd(keys.TOURNAMENTS, {listing.member(clock.now, "trn_lost"): 0})
    run(retention)
    assert redis.zcard(keys.GAMES) == redis.zcard(keys.TOURNAMENTS) == 1
    age(clock)
    run(retention)
    assert redis.exists(keys.GAMES, keys.TOURNAMENTS) == 0


def test_work_is_done_in_steps_that_are_bounded(desk, worker, retention, store, clock):
    ids = [desk.game("house:random", "house:random") for _ in range(120)]
    worker.drive(*ids)
    age(clock)
    left = [120]
    while retention.step():
        left.append(sum(store.retention.exist(ids)))
    assert left == [120, 70, 20, 0]


def test_game_that_is_not_packed_and_cannot_be_read_stays_and_is_told_of(
    desk, worker, retention, redis, folder, clock, alarms, monkeypatch
):
    monkeypatch.setattr(desk.store.games, "pack", lambda _: False)
    games = [desk.game("bot_a", "bot_b") for _ in range(4)]
    worker.drive(*games)
    redis.hset(keys.game_meta(games[0]), "body", "{")
    redis.lset(keys.game_log(games[1]), 0, "1 [")
    redis.delete(keys.game_secret(games[2]))
    age(clock)
    run(retention)
    run(retention)
    assert desk.store.retention.exist(games) == [True, True, True, False]
    assert records(folder) == [games[3]]
    assert alarms() == {"archive": "3 old games or tournaments stay, since they can't be read"}


def test_packed_game_that_cannot_be_read_stays_and_is_told_of(desk, worker, retention, redis, folder, clock, alarms):
    games = [desk.game("bot_a", "bot_b") for _ in range(4)]
    worker.drive(*games)
    redis.append(keys.game_packed(games[0]), b"x")
    redis.set(keys.game_packed(games[1]), redis.get(keys.game_packed(games[3])))
    redis.delete(keys.game_packed(games[2]))
    redis.rpush(keys.game_packed(games[2]), b"of another kind")
    age(clock)
    run(retention)
    run(retention)
    assert desk.store.retention.exist(games) == [True, True, True, False]
    assert records(folder) == [games[3]]
    assert alarms() == {"archive": "3 old games or tournaments stay, since they can't be read"}


# --- tournaments ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("deals", ["field", "fresh", "rotate"])
def test_old_tournament_is_archived_whole_and_leaves_no_trace(
    deals, start, finish, retention, redis, store, folder, clock
):
    tournament = start("bot_a", "bot_b", "bot_c", "bot_d", deals=deals, rounds=2)
    finish(tournament)
    games = [game.id for game in store.games.list_for_tournament(tournament, limit=100)[0]]
    assert traces(redis, tournament)
    age(clock)
    run(retention)
    assert [key for key in traces(redis, tournament) if not key.endswith(":rated")] == []
    assert [key for game in games for key in traces(redis, game) if not key.endswith(":rated")] == []
    assert sorted(records(folder, f"tournaments/{tournament}.records.jsonl")) == sorted(games)
    assert records(folder) == []


def test_archived_export_can_be_recomputed(start, finish, retention, folder, clock):
    tournament = start("bot_a", "bot_b", "house:random", rounds=3)
    finish(tournament)
    age(clock)
    run(retention)
    told = CliRunner().invoke(slagbot, ["recompute", str(folder / f"tournaments/{tournament}.export.jsonl")])
    assert told.exit_code == 0, told.output


def test_what_ratings_are_made_from_stays(start, finish, retention, store, desk, ratings, clock):
    for bot, of in (("bot_a", "acc_2"), ("bot_b", "acc_3")):
        desk.bot(bot, account_id=of)
    tournament = start("bot_a", "bot_b", rounds=2, options={})
    finish(tournament)
    rated = store.ratings.games("seven_up")
    assert len(rated) == 2
    age(clock)
    run(retention)
    assert store.ratings.games("seven_up") == rated
    assert ratings.refit("seven_up")
    assert [row.games for row in store.ratings.leaderboard("seven_up").rows] == [2, 2]


def test_old_games_of_a_tournament_that_goes_on_stay(start, running, worker, retention, store, clock, folder):
    tournament = start("bot_a", "bot_b", format="ladder")
    for _ in range(3):
        worker.drive(*running.advance(tournament, 1))
    made = len(store.games.list_for_tournament(tournament, limit=100)[0])
    age(clock)
    run(retention)
    assert len(store.games.list_for_tournament(tournament, limit=100)[0]) == made
    assert not folder.exists()


def test_tournament_stays_while_its_games_or_ratings_are_still_seen_to(start, finish, retention, store, clock):
    tournament = start("bot_a", "bot_b", rounds=1)
    finish(tournament)
    age(clock)
    for name in (due.fit(tournament), due.tournament(tournament)):
        store.due.add(name, 1)
        run(retention)
        assert store.tournaments.get(tournament) is not None
        store.due.drop(name)
    run(retention)
    assert store.tournaments.get(tournament) is None


def test_tournament_cancelled_before_its_start_goes(
    tournaments, owner, tournament_order, mint, retention, redis, clock
):
    tournament = tournaments.create(owner, tournament_order(), mint()).id
    tournaments.set_state(owner, tournament, TournamentState.CANCELLED)
    redis.delete(keys.DUE)
    age(clock)
    run(retention)
    assert traces(redis, tournament) == []


@pytest.mark.parametrize("at", range(12))
def test_death_at_any_step_loses_nothing(at, start, finish, make_retention, store, folder, clock, monkeypatch, redis):
    """A process ends before one of its writes; another begins again. Each record is there, at most twice."""
    tournament = start("bot_a", "bot_b", "bot_c", rounds=3)
    finish(tournament)
    games = sorted(game.id for game in store.games.list_for_tournament(tournament, limit=100)[0])
    age(clock)
    writes = itertools.count()

    def dies(real):
        def write(*args, **kwargs):
            if next(writes) == at:
                raise DiedError
            return real(*args, **kwargs)

        return write

    with monkeypatch.context() as patch:
        for owner, name in (
            (store.retention, "drop_games"),
            (store.retention, "drop_tournament"),
            (store.retention, "note_archived"),
            (archive_module, "_write"),
            (archive_module.os, "fsync"),
            (archive_module.Draft, "keep"),
        ):
            patch.setattr(owner, name, dies(getattr(owner, name)))
        try:
            run(make_retention())
        except DiedError:
            pass
        else:
            assert next(writes) <= at, "it outlived what should have ended it"
    store.retention.unlock("retention 0")
    run(make_retention())
    assert sorted(set(records(folder, f"tournaments/{tournament}*.records.jsonl"))) == games
    assert [key for key in traces(redis, tournament) if not key.endswith(":rated")] == []
    assert list(folder.glob("**/*.new")) == []


class DiedError(BaseException):
    """The process is gone."""


def test_tournament_with_a_game_that_cannot_be_read_stays_whole(
    start, finish, retention, redis, store, folder, clock, alarms
):
    bad, good = [start("bot_a", "bot_b", rounds=2) for _ in range(2)]
    for tournament in (bad, good):
        finish(tournament)
    games = [game.id for game in store.games.list_for_tournament(bad, limit=100)[0]]
    redis.append(keys.game_packed(games[0]), b"x")
    age(clock)
    run(retention)
    assert store.retention.exist(games) == [True, True]
    assert [path.name.split(".")[0] for path in folder.glob("tournaments/*")] == [good, good]
    assert "can't be read" in alarms()["archive"]


@pytest.mark.parametrize("key", [keys.tournament_results, keys.tournament_games])
def test_tournament_with_a_key_of_another_kind_holds_up_no_other(
    key, start, finish, retention, redis, store, clock, alarms
):
    bad, good = [start("bot_a", "bot_b", rounds=1) for _ in range(2)]
    for tournament in (bad, good):
        finish(tournament)
    redis.delete(key(bad))
    redis.set(key(bad), b"nonsense")
    age(clock)
    run(retention)
    assert store.tournaments.get(bad) is not None
    assert store.tournaments.get(good) is None
    assert "can't be read" in alarms()["archive"]


def test_what_can_be_read_again_goes_a_day_later_and_with_it_the_alarm(
    desk, worker, start, finish, retention, redis, store, clock, alarms
):
    game = desk.game("bot_a", "bot_b")
    worker.drive(game)
    tournament = start("bot_a", "bot_b", rounds=1)
    finish(tournament)
    held = [game, store.games.list_for_tournament(tournament, limit=9)[0][0].id]
    values = [redis.get(keys.game_packed(each)) for each in held]
    for each in held:
        redis.append(keys.game_packed(each), b"x")
    age(clock)
    run(retention)
    for each, value in zip(held, values, strict=True):
        redis.set(keys.game_packed(each), value)
    run(retention)
    assert store.retention.exist(held) == [True, True]
    assert "can't be read" in alarms()["archive"]
    age(clock, days=1)
    run(retention)
    assert store.retention.exist(held) == [False, False]
    assert alarms() == {}


# --- disks that fail --------------------------------------------------------------------------------------------------


def refusing(number):
    def write(*_):
        raise OSError(number, os.strerror(number))

    return write


@pytest.mark.parametrize(
    ("call", "number", "said"),
    [("write", errno.ENOSPC, "no space left on device"), ("fsync", errno.EIO, "input/output error")],
)
def test_disk_that_takes_nothing_keeps_everything_in_the_store(
    call, number, said, desk, worker, start, finish, retention, folder, clock, alarms, monkeypatch
):
    game = desk.game("bot_a", "bot_b")
    worker.drive(game)
    tournament = start("bot_a", "bot_b", rounds=1)
    finish(tournament)
    age(clock)
    for _ in range(2):
        with monkeypatch.context() as patch:
            patch.setattr(archive_module.os, call, refusing(number))
            assert not retention.step()
        assert desk.state(game) is GameState.FINISHED
        assert desk.store.tournaments.get(tournament) is not None
        assert alarms() == {"archive": f"games can't be archived: {said}"}
        assert desk.store.retention.lock("another with a better disk", 1)
        desk.store.retention.unlock("another with a better disk")
    run(retention)
    assert records(folder) == [game]
    assert alarms() == {}


def test_half_a_record_that_a_full_disk_took_is_taken_back(desk, worker, retention, folder, clock, monkeypatch):
    games = [desk.game("bot_a", "bot_b") for _ in range(2)]
    worker.drive(games[0])
    age(clock)
    run(retention)
    worker.drive(games[1])
    real, taken = os.write, []

    def write(file, data):
        if taken:
            raise OSError(errno.ENOSPC, "full")
        taken.append(real(file, bytes(data)[:100]))
        return 100

    with monkeypatch.context() as patch:
        patch.setattr(archive_module.os, "write", write)
        run(retention)
    assert taken
    assert records(folder) == [games[0]]
    run(retention)
    assert records(folder) == games


def test_line_that_a_crash_cut_short_is_taken_off(folder):
    archive = Archive(folder)
    archive.append("2024-01-01", [b"one\n", b"two\n"])
    path = folder / "records/2024-01-01.jsonl"
    path.write_bytes(path.read_bytes() + b"x" * 200_000)
    archive.append("2024-01-01", [b"three\n"])
    assert path.read_bytes() == b"one\ntwo\nthree\n"


def test_folder_that_is_a_file_is_said_without_its_path(folder):
    folder.write_text("")
    with pytest.raises(ArchiveError, match=r"^(file exists|not a directory)$"), Archive(folder).locked():
        pass


# --- several processes ------------------------------------------------------------------------------------------------


def test_one_process_at_a_time(desk, worker, make_retention, store, clock):
    games = [desk.game("house:random", "house:random") for _ in range(60)]
    worker.drive(*games)
    age(clock)
    first, second = make_retention(), make_retention()
    assert first.step()
    assert not second.step()
    assert sum(store.retention.exist(games)) == 10
    first.leave()
    run(second)
    assert sum(store.retention.exist(games)) == 0
    assert not first.step()


def test_folder_that_another_process_writes_to_is_left_alone(desk, worker, retention, folder, clock, alarms):
    game = desk.game("bot_a", "bot_b")
    worker.drive(game)
    age(clock)
    with Archive(folder).locked():
        run(retention)
        assert desk.state(game) is GameState.FINISHED
    assert alarms() == {}
    run(retention)
    assert records(folder) == [game]


def test_process_that_was_out_for_too_long_does_no_harm(desk, worker, make_retention, store, folder, clock, tmp_path):
    """It stops between archive and store, another goes on with a disk of its own, and it comes back."""
    game = desk.game("bot_a", "bot_b")
    worker.drive(game)
    age(clock)
    slow, other = make_retention(), make_retention(Archive(tmp_path / "other"))
    real = store.retention.drop_games

    def out_for_long(games):
        store.retention.drop_games = real
        store.retention.unlock("retention 0")
        run(other)
        real(games)

    store.retention.drop_games = out_for_long
    run(slow)
    assert records(folder) == records(tmp_path / "other") == [game]
    assert store.retention.exist([game]) == [False]


def test_expired_game_does_not_count_against_its_owner(desk, worker, retention, store, clock):
    game = desk.game("bot_a", "bot_b", owner="acc_9")
    worker.drive(game)
    store.unfinished.reserve(account("acc_9"), game, 5)
    age(clock)
    run(retention)
    assert store.unfinished.count(account("acc_9")) == 0


def test_store_that_is_out_of_memory_gets_rid_of_what_is_old_all_the_same(
    desk, worker, start, finish, retention, redis, store, folder, clock
):
    game = desk.game("bot_a", "bot_b")
    worker.drive(game)
    tournament = start("bot_a", "bot_b", rounds=1)
    finish(tournament)
    age(clock)
    redis.config_set("maxmemory", 1)
    try:
        run(retention)
        assert store.retention.exist([game]) == [False]
        assert store.tournaments.get(tournament) is None
    finally:
        redis.config_set("maxmemory", 0)
    assert records(folder) == [game]


def test_lock_is_given_back_by_who_has_no_disk_though_no_alarm_can_be_kept(
    desk, worker, retention, redis, store, clock, monkeypatch
):
    worker.drive(desk.game("bot_a", "bot_b"))
    age(clock)
    redis.config_set("maxmemory", 1)
    try:
        monkeypatch.setattr(archive_module.os, "fsync", refusing(errno.EIO))
        with pytest.raises(OutOfMemoryError):
            run(retention)
        assert store.retention.lock("another with a better disk", 1)
    finally:
        redis.config_set("maxmemory", 0)
