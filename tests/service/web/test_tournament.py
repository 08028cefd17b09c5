"""The page of a tournament: all formats and states, long ones in parts, and nothing that isn't to be seen yet."""

from __future__ import annotations

import re

import pytest
from msgspec.structs import replace

from bot_sdk.results.values import GameState
from service.store import due
from service.store.entities import BotState, Sprt, TournamentState
from service.web.tournament.schedule import GAMES
from service.web.tournament.standings import ROWS
from tests.service.web.penned import ROOT_SECRET, Pen, id_of

RUNNING, PAUSED = TournamentState.RUNNING, TournamentState.PAUSED
FINISHED, CANCELLED = TournamentState.FINISHED, TournamentState.CANCELLED
NASTY = "<script>alert(1)</script>\u202e" + "n" * 400

ROUND_ROBIN = {"entries": 5}
KINDS = {
    "round robin": ROUND_ROBIN,
    "field": {"entries": 6, "deals": "field"},
    "rotate": {"entries": 4, "deals": "rotate"},
    "river": {"entries": 9, "ruleset": "river", "deals": "field", "rounds": 4},
    "river rotate": {"entries": 8, "ruleset": "river", "deals": "rotate", "rounds": 2},
    "gauntlet": {"entries": 5, "format": "gauntlet", "challenger": id_of("bot", 2)},
    "swiss": {"entries": 7, "format": "swiss", "rounds": 3},
    "river swiss": {"entries": 9, "format": "swiss", "ruleset": "river", "rounds": 3},
    "knockout": {"entries": 11, "format": "knockout"},
    "river knockout": {"entries": 16, "format": "knockout", "ruleset": "river", "deals": "rotate"},
    "ladder": {"entries": 5, "format": "ladder", "max_games": 30},
    "match": {"entries": 2, "format": "match", "rounds": 12},
    "test": {"entries": 2, "format": "match", "deals": "rotate", "rounds": 20, "sprt": Sprt(elo0=0, elo1=200)},
}


@pytest.fixture
def pen(store):
    return Pen(store)


@pytest.fixture
def read(client):
    """Read a page, which must be there."""

    def get(tournament_id, query=""):
        answer = client.get(f"/tournaments/{tournament_id}{query}")
        assert answer.status_code == 200, answer.text
        assert "default-src 'none'" in answer.headers["Content-Security-Policy"]
        return answer.text

    return get


def headings(html):
    """Give the headings of what is shown."""
    shown = re.sub(r"<section[^>]* hidden>.*?</section>", "", html, flags=re.DOTALL)
    return [re.sub(r"<[^>]+>|\s+", " ", text).strip() for text in re.findall(r"<h2.*?</h2>", shown, re.DOTALL)]


@pytest.mark.parametrize("kind", KINDS)
def test_finished_tournament_of_any_kind_shows_everything(pen, read, kind):
    changes = KINDS[kind] if kind != "ladder" else KINDS[kind] | {"games": 20}
    html = read(pen.play(**changes, state=FINISHED))
    assert "finished" in html
    assert {"Standings", "Who met whom", "How it is played"} <= set(headings(html))
    assert len(re.findall(r'<td class="number place">', html)) == changes["entries"]
    assert ("Bracket and rounds" in headings(html)) == ("knockout" in kind)
    assert ("The test" in headings(html)) == (kind == "test")
    assert "/export?format=jsonl" in html
    assert ROOT_SECRET.hex() in html
    assert "data-stream" not in html


@pytest.mark.parametrize("state", [RUNNING, PAUSED, CANCELLED])
@pytest.mark.parametrize("kind", ["field", "knockout", "ladder", "test"])
def test_tournament_that_was_started_shows_how_far_it_is(pen, read, kind, state):
    html = read(pen.play(**KINDS[kind], games=4, state=state))
    assert "4 of" in html
    assert {"running": "running", "paused": "paused", "cancelled": "cancelled"}[state.value] in html
    assert ("/stream" in html) == (state is not CANCELLED)
    assert (ROOT_SECRET.hex() in html) == (state is CANCELLED)


def test_cancelled_tournament_is_followed_until_its_last_board_is_closed(pen, read, store):
    tournament_id = pen.play(**KINDS["field"], games=4, state=CANCELLED)
    store.due.add(due.tournament(tournament_id), store.due.now())
    html = read(tournament_id)
    assert "data-every" in html
    assert "come in when it is closed" in html
    assert ROOT_SECRET.hex() not in html


def test_open_tournament_shows_who_is_entered(pen, read):
    html = read(pen.open(3).id)
    assert headings(html)[0] == "Entries"
    assert "3 entries; started with them, it comes to" in html
    assert all(f"bot {number}" in html for number in range(3))
    assert "Nothing is drawn yet" in html


def test_empty_tournament_says_so(pen, read):
    html = read(pen.open(0).id)
    assert "Nobody is entered yet" in html
    assert "it takes at least 2 to start" in html


