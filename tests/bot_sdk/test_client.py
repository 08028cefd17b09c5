from __future__ import annotations

import json
import socket

import msgspec
import pytest

from bot_sdk import registering, signing
from bot_sdk.bots.greedy import greedy
from bot_sdk.client import Arena, ArenaError
from bot_sdk.hosting import serving
from tests.bot_sdk.specified import example, listed
from tests.bot_sdk.stub import Stub

SECRET = signing.make_secret(bytes(range(32)))
ME = (200, example("AccountView"))


class Clock:
    """A clock that waiting moves on, and each look at it by `tick` seconds."""

    def __init__(self, tick=0.0):
        self.now = 0.0
        self.slept = []
        self._tick = tick

    def __call__(self):
        self.now += self._tick
        return self.now

    def sleep(self, seconds):
        self.slept.append(seconds)
        self.now += seconds


def arena_at(stub, clock):
    return Arena(stub.url, "t", sleep=clock.sleep, clock=clock)


def keys(stub):
    return [headers.get("Idempotency-Key") for _, _, headers, _ in stub.got]


def test_a_problem_becomes_an_error_with_its_code_and_fields():
    errors = {"seats.0.kind": ["expected bot or human"]}
    problem = {"title": "Unprocessable", "status": 422, "code": "invalid", "detail": "expected more", "errors": errors}
    with Stub([(422, problem)]) as stub, Arena(stub.url, "t") as arena, pytest.raises(ArenaError) as caught:
        arena.create_game("river", [])
    assert str(caught.value) == "expected more (seats.0.kind: expected bot or human)"
    assert (caught.value.status, caught.value.code) == (422, "invalid")
    assert caught.value.errors == problem["errors"]


def test_what_the_detail_says_already_is_not_said_twice():
    errors = {"name": ["expected text"], "rounds": ["expected more", "expected a number"]}
    problem = {"code": "invalid", "detail": "name: expected text", "errors": errors}
    with Stub([(422, problem)]) as stub, Arena(stub.url, "t") as arena, pytest.raises(ArenaError) as caught:
        arena.create_tournament("", "river", rounds=0)
    assert str(caught.value) == "name: expected text (rounds: expected more, expected a number)"


@pytest.mark.parametrize("answer", [(502, b"<html>"), (500, []), (404, {"detail": "x"}), (200, []), (200, b"<html>")])
def test_an_answer_that_no_arena_gives_is_told(answer):
    with Stub([answer]) as stub, Arena(stub.url) as arena, pytest.raises(ArenaError) as caught:
        arena.me()
    assert (caught.value.code, caught.value.status) == ("not_an_arena", answer[0])


def test_nobody_there_is_unreachable():
    with Stub([]) as stub:
        pass
    with Arena(stub.url) as arena:
        assert not arena.ready()
        with pytest.raises(ArenaError, match="no arena at") as caught:
            arena.me()
    assert (caught.value.status, caught.value.code) == (0, "unreachable")


def test_a_creation_is_sent_again_under_its_key_when_the_connection_breaks():
    made = (201, example("GameMade", id="gam_1"))
    broken_off = (201, json.dumps(made[1]).encode()[:-9], {"Content-Length": "999"})
    with Stub([None, broken_off, made]) as stub, Arena(stub.url, "t") as arena:
        assert arena.create_game("river", [{"kind": "open"}], options={"start_cards": 2}).id == "gam_1"
    assert len(keys(stub)) == 3
    assert len(set(keys(stub)) - {None}) == 1
    assert stub.got[0][3] == {"ruleset": "river", "seats": [{"kind": "open"}], "options": {"start_cards": 2}}


def test_each_creation_has_a_key_of_its_own():
    with Stub([(201, example("BotMade"))] * 2) as stub, Arena(stub.url, "t") as arena:
        arena.create_bot("a", "http://b", ["river"])
        arena.create_bot("a", "http://b", ["river"])
    assert len(set(keys(stub)) - {None}) == 2
    assert "secret" not in stub.got[0][3]


IN_FLIGHT = (409, {"code": "in_flight", "detail": "a request with that key is in flight"}, {"Retry-After": "1"})
LIMITED = (429, {"code": "rate_limited", "detail": "too many requests"}, {"Retry-After": "7"})


@pytest.mark.parametrize(("refusal", "pause"), [(IN_FLIGHT, 1), (LIMITED, 7)])
def test_a_call_is_made_again_after_the_pause_that_the_arena_asks_for(refusal, pause):
    clock = Clock()
    with Stub([refusal, refusal, (201, example("TokenMade"))]) as stub, arena_at(stub, clock) as arena:
        arena.create_token()
    assert clock.slept == [pause, pause]
    assert len(set(keys(stub)) - {None}) == 1


