"""Lobby and lists as the server sends them: what is on, what isn't, and nothing that isn't everybody's business."""

from __future__ import annotations

import html
import re

import pytest
from msgspec.structs import replace
from redis.exceptions import ConnectionError as AwayError

from bot_sdk.results.values import Slot
from service.store.entities import Bot, BotState, TournamentState
from service.web.lobby import GAMES
from tests.service.api.test_ratings import bots, clock, owner, played, ratings, season, store

__all__ = ["bots", "clock", "owner", "played", "ratings", "season", "store"]

MARKUP = "<img src=x onerror=alert(1)>\"'&"
LISTS = ["/", "/tournaments", "/bots"]


def words(page):
    """Give what is read of a page's main part, in one line."""
    main = re.search(r"<main.*</main>", page, re.DOTALL)[0]
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", main)).split())


def part(page, name):
    """Give the words of a section."""
    return words("<main>" + re.search(rf'<section id="{name}".*?</section>', page, re.DOTALL)[0] + "</main>")


@pytest.fixture
def tournament(host):
    def make(name="friday", asking=host, **more):
        order = {"name": name, "ruleset": "river", "table_size": 4, **more}
        answer = asking("POST", "/v1/tournaments", json=order)
        assert answer.status_code == 201, answer.text
        return answer.get_json()["id"]

    return make


@pytest.mark.parametrize("path", LISTS)
def test_an_empty_arena_says_what_to_do(get, path):
    page = get(path)
    said = words(page)
    assert {"/": "Start a game", "/tournaments": "Make one", "/bots": "How to enter one"}[path] in said
    assert "data-table" not in page


def test_lobby_shows_what_is_played_and_features_one(get, people):
    game, _ = people()
    page = get("/")
    assert f'href="/games/{game["id"]}"' in page
    assert f'data-table="{game["id"]}"' in page
    assert part(page, "running") == "Games being played p0 · , p1 Seven Up"


def test_lobby_leads_to_an_open_seat(get, host, client):
    seats = [{"kind": "human", "name": "ann"}, {"kind": "open"}]
    game = host("POST", "/v1/games", json={"ruleset": "seven_up", "seats": seats}).get_json()
    page = get("/")
    assert f'href="/play/{game["id"]}"' in page
    assert "an open seat" in part(page, "running")
    assert "data-table" not in page


def test_a_game_that_only_waits_for_its_start_asks_for_nobody(get, people):
    game, _ = people(start="manual")
    assert game["id"] not in get("/")


def test_lobby_features_no_game_on_an_open_board(get, people, store):
    game, _ = people()
    slot = Slot(tournament_id="trn_" + "a" * 26, round=1, table=1, board="1", is_shared=True)
    covered = _another(store, game["id"], slot=slot)
    page = get("/")
    assert re.findall(r'data-table="([^"]*)"', page) == [game["id"]]
    assert f'href="/games/{covered}"' in page
    assert "hidden until its board is played" in part(page, "running")


def test_lobby_features_a_game_however_many_newer_ones_are_hidden(get, people, store):
    game, _ = people()
    for number in range(GAMES):
        slot = Slot(tournament_id="trn_" + "a" * 26, round=1, table=number, board="1", is_shared=True)
        _another(store, game["id"], letter="bcdefghijk"[number], slot=slot)
    page = get("/")
    assert re.findall(r'data-table="([^"]*)"', page) == [game["id"]]
    assert part(page, "running").count("Seven Up") == GAMES


def test_what_has_ended_can_be_replayed_from_the_lobby(get, people):
    game, seated = people()
    assert seated[0]("DELETE").status_code in {200, 204}
    page = get("/")
    assert "data-table" not in page
    assert f'href="/games/{game["id"]}"' in page
    assert "No game has ended lately" not in page


def test_lobby_shows_tournaments_and_how_far_they_are(get, host, tournament):
    opened, running = tournament("still open"), tournament("on its way")
    for name in ("random", "greedy", "counting", "search"):
        assert host("PUT", f"/v1/tournaments/{running}/entries/house:{name}", json={}).status_code in {200, 201}
    assert host("PUT", f"/v1/tournaments/{running}/state", json={"state": "running"}).status_code == 200
    said = part(get("/"), "tournaments")
    assert "still open Up and Down the River, open for entries" in said
    assert re.search(r"on its way .*0 of \d+ games", said)
    assert f"/tournaments/{opened}" in get("/")


def test_lobby_shows_who_is_strongest_in_each_game(get, played):
    said = words(get("/"))
    assert re.search(r"Up and Down the River Ratings of .* 1 a \d+ ± \d+ 2 b \d+ ± \d+", said)
    assert "No bot has a rank yet" in said  # in the other game


def test_lobby_names_the_address_to_connect_to(make_app):
    page = make_app(SLAGVELD_PUBLIC_URL="https://arena.example").test_client().get("/").text
    assert "slagbot connect bot.py:bot --arena https://arena.example\n" in page or (
        "--arena https://arena.example</pre>" in page
    )


