"""Each damage there is a word for is planted in an arena in which all is well, and found under that word alone."""

from __future__ import annotations

from collections import Counter

import pytest
from msgspec.structs import replace

from bot_sdk.results.values import GameState
from service.doctor import examination
from service.doctor.command import NothingToDropError
from service.doctor.kinds import ADVICE
from service.jobs import CHECKS, open_broker
from service.store import due, keys, listing
from service.store.entities import BotState, Suspension, TournamentState
from service.store.erasures import Erasure
from service.store.errors import FormError
from service.store.maintenance import Maintenance

PLANTED = {}
OF_SERVER = {"store_refuses_writes", "store_old", "store_evicts", "keys_evicted", "no_log", "not_saved", "memory_low"}
"""What is wrong with a server is planted in one of the test's own (test_surroundings)."""
ELSEWHERE = {"not_all_seen", "clock_apart", "queue_away"}


def plants(code):
    """Register what plants a damage, and gives what the doctor is to say it is in."""

    def register(plant):
        PLANTED[code] = plant
        return plant

    return register


@plants("arena_key_missing")
def _(world):
    world.redis.delete(keys.ARENA_KEY)
    return "SLAGVELD_KEY"


@plants("no_worker")
def _(world):
    world.redis.delete(keys.WORKERS)
    return "no worker has ever been there"


@plants("clock_back")
def _(world):
    world.redis.zadd(keys.WORKERS, {"worker": world.store.due.now() + 100_500})
    return "by 100 s"


@plants("overdue")
def _(world):
    """A lease that ran out with the worker who held it."""
    world.store.due.add(due.game(world.first), world.long_ago())
    return due.game(world.first)


@plants("alarm")
def _(world):
    world.store.alarms.note("archive", "no space", until=world.store.due.now() + 60_000)
    return "archive: no space"


@plants("maintenance")
def _(world):
    world.store.maintenance.begin(Maintenance(reason="a disk", since=1))
    return "no new games"


@plants("dead_letters")
def _(world):
    other = open_broker(world.settings).client
    other.zadd(f"dramatiq:{CHECKS}.XQ", {f"letter {n}": n for n in range(1_000)})
    other.close()
    return "1000 of the queue checks, the list is full"


@plants("due_of_nothing")
def _(world):
    world.store.due.add("game:gam_never", world.long_ago())
    return "game:gam_never"


@plants("due_unknown")
def _(world):
    world.store.due.add("novel:x", world.store.due.now())
    return "novel:x"


@plants("due_far")
def _(world):
    world.store.due.add(due.game(world.first), world.store.due.now() + 30 * 24 * 3_600_000)
    return due.game(world.first)


@plants("game_damaged")
def _(world):
    world.redis.hset(keys.game_meta(world.first), "body", "{")
    return world.first


@plants("parts_left")
def _(world):
    world.redis.delete(keys.game_meta(world.first))
    return world.first


@plants("game_not_due")
def _(world):
    world.store.due.drop(due.game(world.person))
    return world.person


@plants("game_secret_missing")
def _(world):
    world.redis.delete(keys.game_secret(world.first))
    return world.first


@plants("rules_unknown")
def _(world):
    meta = keys.game_meta(world.first)
    world.redis.hset(meta, "body", world.redis.hget(meta, "body").replace(b'"rules":1', b'"rules":2'))
    return world.first


@plants("log_torn")
def _(world):
    world.redis.lset(keys.game_log(world.first), 2, world.redis.lindex(keys.game_log(world.first), 2)[:-9])
    return world.first


@plants("log_short")
def _(world):
    world.redis.delete(keys.game_log(world.first))
    return world.first


@plants("game_tried")
def _(world):
    for _ in range(2):
        world.store.games.stall(world.first, 5)
    return world.first


@plants("record_lost")
def _(world):
    world.play_out(world.first)
    world.redis.rpop(keys.game_log(world.first))
    return world.first


@plants("pack_damaged")
def _(world):
    world.redis.setrange(keys.game_packed(world.packed), 200, b"\xff\xff\xff")
    return world.packed


@plants("game_without_tournament")
def _(world):
    slot = replace(world.desk.slot(), tournament_id="trn_gone")
    game_id = world.desk.game("house:greedy", "house:random", slot=slot)
    return f"{game_id} of trn_gone"


@plants("tournament_damaged")
def _(world):
    world.redis.append(keys.tournament(world.on), "}")
    return world.on