@pytest.mark.parametrize("headers", [{"Retry-After": "31"}, {}, {"Retry-After": "Mon, 30 Nov 2026 10:00:00 GMT"}])
def test_a_refusal_is_told_at_once_where_waiting_would_not_help_in_time(headers):
    clock = Clock()
    away = (503, {"code": "maintenance", "detail": "a new disk"}, headers)
    with Stub([away]) as stub, arena_at(stub, clock) as arena, pytest.raises(ArenaError, match="a new disk") as caught:
        arena.me()
    assert clock.slept == []
    assert caught.value.retry_after == (31 if headers.get("Retry-After") == "31" else None)


def test_pauses_count_against_the_deadline():
    clock = Clock()
    with Stub([LIMITED] * 9) as stub, arena_at(stub, clock) as arena, pytest.raises(ArenaError, match="too many"):
        arena.me()
    assert clock.slept == [7] * 4


def test_whether_an_arena_is_ready_is_told_at_once():
    clock = Clock()
    away = (503, {"code": "store_away", "detail": "the store is away"}, {"Retry-After": "2"})
    with Stub([away]) as stub, arena_at(stub, clock) as arena:
        assert not arena.ready()
    assert clock.slept == []


GONE = (404, {"code": "not_found", "detail": "there is no such token"})


def test_a_removal_whose_answer_was_lost_is_done_when_nothing_is_left():
    with Stub([None, GONE, GONE]) as stub, Arena(stub.url, "t") as arena:
        arena.revoke_token("tok_1")
        with pytest.raises(ArenaError, match="no such token"):
            arena.revoke_token("tok_1")


def test_a_redirect_is_no_success_and_is_not_followed():
    """It would take the token to another host; and what was to be removed is still there."""
    with Stub([]) as elsewhere:
        moved = (301, b"", {"Location": f"{elsewhere.url}/v1/bots/bot_1"})
        with Stub([moved, moved]) as stub, Arena(stub.url, "t") as arena:
            for call in (lambda: arena.delete_bot("bot_1"), lambda: list(arena.export("trn_1", "csv"))):
                with pytest.raises(ArenaError, match=f"which sends to '{elsewhere.url}") as caught:
                    call()
                assert (caught.value.status, caught.value.code) == (301, "not_an_arena")
    assert elsewhere.got == []


def test_an_answer_that_drips_meets_the_deadline():
    drops = tuple(b" " for _ in range(100))
    answered = pytest.raises(ArenaError, match="no whole answer")
    with Stub([(200, drops)]) as stub, arena_at(stub, Clock(tick=1.0)) as arena, answered as caught:
        arena.me()
    assert caught.value.code == "unreachable"


def test_an_arena_that_is_silent_is_given_up():
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with Arena(url, timeout_s=0.2) as arena, pytest.raises(ArenaError, match="no answer from") as caught:
            arena.create_account("ann")
    assert caught.value.code == "unreachable"


@pytest.mark.parametrize("bot_id", ["", ".", ".."])
def test_what_would_be_another_path_is_no_id(bot_id):
    with Stub([]) as stub, Arena(stub.url) as arena, pytest.raises(ArenaError, match="expected an id"):
        arena.bot(bot_id)


def test_an_id_is_a_part_of_the_path_whatever_is_in_it():
    with Stub([GONE]) as stub, Arena(stub.url) as arena, pytest.raises(ArenaError):
        arena.bot("../accounts/me?limit=1")
    assert stub.got[0][1] == "/v1/bots/..%2Faccounts%2Fme%3Flimit%3D1"


def test_what_a_problem_says_besides_comes_with_the_error():
    problem = {"code": "illegal_action", "detail": "not now", "status": 422, "legal_actions": ["bid:0", "bid:2"]}
    with Stub([(422, problem)]) as stub, Arena(stub.url) as arena, pytest.raises(ArenaError) as caught:
        arena.act("gam_1", 0, "gam_1.0.0", "bid:1", "sst_1")
    assert caught.value.members == {"legal_actions": ["bid:0", "bid:2"]}
    assert caught.value.detail == "not now"


def test_lists_are_followed_to_their_end():
    pages = [(200, listed("BotView", {"id": "1"}, {"id": "2"}, cursor="c2")), (200, listed("BotView", {"id": "3"}))]
    with Stub(pages) as stub, Arena(stub.url) as arena:
        bots = arena.bots(owner="me")
        assert [next(bots).id, next(bots).id] == ["1", "2"]
        assert len(stub.got) == 1, "a page was asked for before it was come to"
        assert [bot.id for bot in bots] == ["3"]
    assert [path for _, path, _, _ in stub.got] == [
        "/v1/bots?owner=me&limit=100",
        "/v1/bots?owner=me&limit=100&cursor=c2",
    ]


def test_a_leaderboard_of_many_pages_is_read_whole():
    pages = [
        (200, example("Leaderboard", items=[example("RankedView", rank=rank)], next_cursor=cursor, results=rank))
        for rank, cursor in ((1, "after-1"), (2, "after-2"), (3, None))
    ]
    with Stub(pages) as stub, Arena(stub.url) as arena:
        shown = arena.leaderboard("river", versions="all")
    assert [row.rank for row in shown.items] == [1, 2, 3]
    assert (shown.next_cursor, shown.results) == (None, 1)
    assert all(path.startswith("/v1/leaderboards/river?versions=all&") for _, path, _, _ in stub.got)


