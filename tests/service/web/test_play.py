from __future__ import annotations

import re

import msgspec
import pytest

from bot_sdk.bots import HOUSE
from bot_sdk.games.registry import RULESETS
from service.store.entities import BotState

OPEN_GAME = {"ruleset": "seven_up", "seats": [{"kind": "human", "name": "ann"}, {"kind": "open"}]}
NASTY = "<script>alert(1)</script>\u202e" + "x" * 474


@pytest.fixture
def open_app(make_app):
    return make_app(SLAGVELD_ANONYMOUS_GAMES="1")


@pytest.fixture
def register(app, person):
    """Register a bot that is active, unless told otherwise."""

    def make(name, rulesets=("seven_up",), state=BotState.ACTIVE, availability="public"):
        body = {"name": "lowball", "url": "http://127.0.0.1:9000/bot", "availability": availability}
        body["rulesets"] = list(rulesets)
        bot_id = person()("POST", "/v1/bots", json=body).get_json()["id"]
        app.extensions["slagveld"].store.bots.change(
            bot_id, lambda bot: msgspec.structs.replace(bot, name=name, state=state, activated_at=1, version="1")
        )
        return bot_id

    return make


def form_of(client, ruleset):
    """Give the part of the form that is for one game."""
    html = client.get("/play").get_data(as_text=True)
    parts = re.split(r'<div data-ruleset="(\w+)"', html)
    return dict(zip(parts[1::2], parts[2::2], strict=True))[ruleset]


@pytest.mark.parametrize("name", RULESETS)
def test_every_option_of_a_game_can_be_chosen_and_stands_at_its_default(client, name):
    form = form_of(client, name)
    options = RULESETS[name].options_schema()["properties"]
    assert set(re.findall(r'data-option="(\w+)"', form)) == set(options)
    for key, shown in options.items():
        field = re.search(rf'data-option="{key}"(.*?)(?:</select>|>)', form, re.DOTALL)[1]
        if "minimum" in shown and key != "first_dealer":
            assert f'min="{shown["minimum"]}" max="{shown["maximum"]}" value="{shown["default"]}"' in field
    firsts = re.findall(r'data-option="(?:turned_jack|bidding)".*?<option value="(.*?)"', form, re.DOTALL)
    assert firsts == [{"seven_up": "&#34;every&#34;", "river": "&#34;sequential&#34;"}[name]]


@pytest.mark.parametrize("name", RULESETS)
def test_every_house_bot_can_be_chosen_for_every_other_seat(client, name):
    form = form_of(client, name)
    for bot_id in HOUSE:
        assert form.count(f'value="house {bot_id.removeprefix("house:")}"') == RULESETS[name].max_seats - 1


def test_only_active_public_bots_of_that_game_are_offered(client, register):
    shown = register("lowball")
    hidden = [
        register("other", rulesets=["river"]),
        register("asleep", state=BotState.PAUSED),
        register("secret", availability="private"),
        register("serious", availability="tournaments"),
    ]
    form = form_of(client, "seven_up")
    assert f'value="bot {shown}"' in form
    assert not [bot_id for bot_id in hidden if bot_id in form]


def test_names_of_strangers_are_text(client, register, open_app):
    register(NASTY, rulesets=["river"])
    assert NASTY.replace("<", "&lt;").replace(">", "&gt;") in form_of(client, "river")
    seats = [{"kind": "human", "name": "<script>alert(2)</script>"}, {"kind": "open"}]
    made = open_app.test_client().post("/v1/games", json=OPEN_GAME | {"seats": seats})
    for path in ("/play", f"/play/{made.get_json()['id']}"):
        assert "<script>alert" not in client.get(path).get_data(as_text=True)


def test_form_says_whether_games_need_an_account(client, open_app):
    assert 'data-needs-account="yes"' in client.get("/play").get_data(as_text=True)
    assert 'data-needs-account="no"' in open_app.test_client().get("/play").get_data(as_text=True)


def test_page_of_a_seat_names_the_players_and_holds_no_token(open_app):
    client = open_app.test_client()
    made = client.post("/v1/games", json=OPEN_GAME).get_json()
    page = client.get(f"/play/{made['id']}", headers={"Authorization": f"Bearer {made['seats'][0]['token']}"})
    html = page.get_data(as_text=True)
    assert (page.status_code, page.mimetype) == (200, "text/html")
    assert "ann</bdi>" in html
    assert "free" in html
    assert f'href="/games/{made["id"]}"' in html
    assert made["seats"][0]["token"] not in html
    assert client.get(f"/play/{made['id']}").get_data(as_text=True) == html


@pytest.mark.parametrize("game_id", ["gam_" + "a" * 26, "gam_1"])
def test_there_is_no_page_of_a_game_that_isnt(client, game_id):
    answer = client.get(f"/play/{game_id}", headers={"Accept": "text/html"})
    assert (answer.status_code, answer.mimetype) == (404, "text/html")
