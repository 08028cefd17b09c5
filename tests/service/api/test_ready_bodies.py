"""Bodies that are written without the schemas of the specification hold what those say, no more and no less."""

from __future__ import annotations

import json

import pytest

from bot_sdk.results.values import GameState
from service.api.events import EventList
from service.api.games import GameView
from service.api.seats import ActionTaken, SeatView
from tests.service.bench import Desk

LIMITS = {"budget_ms": 30_000, "first_budget_ms": 30_000, "human_budget_ms": 600_000}


def as_specified(schema, answer):
    """Check a body against a schema, its nested ones too; give it."""
    body = answer.get_json()
    assert schema().validate(body) == {}
    assert json.dumps(schema().dump(body), sort_keys=True) == json.dumps(body, sort_keys=True)
    return body


class Reader:
    """Reads a game through every operation whose body is written by hand."""

    def __init__(self, client, game, people):
        self.client, self.path, self.people = client, f"/v1/games/{game['id']}", people
        self.seen = []

    def read(self):
        game = as_specified(GameView, self.client.get(self.path))
        as_specified(EventList, self.client.get(f"{self.path}/events"))
        as_specified(EventList, self.client.get(f"{self.path}/events?after=1&limit=1"))
        for person in self.people.values():
            as_specified(SeatView, person("GET"))
        self.seen.append(game["state"])

    def play(self):
        """Play to the end by the last legal action each, reading all the way."""
        while moved := [self.act(person) for person in self.people.values() if person.view()["decision_id"]]:
            assert set(moved) == {201}
            self.read()

    def act(self, person):
        view = person.view()
        if view["decision_id"] is None:  # the one before has ended it
            return 201
        for status in (201, 200):
            taken = person.act(view["legal_actions"][-1], view["decision_id"])
            assert taken.status_code == status
            as_specified(ActionTaken, taken)
        return 201


@pytest.mark.parametrize(
    ("ruleset", "seats", "options"),
    [
        (
            "seven_up",
            2,
            {"target": 5},
        ),  # out of reach of Jacks that are turned: there is no worker to end what they win
        ("river", 4, {"start_cards": 2}),
        ("river", 4, {"start_cards": 1, "bidding": "simultaneous"}),
    ],
)
def test_a_game_from_its_start_to_its_shelf(app, people, ruleset, seats, options):
    game, sitting = people(ruleset, seats, options=options, **LIMITS, start="manual")
    reader = Reader(app.test_client(), game, sitting)
    reader.read()
    started = sitting[0].client.put(
        f"/v1/games/{game['id']}/state",
        json={"state": "running"},
        headers={"Authorization": f"Bearer {sitting[0].token}"},
    )
    as_specified(GameView, started)
    reader.read()
    reader.play()
    store = app.extensions["slagveld"].store
    assert store.games.pack(game["id"])
    reader.read()
    assert set(reader.seen) == {"open", "running", "finished"}


def test_a_game_that_a_person_leaves(app, people):
    game, sitting = people("river", 4, options={"start_cards": 2}, **LIMITS)
    reader = Reader(app.test_client(), game, sitting)
    assert sitting[1].act().status_code == 201
    assert sitting[2]("DELETE").status_code == 204
    reader.read()
    assert sitting[2].view()["retired"] == "left"


@pytest.mark.parametrize("start", ["auto", "manual"])
def test_a_game_that_is_cancelled(app, host, people, start):
    game, sitting = people(**LIMITS, start=start)
    as_specified(GameView, host("PUT", f"/v1/games/{game['id']}/state", json={"state": "cancelled"}))
    Reader(app.test_client(), game, sitting).read()


@pytest.mark.parametrize("state", [GameState.OPEN, GameState.RUNNING])
def test_a_game_on_an_open_board(app, state):
    desk = Desk(app.extensions["slagveld"].store)
    game = desk.game("house:random", "house:random", id="gam_" + "c" * 26, slot=desk.shared_slot(), state=state)
    shown = as_specified(GameView, app.test_client().get(f"/v1/games/{game}"))
    assert (shown["readable"], shown["state"]) == (False, state.value)
