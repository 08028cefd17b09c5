"""Server-sent events, as the app writes them."""

from __future__ import annotations

import json
from itertools import islice

import pytest
from redis.exceptions import ConnectionError as StoreGone

from service.api import stream
from tests.service.api.answers import problem


def messages(raw):
    """Read a stream as a browser does; comments and the advice on retrying are left out."""
    found = []
    for block in raw.decode().split("\n\n"):
        fields = dict(line.split(": ", 1) for line in block.split("\n") if line and not line.startswith(":"))
        if "data" in fields:
            found.append((int(fields["id"]), json.loads(fields["data"])))
    return found


@pytest.fixture
def ended(people):
    """Give the path of a game that has ended after a few events."""
    game, players = people("river", 4)
    for _ in range(5):
        next(player for player in players.values() if player.view()["decision_id"]).act()
    for player in players.values():
        player("DELETE")
    return f"/v1/games/{game['id']}"


def test_a_stream_is_the_list_of_events_and_ends(client, ended):
    listed = client.get(f"{ended}/events").get_json()["items"]
    answer = client.get(f"{ended}/stream")
    assert answer.content_type == "text/event-stream"
    assert answer.headers["Cache-Control"] == "no-cache"
    assert answer.data.startswith(b"retry: ")
    assert messages(answer.data) == [(event["id"], event) for event in listed]
    assert listed[-1]["event"] == "ended"


def test_a_stream_goes_on_after_the_last_event_seen(client, ended):
    listed = client.get(f"{ended}/events").get_json()["items"]
    answer = client.get(f"{ended}/stream", headers={"Last-Event-ID": "3"})
    assert messages(answer.data) == [(event["id"], event) for event in listed[3:]]
    assert client.get(f"{ended}/stream", headers={"Last-Event-ID": str(len(listed))}).status_code == 204


def test_asking_for_the_head_of_a_stream_takes_no_place(app, client, people):
    game, _ = people()
    answer = client.head(f"/v1/games/{game['id']}/stream")
    assert (answer.status_code, answer.content_type, answer.data) == (200, "text/event-stream", b"")
    assert app.extensions["slagveld.waiting"].count() == 0


def test_events_come_in_pages(client, ended):
    listed = client.get(f"{ended}/events").get_json()["items"]
    found, cursor = [], "0"
    while cursor is not None:
        page = client.get(f"{ended}/events?limit=4&cursor={cursor}").get_json()
        found += page["items"]
        cursor = page["next_cursor"]
        assert page["is_last"] == (cursor is None)
    assert found == listed


@pytest.mark.parametrize("last", ["x", "-1", "1.5", "9" * 5000, "1 2"])
def test_a_last_event_that_is_none(client, ended, last):
    problem(client.get(f"{ended}/stream", headers={"Last-Event-ID": last}), 422, "invalid")


def test_a_silent_stream_says_that_it_is_there(client, people, monkeypatch):
    monkeypatch.setattr(stream, "HEARTBEAT_S", 0.01)
    game, _ = people()
    parts = client.get(f"/v1/games/{game['id']}/stream").response
    assert len(messages(next(parts) + next(parts))) == 1
    assert [next(parts) for _ in range(3)] == [b":\n\n"] * 3
    parts.close()


def test_a_stream_ends_after_a_while_having_told_all_there_was_however_short_that_is(client, people, monkeypatch):
    monkeypatch.setattr(stream, "LIFE_S", 0.0)
    game, players = people()
    next(player for player in players.values() if player.view()["decision_id"]).act()
    listed = client.get(f"/v1/games/{game['id']}/events").get_json()["items"]
    assert len(listed) == 3
    answer = client.get(f"/v1/games/{game['id']}/stream")
    assert messages(answer.data) == [(event["id"], event) for event in listed]


def test_a_stream_tells_what_happens_meanwhile(client, people):
    game, players = people("river", 4)
    parts = client.get(f"/v1/games/{game['id']}/stream").response
    assert next(parts).startswith(b"retry")
    assert messages(next(parts))[0][1]["event"] == "deal"
    for expected in range(2, 6):
        next(player for player in players.values() if player.view()["decision_id"]).act()
        (number, event), *_ = messages(next(parts))
        assert (number, event["event"]) == (expected, "action")
    parts.close()


def test_a_stream_ends_when_the_process_is_to_stop_and_none_lasts_after_that(app, client, people):
    game, _ = people()
    parts = client.get(f"/v1/games/{game['id']}/stream").response
    assert messages(next(parts) + next(parts)) != []
    app.extensions["slagveld"].store.watch.close()
    assert list(islice(parts, 9)) in ([], [b":\n\n"])
    again = client.get(f"/v1/games/{game['id']}/stream")
    assert again.status_code == 200  # not 204: clients are to come back
    assert len(list(islice(again.response, 9))) == 2  # the advice, and what there is


def test_a_stream_ends_when_the_store_is_away(app, client, people, monkeypatch):
    game, _ = people()
    play = app.extensions["slagveld"].play
    parts = client.get(f"/v1/games/{game['id']}/stream").response
    assert messages(next(parts) + next(parts)) != []

    def away(*_):
        raise StoreGone

    monkeypatch.setattr(play, "_games", type("Away", (), {"reading": staticmethod(away)}))
    assert list(parts) == []


def test_sealed_bids_are_streamed_when_they_are_revealed(client, people):
    game, players = people("river", 4, options={"bidding": "simultaneous"})
    path = f"/v1/games/{game['id']}/events"
    for player in list(players.values())[:3]:
        player.act()
        assert len(client.get(path).get_json()["items"]) == 1
    players[3].act()
    revealed = client.get(f"{path}?after=1").get_json()["items"]
    assert [(event["seat"], event["action"]) for event in revealed] == [(seat, "bid:0") for seat in range(4)]
