"""The page of a game as the server sends it: complete without scripts, safe, and silent about what nobody may know."""

from __future__ import annotations

import html
import re

import pytest

from bot_sdk.cards import NAMES
from tests.service.api.test_open_boards import GAMES, PACKS, Evening, told

MARKUP = "<script>alert(1)</script>\"'&"
BACKWARDS = "\u05e9\u05dc\u05d5\u05dd"
LONGEST = "x" * 64


def chip(page):
    return re.search(r'id="game-state">([^<]*)<', page)[1]


def timeless(answer):
    """Give an answer whole, but for the times in it, and its tag, which is made of all that is in it."""
    answer.headers.remove("ETag")
    return re.sub(rb"2\d{3}-\d\d-\d\d.\d\d:\d\d:\d\d", b"T", b"%d %b %b" % told(answer))


def cells(page):
    """Read the scores: the texts of each row of the first table."""
    rows = re.findall(r"<tr[^>]*>(.*?)</tr>", page[page.index('class="scores"') :].partition("</table>")[0], re.DOTALL)
    return [[re.sub(r"<[^>]*>", " ", each).split() for each in re.split(r"</t[hd]>", row)[:-1]] for row in rows]


def play_on(players, deals):
    """Have people play the first action that is legal until so many deals are over."""
    while True:
        view = next(view for view in (player.view() for player in players.values()) if view["decision_id"])
        if view["observation"]["deal"] == deals:
            return
        players[view["seat"]].act(view["legal_actions"][0], view["decision_id"])


def test_a_running_game_shows_who_plays_by_what_rules_and_the_points_of_each_deal(get, client, people):
    game, players = people("river", 4, options={"start_cards": 2})
    play_on(players, 2)
    page = get(f"/games/{game['id']}")
    assert chip(page) == "running"
    assert f'data-table="{game["id"]}"' in page
    assert "Up and Down the River" in page
    events = client.get(f"/v1/games/{game['id']}/events").get_json()["items"]
    ended = [event for event in events if event["event"] == "deal_ended"]
    head, *rows = cells(page)
    assert head == [["Player"], ["Points"], ["2"], ["1"]]
    for seat, row in enumerate(rows):
        assert row[0] == [f"p{seat}"]
        assert row[1] == [str(ended[1]["totals"][seat])]
        assert [cell[0] for cell in row[2:]] == [f"+{deal['points'][seat]}" for deal in reversed(ended)]
        assert all(cell[2:] == ["of", "0"] for cell in row[2:])  # the first legal bid
    assert "<dt>start cards</dt><dd>2</dd>" in page
    assert re.search(r'id="record"[^>]* hidden', page)


def test_a_running_game_shows_nobodys_cards(get, people):
    game, players = people("seven_up")
    page = get(f"/games/{game['id']}")
    (upcard,) = players[0].view()["observation"]["upcards"]
    for name in NAMES:
        assert name == upcard or not re.search(rf"\b{name}\b", page)


def test_a_game_that_waits_for_somebody_says_where_to_sit_down(get, host):
    seats = [{"kind": "human", "name": "ann"}, {"kind": "open"}]
    game = host("POST", "/v1/games", json={"ruleset": "seven_up", "seats": seats}).get_json()
    page = get(f"/games/{game['id']}")
    assert chip(page) == "waiting to begin"
    assert f'<a href="/play/{game["id"]}">' in page


def test_a_finished_game_shows_places_and_offers_its_record(get, people):
    game, players = people("seven_up")
    for _ in range(3):
        next(player for player in players.values() if player.view()["decision_id"]).act()
    assert players[1]("DELETE").status_code == 204
    page = get(f"/games/{game['id']}")
    assert chip(page) == "finished"
    assert "A seat retired and the other won." in page
    assert [row[0][0] for row in cells(page)[1:]] == ["1.", "2."]
    assert "retired: left" in page
    assert re.search(rf'id="record" href="/v1/games/{game["id"]}/record" download="{game["id"]}.json">', page)


def test_a_game_that_was_stopped_before_it_began_says_that_there_is_nothing(get, host):
    seats = [{"kind": "human", "name": "ann"}, {"kind": "open"}]
    game = host("POST", "/v1/games", json={"ruleset": "seven_up", "seats": seats}).get_json()
    assert host("PUT", f"/v1/games/{game['id']}/state", json={"state": "cancelled"}).status_code == 200
    page = get(f"/games/{game['id']}")
    assert chip(page) == "cancelled"
    assert "there is nothing to see" in page
    assert "It was stopped from outside" in page
    assert re.search(r'id="record"[^>]* hidden', page)


def test_a_game_that_everybody_left_is_void(get, people):
    game, players = people("seven_up")
    for player in players.values():
        player("DELETE")
    page = get(f"/games/{game['id']}")
    assert chip(page) == "void"
    assert "counts for nothing" in page


@pytest.mark.parametrize("name", [MARKUP, BACKWARDS, LONGEST])
def test_names_are_text(get, host, name):
    seats = [{"kind": "human", "name": name}, {"kind": "human", "name": "bob"}]
    game = host("POST", "/v1/games", json={"ruleset": "seven_up", "seats": seats}).get_json()
    page = get(f"/games/{game['id']}")
    assert (
        f'<bdi class="name" title="{html.escape(name)}">'.replace("&#x27;", "&#39;").replace("&quot;", "&#34;") in page
    )
    assert "<script>alert" not in page


def test_a_game_that_isnt_there_is_a_page(get):
    assert "<h1>" in get("/games/gam_" + "a" * 26, status=404)


def test_the_page_of_a_game_on_an_open_board_is_the_same_whatever_its_cards(make_app, redis, store):
    pages = []
    for pack in PACKS:
        redis.flushall()
        evening = Evening(make_app(SLAGVELD_KEY="5a" * 32, SLAGVELD_ADMIN_TOKEN="x" * 32), store, pack)
        pages.append([timeless(evening.app.test_client().get(f"/games/{game_id}")) for game_id in GAMES])
        evening.finish()
        pages[-1] += [timeless(evening.app.test_client().get(f"/games/{game_id}")) for game_id in GAMES]
        assert b"Other games are still played on this board" in pages[-1][0]
        evening.close()
        assert b'class="scores"' in evening.app.test_client().get(f"/games/{GAMES[0]}").data
    assert pages[0] == pages[1]
