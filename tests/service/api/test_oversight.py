"""Accounts as the operator sees them: found, disabled with their bots, enabled again."""

from __future__ import annotations

import pytest

from service.arena import oversight
from service.store.entities import BotState
from tests.service.api.answers import problem
from tests.service.api.test_maintenance import ADMIN, OPERATOR

PATH = "/v1/admin/accounts"


@pytest.fixture
def app(make_app):
    return make_app(SLAGVELD_ADMIN_TOKEN=ADMIN)


@pytest.fixture
def judge(client):
    def put(account_id, **body):
        answer = client.put(f"{PATH}/{account_id}/state", json=body, headers=OPERATOR)
        assert answer.status_code == 200, answer.text
        return answer.get_json()

    return put


@pytest.fixture
def found(client):
    def read(query=""):
        return client.get(PATH + query, headers=OPERATOR).get_json()

    return read


def states(app, *bots):
    return [app.extensions["slagveld"].store.bots.get(bot).state for bot in bots]


def test_tokens_of_a_disabled_account_are_refused_everywhere_until_it_is_enabled(host, client, judge):
    second = host("POST", "/v1/accounts/me/tokens", json={}).get_json()["token"]
    for _ in range(2):
        shown = judge(host.id, state="disabled", reason="it spams")
        assert (shown["state"], shown["reason"]) == ("disabled", "it spams")
    for method, path in [("GET", "/v1/accounts/me"), ("GET", "/v1/games"), ("POST", "/v1/tournaments")]:
        said = problem(host(method, path, json={} if method == "POST" else None), 403, "account_disabled")
        assert "it spams" in said["detail"]
    refused = client.get("/v1/accounts/me", headers={"Authorization": f"Bearer {second}"})
    problem(refused, 403, "account_disabled")
    for _ in range(2):
        shown = judge(host.id, state="active", reason="whatever")
        assert (shown["state"], shown["reason"]) == ("active", None)
    assert host("GET", "/v1/accounts/me").status_code == 200


def test_its_bots_are_disabled_with_it_and_wait_for_a_check_afterwards(app, host, registered, judge, person):
    mine = registered(app, host, "a", url="http://127.0.0.1:9001/")
    others = registered(app, person("bob"), "b")
    paused = registered(app, host, "c", state=BotState.PAUSED)
    judge(host.id, state="disabled", reason="it spams")
    assert states(app, mine, others, paused) == ["disabled", "active", "disabled"]
    judge(host.id, state="active")
    assert states(app, mine, others, paused) == ["pending", "active", "pending"]
    assert host("GET", f"/v1/bots/{mine}").get_json()["reason"] == (
        "its account was enabled by the operator; a check has to pass"
    )
    assert host("POST", f"/v1/bots/{mine}/checks").status_code == 202


def test_a_bot_disabled_by_itself_stays_so_when_its_account_is_enabled(app, host, registered, judge, client):
    def judge_bot(bot, **body):
        return client.put(f"/v1/admin/bots/{bot}/state", json=body, headers=OPERATOR)

    before, during = registered(app, host, "a"), registered(app, host, "b")
    judge_bot(before, state="disabled", reason="it cheats")
    judge(host.id, state="disabled", reason="it spams")
    problem(judge_bot(during, state="pending"), 409, "account_disabled")
    judge_bot(during, state="disabled", reason="it cheats as well")
    judge(host.id, state="active")
    assert states(app, before, during) == ["disabled", "disabled"]
    assert host("GET", f"/v1/bots/{before}").get_json()["reason"] == "it cheats"
    assert judge_bot(during, state="pending").get_json()["state"] == "pending"


def test_more_bots_than_a_page_holds_are_all_disabled(app, host, registered, judge, monkeypatch):
    monkeypatch.setattr(oversight, "_PAGE", 2)
    bots = [registered(app, host, letter) for letter in "abcde"]
    judge(host.id, state="disabled", reason="x")
    assert states(app, *bots) == ["disabled"] * 5


