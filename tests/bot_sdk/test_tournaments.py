"""The organiser's part of the client, against an arena of prepared answers."""

from __future__ import annotations

import json

import pytest

from bot_sdk.client import Arena, ArenaError
from bot_sdk.transport import lines
from tests.bot_sdk.specified import listed as page
from tests.bot_sdk.stub import Stub

ID = "trn_" + "a" * 26
OTHER = "trn_" + "b" * 26
STREAM = {"Content-Type": "text/event-stream"}
NOBODYS = (403, {"code": "account_needed", "detail": "only an account can do this"})
GONE = (503, {"code": "store_away", "detail": "the store is away"})


def listed(*items):
    """Answer with tournaments, or with bots: what has a bot's id."""
    kind = "BotView" if items and items[0][0].startswith("bot_") else "TournamentSummary"
    return (200, page(kind, *({"id": item, "name": name} for item, name in items)))


def message(number, **more):
    data = {"state": "running", "finished": number, **more}
    return f"id: {number}\ndata: {json.dumps(data)}\n\n".encode()


def streamed(*parts):
    """Answer with a stream, which breaks off at None."""
    return (200, (b"retry: 1000\n\n", *parts), STREAM)


class Clock:
    """A clock that only waiting moves on."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds


def arena_at(stub, clock=None, token="t"):
    clock = clock or Clock()
    return Arena(stub.url, token, sleep=clock.sleep, clock=clock)


def test_an_id_is_taken_as_it_is():
    with Stub([]) as stub, arena_at(stub) as arena:
        assert arena.find_tournament(ID) == ID
        assert arena.find_bot("bot_" + "a" * 26) == "bot_" + "a" * 26
        assert arena.find_bot("house:greedy") == "house:greedy"
    assert stub.got == []


def test_ones_own_tournament_goes_before_others_of_that_name():
    with Stub([listed((ID, "friday"), (OTHER, "monday"))]) as stub, arena_at(stub) as arena:
        assert arena.find_tournament("friday") == ID
    assert [path for _, path, _, _ in stub.got] == ["/v1/tournaments?owner=me&limit=100"]


def test_a_tournament_of_others_is_found_by_name_also_by_nobody():
    with Stub([NOBODYS, listed((ID, "friday"))]) as stub, arena_at(stub, token=None) as arena:
        assert arena.find_tournament("friday") == ID


def test_a_name_of_several_or_of_none_is_refused():
    with Stub([listed((ID, "friday"), (OTHER, "friday")), listed(), listed()]) as stub, arena_at(stub) as arena:
        with pytest.raises(ArenaError, match=f"give an id, {ID} or {OTHER}") as caught:
            arena.find_tournament("friday")
        assert caught.value.code == "ambiguous"
        with pytest.raises(ArenaError, match="expected the id or the name of a tournament, got 'friday'") as caught:
            arena.find_tournament("friday")
        assert caught.value.code == "not_found"


def test_only_ones_own_bots_are_known_by_name():
    with Stub([listed(("bot_1", "lowball")), listed()]) as stub, arena_at(stub) as arena:
        assert arena.find_bot("lowball") == "bot_1"
        with pytest.raises(ArenaError, match="name of a bot of your own, got 'greedy'"):
            arena.find_bot("greedy")
    assert {path for _, path, _, _ in stub.got} == {"/v1/bots?owner=me&limit=100"}


def test_a_refused_search_is_told():
    refusal = (401, {"code": "bad_token", "detail": "the token isn't known here"})
    with Stub([refusal]) as stub, arena_at(stub) as arena, pytest.raises(ArenaError, match="isn't known here"):
        arena.find_tournament("friday")


def test_a_tournament_is_followed_to_its_end():
    answers = [streamed(message(1), b":\n\n", message(2, state="finished", reason="all played"))]
    with Stub(answers) as stub, arena_at(stub) as arena:
        told = list(arena.follow_tournament(ID))
    assert [(one["state"], one["finished"]) for one in told] == [("running", 1), ("finished", 2)]
    assert "Last-Event-ID" not in stub.got[0][2]


@pytest.mark.parametrize("end", [message(3, state="cancelled"), None])
def test_following_goes_on_where_it_broke_off(end):
    """Whether the connection dies in a message, the arena closes it, hangs up or is away for a while."""
    last = (204, b"") if end is None else streamed(end)
    answers = [
        streamed(message(1), b"id: 2\ndata: {", None),
        *[None] * 3,
        GONE,
        (502, b"<html>"),
        streamed(message(2)),
        last,
    ]
    away = []
    with Stub(answers) as stub, arena_at(stub) as arena:
        told = [one["finished"] for one in arena.follow_tournament(ID, away=away.append)]
    assert told == ([1, 2] if end is None else [1, 2, 3])
    assert [headers.get("Last-Event-ID") for *_, headers, _ in stub.got] == [None, "1", "1", "1", "1", "1", "1", "2"]
    assert [error and error.status for error in away] == [0, None]


def test_an_arena_that_stays_away_is_given_up_after_a_while():
    clock = Clock()
    with Stub([streamed(message(1)), *[GONE] * 20]) as stub, arena_at(stub, clock) as arena:
        following = arena.follow_tournament(ID, patience_s=5)
        assert next(following)["finished"] == 1
        with pytest.raises(ArenaError, match="the store is away"):
            next(following)
    assert 5 < clock.now < 8


def test_following_ends_when_its_time_is_over():
    answers = [streamed(message(number)) for number in range(1, 20)]
    told = []
    with Stub(answers) as stub, arena_at(stub) as arena, pytest.raises(ArenaError, match="within 3 s") as caught:
        told.extend(arena.follow_tournament(ID, timeout_s=3))
    assert caught.value.code == "timeout"
    assert [one["finished"] for one in told] == [1, 2, 3, 4]


@pytest.mark.parametrize(
    "answer",
    [
        (404, {"code": "not_found", "detail": "there is no such tournament"}),
        (200, {"items": []}),
        (301, b"", {"Location": "http://elsewhere/"}),
        streamed(b"data: nonsense\n\n"),
        streamed(b"data: []\n\n"),
    ],
)
def test_what_is_no_stream_is_not_asked_for_again(answer):
    with Stub([answer]) as stub, arena_at(stub) as arena, pytest.raises(ArenaError):
        list(arena.follow_tournament(ID))
    assert len(stub.got) == 1


def test_messages_come_whole_however_they_are_cut():
    """Field names without a blank, carriage returns, data over several lines, as other senders of events write."""
    body = b'id:7\r\nevent: x\r\ndata: {"state":\r\ndata:"finished"}\r\n\r\n'
    with Stub([streamed(body[:20], body[20:40], body[40:])]) as stub, arena_at(stub) as arena:
        assert list(arena.follow_tournament(ID)) == [{"state": "finished"}]


def test_an_export_comes_as_it_is():
    with Stub([(200, b"a,b\n1,\xe2\x80\xa8\n")]) as stub, arena_at(stub) as arena:
        assert b"".join(arena.export(ID, "csv")) == b"a,b\n1,\xe2\x80\xa8\n"
    assert stub.got[0][1] == f"/v1/tournaments/{ID}/export?format=csv"


def test_an_export_that_breaks_off_is_told():
    with Stub([(200, b"a,b\n", {"Content-Length": "99"})]) as stub, arena_at(stub) as arena:
        came = arena.export(ID, "csv")
        with pytest.raises(ArenaError, match="broke off") as caught:
            list(came)
    assert caught.value.code == "unreachable"


def test_a_refusal_of_an_export_that_breaks_off_is_asked_for_again():
    half = (404, b'{"code"', {"Content-Length": "99"})
    none = (404, {"code": "not_found", "detail": "no such tournament"})
    refused = pytest.raises(ArenaError, match="no such tournament")
    with Stub([half, none]) as stub, arena_at(stub) as arena, refused:
        list(arena.export(ID, "csv"))


@pytest.mark.parametrize("size", [1, 2, 3, 99])
def test_lines_are_the_same_however_they_come(size):
    text = b"a\n\nbc\nd"
    assert list(lines(text[at : at + size] for at in range(0, len(text), size))) == [b"a", b"", b"bc", b"d"]
