"""What a process has replayed is only a cache: nobody is ever shown what no longer stands."""

from __future__ import annotations

import pytest

from bot_sdk.results.values import GameState
from service.arena.tables import Tables
from service.store import keys
from tests.service.fakes import until


@pytest.fixture
def tables(store):
    return Tables(store.games)


def legal(desk, game, number=0):
    table = desk.table(game)
    seat = table.game.owed()[0]
    return seat, table.game.state.legal_actions(seat)[number]


def test_a_game_that_was_read_goes_on_with_what_others_have_committed(desk, tables):
    game = desk.game("human:ann", "human:bea")
    first = tables.load(game)
    for length in range(1, 6):
        desk.commit(game, *legal(desk, game))
        shown = tables.load(game)
        assert shown.length == length
        assert shown.table.game.log == desk.table(game).game.log
        assert shown.table.game.state.observe(0) == desk.table(game).game.state.observe(0)
    assert first.length == 0
    assert first.table.game.log == []


def test_a_log_that_lost_its_end_and_grew_again_is_replayed_anew(desk, tables, store):
    game = desk.game("human:ann", "human:bea")
    for _ in range(3):
        desk.commit(game, *legal(desk, game))
    marks, stamp = tables.load(game).marks, desk.table(game).times[-1]
    store._redis.ltrim(keys.game_log(game), 0, -2)
    until(lambda: store.due.now() > stamp)
    desk.commit(game, *legal(desk, game, number=-1))
    shown = tables.load(game)
    assert shown.table.game.log == desk.table(game).game.log
    assert tables.known(game, marks) is None


def test_a_game_made_again_on_another_pack_is_another(desk, store, tables):
    game = desk.game("human:ann", "human:bea", id="gam_again")
    before = tables.load(game)
    store._redis.delete(*keys.of_game(game))
    until(lambda: store.due.now() > before.meta.started_at)
    desk.game("human:ann", "human:bea", id="gam_again", secret=b"x" * 32)
    assert tables.load(game).table.game.state.pack == desk.table(game).game.state.pack
    assert tables.load(game).table.game.state.pack != before.table.game.state.pack
    assert tables.known(game, before.marks) is None


def test_a_known_game_is_given_for_its_marks_alone(desk, tables):
    game = desk.game("human:ann", "human:bea")
    shown = tables.load(game)
    assert tables.known(game, shown.marks) is shown
    desk.commit(game, *legal(desk, game))
    assert tables.known(game, tables.load(game).marks) is not shown
    assert tables.known(game, shown.marks) is None


def test_what_was_taken_out_of_a_game_that_has_ended_is_told_nobody(desk, tables, store):
    game = desk.game("human:ann", "human:bea")
    while desk.state(game) is GameState.RUNNING:
        table = desk.table(game)
        events = table.game.apply(
            table.game.judged(*legal(desk, game), ms=1.0, note="mine" if table.length < 3 else None)
        )
        store.games.commit(game, events, expected=table.length, lease=None, ending=table.ending)
        tables.load(game)
    assert [event.note for event in tables.load(game).table.game.log][:4] == ["mine"] * 3 + [None]
    store.erasures.strip_notes(game, [0, 1])
    assert not any(event.note for event in tables.load(game).table.game.log)


def test_an_end_that_was_lost_is_told_nobody_any_more(desk, tables, store):
    """A failover may lose that a game was cancelled; then it goes on."""
    game = desk.game("human:ann", "human:bea")
    desk.commit(game, *legal(desk, game))
    assert store.games.end(game, GameState.CANCELLED)
    before = tables.load(game)
    assert b"ended" in before.events[-1]
    store._redis.hset(keys.game_meta(game), "state", GameState.RUNNING)
    store._redis.hdel(keys.game_meta(game), "ended_at")
    assert tables.load(game).events == before.events[:-1]
    desk.commit(game, *legal(desk, game))
    assert tables.load(game).events == Tables(store.games).load(game).events


def test_two_who_go_on_from_one_game_count_its_faults_once(desk, tables, store):
    game = desk.game("human:ann", "human:bea", "human:cy", "human:di")
    before = tables.load(game)
    seat = desk.table(game).game.owed()[0]
    desk.fail(game, seat)
    meta, lines = store.games.load_since(game, 0)
    for _ in range(7):
        assert before.followed_by(meta, lines).table.game.faults(seat) == 1
    assert before.table.game.faults(seat) == 0


def test_games_not_asked_for_lately_leave_when_there_are_too_many_events(desk, store):
    games = [desk.game("human:ann", "human:bea") for _ in range(4)]
    for game in games:
        for _ in range(2):
            desk.commit(game, *legal(desk, game))
    tables = Tables(store.games, most=3, most_events=5)
    for game in games:
        tables.load(game)
    assert [tables.peek(game) is not None for game in games] == [False, False, True, True]
