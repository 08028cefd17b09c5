from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from bot_sdk import client, registering, signing, tournaments
from bot_sdk.bots.greedy import greedy
from bot_sdk.client import Arena, ArenaError
from bot_sdk.hosting import serving
from tests.bot_sdk.stub import Stub

SECRET = signing.make_secret(bytes(range(32)))


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
    with Stub([None, (201, {"id": "gam_1"})]) as stub, Arena(stub.url, "t") as arena:
        assert arena.create_game("river", [{"kind": "open"}], options={"start_cards": 2}) == {"id": "gam_1"}
        arena_keys = [headers["Idempotency-Key"] for _, _, headers, _ in stub.got]
    assert len(arena_keys) == 2
    assert len(set(arena_keys)) == 1
    assert stub.got[0][3] == {"ruleset": "river", "seats": [{"kind": "open"}], "options": {"start_cards": 2}}


def test_each_creation_has_a_key_of_its_own():
    with Stub([(201, {}), (201, {})]) as stub, Arena(stub.url, "t") as arena:
        arena.create_bot("a", "http://b", ["river"])
        arena.create_bot("a", "http://b", ["river"])
    assert len({headers["Idempotency-Key"] for _, _, headers, _ in stub.got}) == 2
    assert "secret" not in stub.got[0][3]


def test_lists_are_followed_to_their_end():
    pages = [
        (200, {"items": [{"id": 1}, {"id": 2}], "next_cursor": "c2"}),
        (200, {"items": [{"id": 3}], "next_cursor": None}),
    ]
    with Stub(pages) as stub, Arena(stub.url) as arena:
        assert [bot["id"] for bot in arena.bots(owner="me")] == [1, 2, 3]
    assert [path for _, path, _, _ in stub.got] == [
        "/v1/bots?owner=me&limit=100",
        "/v1/bots?owner=me&limit=100&cursor=c2",
    ]


def test_a_leaderboard_of_many_pages_is_read_whole():
    first = {"items": [{"rank": 1}], "next_cursor": "after-1", "results": 9}
    rest = [{"items": [{"rank": rank}], "next_cursor": "after-2" if rank == 2 else None} for rank in (2, 3)]
    with Stub([(200, first), *((200, page) for page in rest)]) as stub, Arena(stub.url) as arena:
        shown = arena.leaderboard("river", versions="all")
    assert shown == {"items": [{"rank": 1}, {"rank": 2}, {"rank": 3}], "next_cursor": None, "results": 9}
    assert all(path.startswith("/v1/leaderboards/river?versions=all&") for _, path, _, _ in stub.got)


def test_a_leaderboard_of_one_page_is_asked_for_once():
    page = {"items": [], "next_cursor": None, "results": 0}
    with Stub([(200, page)]) as stub, Arena(stub.url) as arena:
        assert arena.leaderboard("river") == page
    assert len(stub.got) == 1


def test_tokens_go_as_bearer_and_a_seats_own_goes_before_the_accounts(monkeypatch, tmp_path):
    (tmp_path / ".netrc").write_text("machine 127.0.0.1 login a password b\n")
    monkeypatch.setenv("NETRC", str(tmp_path / ".netrc"))
    with Stub([(200, {}), (200, {}), (201, {}), (200, {})]) as stub, Arena(stub.url, "account") as arena:
        arena.me()
        arena.seat("gam_1", 2, "seat", wait_s=5)
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
    running, over = (200, {"state": "running"}), (200, {"state": "passed"})
    times = iter([0.0, 1.0, 2.0, 0.0, 200.0])
    script = [running, running, over, running]
    with Stub(script) as stub, Arena(stub.url, clock=lambda: next(times), sleep=lambda _s: None) as arena:
        assert arena.wait_for_check("bot_1", "chk_1")["state"] == "passed"
        with pytest.raises(ArenaError, match="within 120 s"):
            arena.wait_for_check("bot_1", "chk_1")


def check_answers(state):
    step = {"name": "card", "ok": state == "passed", "detail": None, "ms": 3.0}
    return [
        (202, {"id": "chk_1", "state": "queued"}),
        (200, {"id": "chk_1", "state": state, "steps": [step]}),
        (200, {"id": "bot_1", "state": "active" if state == "passed" else "pending"}),
    ]


def registered(stub, url, token="t"):
    told = []
    with Arena(stub.url, token) as arena:
        new_account = registering.NewAccount()
        done = registering.register(arena, url, SECRET, name=None, new_account=new_account, tell=told.append)
    return done, told


def test_registering_makes_an_account_where_there_is_none_and_says_what_comes_next():
    none_yet = (200, {"items": [], "next_cursor": None})
    made = (201, {"id": "acc_1", "name": "greedy", "token": "tok"})
    with serving(greedy()) as server, Stub([made, none_yet, (201, {"id": "bot_1"}), *check_answers("passed")]) as stub:
        done, told = registered(stub, server.url, None)
    assert done.active
    assert done.token == "tok"
    assert "export SLAGVELD_TOKEN=tok" in told[0]
    body = stub.got[2][3]
    assert body == {"name": "greedy", "url": server.url, "rulesets": ["seven_up", "river"], "availability": "public",
                    "secret": SECRET}  # fmt: skip
    assert {headers.get("Authorization") for _, _, headers, _ in stub.got[1:]} == {"Bearer tok"}
    said = registering.report(done, stub.url, None)
    assert f"curl -s {stub.url}/v1/games" in said
    assert SECRET not in said


def test_registering_again_brings_the_bot_up_to_date():
    mine = (200, {"items": [{"id": "bot_1", "name": "greedy"}], "next_cursor": None})
    script = [mine, (200, {"id": "bot_1"}), (201, {"secret": None}), *check_answers("failed")]
    with serving(greedy()) as server, Stub(script) as stub:
        done, _ = registered(stub, server.url)
    assert [(method, path) for method, path, _, _ in stub.got[1:3]] == [
        ("PATCH", "/v1/bots/bot_1"),
        ("POST", "/v1/bots/bot_1/secret"),
    ]
    assert not done.active
    assert "slagbot check bot.py" in registering.report(done, stub.url, "bot.py")


@pytest.fixture(scope="module")
def described():
    """Give the paths of the service's specification, parameters without their names."""
    text = (Path(__file__).parents[2] / "openapi" / "service.yaml").read_text(encoding="utf-8")
    return {_shape(path) for path in re.findall(r"^  (/\S+):$", text, re.MULTILINE)}


@pytest.fixture(scope="module")
def asked():
    """Give the paths that the client asks for, parameters without their names."""
    source = inspect.getsource(client) + inspect.getsource(tournaments)
    return {_shape(path) for path in re.findall(r'"(/[^"?]+)"', source)}


def test_every_path_of_the_client_is_one_of_the_service(asked, described):
    assert len(asked) > 20
    assert asked - described == set()


def test_the_client_asks_for_all_there_is_of_tournaments(asked, described):
    there = {path for path in described if path.startswith("/v1/tournaments")}
    assert len(there) >= 13
    assert there - asked == set()


def _shape(path):
    return re.sub(r"\{[^}]*\}", "{}", path)
