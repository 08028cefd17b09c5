"""No act of the operator without its line; never a secret in one."""

from __future__ import annotations

import json

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from service.store.audit import AuditStore, Line, Log
from tests.service.api.answers import problem
from tests.service.api.conftest import Person
from tests.service.api.test_maintenance import ADMIN, OPERATOR
from tests.service.api.test_specification import COMMITTED, METHODS, example

SECRET = "whsec_" + "Q" * 44


@pytest.fixture
def app(make_app):
    return make_app(SLAGVELD_ADMIN_TOKEN=ADMIN, SLAGVELD_ACCOUNTS="invite", SLAGVELD_INVITE_CODE="come-in-all")


@pytest.fixture
def client(app):
    return app.test_client()


@pytest.fixture
def audit(client):
    """Give the lines of a log, newest first."""

    def read(log="operator", **query):
        path = f"/v1/admin/audit?of={log}" + "".join(f"&{name}={value}" for name, value in query.items())
        answer = client.get(path, headers=OPERATOR)
        assert answer.status_code == 200, answer.text
        return answer.get_json()

    return lambda *log: read(*log)["items"] if len(log) < 2 else read(log[0], **log[1])


@pytest.fixture
def ann(client):
    answer = client.post("/v1/accounts", json={"name": "ann"}, headers=OPERATOR)
    return Person(client, answer.get_json())


def test_an_act_says_what_who_whence_and_how_it_ended(client, audit):
    made = client.post("/v1/accounts", json={"name": "ann", "invite_code": "come-in-all"}, headers=OPERATOR).get_json()
    client.put("/v1/admin/maintenance", json={"on": True, "reason": "disk"}, headers=OPERATOR)
    second, first = audit()
    assert (first["operation"], first["path"], first["status"]) == ("createAccount", "/v1/accounts", 201)
    assert (first["account_id"], first["address"], first["made"]) == (None, "127.0.0.1", made["id"])
    assert json.loads(first["body"]) == {"name": "ann", "invite_code": "***"}
    assert (second["operation"], json.loads(second["body"])["reason"]) == ("setMaintenance", "disk")
    assert second["at"] >= first["at"]


def test_refused_and_impossible_acts_have_their_lines_too(client, audit):
    problem(client.put("/v1/admin/maintenance", json={"on": 3}, headers=OPERATOR), 422, "invalid")
    problem(client.put("/v1/admin/bots/bot_" + "z" * 26 + "/state", json={"state": "disabled"}, headers=OPERATOR), 404,
            "not_found")  # fmt: skip
    raw = {"headers": {**OPERATOR, "Content-Type": "application/json"}, "data": b"{"}
    problem(client.put("/v1/admin/maintenance", **raw), 400, "bad_json")
    assert [(line["operation"], line["status"]) for line in audit()] == [
        ("setMaintenance", 400), ("setBotState", 404), ("setMaintenance", 422),
    ]  # fmt: skip


def test_reading_and_what_others_do_is_no_act(client, ann, audit):
    before = audit()
    client.get("/v1/admin/maintenance", headers=OPERATOR)
    client.head("/v1/admin/maintenance", headers=OPERATOR)
    ann("POST", "/v1/tournaments", json={"name": "cup", "ruleset": "river"})
    client.put("/v1/admin/maintenance", json={"on": True, "reason": "x"})
    assert audit() == before
    assert audit("accounts") == []


@pytest.mark.parametrize(
    ("path", "method"),
    [
        pytest.param(path, method, id=f"{method} {path}")
        for path, item in COMMITTED["paths"].items()
        for method in sorted(METHODS & set(item) - {"get"})
        if {"operator": []} in item[method]["security"]
    ],
)
def test_every_operation_of_the_operator_leaves_a_line(client, audit, path, method):
    """Whichever it is, whatever comes of it: a new one can't be forgotten."""
    filled = path
    for parameter in COMMITTED["paths"][path].get("parameters", ()):
        filled = filled.replace(f"{{{parameter['name']}}}", example(path, parameter["name"]))
    answer = client.open(filled, method=method.upper(), json={}, headers=OPERATOR)
    assert answer.status_code not in {401, 403}, answer.text
    line = audit()[0]
    assert (line["path"], line["status"]) == (filled, answer.status_code)
    assert line["operation"] == COMMITTED["paths"][path][method]["operationId"]


