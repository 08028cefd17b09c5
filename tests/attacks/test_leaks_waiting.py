"""Who waits is woken by what he may know, and by nothing else: a hidden bid or a discard answers no request."""

from __future__ import annotations

import itertools
import threading
from random import Random
from time import monotonic

import pytest

from service.api import stream
from tests.service.api.answers import ITS_OWN
from tests.service.api.conftest import (  # noqa: F401 (fixtures)
    app,
    client,
    host,
    make_app,
    people,
    person,
    person_at,
    queue,
    seated,
)
from tests.service.bench import Background, Desk, Worker
from tests.service.fakes import FakeCalls, until

FISTS = {"start_cards": 1, "bidding": "simultaneous"}
WAIT = "wait=30"


class Heard:
    """Counts how often the games of an app are read anew by who waits: each time a waiter was woken."""

    def __init__(self, games, monkeypatch):
        self.times = 0
        for name in ("reading", "standing"):
            monkeypatch.setattr(games, name, self._counting(getattr(games, name)))

    def _counting(self, read):
        def counted(game_id):
            found = read(game_id)
            self.times += threading.current_thread() is not threading.main_thread()  # where the others act
            return found

        return counted


@pytest.fixture
def fists(people, monkeypatch):  # noqa: F811 (the fixture)
    """Give a game in which all bid at once, and who counts its readings."""
    game, players = people("river", 4, options=FISTS)
    heard = Heard(players[0].client.application.extensions["slagveld"].games, monkeypatch)
    return f"/v1/games/{game['id']}", players, heard


def waiters(path, players):
    """Give every way of waiting for news of a game: as anybody, and from the seat 0 that has bid."""
    asking, own = players[0].client.application.test_client(), players[0]
    tag, own_tag = asking.get(path).headers["ETag"], own("GET").headers["ETag"]
    seen = len(asking.get(f"{path}/events").get_json()["items"])
    return {
        "view": lambda: asking.get(path, headers={"If-None-Match": tag, "Prefer": WAIT}),
        "events": lambda: asking.get(f"{path}/events?after={seen}", headers={"Prefer": WAIT}),
        "seat": lambda: own("GET", headers={"If-None-Match": own_tag, "Prefer": WAIT}),
    }


@pytest.mark.parametrize("kind", ["view", "events", "seat"])
def test_who_waits_is_not_answered_by_a_hidden_bid_but_by_the_last(fists, kind):
    path, players, heard = fists
    assert players[0].act().status_code == 201
    waiting = Background(waiters(path, players)[kind])
    until(lambda: _listens(players))
    for seat in (1, 2):
        before = heard.times
        assert players[seat].act().status_code == 201
        until(lambda before=before: heard.times > before)
        assert waiting._thread.is_alive(), "a hidden bid was heard of"
    assert players[3].act().status_code == 201
    answer = waiting.result(20)
    assert answer.status_code == 200
    assert b"bid:" in answer.data or b'"bids":[null' not in answer.data


def _listens(players):
    channels = players[0].client.application.extensions["slagveld"].store.watch._channels
    return any(channel.waiters and channel.listening for channel in channels.values())


def test_a_stream_is_silent_about_hidden_bids(fists, monkeypatch):
    """The signs of life come by the clock: as many, as far apart, whether somebody bids meanwhile or nobody."""
    path, players, _ = fists
    monkeypatch.setattr(stream, "HEARTBEAT_S", 2.0)
    parts = players[0].client.application.test_client().get(f"{path}/stream").response
    assert next(parts).startswith(b"retry")
    assert b'"event":"deal"' in next(parts)
    for seat in (0, 1, 2):
        began = monotonic()
        beat = Background(lambda: next(parts))
        assert players[seat].act().status_code == 201
        assert beat.result() == b":\n\n"
        assert monotonic() - began >= 0.5  # the beat is that of all who read, and was under way
    assert players[3].act().status_code == 201
    told = b"".join(itertools.islice(parts, 4))
    assert told.count(b'"event":"action"') == 4
    assert [told.index(f'"seat":{seat}'.encode()) for seat in range(4)] == sorted(
        told.index(f'"seat":{seat}'.encode()) for seat in range(4)
    )


def test_bids_are_revealed_by_seat_in_whatever_order_they_came(people):  # noqa: F811 (the fixture)
    told = set()
    for order in itertools.islice(itertools.permutations(range(4)), 0, 24, 7):
        game, players = people("river", 4, options=FISTS)
        for seat in order:
            assert players[seat].act("bid:0").status_code == 201
        items = players[0].client.get(f"/v1/games/{game['id']}/events").get_json()["items"]
        told.add(tuple((each["id"], each["seat"], each["action"]) for each in items if each["event"] == "action"))
    assert told == {tuple((2 + seat, seat, "bid:0") for seat in range(4))}


def test_what_a_wait_of_no_time_gives_does_not_tell_that_somebody_bid(fists):
    """`Prefer: wait=0` with the tag of before: 304 as long as nothing was revealed."""
    path, players, _ = fists
    asking = players[0].client.application.test_client()
    tag = asking.get(path).headers["ETag"]
    known = {"If-None-Match": tag, "Prefer": "wait=0"}
    answers = []
    for seat in (3, 1, 2):
        assert players[seat].act().status_code == 201
        answers.append(asking.get(path, headers=known))
    assert {answer.status_code for answer in answers} == {304}
    assert len({str(sorted(each for each in answer.headers if each[0] not in ITS_OWN)) for answer in answers}) == 1
    assert players[0].act().status_code == 201
    assert asking.get(path, headers=known).status_code == 200


def test_nobody_can_draw_what_a_house_bot_draws_for_a_hidden_bid(store):
    """Its decision's name is known, and so are the bids it may choose from: they must not make its choice."""
    desk, bids = Desk(store), []
    legal = [f"bid:{bid}" for bid in range(13)]
    for number in range(20):
        game_id = desk.game(
            *["house:random"] * 3, "human:ann", options={**FISTS, "start_cards": 12}, id=f"gam_{number}"
        )
        Worker(store, FakeCalls()).drive(game_id)
        bids += [(desk.decided(game_id, seat)[0].action, f"{game_id}.{seat}.0") for seat in range(3)]
    guessed = sum(bid == Random(name).choice(legal) for bid, name in bids)
    assert guessed < len(bids) / 2
    assert len({bid for bid, _ in bids}) > 6


def test_who_leaves_amid_hidden_bids_is_heard_of_when_they_are_revealed(fists):
    path, players, _ = fists
    assert players[1].act().status_code == 201
    before = _read(path, players, but=2)
    assert players[2]("DELETE").status_code == 204
    assert players[2].view()["retired"] == "left"
    assert _read(path, players, but=2) == before
    for seat in (0, 3):
        assert players[seat].act().status_code == 201
    games = players[0].client.application.extensions["slagveld"]
    Worker(games.store, FakeCalls()).drive(path.rpartition("/")[2])
    assert [each["retired"] for each in players[0].client.get(path).get_json()["seats"]] == [None, None, "left", None]


def _read(path, players, but):
    """Read all that others than one seat can read."""
    answers = [players[0].client.get(each) for each in (path, f"{path}/events", "/v1/games")]
    answers += [player("GET") for seat, player in players.items() if seat != but]
    return [
        (each.status_code, sorted(field for field in each.headers if field[0] not in ITS_OWN), each.data)
        for each in answers
    ]
