"""Games that are packed: nobody who reads or asks again notices, and nothing is ever half packed."""

from __future__ import annotations

import pytest
from msgspec.structs import replace
from redis.exceptions import OutOfMemoryError

from bot_sdk.events import Decided, Outcome, Retired, RetiredBecause
from bot_sdk.results.values import GameState
from service.store import keys, packed
from service.store.entities import Seat
from service.store.errors import DamagedError, NotFoundError

SECRET = bytes(range(32))
BID = Decided(0, "bid:1", Outcome.OK, 3.1, "héllo")
LATE = Decided(1, "bid:0", Outcome.LATE, 1000.0)
GONE = Retired(1, RetiredBecause.LEFT)


@pytest.fixture
def ended(games, make_game):
    """Make a game that has ended by its third event."""
    game = make_game(state=GameState.RUNNING)
    assert games.create(game, secret=SECRET, due_at=1, tokens={1: "hash"})
    games.commit(game.id, [BID, LATE], expected=0, lease=None)
    games.commit(game.id, [GONE], expected=2, lease=None, ending=GameState.FINISHED)
    return game


def own_keys(redis, game_id):
    return {key.decode() for key in redis.scan_iter(f"*{{g:{game_id}}}*")}


def test_packed_game_is_read_as_before(redis, games, ended):
    before = games.get(ended.id)
    log = games.log(ended.id)
    assert games.pack(ended.id)
    assert own_keys(redis, ended.id) == {key(ended.id) for key in (keys.game_packed, keys.game_notes, keys.game_tokens)}
    assert games.get(ended.id) == before
    assert games.load(ended.id) == (before, [(before.ended_at, event) for _, event in log], SECRET)
    assert [event for _, event in games.log(ended.id, 1)] == [LATE, GONE]
    assert games.length(ended.id) == 3
    assert games.secret(ended.id) == SECRET
    assert games.tokens(ended.id) == {1: "hash"}
    assert games.list_all(limit=9)[0] == [before]


def test_packed_and_other_games_are_found_side_by_side(games, ended, make_game):
    games.create(make_game("gam_2"), secret=SECRET, due_at=1)
    games.pack(ended.id)
    found = games.get_many(["gam_2", ended.id, "gam_none", "gam_2"])
    assert [game and game.id for game in found] == ["gam_2", ended.id, None, "gam_2"]
    assert games.get_many([]) == []


@pytest.mark.parametrize("state", [GameState.CANCELLED, GameState.ABORTED, GameState.VOID])
def test_game_that_was_stopped_is_packed_too(games, make_game, state):
    games.create(make_game(state=GameState.RUNNING), secret=SECRET, due_at=1)
    games.commit("gam_1", [BID], expected=0, lease=None)
    games.end("gam_1", state)
    before = games.load("gam_1")
    assert games.pack("gam_1")
    assert games.load("gam_1")[0] == before[0]


def test_what_runs_or_never_began_or_is_not_there_is_not_packed(games, make_game):
    games.create(make_game("gam_open"), secret=SECRET, due_at=1)
    games.create(make_game("gam_runs", state=GameState.RUNNING), secret=SECRET, due_at=1)
    assert not any(games.pack(name) for name in ("gam_open", "gam_runs", "gam_none"))
    games.end("gam_open", GameState.CANCELLED)  # its secret stays one
    assert not games.pack("gam_open")
    assert games.secret("gam_open") == SECRET


def test_packing_twice_is_no_error(redis, games, ended):
    assert games.pack(ended.id)
    before = redis.get(keys.game_packed(ended.id))
    assert games.pack(ended.id)
    assert redis.get(keys.game_packed(ended.id)) == before


def test_packing_sent_twice_is_done_once(redis, games, ended, monkeypatch):
    run = games._shelf._scripts.run
    told = []
    monkeypatch.setattr(
        games._shelf._scripts, "run", lambda *call: told.extend(run(*call) for _ in range(2)) or told[-1]
    )
    assert games.pack(ended.id)
    assert told == [1, 1]