# --- what may be seen -------------------------------------------------------------------------------------------------


def turned(result):
    """The same game, but the other way round, and with faults."""
    return replace(
        result,
        totals=result.totals[::-1],
        places=result.places[::-1],
        deals=9,
        outcomes=[{"ok": 1, "illegal": 5}] * 2,
        retired=[True, False],
        ended_by="retirement",
        ended_at=result.ended_at + 99,
    )


def test_page_is_the_same_whatever_was_played_on_open_boards(pen, make_app, redis):
    """Byte by byte; and once the boards are closed it isn't."""

    def seen(result, shut):
        redis.flushall()
        pen.count = iter([1])
        tournament_id = pen.play(6, deals="field", rounds=3, games=8, result=result, shut=shut)
        client = make_app().test_client()
        return [client.get(f"/tournaments/{tournament_id}{query}").data for query in ("", "?rounds=1")]

    def first_only(board):
        return board == "1"

    def changed(result):
        return result if result.slot.board == "1" else turned(result)

    plain, other = seen(lambda result: result, first_only), seen(changed, first_only)
    assert plain == other
    assert b"board open: 3 of 3 over" in plain[0]
    assert b"board open: 2 of 3 over" in plain[0]
    assert b"board closed" in plain[0]
    assert seen(changed, lambda _board: True) != seen(lambda result: result, lambda _board: True)


def test_secret_of_a_board_is_told_when_it_is_closed(pen, read, client):
    tournament_id = pen.play(4, deals="field", games=4, shut=lambda board: board == "1")
    boards = {each["board"]: each for each in client.get(f"/v1/tournaments/{tournament_id}/boards").get_json()["items"]}
    html = read(tournament_id)
    assert boards["1"]["secret"] in html
    assert boards["2"]["secret"] is None
    assert all(board["commitment"] in html for board in boards.values())
    assert html.count("the board is open") == len(boards) - 1


def test_names_of_strangers_are_text(pen, read):
    html = read(pen.play(4, names=lambda number: f"{number}{NASTY}", name=NASTY, format="knockout", state=FINISHED))
    assert "<script>alert" not in html
    assert "&lt;script&gt;alert(1)" in html
    for found in re.finditer("&lt;script&gt;alert", html):
        before = html[: found.start()]
        assert (
            before.rfind("<bdi") > before.rfind("</bdi>")
            or before.endswith(('title="', "<title>"))
            or re.search(r'title="\d$', before)
        ), before[-120:]


def test_tournament_that_isnt_there_is_told_by_a_page(client):
    answer = client.get(f"/tournaments/{id_of('trn', 9)}")
    assert (answer.status_code, answer.mimetype) == (404, "text/html")


@pytest.mark.parametrize("kind", ["field", "rotate", "river", "round robin"])
def test_some_rounds_are_shown_as_all_are(pen, app, kind):
    tournament_id = pen.play(**KINDS[kind], games=7, shut=lambda board: board.partition(".")[0] == "1")
    services = app.extensions["slagveld"]
    everything = list(services.rounds.rounds(tournament_id)), list(services.rounds.boards(tournament_id))
    numbers = [each["round"] for each in everything[0]][1:]
    shown = services.rounds.part(tournament_id, [1])
    assert shown == tuple([each for each in kept if each["round"] == 1] for kept in everything)
    assert services.rounds.part(tournament_id, [*numbers, 999])[0] == everything[0][1:]


# --- what went wrong --------------------------------------------------------------------------------------------------


def test_faults_and_forfeits_are_told_with_their_reasons(pen, read):
    def wrong(result):
        if result.slot.round == 1:
            outcomes = [{"ok": 3, "late": 4, "illegal": 1}, {"ok": 3}]
            return replace(result, outcomes=outcomes, retired=[True, False], ended_by="retirement")
        if result.slot.round == 2:
            unplayed = {"totals": [0, 0], "places": [1, 2], "deals": 0, "outcomes": [{}, {}]}
            return replace(result, forfeited=[1], ended_by="forfeit", **unplayed)
        return replace(result, state=GameState.VOID, places=None, ended_by=None, outcomes=[{"ok": 1}, {"ok": 1}])

    html = read(pen.play(2, rounds=3, result=wrong, state=FINISHED))
    assert "retired after 4 late, 1 illegal" in html
    assert re.search(r"</a> forfeited", html)
    assert "void: nobody was left who answered" in html
    assert "3 games in which something went wrong" in html
    assert "by retirement" in html
    assert {"Faults and forfeits"} <= set(headings(html))


def test_who_is_paused_or_has_withdrawn_is_marked(pen, read, store):
    tournament_id = pen.play(4, games=3)
    store.tournaments.withdraw(tournament_id, id_of("bot", 1), 5)
    store.bots.change(id_of("bot", 2), lambda bot: replace(bot, state=BotState.PAUSED))
    html = read(tournament_id)
    assert re.findall(r'chip warn">([^<]+)<', html) == ["paused by its owner", "withdrawn"]