@plants("tournament_not_due")
def _(world):
    world.store.due.drop(due.tournament(world.on))
    return world.on


@plants("tournament_secret_missing")
def _(world):
    world.redis.delete(keys.tournament_secret(world.on))
    return world.on


@plants("result_without_game")
def _(world):
    world.redis.delete(keys.game_packed(world.packed))
    result = next(r for r in world.store.tournaments.results(world.over) if r.game_id == world.packed)
    game = listing.member(world.made_at, world.packed)
    for index in (keys.GAMES, keys.tournament_games(world.over)):
        world.redis.zrem(index, game)
    return f"{world.over} {result.slot.round}.{result.slot.table}.{result.slot.leg}: {world.packed}"


@plants("game_missing")
def _(world):
    world.store.retention.drop_games([world.desk.meta(world.second)])
    return f"{world.second} of {world.on}"


@plants("board_open")
def _(world):
    world.redis.delete(keys.tournament_closed(world.over))
    return f"{world.over}/1"


@plants("bot_damaged")
def _(world):
    world.redis.append(keys.bot("bot_a"), "}")
    return "bot_a"


@plants("bot_secret_missing")
def _(world):
    world.redis.delete(keys.bot_secrets("bot_a"))
    return "bot_a"


@plants("bot_refused")
def _(world):
    world.store.bots.change("bot_a", lambda old: replace(old, url="http://10.0.0.1:8100/a"))
    return "bot_a"


def suspend(world):
    suspension = Suspension(since=world.store.due.now(), games=[])
    state = BotState.SUSPENDED
    world.store.bots.change("bot_d", lambda old: replace(old, state=state, suspension=suspension))


@plants("bots_suspended")
def _(world):
    world.store.due.begin(due.health("bot_d"), world.store.due.now() + 60_000)
    suspend(world)
    return "bot_d"


@plants("bot_not_due")
def _(world):
    suspend(world)
    return "bot_d"


@plants("check_not_due")
def _(world):
    world.store.bots.create_check(world.check("chk_2"))
    world.store.due.drop(due.check("chk_2"))
    return "chk_2 of bot_a"


@plants("check_orphaned")
def _(world):
    world.store.bots.create_check(replace(world.check("chk_2", ended_at=2), bot_id="bot_gone"))
    world.store.due.drop(due.check("chk_2"))
    world.redis.delete(keys.bot_checks("bot_gone"))
    return "chk_2 of bot_gone"


@plants("erasure_not_due")
def _(world):
    world.store.erasures.create(Erasure(account_id="acc_1", asked_at=1))
    return "acc_1"


@plants("key_unknown")
def _(world):
    world.redis.set("a\nkey", "x")
    return r"'a\nkey'"


@plants("key_orphaned")
def _(world):
    world.redis.set(keys.mail_card("bot_gone"), "{}")
    return keys.mail_card("bot_gone")


@plants("key_damaged")
def _(world):
    """Half of what is known of games counted: the state of one isn't any."""
    world.redis.hset(keys.game_meta(world.person), "state", "asleep")
    world.redis.zrem(keys.DUE, due.game(world.person))
    return keys.unfinished("account:acc_1")


@plants("key_of_wrong_type")
def _(world):
    world.redis.delete(keys.BOTS)
    world.redis.set(keys.BOTS, "x")
    return keys.BOTS


@plants("key_without_expiry")
def _(world):
    """A lease that holds for ever."""
    world.redis.set(keys.game_lease(world.first), "worker")
    return keys.game_lease(world.first)


@plants("key_that_expires")
def _(world):
    world.redis.expire(keys.account("acc_1"), 1_000)
    return keys.account("acc_1")


@plants("list_names_missing")
def _(world):
    world.redis.zadd(keys.ACCOUNTS, {listing.member(1, "acc_never"): 0})
    return f"acc_never in {keys.ACCOUNTS}"


@plants("counter_stale")
def _(world):
    world.redis.zadd(keys.unfinished("bot:bot_a"), {"gam_never": world.long_ago(), world.packed: 1})


@plants("counter_missing")
def _(world):
    world.store.unfinished.drop("account:acc_1", world.person)
    return f"{world.person} of account:acc_1"