def test_a_leaderboard_of_one_page_is_asked_for_once():
    page = example("Leaderboard", items=[], next_cursor=None)
    with Stub([(200, page)]) as stub, Arena(stub.url) as arena:
        assert msgspec.to_builtins(arena.leaderboard("river")) == page
    assert len(stub.got) == 1


def test_tokens_go_as_bearer_and_a_seats_own_goes_before_the_accounts(monkeypatch, tmp_path):
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login a password b\n")
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    script = [ME, (200, example("SeatView")), (201, example("ActionTaken")), (200, example("GameView"))]
    with Stub(script) as stub, Arena(stub.url, "account") as arena:
        arena.me()
        arena.seat("gam_1", 2, "seat", wait_s=4.2)
        arena.act("gam_1", 2, "gam_1.2.0", "bid:1", "seat")
        arena.token = None
        arena.game("gam_1")
    sent = [(method, path, headers.get("Authorization")) for method, path, headers, _ in stub.got]
    assert sent == [
        ("GET", "/v1/accounts/me", "Bearer account"),
        ("GET", "/v1/games/gam_1/seats/2?wait_for=decision", "Bearer seat"),
        ("POST", "/v1/games/gam_1/seats/2/actions", "Bearer seat"),
        ("GET", "/v1/games/gam_1", None),
    ]
    assert stub.got[1][2]["Prefer"] == "wait=5"


def test_records_come_line_by_line():
    lines = b'{"a":"\xe2\x80\xa8"}\n{"b":2}\n'
    with Stub([(200, lines)]) as stub, Arena(stub.url) as arena:
        assert list(arena.records("trn_1")) == [b'{"a":"\xe2\x80\xa8"}', b'{"b":2}']


def test_waiting_for_a_check_ends_with_it_or_with_an_error():
    running, over = ((200, example("CheckView", state=state)) for state in ("running", "passed"))
    clock = Clock()
    with Stub([running, running, over, *[running] * 9]) as stub, arena_at(stub, clock) as arena:
        assert arena.wait_for_check("bot_1", "chk_1").state == "passed"
        with pytest.raises(ArenaError, match="within 1 s") as caught:
            arena.wait_for_check("bot_1", "chk_1", timeout_s=1)
    assert caught.value.code == "timeout"
    assert 1.4 < clock.now < 1.9


def check_answers(state):
    step = {"name": "card", "ok": state == "passed", "detail": None, "ms": 3.0}
    return [
        (202, example("CheckView", id="chk_1", state="queued")),
        (200, example("CheckView", id="chk_1", state=state, steps=[step])),
        (200, example("BotView", id="bot_1", state="active" if state == "passed" else "pending")),
    ]


def registered(stub, url, token="t"):
    told = []
    with Arena(stub.url, token) as arena:
        new_account = registering.NewAccount()
        done = registering.register(arena, url, SECRET, name=None, new_account=new_account, tell=told.append)
    return done, told


def test_registering_makes_an_account_where_there_is_none_and_says_what_comes_next():
    none_yet = (200, {"items": [], "next_cursor": None})
    made, bot = (201, example("AccountMade", name="greedy", token="tok")), (201, example("BotMade", id="bot_1"))
    with serving(greedy()) as server, Stub([made, none_yet, bot, *check_answers("passed")]) as stub:
        done, told = registered(stub, server.url, None)
    assert done.active
    assert done.token == "tok"
    assert "export SLAGVELD_TOKEN=tok" in told[0]
    body = stub.got[2][3]
    assert body == {"name": "greedy", "url": server.url, "rulesets": ["seven_up", "river"], "availability": "public",
                    "secret": SECRET}  # fmt: skip
    assert {headers.get("Authorization") for _, _, headers, _ in stub.got[1:]} == {"Bearer tok"}
    said = registering.report(done, stub.url, bot="bot.py:bot", again="slagbot register bot.py:bot")
    assert f"slagbot practice greedy --arena {stub.url}" in said
    assert SECRET not in said


def test_registering_again_brings_the_bot_up_to_date():
    mine = (200, listed("BotView", {"id": "bot_1", "name": "greedy"}))
    changed, secret = (200, example("BotView", id="bot_1")), (201, example("SecretMade", secret=None))
    script = [mine, changed, secret, *check_answers("failed")]
    with serving(greedy()) as server, Stub(script) as stub:
        done, _ = registered(stub, server.url)
    assert [(method, path) for method, path, _, _ in stub.got[1:3]] == [
        ("PATCH", "/v1/bots/bot_1"),
        ("POST", "/v1/bots/bot_1/secret"),
    ]
    assert not done.active
    said = registering.report(done, stub.url, bot="bot.py:bot", again="slagbot register bot.py:bot")
    assert said.endswith("see slagbot check bot.py:bot, then once more\n  slagbot register bot.py:bot")
