"""What the operator alone may do."""

from __future__ import annotations

import pytest

from service.store.entities import BotState
from tests.service.api.answers import problem

ADMIN = "operator-token-of-thirty-two-characters"
OPERATOR = {"Authorization": f"Bearer {ADMIN}"}


@pytest.fixture
def app(make_app):
    return make_app(SLAGVELD_ADMIN_TOKEN=ADMIN)


@pytest.fixture
def judge(client):
    def put(bot_id, **body):
        return client.put(f"/v1/admin/bots/{bot_id}/state", json=body, headers=OPERATOR)

    return put


def test_disabled_bot_stays_so_until_the_operator_and_a_check_let_it_back(app, host, registered, judge, client):
    bot = registered(app, host, "a", url="http://127.0.0.1:9001/")
    for _ in range(2):
        shown = judge(bot, state="disabled", reason="it cheats").get_json()
        assert (shown["state"], shown["reason"]) == ("disabled", "it cheats")
    assert host("GET", f"/v1/bots/{bot}").get_json()["reason"] == "it cheats"
    assert "reason" not in client.get(f"/v1/bots/{bot}").get_json()
    problem(host("PATCH", f"/v1/bots/{bot}", json={"state": "active"}), 409, "bot_disabled")
    problem(host("POST", f"/v1/bots/{bot}/checks"), 409, "bot_disabled")
    for _ in range(2):
        assert judge(bot, state="pending").get_json()["state"] == "pending"
    assert host("POST", f"/v1/bots/{bot}/checks").status_code == 202


def test_nobody_else_may(app, host, registered, client):
    bot = registered(app, host, "a")
    path = f"/v1/admin/bots/{bot}/state"
    problem(host("PUT", path, json={"state": "disabled"}), 403, "wrong_kind_of_token")
    problem(client.put(path, json={"state": "disabled"}), 401, "token_needed")
    assert host("GET", f"/v1/bots/{bot}").get_json()["state"] == BotState.ACTIVE


@pytest.mark.parametrize(
    ("bot", "body", "status", "code"),
    [
        ("house:greedy", {"state": "disabled"}, 409, "house_bot"),
        ("bot_" + "z" * 26, {"state": "disabled"}, 404, "not_found"),
        ("active", {"state": "pending"}, 409, "not_disabled"),
        ("active", {"state": "suspended"}, 422, "invalid"),
        ("active", {}, 422, "invalid"),
    ],
)
def test_judgement_that_cannot_be(app, host, registered, judge, bot, body, status, code):
    bot_id = registered(app, host, "a") if bot == "active" else bot
    problem(judge(bot_id, **body), status, code)
