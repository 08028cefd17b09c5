"""Maintenance mode: nothing begins, everything that runs goes on."""

from __future__ import annotations

import pytest

from service.config import Settings
from service.services import open_services
from tests.service.api.answers import problem

ADMIN = "operator-token-of-thirty-two-characters"
OPERATOR = {"Authorization": f"Bearer {ADMIN}"}
PATH = "/v1/admin/maintenance"
REASON = "a new disk"
PEOPLE = [{"kind": "human", "name": "p0"}, {"kind": "human", "name": "p1"}]


@pytest.fixture
def app(make_app):
    return make_app(SLAGVELD_ADMIN_TOKEN=ADMIN)


@pytest.fixture
def switch(client):
    def put(**body):
        answer = client.put(PATH, json=body, headers=OPERATOR)
        assert answer.status_code == 200, answer.text
        return answer.get_json()

    return put


def refused(answer):
    body = problem(answer, 503, "maintenance")
    assert int(answer.headers["Retry-After"]) > 0
    assert REASON in body["detail"]


def test_nothing_begins_until_it_is_over(host, client, switch, people):
    _, waiting = people(start="manual")
    order = {"ruleset": "seven_up", "seats": PEOPLE}
    partly = host("POST", "/v1/games", json={**order, "seats": [PEOPLE[0], {"kind": "open"}]}).get_json()
    switch(on=True, reason=REASON)
    start = waiting[0].path.partition("/seats")[0] + "/state"
    attempts = [
        lambda: host("POST", "/v1/games", json=order),
        lambda: client.put(f"/v1/games/{partly['id']}/seats/1", json={"name": "bob"}),
        lambda: host("PUT", start, json={"state": "running"}),
    ]
    for attempt in attempts:
        refused(attempt())
    assert client.get(f"/v1/games/{partly['id']}").get_json()["seats"][1]["kind"] == "open"
    switch(on=False)
    assert [attempt().status_code for attempt in attempts] == [201, 200, 200]


def test_what_runs_goes_on_and_can_be_cancelled(host, switch, people):
    game, sitting = people()
    other, _ = people()
    switch(on=True, reason=REASON)
    owing = next(each for each in sitting.values() if each.view()["decision_id"])
    assert owing.act().status_code == 201
    state = f"/v1/games/{game['id']}/state"
    assert host("PUT", state, json={"state": "running"}).status_code == 200, "it runs already"
    cancelled = host("PUT", f"/v1/games/{other['id']}/state", json={"state": "cancelled"})
    assert cancelled.get_json()["state"] == "cancelled"


def test_tournaments_are_made_entered_and_started(host, switch):
    switch(on=True, reason=REASON)
    made = host("POST", "/v1/tournaments", json={"name": "cup", "ruleset": "seven_up", "rounds": 2})
    path = made.headers["Location"]
    for bot in ("house:greedy", "house:random"):
        assert host("PUT", f"{path}/entries/{bot}", json={}).status_code == 200
    assert host("PUT", f"{path}/state", json={"state": "running"}).get_json()["state"] == "running"


def test_every_process_knows_at_once_and_after_a_restart(make_app, switch, redis_url, queue):
    other = make_app(SLAGVELD_ANONYMOUS_GAMES="1").test_client()
    order = {"ruleset": "seven_up", "seats": PEOPLE}
    switch(on=True, reason=REASON)
    refused(other.post("/v1/games", json=order))
    restarted = open_services(Settings.from_env({"REDIS_URL": redis_url}), queue)
    assert restarted.maintenance.get().reason == REASON
    restarted.close()
    switch(on=False)
    assert other.post("/v1/games", json=order).status_code == 201


def test_it_says_since_when_and_another_reason_is_no_new_beginning(client, switch):
    assert client.get(PATH, headers=OPERATOR).get_json() == {"on": False, "reason": None, "since": None}
    first = switch(on=True, reason=REASON)
    second = switch(on=True, reason="a newer disk")
    assert (second["since"], second["reason"]) == (first["since"], "a newer disk")
    assert client.get(PATH, headers=OPERATOR).get_json() == second
    assert switch(on=False) == switch(on=False) == {"on": False, "reason": None, "since": None}


@pytest.mark.parametrize("body", [{}, {"on": True}, {"on": 1, "reason": "x"}, {"on": True, "reason": ""}])
def test_an_order_that_cannot_be(client, body):
    problem(client.put(PATH, json=body, headers=OPERATOR), 422, "invalid")
    assert client.get(PATH, headers=OPERATOR).get_json()["on"] is False


def test_a_retried_creation_finds_its_game(host, switch):
    order = {"ruleset": "seven_up", "seats": PEOPLE}
    key = {"Idempotency-Key": "one"}
    made = host("POST", "/v1/games", json=order, headers=key).get_json()
    switch(on=True, reason=REASON)
    assert host("POST", "/v1/games", json=order, headers=key).get_json() == made
