"""While other games are played on its board, a game shows who plays it and its state, until the board is closed."""

from __future__ import annotations

import pytest
from msgspec.json import decode

from bot_sdk.games import record
from bot_sdk.results.values import GameState
from service.arena.errors import ConflictError
from service.store import keys
from tests.service.bench import Background
from tests.service.fakes import HOLD, until

NEVER = 5.0
"""Seconds that no wait of these tests should take."""


@pytest.fixture
def game(desk):
    """Make a game on a board that it shares; it runs."""
    return desk.game("bot_a", "bot_b", slot=desk.shared_slot())


@pytest.fixture
def uncover(store, worker):
    """Close the board and have its games driven, as the sweeper does."""

    def go(*game_ids):
        store.tournaments.close_board("trn_1", "1")
        worker.drive(*game_ids)

    return go


def seen(play, game):
    return play.look(game, lambda _tag: False)


def test_game_on_an_open_board_shows_who_plays_and_its_state(play, game, worker, desk):
    running = seen(play, game).view
    worker.drive(game)
    ended = seen(play, game).view
    assert ended == running | {"state": "finished"}
    assert [seat["bot_id"] for seat in ended["seats"]] == ["bot_a", "bot_b"]
    meta = desk.meta(game)
    assert (ended["label"], ended["commitment"], ended["options"]) == (meta.label, meta.commitment, meta.options)
    hidden = ("version", "phase", "turn", "observation", "totals", "places", "ended_by", "ended_at", "readable")
    assert [ended[name] for name in hidden] == [0, None, [], None, None, None, None, None, False]
    assert {seat["retired"] for seat in ended["seats"]} == {None}


def test_tag_tells_the_state_and_that_the_board_is_open(play, game, desk, worker, calls):
    calls.bots["bot_b"] = lambda _decision: HOLD
    begun = seen(play, game).tag
    run = worker.driving(game)
    calls.wait_until_held()
    assert seen(play, game).tag == begun
    calls.bots.clear()
    calls.let_go()
    run.result()
    other = desk.game("bot_c", "bot_d", slot=desk.shared_slot(2), secret=bytes(32))
    worker.drive(other)
    assert seen(play, game).tag == seen(play, other).tag != begun


def test_closed_board_shows_all_of_its_games(play, game, worker, uncover):
    worker.drive(game)
    covered = seen(play, game)
    uncover(game)
    shown = seen(play, game)
    assert shown.tag != covered.tag
    assert shown.view["readable"]
    assert shown.view["version"] > 0
    assert shown.view["observation"] is not None
    assert sorted(shown.view["places"]) == [1, 2]
    assert shown.view["ended_at"] is not None
    events, more = play.events(game, 0)
    assert (decode(events[-1])["event"], more) == ("ended", False)
    record.verify(record.read(record.encode(play.record(game))))


def test_events_and_record_of_an_open_board_are_refused_whatever_the_state(play, game, worker):
    for _ in range(2):
        for read in (lambda: play.events(game, 0, NEVER), lambda: play.record(game)):
            with pytest.raises(ConflictError, match="when the last of them has ended") as refused:
                read()
            assert refused.value.code == "board_open"
        worker.drive(game)


def test_lists_do_not_tell_when_a_game_on_an_open_board_ended(games, owner, game, desk, worker, uncover):
    alone = desk.game("bot_a", "bot_b", slot=desk.slot(2))
    worker.drive(game, alone)

    def listed():
        return {each["id"]: each for each in games.list_all(owner, limit=9, cursor=None, state=None)[0]}

    assert [(listed()[each]["readable"], listed()[each]["ended_at"]) for each in (game, alone)] == [
        (False, None),
        (True, desk.meta(alone).ended_at),
    ]
    assert listed()[game]["state"] == "finished"
    uncover(game)
    assert (listed()[game]["readable"], listed()[game]["ended_at"]) == (True, desk.meta(game).ended_at)


def test_wait_for_news_of_an_open_board_ends_with_the_game_and_with_the_board(play, game, worker, uncover, store):
    """No move in between ends it: neither the answer nor its moment tells of one."""

    def waiting(tag):
        wait = Background(lambda: play.look(game, lambda known: known == tag, NEVER))
        until(lambda: any(channel.waiters for channel in store.watch._channels.values()))
        return wait

    first = seen(play, game)
    end = waiting(first.tag)
    worker.drive(game)
    ended = end.result(NEVER)
    assert (ended.view["state"], ended.view["readable"]) == ("finished", False)
    close = waiting(ended.tag)
    uncover(game)
    assert close.result(NEVER / 2).view["readable"]  # told, not found when the patience was over


def test_who_follows_a_game_on_an_open_board_waits_until_it_is_closed(play, game, worker, uncover, store):
    worker.drive(game)
    for after in (0, 7):
        reading = play.follow(game, after)
        assert (reading.events, reading.is_final) == ([], False)
    wait = Background(lambda: play.follow(game, 0, NEVER))
    until(lambda: keys.game_news(game) in store.watch._channels)
    uncover(game)
    reading = wait.result(NEVER / 2)
    events = reading.events
    assert [decode(event)["id"] for event in events] == list(range(1, len(events) + 1))
    assert (decode(events[-1])["event"], reading.is_final) == ("ended", True)


def test_stopping_a_game_on_an_open_board_uncovers_nothing(games, play, operator, game, worker, calls):
    calls.bots["bot_b"] = lambda _decision: HOLD
    run = worker.driving(game)
    calls.wait_until_held()
    games.set_state(operator, game, GameState.CANCELLED)
    calls.let_go()
    run.result()
    assert seen(play, game).tag == "cancelled.board_open"
    with pytest.raises(ConflictError, match="last of them") as refused:
        play.record(game)
    assert refused.value.code == "board_open"
