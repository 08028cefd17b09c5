"""A game of rules that this process doesn't know: nobody is told a thing that isn't so, all else goes on."""

from __future__ import annotations

import dataclasses

import pytest

from bot_sdk.games.registry import RULESETS
from tests.service.api.answers import problem
from tests.service.bench import Desk

GAME = "gam_" + "a" * 26


@pytest.fixture
def client(make_app):
    return make_app(SLAGVELD_ANONYMOUS_GAMES="1").test_client()


@pytest.mark.parametrize("path", ["", "/events", "/record", "/stream"])
def test_game_of_unknown_rules_is_503_for_another_process_to_answer(client, store, path):
    Desk(store).game("human:ada", "house:greedy", id=GAME, rules=2)
    answer = client.get(f"/v1/games/{GAME}{path}")
    problem(answer, 503, "rules_unknown")
    assert answer.headers["Retry-After"] == "2"
    page = client.get(f"/games/{GAME}")
    assert (page.status_code, page.mimetype) == (503, "text/html")
    assert client.get("/v1/games").get_json()["items"][0]["id"] == GAME


def test_games_are_pinned_to_the_rules_of_the_release_that_makes_them(client, store, monkeypatch):
    order = {"ruleset": "seven_up", "seats": [{"kind": "human", "name": "me"}, {"kind": "house", "name": "greedy"}]}
    made = client.post("/v1/games", json=order).get_json()["id"]
    assert store.games.get(made).rules == 1
    monkeypatch.setitem(RULESETS, "seven_up", dataclasses.replace(RULESETS["seven_up"], version=2))
    assert store.games.get(client.post("/v1/games", json=order).get_json()["id"]).rules == 2
    assert store.games.get(made).rules == 1