@pytest.mark.parametrize(
    "meddle",
    [
        lambda redis, name: redis.hset(keys.game_meta(name), "shown", "word"),
        lambda redis, name: redis.hset(keys.game_meta(name), "ended_at", "12"),
        lambda redis, name: redis.lset(keys.game_log(name), 0, b'12 ["d",0,"bid:1","ok",3.1]'),
        lambda redis, name: redis.rpush(keys.game_log(name), b'12 ["d",0,"bid:1","ok",3.1]'),
    ],
)
def test_game_that_changes_while_it_is_packed_stays_as_it_is(redis, games, ended, monkeypatch, meddle):
    run = games._shelf._scripts.run
    monkeypatch.setattr(games._shelf._scripts, "run", lambda *call: [meddle(redis, ended.id), run(*call)][1])
    before = own_keys(redis, ended.id)
    assert not games.pack(ended.id)
    assert own_keys(redis, ended.id) == before
    monkeypatch.undo()
    changed = games.load(ended.id)
    assert games.pack(ended.id)
    assert games.load(ended.id)[0] == changed[0]


def test_game_that_cannot_be_packed_stays_and_is_told_of(redis, games, ended, caplog):
    redis.rpush(keys.game_log(ended.id), b'12 ["d",9,"bid:1","ok",3.1]')
    assert not games.pack(ended.id)
    assert "game gam_1 can't be packed: expected seats from 0 to 1" in caplog.text
    assert len(games.load(ended.id)[1]) == 4


def test_packing_frees_memory_when_there_is_none(redis, games, ended, make_game):
    redis.config_set("maxmemory", 1)
    try:
        with pytest.raises(OutOfMemoryError):
            games.create(make_game("gam_2"), secret=SECRET, due_at=1)
        assert games.pack(ended.id)
    finally:
        redis.config_set("maxmemory", 0)


# --- asking again after the end ---------------------------------------------------------------------------------------


def test_commit_whose_answer_was_lost_is_known_although_its_game_is_packed(games, ended):
    again = games.commit(ended.id, [GONE], expected=2, lease=None, ending=GameState.FINISHED)
    games.pack(ended.id)
    assert games.commit(ended.id, [GONE], expected=2, lease=None, ending=GameState.FINISHED) == again
    told = games.commit(ended.id, [BID], expected=2, lease=None)
    assert (told.status, told.length, told.state, told.is_new) == ("state", 3, GameState.FINISHED, False)


def test_what_is_asked_of_a_packed_game_is_told_as_of_any_that_has_ended(games, ended, make_game):
    games.pack(ended.id)
    assert games.create(ended, secret=SECRET, due_at=1)
    assert not games.create(make_game(created_at=7), secret=SECRET, due_at=1)
    assert not games.start(ended.id)
    assert games.end(ended.id, GameState.FINISHED)
    assert not games.end(ended.id, GameState.CANCELLED)
    ada = ended.seats[1]
    assert games.fill_seat(ended.id, 1, ada, replaces="open", token="hash") == "filled"
    assert games.fill_seat(ended.id, 1, ada, replaces="open", token="other") == "started"
    assert games.fill_seat(ended.id, 1, Seat(kind="human", name="Bob"), replaces="human", token="hash") == "started"
    with pytest.raises(NotFoundError):
        games.fill_seat(ended.id, 2, ada, replaces="open")
    assert not games.set_entropy(ended.id, 1, "")
    assert games.stall(ended.id, 3) == 0
    assert games.get(ended.id).state is GameState.FINISHED


def test_entropy_that_stood_stands_when_the_game_is_packed(games, make_game):
    games.create(make_game(), secret=SECRET, due_at=1, tokens={0: "one", 1: "two"})
    games.set_entropy("gam_1", 1, "more")
    games.start("gam_1")
    games.end("gam_1", GameState.CANCELLED)
    games.pack("gam_1")
    assert games.set_entropy("gam_1", 1, "more", held_by="two")
    assert not games.set_entropy("gam_1", 1, "more", held_by="one")
    assert not games.set_entropy("gam_1", 1, "other", held_by="two")


