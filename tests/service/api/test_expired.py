"""What has left the store is gone for whoever comes by an old link: 404 everywhere, and in no list."""

from __future__ import annotations

import re

import pytest

from bot_sdk.results.values import GameState
from tests.bot_sdk.specified import document

PATHS = [path for path, item in document()["paths"].items() if "get" in item]
OF_GAMES = [path for path in PATHS if path.startswith("/v1/games/{")]
OF_TOURNAMENTS = [path for path in PATHS if path.startswith("/v1/tournaments/{")]


def filled(path, ident):
    """Give a path with the id in the place of its first part, and 0 or a bot in that of others."""
    path = re.sub(r"\{(game|tournament)_id\}", ident, path)
    return path.replace("{bot_id}", "house:random").replace("{number}", "0").replace("{seat}", "0")


@pytest.fixture
def expired_game(app, people):
    store = app.extensions["slagveld"].store
    game, seated = people()
    assert store.games.end(game["id"], GameState.CANCELLED)
    store.retention.drop_games(store.games.get_many([game["id"]]))
    return game["id"], seated[0].token


@pytest.fixture
def expired_tournament(app, host):
    store = app.extensions["slagveld"].store
    made = host("POST", "/v1/tournaments", json={"name": "night", "ruleset": "seven_up"}).get_json()
    store.retention.drop_tournament(store.tournaments.get(made["id"]))
    return made["id"]


@pytest.mark.parametrize("path", OF_GAMES)
def test_expired_game_is_nowhere(path, client, host, expired_game):
    game_id, token = expired_game
    asked = filled(path, game_id)
    assert "{" not in asked
    seen = {client.get(asked).status_code, host("GET", asked).status_code}
    assert seen <= {401, 403, 404}
    if "/seats/" not in path:
        assert seen == {404}
    assert client.get(asked, headers={"Authorization": f"Bearer {token}"}).status_code in {401, 404}


@pytest.mark.parametrize("path", OF_TOURNAMENTS)
def test_expired_tournament_is_nowhere(path, client, expired_tournament):
    asked = filled(path, expired_tournament)
    assert "{" not in asked
    assert client.get(asked).status_code == 404


def test_lists_lack_what_has_expired(client, host, expired_game, expired_tournament):
    for path in ("/v1/games", "/v1/tournaments"):
        assert client.get(path).get_json() == {"items": [], "next_cursor": None}
    assert host("GET", "/v1/games?owner=me").get_json()["items"] == []


def test_both_have_pages():
    assert len(OF_GAMES) >= 5
    assert len(OF_TOURNAMENTS) >= 8
