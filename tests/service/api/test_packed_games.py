"""A game that has been packed answers whatever is asked of it, by whomever, byte for byte as before."""

from __future__ import annotations

import random

import pytest

from tests.service.api.answers import ITS_OWN

LIMITS = {"budget_ms": 30_000, "first_budget_ms": 30_000, "human_budget_ms": 600_000}
SEVEN_UP = (
    "seven_up",
    2,
    {"target": 5},
)  # out of reach of Jacks that are turned: there is no worker to end what they win
RIVER = ("river", 4, {"start_cards": 2})
SEALED = ("river", 4, {"start_cards": 2, "bidding": "simultaneous"})


class Ended:
    """A game of people that has ended, and all that was decided in it: seat, decision and action."""

    def __init__(self, host, game, people):
        self.host, self.path, self.people = host, f"/v1/games/{game['id']}", people
        self.id = game["id"]
        self.decided = []

    def begin(self):
        for number, person in self.people.items():
            assert person("PUT", "/entropy", json={"entropy": f"of {number}"}).status_code == 200
        self.steer("running")

    def steer(self, state):
        assert self.host("PUT", f"{self.path}/state", json={"state": state}).status_code == 200

    def play(self, most):
        rng, count = random.Random(most), 0
        while count < most and (
            owing := [(p, view) for p in self.people.values() if (view := p.view())["decision_id"]]
        ):
            person, view = owing[0]
            action = rng.choice(view["legal_actions"])
            assert person.act(action, view["decision_id"]).status_code == 201
            self.decided.append((person, view["decision_id"], action))
            count += 1

    def answers(self, client):
        """Ask everything; give each answer by what was asked."""
        told = {}

        def note(what, answer):
            headers = {name: value for name, value in answer.headers.items() if name not in ITS_OWN}
            told[what] = (answer.status_code, headers, answer.get_data())

        for path in ("", "/events", "/stream", "/record"):
            note(path, client.get(self.path + path))
            note(f"HEAD {path}", client.head(self.path + path))
        tag = client.get(self.path).headers["ETag"]
        note("304", client.get(self.path, headers={"If-None-Match": tag, "Prefer": "wait=20"}))
        total = len(client.get(f"{self.path}/events").get_json()["items"])
        for after in (1, total - 1, total, total + 1, 10**9):
            note(
                f"events {after}", client.get(f"{self.path}/events?limit=5&after={after}", headers={"Prefer": "wait=9"})
            )
            note(f"stream {after}", client.get(f"{self.path}/stream", headers={"Last-Event-ID": str(after)}))
        for query in ("?limit=1", "?state=finished", "?state=cancelled", "?state=running", "?owner=me"):
            note(query, self.host("GET", f"/v1/games{query}"))
        for number, person in self.people.items():
            self._ask_as(number, person, note)
        for person, decision, action in self.decided:
            note(f"again {decision}", person.act(action, decision))
            note(f"otherwise {decision}", person.act("play:2C" if action != "play:2C" else "play:3C", decision))
        for state in ("running", "cancelled"):
            note(state, self.host("PUT", f"{self.path}/state", json={"state": state}))
        return told

    def _ask_as(self, number, person, note):
        note(f"seat {number}", person("GET"))
        note(f"wait {number}", person("GET", "?wait_for=decision"))
        tag = person("GET").headers["ETag"]
        note(f"304 {number}", person("GET", headers={"If-None-Match": tag, "Prefer": "wait=20"}))
        foreign = self.people[(number + 1) % len(self.people)].token
        note(f"foreign {number}", person("GET", headers={"Authorization": f"Bearer {foreign}"}))
        note(f"unknown {number}", person("GET", headers={"Authorization": f"Bearer {person.token[:-2]}zz"}))
        for entropy in (f"of {number}", "", "more"):
            note(f"entropy {number} {entropy}", person("PUT", "/entropy", json={"entropy": entropy}))
        note(f"join {number}", person.client.put(person.path, json={"name": "zed"}))
        note(f"leave {number}", person("DELETE"))
        note(f"act {number}", person.act("play:2C", f"{self.id}.{number}.999"))


@pytest.mark.parametrize("is_known", [True, False], ids=["by the process that knew it", "by another"])
@pytest.mark.parametrize(("table", "stop"), [(SEVEN_UP, None), (RIVER, None), (RIVER, "cancel"), (SEALED, "leave")])
def test_whoever_asks_notices_nothing(app, make_app, host, people, table, stop, is_known):
    ruleset, seats, options = table
    game = Ended(host, *people(ruleset, seats, options=options, start="manual", **LIMITS))
    game.begin()
    game.play(5 if stop else 10**6)
    if stop == "cancel":
        game.steer("cancelled")
    if stop == "leave":
        for person in game.people.values():
            person("DELETE")
    before = game.answers(app.test_client())
    store = app.extensions["slagveld"].store
    assert store.games.get(game.id).state.is_end
    assert store.games.pack(game.id)
    client = (app if is_known else make_app()).test_client()
    for person in (host, *game.people.values()):
        person.client = client
    after = game.answers(client)
    assert {what: answer for what, answer in after.items() if answer != before[what]} == {}