def test_tournaments_are_listed_by_state_and_page(get, tournament, person, store):
    names = [f"cup {number:02}" for number in range(33)]
    hosts = [person("ann"), person("bob")]  # since one has at most 20 at once
    made = {name: tournament(name, hosts[at % 2], ruleset="seven_up", table_size=2) for at, name in enumerate(names)}
    store.tournaments.change(made["cup 07"], lambda each: replace(each, state=TournamentState.FINISHED, ended_at=1))
    first = get("/tournaments")
    assert re.findall(r"cup \d\d(?=</bdi>)", first) == names[:2:-1]
    following = html.unescape(re.search(r'href="([^"]*cursor=[^"]*)" rel="next"', first)[1])
    assert re.findall(r"cup \d\d(?=</bdi>)", get(following)) == names[2::-1]
    assert re.findall(r"cup \d\d(?=</bdi>)", get("/tournaments?state=finished")) == ["cup 07"]
    assert "There is none here" in get("/tournaments?state=running")
    assert 'href="/tournaments?state=open&amp;cursor=' in get("/tournaments?state=open")


@pytest.mark.parametrize("path", ["/tournaments?state=lost", "/tournaments/nowhere", "/bots/nowhere", "/nowhere"])
def test_what_is_not_there_is_a_page_that_says_so(get, path):
    page = get(path, 404)
    assert "Not Found" in words(page)
    assert "problem" not in page


@pytest.mark.parametrize("path", ["/tournaments?cursor=x", "/bots?cursor=x"])
def test_a_cursor_that_no_list_gave_is_refused_on_a_page(get, path):
    assert "cursor" in words(get(path, 422)).lower()


def test_bots_are_listed_with_their_ratings_and_states(get, played, store):
    store.bots.change(next(iter(played_ids(store))), lambda bot: replace(bot, state=BotState.PAUSED))
    said = words(get("/bots"))
    assert said.count("paused") == 1
    assert re.search(r"d (paused )?[–-] \d+ ± \d+", said)
    assert re.search(r"random not rated not rated", said)


def played_ids(store):
    found, _ = store.bots.list_all(limit=10, cursor=None, keep=lambda _: True)
    return [bot.id for bot in found]


def test_what_is_its_owners_business_is_on_no_page(get, person, store):
    owner = person("ann")
    secretive = {"url": "http://127.0.0.1:9/hidden", "reason": "our little secret", "rulesets": ["river"]}
    kinds = {"pending": {"activated_at": None}, "private": {"availability": "private", "activated_at": 1}}
    for letter, (name, more) in zip("ab", kinds.items(), strict=True):
        _keep_bot(store, letter, name, owner, **secretive | more)
    _keep_bot(store, "c", "seen", owner, **secretive, activated_at=1)
    page = get("/bots")
    assert "seen" in page
    assert not re.search("pending|private|/hidden|little secret|127.0.0.1:9", page)


@pytest.mark.parametrize("path", LISTS)
@pytest.mark.parametrize(
    "text", [MARKUP, "\u202egnp.exe", "\u05e9\u05dc\u05d5\u05dd", "x" * 500], ids=["markup", "bidi", "rtl", "long"]
)
def test_names_of_strangers_are_text(get, people, tournament, person, store, path, text):
    game, _ = people()
    seats = store.games.get(game["id"]).seats
    _another(store, game["id"], seats=[replace(seat, name=text) for seat in seats])
    store.tournaments.change(tournament(), lambda each: replace(each, name=text))
    _keep_bot(store, "a", text, person("bob"), activated_at=1)
    page = get(path)
    written = str(html.escape(text)).replace("&#x27;", "&#39;").replace("&quot;", "&#34;")
    assert f'<bdi class="name" title="{written}">{written}</bdi>' in page
    assert "<img src=x" not in page


@pytest.mark.parametrize("path", LISTS)
def test_a_page_says_that_the_store_is_away(app, get, path, monkeypatch):
    def away(*_, **__):
        raise AwayError("Connection refused")

    for listed in ("games", "tournaments", "bots"):
        monkeypatch.setattr(type(getattr(app.extensions["slagveld"].store, listed)), "list_all", away)
    page = get(path, 503)
    assert "Service Unavailable The store is away, try again. Try again To the lobby" in words(page)


@pytest.mark.parametrize("path", [*LISTS, "/leaderboards/river", "/bots/house:greedy", "/docs", "/play"])
def test_an_unchanged_page_is_not_sent_again(client, path):
    tag = client.get(path).headers["ETag"]
    again = client.get(path, headers={"If-None-Match": tag})
    assert (again.status_code, again.data, again.headers["ETag"]) == (304, b"", tag)


@pytest.mark.parametrize("method", ["GET", "POST"])
def test_under_the_path_of_the_api_problems_are_json_for_browsers_too(client, method):
    answer = client.open("/v1/nothing", method=method, headers={"Accept": "text/html,*/*;q=0.8"})
    assert (answer.status_code, answer.mimetype) == (404, "application/problem+json")


@pytest.mark.parametrize("path", LISTS)
def test_a_page_is_the_same_for_everybody(client, host, people, path):
    people()
    with_token = host("GET", path)
    assert with_token.text == client.get(path).text
    assert "Set-Cookie" not in with_token.headers


def _keep_bot(store, letter, name, owner, **more):
    fields = {"url": "http://127.0.0.1:9/", "rulesets": ["seven_up"], "state": BotState.ACTIVE, "created_at": 1} | more
    bot = Bot(id="bot_" + letter * 26, name=name, account_id=owner.id, **fields)
    assert store.bots.create(bot, secret="whsec_" + "A" * 32)


def _another(store, game_id, *, letter="a", **changes):
    """Make another game such as the API makes none: with a name that is too long, or on a board. Give its id."""
    made = store.games.get(game_id)
    game = replace(made, id="gam_" + letter * 26, created_at=made.created_at + 1, **changes)  # so it comes first
    store.games.create(game, secret=bytes(32), due_at=0, tokens={})
    return game.id
