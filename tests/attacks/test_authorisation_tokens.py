"""Tokens: what a narrow one can be widened to, how soon a revoked one is dead, where else one may stand."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from service.arena.accounts import MAX_TOKENS
from service.arena.caller import ALL_SCOPES
from tests.attacks.world import ADMIN, GAME, Builder
from tests.service.api.answers import problem

TOKENS = "/v1/accounts/me/tokens"


@pytest.fixture
def ann(builder, redis_url):
    return builder.account("ann")[1]


@pytest.fixture
def narrow(builder, ann):
    """Give a token that may make tokens and nothing else."""
    return builder.make("POST", TOKENS, ann, {"name": "narrow", "scopes": ["account"]})["token"]


@pytest.mark.parametrize("wanted", [["account", "bots"], ["games"], [scope.value for scope in ALL_SCOPES]])
def test_a_token_makes_none_that_can_do_more(builder, narrow, wanted):
    problem(builder.ask("POST", TOKENS, narrow, json={"scopes": wanted}), 403, "scope_needed")
    assert builder.make("POST", TOKENS, narrow, {})["scopes"] == ["account"]
    assert builder.make("POST", TOKENS, narrow, {"scopes": []})["scopes"] == []


def test_a_token_repeats_no_answer_that_another_was_given(builder, ann, narrow):
    """The kept answer holds a token that can do more: it is for who asked for it."""
    key = {"Idempotency-Key": "ci"}
    wide = builder.ask("POST", TOKENS, ann, json={"name": "ci"}, headers=key).get_json()
    answer = builder.ask("POST", TOKENS, narrow, json={"name": "ci"}, headers=key)
    assert "Idempotency-Replayed" not in answer.headers
    assert answer.get_json()["scopes"] == ["account"]
    assert answer.get_json()["token"] != wide["token"]
    assert builder.ask("POST", TOKENS, ann, json={"name": "ci"}, headers=key).get_json() == wide


def test_who_sits_down_repeats_no_answer_of_who_sat_there(builder, ann):
    """Seat 0 of a game is the same seat, its token another's."""
    game = builder.make("POST", "/v1/games", ann, GAME | {"seats": [{"kind": "open"}] * 2, "start": "manual"})
    path, key = f"/v1/games/{game['id']}/seats", {"Idempotency-Key": "k" * 16}
    first = builder.make("PUT", f"{path}/0", None, {"name": "first"})["token"]
    theirs = builder.ask("PUT", f"{path}/1", first, json={"name": "friend"}, headers=key).get_json()["token"]
    assert builder.ask("DELETE", f"{path}/0", first).status_code == 204
    second = builder.make("PUT", f"{path}/0", None, {"name": "second"})["token"]
    answer = builder.ask("PUT", f"{path}/1", second, json={"name": "friend"}, headers=key)
    assert theirs not in answer.text
    problem(answer, 409, "seat_taken")


@pytest.mark.parametrize("other", ["none", "bob", "admin"])
def test_anothers_idempotency_key_opens_nothing(builder, ann, other):
    token = {"none": None, "bob": builder.account("bob")[1], "admin": ADMIN}[other]
    key = {"Idempotency-Key": "the-same-key-for-all"}
    made = builder.ask("POST", "/v1/games", ann, json=GAME, headers=key).get_json()
    answer = builder.ask("POST", "/v1/games", token, json=GAME, headers=key)
    assert answer.status_code == 201
    theirs = answer.get_json()
    assert theirs["id"] != made["id"]
    assert not {seat["token"] for seat in theirs["seats"]} & {seat["token"] for seat in made["seats"]}


def test_rotated_a_token_is_dead_in_every_process_at_once(arena, builder, ann, make_app):
    other = Builder(make_app(SLAGVELD_ACCOUNTS="open"))
    assert other.ask("GET", "/v1/accounts/me", ann).status_code == 200
    [old] = builder.ask("GET", TOKENS, ann).get_json()["items"]
    new = builder.make("POST", TOKENS, ann, {"name": "new"})["token"]
    assert other.ask("DELETE", f"{TOKENS}/{old['id']}", new).status_code == 204
    for process in (builder, other):
        problem(process.ask("GET", "/v1/accounts/me", ann), 401, "bad_token")
        assert process.ask("GET", "/v1/accounts/me", new).status_code == 200


def test_of_tokens_that_revoke_each_other_at_once_one_stays(builder, ann):
    """An account without any token would be lost."""
    for _ in range(5):
        [kept] = builder.ask("GET", TOKENS, ann).get_json()["items"]
        made = builder.make("POST", TOKENS, ann, {"name": "other"})
        with ThreadPoolExecutor(2) as pool:
            statuses = pool.map(
                lambda pair: builder.ask("DELETE", f"{TOKENS}/{pair[0]}", pair[1]).status_code,
                [(kept["id"], ann), (made["id"], made["token"])],
            )
        assert min(statuses) == 204
        living = [token for token in (ann, made["token"]) if builder.ask("GET", TOKENS, token).status_code == 200]
        assert len(living) == 1
        [ann] = living


def test_an_account_has_so_many_tokens_however_fast_it_asks(builder, ann):
    with ThreadPoolExecutor(8) as pool:
        asked = [pool.submit(builder.ask, "POST", TOKENS, ann, json={}) for _ in range(MAX_TOKENS + 9)]
    refused = [each.result() for each in asked if each.result().status_code != 201]
    assert len(refused) == 10  # one was there
    for answer in refused:
        problem(answer, 409, "quota_tokens")
    assert len(builder.ask("GET", f"{TOKENS}?limit=100", ann).get_json()["items"]) == MAX_TOKENS


@pytest.mark.parametrize(
    "query",
    ["token={}", "x={}", "access_token=x", "API_KEY=x", "limit={}", "a=1&b={}", "Authorization=x", "%74oken=x"],
)
def test_a_token_in_a_query_is_refused_whatever_it_is_called(builder, ann, query):
    problem(builder.ask("GET", f"/v1/games?{query.format(ann)}"), 400, "token_in_url")
    problem(builder.ask("GET", f"/v1/games?{query.format(ann)}", ann), 400, "token_in_url")


def test_a_token_elsewhere_than_in_its_header_is_none(builder, ann):
    for headers in ({"Cookie": f"token={ann}"}, {"X-Api-Key": ann}, {"Proxy-Authorization": f"Bearer {ann}"}):
        problem(builder.ask("GET", "/v1/accounts/me", headers=headers), 401, "token_needed")


@pytest.mark.parametrize("header", ["Bearer {}, Bearer {}", "Bearer {} {}", "Bearer {}\tx", "Basic {}", "Bearer x{}"])
def test_a_token_among_others_is_none(builder, ann, header):
    answer = builder.ask("GET", "/v1/accounts/me", headers={"Authorization": header.format(ann, ann)})
    problem(answer, 401, "bad_token")


def test_the_operators_token_is_no_prefix_and_no_guess(builder):
    for guess in (ADMIN[:-1], ADMIN + "x", ADMIN.upper(), ADMIN[::-1]):
        problem(builder.ask("GET", "/v1/rulesets", guess), 401, "bad_token")