def test_accounts_have_a_log_of_what_is_of_security(app, client, ann, audit, registered):
    bot = registered(app, ann, "a")
    token = ann("POST", "/v1/accounts/me/tokens", json={"name": "ci", "scopes": ["bots"]}).get_json()
    ann("DELETE", f"/v1/accounts/me/tokens/{token['id']}")
    ann("POST", f"/v1/bots/{bot}/secret", json={"secret": SECRET})
    found = audit("accounts")
    assert [line["operation"] for line in found] == ["rotateSecret", "revokeToken", "createToken"]
    assert {line["account_id"] for line in found} == {ann.id}
    assert found[2]["made"] == token["id"]


def test_no_secret_is_in_any_line(app, client, ann, registered, redis):
    bot = registered(app, ann, "a")
    secrets = [SECRET, "come-in-all", ADMIN, ann.token]
    secrets.append(ann("POST", "/v1/accounts/me/tokens", json={}).get_json()["token"])
    secrets.append(ann("POST", f"/v1/bots/{bot}/secret", json={}).get_json()["secret"])
    ann("POST", f"/v1/bots/{bot}/secret", json={"secret": SECRET})
    client.post("/v1/accounts", json={"name": "bob", "invite_code": "come-in-all"}, headers=OPERATOR)
    kept = b"".join(value for log in Log for value in redis.hvals(f"audit:{log}:lines"))
    assert kept.count(b'"id"') == 5
    for secret in secrets:
        assert secret.encode() not in kept


def test_without_its_line_nothing_is_done(client, monkeypatch):
    def away(*_):
        raise RedisConnectionError("gone")

    monkeypatch.setattr(AuditStore, "put", away)
    problem(client.put("/v1/admin/maintenance", json={"on": True, "reason": "x"}, headers=OPERATOR), 503, "store_away")
    monkeypatch.undo()
    assert client.get("/v1/admin/maintenance", headers=OPERATOR).get_json()["on"] is False


def test_an_act_whose_end_cannot_be_written_is_done_and_tells_no_status(client, audit, monkeypatch):
    put = AuditStore.put

    def away_after(self, line):
        if line.status is not None:
            raise RedisConnectionError("gone")
        put(self, line)

    monkeypatch.setattr(AuditStore, "put", away_after)
    order = {"on": True, "reason": "x"}
    assert client.put("/v1/admin/maintenance", json=order, headers=OPERATOR).status_code == 200
    assert [line["status"] for line in audit()] == [None]


def test_pages_go_from_the_newest_to_the_oldest(client, audit):
    for number in range(5):
        client.put("/v1/admin/maintenance", json={"on": True, "reason": f"{number}"}, headers=OPERATOR)
    seen, cursor = [], {}
    while cursor is not None:
        page = audit("operator", {"limit": 2, **cursor})
        seen += [json.loads(line["body"])["reason"] for line in page["items"]]
        cursor = page["next_cursor"] and {"cursor": page["next_cursor"]}
    assert sorted(seen) == ["0", "1", "2", "3", "4"]
    assert len(seen) == 5


def test_a_log_keeps_its_newest_lines_and_nothing_of_the_others(redis):
    store = AuditStore(redis, keep=3)
    for number in range(7):
        store.put(line(number))
    store.put(line(0))
    shown, following = store.lines(Log.OPERATOR, limit=10)
    assert ([each.created_at for each in shown], following) == ([6, 5, 4], None)
    assert redis.hlen("audit:operator:lines") == redis.zcard("audit:operator") == 3


def line(number):
    return Line(
        id=f"aud_{number}", created_at=number, log=Log.OPERATOR, operation="x", path="/", address=None, body=None
    )


def test_only_the_operator_reads_it(client, ann):
    problem(ann("GET", "/v1/admin/audit"), 403, "wrong_kind_of_token")
    problem(client.get("/v1/admin/audit"), 401, "token_needed")