def test_accounts_are_found_by_name_and_state(host, person, found, judge):
    ann, anna = person("Ann"), person("joanna")
    assert [each["id"] for each in found()["items"]] == [anna.id, ann.id, host.id]
    assert {each["id"] for each in found("?name=ANN")["items"]} == {ann.id, anna.id}
    judge(ann.id, state="disabled", reason="x")
    assert [each["id"] for each in found("?state=disabled")["items"]] == [ann.id]
    assert [each["id"] for each in found("?state=active&name=ann")["items"]] == [anna.id]
    first = found("?limit=1")
    assert [each["id"] for each in found(f"?limit=2&cursor={first['next_cursor']}")["items"]] == [ann.id, host.id]


def test_an_account_is_shown_without_its_tokens(host, client):
    shown = client.get(f"{PATH}/{host.id}", headers=OPERATOR).get_json()
    assert set(shown) == {"id", "name", "created_at", "state", "reason"}
    assert (shown["id"], shown["state"]) == (host.id, "active")


def test_an_account_that_isnt_there(client):
    path = f"{PATH}/acc_{'z' * 26}"
    problem(client.get(path, headers=OPERATOR), 404, "not_found")
    problem(client.put(f"{path}/state", json={"state": "disabled"}, headers=OPERATOR), 404, "not_found")


def test_nobody_else_may(host, client):
    problem(host("GET", PATH), 403, "wrong_kind_of_token")
    problem(host("PUT", f"{PATH}/{host.id}/state", json={"state": "active"}), 403, "wrong_kind_of_token")
    problem(client.get(PATH), 401, "token_needed")


# --- erasing: what it comes to is in tests/service/arena/test_erasing.py ---------------------------------------------


def test_an_account_has_itself_erased_and_is_unknown_at_once(host, client, app, judge):
    second = host("POST", "/v1/accounts/me/tokens", json={"scopes": ["bots"]}).get_json()["token"]
    weak = {"Authorization": f"Bearer {second}"}
    problem(client.delete("/v1/accounts/me", headers=weak), 403, "scope_needed")
    assert host("DELETE", "/v1/accounts/me").status_code == 204
    problem(host("GET", "/v1/accounts/me"), 401, "bad_token")
    problem(client.get("/v1/games", headers=weak), 401, "bad_token")
    shown = client.get(f"{PATH}/{host.id}", headers=OPERATOR).get_json()
    assert (shown["name"], shown["state"]) == ("erased", "erasing")
    refused = client.put(f"{PATH}/{host.id}/state", json={"state": "active"}, headers=OPERATOR)
    problem(refused, 409, "account_erased")


def test_the_operator_has_an_account_erased_a_disabled_one_too(host, client, judge, app):
    judge(host.id, state="disabled", reason="x")
    for _ in range(2):
        assert client.delete(f"{PATH}/{host.id}", headers=OPERATOR).status_code == 204
    assert client.get(f"{PATH}/{host.id}", headers=OPERATOR).get_json()["state"] == "erasing"
    problem(host("GET", "/v1/accounts/me"), 401, "bad_token")
    problem(client.delete(f"{PATH}/acc_{'z' * 26}", headers=OPERATOR), 404, "not_found")
    problem(host("DELETE", f"{PATH}/{host.id}"), 401, "bad_token")


def test_the_name_of_an_erased_account_does_not_come_back_by_a_retry(client, app):
    key = {"Idempotency-Key": "a-key-that-is-long-enough"}
    made = client.post("/v1/accounts", json={"name": "zoe"}, headers=key).get_json()
    services = app.extensions["slagveld"]
    services.erasing.ask(made["id"])
    services.erasing._settle_ms = 0
    services.erasing.run(made["id"], lambda: False)
    problem(client.post("/v1/accounts", json={"name": "zoe"}, headers=key), 409, "idempotency_key_reused")
    assert services.store.accounts.get(made["id"]).state == "erased"