def test_game_is_shown_once_whether_it_is_packed_or_not(games, ended):
    assert games.show(ended.id)
    games.pack(ended.id)
    assert not games.show(ended.id)
    assert games.load(ended.id)[0].state is GameState.FINISHED


def test_showing_sent_twice_is_done_once_although_the_game_is_packed_in_between(games, ended, monkeypatch):
    monkeypatch.setattr(games, "_nonce", lambda: "word")
    assert games.show(ended.id)
    games.pack(ended.id)
    assert games.show(ended.id)


def test_packed_game_is_counted_no_longer(store, ended):
    owner = "account:acc_1"
    assert store.unfinished.reserve(owner, ended.id, 1)
    store.games.pack(ended.id)
    assert store.unfinished.prune(owner) == 1
    assert store.retention.exist([ended.id, "gam_none"]) == [True, False]


# --- erasing ----------------------------------------------------------------------------------------------------------


def test_names_and_notes_can_be_taken_out_of_a_packed_game(redis, store, ended):
    store.games.pack(ended.id)
    store.erasures.rewrite_seats(ended.id, lambda seat: replace(seat, name="erased"))
    assert {seat.name for seat in store.games.get(ended.id).seats} == {"erased"}
    assert [event for _, event in store.games.log(ended.id)] == [BID, LATE, GONE]
    store.erasures.strip_notes(ended.id, [1])
    assert [event for _, event in store.games.log(ended.id)] == [BID, LATE, GONE]
    store.erasures.strip_notes(ended.id, [0])
    assert [event for _, event in store.games.log(ended.id)] == [replace(BID, note=None), LATE, GONE]
    assert not redis.exists(keys.game_notes(ended.id))
    dumped = redis.get(keys.game_packed(ended.id))
    store.erasures.strip_notes(ended.id, [0, 1])
    store.erasures.rewrite_seats(ended.id, lambda seat: replace(seat, name="erased"))
    assert redis.get(keys.game_packed(ended.id)) == dumped


def test_game_that_is_packed_while_it_is_rewritten_is_rewritten_all_the_same(store, ended):
    def edit(seat):
        store.games.pack(ended.id)
        return replace(seat, name="erased")

    store.erasures.rewrite_seats(ended.id, edit)
    assert {seat.name for seat in store.games.get(ended.id).seats} == {"erased"}


def test_packed_game_that_changes_while_it_is_rewritten_is_rewritten_all_the_same(redis, store, ended):
    store.games.pack(ended.id)
    key = keys.game_packed(ended.id)
    other = packed.with_game(redis.get(key), replace(store.games.get(ended.id), ended_at=12))

    def edit(seat):
        redis.set(key, other)
        return replace(seat, name="erased")

    store.erasures.rewrite_seats(ended.id, edit)
    changed = store.games.get(ended.id)
    assert ({seat.name for seat in changed.seats}, changed.ended_at) == ({"erased"}, 12)


# --- damage -----------------------------------------------------------------------------------------------------------


def test_damaged_game_is_told_of_and_keeps_nobody_from_the_others(redis, store, games, ended, make_game):
    games.create(make_game("gam_2"), secret=SECRET, due_at=1)
    games.pack(ended.id)
    redis.append(keys.game_packed(ended.id), b"x")
    found = games.find(["gam_2", ended.id])
    assert found[0].id == "gam_2"
    assert isinstance(found[1], DamagedError)
    with pytest.raises(DamagedError):
        games.load(ended.id)
    store.erasures.strip_notes(ended.id, [0])


def test_key_of_another_kind_is_damage(redis, games, ended):
    games.pack(ended.id)
    redis.delete(keys.game_packed(ended.id))
    redis.rpush(keys.game_packed(ended.id), b"x")
    assert isinstance(games.find([ended.id])[0], DamagedError)
    with pytest.raises(DamagedError):
        games.load(ended.id)