def test_where_all_is_well_nothing_is_found(world):
    findings, _ = world.look()
    assert findings.found == []
    assert findings.keys == world.redis.dbsize() > 60
    assert not findings.needs_somebody
    states = {world.desk.meta(game_id).state for game_id in (world.first, world.second, world.person, world.fresh)}
    assert states == {GameState.RUNNING}
    assert world.store.tournaments.get(world.over).state is TournamentState.FINISHED


def test_a_game_that_has_just_ended_on_an_open_board_is_well(world):
    world.worker.drive(world.first)
    assert world.desk.meta(world.first).state is GameState.FINISHED
    assert world.found() == []


def test_a_game_that_has_ended_by_rules_of_another_release_is_no_loss(world):
    world.play_out(world.first)
    meta = keys.game_meta(world.first)
    world.redis.hset(meta, "body", world.redis.hget(meta, "body").replace(b'"rules":1', b'"rules":2'))
    assert world.found() == []


def test_a_store_of_a_newer_release_is_not_looked_at(world):
    world.store.form.claim()
    assert world.found() == []
    world.redis.set(keys.FORM, 2)
    with pytest.raises(FormError, match="expected a store of form 1, got form 2"):
        world.look()


def test_there_is_a_damage_for_every_word():
    assert {*PLANTED, *OF_SERVER, *ELSEWHERE} == set(ADVICE)


ALSO = {
    "bot_not_due": [("bots_suspended", "bot_d")],
    "key_damaged": [("game_damaged", "gam_1")],
    "game_without_tournament": [("parts_left", "trn_gone")],  # the list of its games
}
"""What is true besides."""


@pytest.mark.parametrize("code", PLANTED)
def test_a_damage_is_found_once_and_under_its_own_word(world, code):
    where = PLANTED[code](world)
    expected = [(code, where)]
    if code == "counter_stale":
        expected = [(code, f"{name} of bot:bot_a") for name in sorted(["gam_never", world.packed])]
    assert world.found() == sorted(expected + ALSO.get(code, []), key=lambda each: list(ADVICE).index(each[0]))


MENDED = [code for code, advice in ADVICE.items() if advice.run and "--mend" in advice.run]


@pytest.mark.parametrize("code", MENDED)
def test_what_is_said_to_be_mended_is_mended_and_nothing_else_is_touched(world, code):
    PLANTED[code](world)
    before = world.dumped()
    findings, mended = world.look(is_to_mend=True, is_still=True)
    after = world.dumped()
    assert mended[code] >= 1
    assert sum(mended.values()) == mended[code]
    assert [each for each in findings.found if each.code == code] == []
    changed = {name for name in before.keys() | after.keys() if before.get(name) != after.get(name)}
    assert 1 <= len(changed) <= 4
    assert world.look(is_to_mend=True, is_still=True)[1] == {}


def test_what_somebody_may_be_making_just_now_is_left_alone(world):
    PLANTED["key_orphaned"](world)
    PLANTED["list_names_missing"](world)
    world.redis.zadd(keys.ACCOUNTS, {listing.member(world.store.due.now(), "acc_soon"): 0})
    world.store.due.add("game:gam_soon", world.store.due.now())
    assert world.store.unfinished.reserve("bot:bot_a", "gam_soon", 99)
    findings, mended = world.look(is_to_mend=True)
    assert mended == {"list_names_missing": 1}
    assert [each.code for each in findings.found] == ["key_orphaned"]
    assert b"acc_soon" in b" ".join(world.redis.zrange(keys.ACCOUNTS, 0, -1))


def test_what_a_second_look_doesnt_share_isnt_told(world):
    def mend(_seconds):
        world.store.due.begin(due.game(world.person), world.store.due.now())

    world.store.due.drop(due.game(world.person))
    assert world.found(sleep=mend) == []


def test_what_only_the_second_look_sees_is_left_to_the_next_examination(world):
    def go_on(_seconds):
        world.store.due.drop(due.game(world.first))

    PLANTED["log_short"](world)
    assert world.found(sleep=go_on) == [("log_short", world.first)]
    assert world.found() == [("game_not_due", world.first), ("log_short", world.first)]


def test_looking_changes_not_a_byte(world):
    for code in ("game_damaged", "board_open", "key_orphaned", "counter_stale", "dead_letters", "key_without_expiry"):
        PLANTED[code](world)
    before, changes = world.dumped(), world.redis.info("persistence")["rdb_changes_since_last_save"]
    assert len(world.found()) > 5
    assert world.dumped() == before
    assert world.redis.info("persistence")["rdb_changes_since_last_save"] == changes