def test_state_of_a_private_bot_is_its_owners_business(pen, read, store):
    tournament_id = pen.play(4, games=3)
    changes = {"state": BotState.PAUSED, "availability": "private"}
    store.bots.change(id_of("bot", 2), lambda bot: replace(bot, **changes))
    assert "paused" not in read(tournament_id)


def test_what_became_of_a_bot_later_isnt_told_of_a_tournament_that_is_over(pen, read, store):
    tournament_id = pen.play(4, state=FINISHED)
    store.bots.change(id_of("bot", 2), lambda bot: replace(bot, state=BotState.DISABLED))
    assert "disabled by the operator" not in read(tournament_id)


# --- long ones in parts -----------------------------------------------------------------------------------------------


def test_rounds_come_in_pages(pen, read):
    tournament_id = pen.play(2, format="match", rounds=3 * GAMES)
    assert f'<th colspan="3" scope="rowgroup">Round {3 * GAMES}' in read(tournament_id)
    html = read(tournament_id, "?rounds=2")
    numbers = [int(number) for number in re.findall(r'rowgroup">Round (\d+)', html)]
    assert numbers == list(range(GAMES + 1, 2 * GAMES + 1))
    assert f"Rounds {GAMES + 1} to {2 * GAMES} of {3 * GAMES}" in html
    assert "?rounds=1#rounds" in html
    assert "?rounds=3#rounds" in html


def test_page_opens_at_the_round_that_is_played(pen, read):
    html = read(pen.play(40, rounds=30, games=20 * 10 + 3))
    assert re.findall(r'rowgroup">Round (\d+)', html) == ["11", "12"][: GAMES // 20]


def test_standings_come_in_pages(pen, read):
    tournament_id = pen.play(ROWS + 6, format="gauntlet", challenger=id_of("bot", 0), rounds=1)
    assert read(tournament_id).count('class="number place"') == ROWS
    html = read(tournament_id, f"?from={ROWS + 1}")
    assert html.count('class="number place"') == 6
    assert f"places {ROWS + 1} to {ROWS + 6} of {ROWS + 6}" in html


def test_many_entries_are_compared_with_one(pen, read):
    tournament_id = pen.play(16, rounds=15)
    html = read(tournament_id, f"?against={id_of('bot', 3)}")
    assert re.search(r"What\s.*bot 3<", html)
    assert len(re.findall(r"aria-current=\"true\"", html)) == 1


@pytest.mark.parametrize(
    "query", ["?rounds=0", "?rounds=-1", "?rounds=999999", "?rounds=x", "?from=٣", "?from=99999", "?against=nobody"]
)
def test_nonsense_in_the_query_shows_what_there_is(pen, read, query):
    assert "Standings" in headings(read(pen.play(3), query))


# --- what it costs ----------------------------------------------------------------------------------------------------


def test_unchanged_page_isnt_sent_again(pen, client):
    path = f"/tournaments/{pen.play(4)}"
    tag = client.get(path).headers["ETag"]
    again = client.get(path, headers={"If-None-Match": tag})
    assert (again.status_code, again.data) == (304, b"")


def test_reader_gets_nothing_that_was_added_for_another(pen, make_app):
    """Not the origin it was opened to, nor the moment it was sent at."""
    client, path = make_app(SLAGVELD_CORS_ORIGINS="https://play.example").test_client(), f"/tournaments/{pen.play(4)}"
    allowed = client.get(path, headers={"Origin": "https://play.example"})
    assert allowed.headers["Access-Control-Allow-Origin"] == "https://play.example"
    other = client.get(path)
    assert "Access-Control-Allow-Origin" not in other.headers
    assert other.headers["Cross-Origin-Resource-Policy"] == "same-origin"


def test_change_is_seen(pen, make_app, monkeypatch):
    monkeypatch.setattr("service.web.kept.SHARE", 0)
    client, tournament_id = make_app().test_client(), pen.play(4)
    before = client.get(f"/tournaments/{tournament_id}")
    pen.move(tournament_id, name="another name")
    after = client.get(f"/tournaments/{tournament_id}", headers={"If-None-Match": before.headers["ETag"]})
    assert after.status_code == 200
    assert "another name" in after.text


def test_end_is_seen_at_once_however_dear_the_page_was(pen, make_app, monkeypatch):
    """No news follows the last, so nobody would look again soon."""
    monkeypatch.setattr("service.web.kept.SHARE", 10**9)
    client, tournament_id = make_app().test_client(), pen.play(4, state=RUNNING)
    assert "finished" not in client.get(f"/tournaments/{tournament_id}").text
    pen.move(tournament_id, state=FINISHED)
    assert "finished" in client.get(f"/tournaments/{tournament_id}").text