def test_when_the_time_is_up_it_says_how_far_it_came(world):
    for number in range(3_000):
        world.redis.set(keys.rate(f"many {number}"), 1, ex=1_000)
    findings, _ = world.look(seconds=0.0)
    (found,) = findings.found
    assert found.code == "not_all_seen"
    seen, _, of = found.where.partition(" of ")
    assert int(seen) < int(of.removesuffix(" keys")) == world.redis.dbsize()
    assert findings.needs_somebody


def test_much_of_one_kind_hides_nothing_of_another(world, monkeypatch):
    monkeypatch.setattr(examination, "MOST_KEPT", 5)
    for number in range(40):
        world.redis.set(f"somebody elses {number}", 1)
    PLANTED["key_that_expires"](world)
    findings, _ = world.look()
    told = Counter(each.code for each in findings.found)
    assert told == {"key_that_expires": 1, "key_unknown": 5}
    assert findings.cut == {"key_unknown"}


def test_a_copy_is_judged_by_what_is_in_it_alone(world):
    for code in ("no_worker", "overdue", "log_short"):
        PLANTED[code](world)
    assert world.found(is_still=True) == [("log_short", world.first)]


DROPPED = {
    "game_damaged": lambda world: world.first,
    "parts_left": lambda world: world.first,
    "record_lost": lambda world: world.first,
    "pack_damaged": lambda world: world.packed,
    "tournament_damaged": lambda world: world.on,
    "bot_damaged": lambda world: "bot_a",
}


@pytest.mark.parametrize("code", DROPPED)
def test_what_cant_be_read_is_taken_away_if_it_is_named(world, code):
    PLANTED[code](world)
    ident = DROPPED[code](world)
    before = world.dumped()
    findings, mended = world.look(drop=ident)
    assert mended == {code: mended[code]}
    assert (code, ident) not in [(each.code, each.where) for each in findings.found]
    gone = before.keys() - world.dumped().keys()
    assert gone
    assert all(ident.encode() in name for name in gone)


def test_every_thing_that_is_said_to_be_dropped_can_be():
    assert {code for code, advice in ADVICE.items() if "--drop" in (advice.run or "")} == set(DROPPED)


@pytest.mark.parametrize("ident", ["gam_never", "acc_1", "trn_never", ""])
def test_what_can_be_read_is_never_taken_away(world, ident):
    PLANTED["pack_damaged"](world)
    before = world.dumped()
    for each in (ident, world.first, world.on):
        with pytest.raises(NothingToDropError):
            world.look(drop=each)
    assert world.dumped() == before


def garble(redis, name):
    """Make something else of whatever a key holds, of the same type."""
    match redis.type(name):
        case b"string":
            redis.set(name, redis.get(name)[1:-1] + b"\xff", keepttl=True)
        case b"hash":
            redis.hset(name, mapping=dict.fromkeys(redis.hkeys(name), b"\xff{"))
            redis.hset(name, b"\xfe", b"\xff")
        case b"list":
            redis.rpush(name, b"\xff")
        case b"zset":
            redis.zadd(name, {b"\xff": 1, b"000000000000001:\xfe": 0, "x": 2, "game:": -1})


def test_whatever_is_in_the_keys_it_is_said_that_something_is_wrong(world):
    names = sorted(world.redis.scan_iter())
    for name in names:
        garble(world.redis, name)
    before = world.dumped()
    found = world.found()
    assert world.dumped() == before
    assert len({code for code, _ in found}) > 8
    "\n".join(where for _, where in found).encode()
    assert not [where for _, where in found if not where.isprintable()]


@pytest.mark.parametrize("value", ["string", "hash"])
def test_whatever_type_the_keys_are_of_it_is_said_that_something_is_wrong(world, value):
    names = sorted(world.redis.scan_iter())
    for name in names:
        world.redis.delete(name)
        world.redis.set(name, b"\xff") if value == "string" else world.redis.hset(name, "x", "y")
    assert len(world.found()) > 20


def test_work_that_no_worker_takes_on_is_found(world):
    world.redis.delete(keys.WORKERS)
    world.store.due.present("worker", 5_000, due.PEOPLE)
    assert ("no_worker", "no worker takes games of tournaments") in world.found()
    world.store.due.present("another", 5_000, due.TOURNAMENTS)
    assert "no_worker" not in dict(world.found())
