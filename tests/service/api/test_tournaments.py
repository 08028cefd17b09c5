"""Tournaments by HTTP: made, entered, run by a real worker, read; and what is refused."""

from __future__ import annotations

import csv
import hashlib
import itertools
import threading
import time
from contextlib import contextmanager

import pytest
from msgspec.structs import replace
from werkzeug.serving import WSGIRequestHandler, make_server

from bot_sdk.bots import house
from bot_sdk.games.packs import board_secret, commitment, root_commitment
from bot_sdk.games.record import read, verify
from bot_sdk.results import export
from bot_sdk.results.recompute import differences
from service.store.entities import BotState
from tests.service.api.answers import problem
from tests.service.api.test_stream import messages

NOWHERE = "/v1/tournaments/trn_" + "a" * 26
ORDER = {"name": "friday", "ruleset": "seven_up", "options": {"target": 3}}
ADMIN = "operator-token-of-thirty-two-characters"


def make(host, **order):
    answer = host("POST", "/v1/tournaments", json=ORDER | order)
    assert answer.status_code == 201, answer.text
    return answer.headers["Location"]


def enter(host, path, *bots, **entry):
    for bot_id in bots:
        answer = host("PUT", f"{path}/entries/{bot_id}", json=entry)
        assert answer.status_code == 200, answer.text


def steer(host, path, state):
    return host("PUT", f"{path}/state", json={"state": state})


class Quiet(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"

    def log(self, *_):
        pass


@contextmanager
def hosted(bot):
    """Serve a bot on loopback and give its URL."""
    server = make_server("127.0.0.1", 0, bot, threaded=True, request_handler=Quiet)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.port}/"
    finally:
        server.shutdown()
        thread.join(timeout=5)
        server.server_close()


# --- made and entered -----------------------------------------------------------------------------------------------


def test_a_new_tournament(host, client):
    path = make(host)
    shown = client.get(path).get_json()
    assert shown["state"] == "open"
    assert (shown["format"], shown["deals"], shown["table_size"], shown["tables_per_board"]) == (
        "round_robin", "field", 2, 1,
    )  # fmt: skip
    assert shown["options"]["target"] == 3
    assert shown["owner"] == host.id
    assert len(shown["root"]) == 64
    assert shown["secret"] is None
    assert shown["progress"] == {"games": 0, "planned": 0, "finished": 0, "running": 0, "seconds_left": None}
    assert client.get(f"{path}/standings").get_json()["items"] == []
    for empty in ("rounds", "boards"):
        assert client.get(f"{path}/{empty}").get_json() == {"items": [], "next_cursor": None}
    assert client.get(f"{path}/games").get_json() == {"items": [], "next_cursor": None}
    assert client.get(f"{path}/export?format=records").data == b""


def test_a_retried_creation_finds_its_tournament(host, client):
    key = {"Idempotency-Key": "k"}
    first, again = (host("POST", "/v1/tournaments", json=ORDER, headers=key) for _ in range(2))
    assert first.get_json() == again.get_json()
    assert len(client.get("/v1/tournaments").get_json()["items"]) == 1


def test_lists(host, person, client):
    paths = [make(host, name=f"t{number}") for number in range(3)]
    assert steer(host, paths[1], "cancelled").status_code == 200
    names = [each["name"] for each in client.get("/v1/tournaments").get_json()["items"]]
    assert names == ["t2", "t1", "t0"]
    still_open = host("GET", "/v1/tournaments?owner=me&state=open").get_json()["items"]
    assert [each["name"] for each in still_open] == ["t2", "t0"]
    assert person("eve")("GET", "/v1/tournaments?owner=me").get_json()["items"] == []


def test_changes_are_the_owners(host, person):
    path = make(host)
    problem(person("eve")("PATCH", path, json={"name": "mine"}), 403, "not_yours")
    problem(steer(person("eve"), path, "cancelled"), 403, "not_yours")
    changed = host("PATCH", path, json={"name": "saturday", "rounds": 7}).get_json()
    assert (changed["name"], changed["rounds"]) == ("saturday", 7)
    enter(host, path, "house:random", "house:greedy")
    assert steer(host, path, "running").status_code == 200
    problem(host("PATCH", path, json={"rounds": 8}), 409, "not_open")
    assert host("PATCH", path, json={"name": "sunday"}).get_json()["name"] == "sunday"


def test_the_operator_may_all(make_app, person_at):
    app = make_app(SLAGVELD_ADMIN_TOKEN=ADMIN)
    client, host = app.test_client(), person_at(app)
    operator = {"Authorization": f"Bearer {ADMIN}"}
    path = make(host)
    assert client.put(f"{path}/entries/house:greedy", json={}, headers=operator).status_code == 200
    assert client.put(f"{path}/state", json={"state": "cancelled"}, headers=operator).status_code == 200
    own = client.post("/v1/tournaments", json=ORDER, headers=operator)
    assert own.status_code == 201
    problem(steer(host, own.headers["Location"], "cancelled"), 403, "not_yours")


def test_who_may_enter_what(app, host, person, registered, client):
    path, eve = make(host), person("eve")
    public = registered(app, eve, "p")
    private = registered(app, eve, "q", availability="private")
    paused = registered(app, eve, "r", state=BotState.PAUSED)
    other_game = registered(app, eve, "s", rulesets=["river"])
    entry = f"{path}/entries"
    problem(person("bob")("PUT", f"{entry}/{public}", json={}), 403, "not_yours")
    problem(eve("PUT", f"{entry}/house:greedy", json={}), 403, "not_yours")
    problem(host("PUT", f"{entry}/house:nobody", json={}), 404, "not_found")
    problem(host("PUT", f"{entry}/bot_{'z' * 26}", json={}), 404, "not_found")
    problem(host("PUT", f"{entry}/{private}", json={}), 404, "not_found")
    problem(eve("PUT", f"{entry}/{paused}", json={}), 409, "bot_unavailable")
    problem(eve("PUT", f"{entry}/{other_game}", json={}), 409, "bot_unavailable")
    problem(client.put(f"{entry}/{public}", json={}), 401, "token_needed")
    for asking, bot_id in ((host, public), (eve, private), (host, "house:greedy")):
        assert asking("PUT", f"{entry}/{bot_id}", json={}).status_code == 200
    listed = client.get(entry).get_json()["items"]
    assert [each["bot_id"] for each in listed] == sorted([public, private, "house:greedy"])
    assert client.get(path).get_json()["entries"] == 3
    assert [each for page in pages(client, entry) for each in page] == listed


def test_entropy_is_the_owners_secret_until_the_start(app, host, person, registered, client):
    path, eve = make(host), person("eve")
    bot_id = registered(app, eve, "p")
    enter(eve, path, bot_id, entropy="salt")
    enter(host, path, bot_id, "house:greedy")
    problem(eve("PUT", f"{path}/entries/{bot_id}", json={"entropy": "x" * 257}), 422, "invalid")
    assert eve("GET", f"{path}/entries/{bot_id}").get_json()["entropy"] == "salt"
    assert client.get(f"{path}/entries/{bot_id}").get_json()["entropy"] is None
    exported = export.read(client.get(f"{path}/export?format=jsonl").data.splitlines())
    assert {entry.entropy for entry in exported.entries} == {""}
    assert "salt" not in host("GET", f"{path}/entries").text
    steer(host, path, "running")
    assert client.get(f"{path}/entries/{bot_id}").get_json()["entropy"] == "salt"
    problem(eve("PUT", f"{path}/entries/{bot_id}", json={"entropy": "later"}), 409, "not_open")


def test_withdrawing(host, person, client):
    path = make(host)
    enter(host, path, "house:random", "house:greedy")
    problem(person("eve")("DELETE", f"{path}/entries/house:random"), 403, "not_yours")
    assert host("DELETE", f"{path}/entries/house:random").status_code == 204
    problem(host("DELETE", f"{path}/entries/house:random"), 404, "not_found")
    problem(client.get(f"{path}/entries/house:random"), 404, "not_found")
    enter(host, path, "house:random")
    steer(host, path, "running")
    assert host("DELETE", f"{path}/entries/house:random").status_code == 204
    assert client.get(f"{path}/entries/house:random").get_json()["withdrawn_at"] is not None


@pytest.mark.parametrize(("ruleset", "size", "entries"), [("seven_up", 2, 1), ("river", 4, 2), ("river", 8, 2)])
def test_a_start_with_too_few_entries_says_how_many_are_needed(host, client, ruleset, size, entries):
    path = make(host, ruleset=ruleset, options={}, table_size=size)
    enter(host, path, *["house:random", "house:greedy"][:entries])
    refused = problem(steer(host, path, "running"), 409, "cannot_start")
    assert f"at least {size} entries" in refused["detail"]
    assert client.get(path).get_json()["state"] == "open"


def test_too_many_games_are_refused_at_the_start(app, host, registered, client):
    path = make(host, ruleset="river", options={}, rounds=1000, deals="fresh")
    for pair in itertools.islice(itertools.product("abcdefghijk", repeat=2), 101):
        enter(host, path, registered(app, host, "".join(pair)))
    assert "101000" in problem(steer(host, path, "running"), 409, "cannot_start")["detail"]
    assert host("PATCH", path, json={"rounds": 900}).status_code == 200
    assert steer(host, path, "running").status_code == 200


MOVES = [
    (["paused"], "bad_move"),
    (["running", "paused", "running", "cancelled", "cancelled"], None),
    (["running", "running", "paused", "paused", "cancelled"], None),
    (["cancelled", "running"], "bad_move"),
    (["running", "cancelled", "paused"], "bad_move"),
]


@pytest.mark.parametrize(("states", "code"), MOVES)
def test_where_a_tournament_can_be_steered(host, states, code):
    path = make(host)
    enter(host, path, "house:random", "house:greedy")
    answers = [steer(host, path, state) for state in states]
    last = answers.pop()
    assert {answer.status_code for answer in answers} <= {200}
    if code is None:
        assert last.get_json()["state"] == states[-1]
    else:
        problem(last, 409, code)


def test_only_who_is_invited_enters_unless_the_host_enters_him(app, host, person, registered, client):
    eve, adam, path = person("eve"), person("adam"), None
    guest, friend, stranger = (registered(app, who, name) for who, name in ((eve, "a"), (eve, "b"), (adam, "c")))
    path = make(host, invited=[guest, adam.id])
    enter(eve, path, guest)
    problem(eve("PUT", f"{path}/entries/{friend}", json={}), 403, "not_invited")
    enter(adam, path, stranger)
    enter(host, path, friend, "house:greedy")
    assert host("PATCH", path, json={"invited": None}).get_json()["invited"] is None


def test_an_account_enters_no_more_bots_than_it_may(app, host, person, registered):
    eve, path = person("eve"), make(host, entries_per_account=1)
    first, second = (registered(app, eve, name) for name in "ab")
    enter(eve, path, first)
    problem(eve("PUT", f"{path}/entries/{second}", json={}), 409, "quota_entries")
    enter(eve, path, first, entropy="more")
    assert eve("DELETE", f"{path}/entries/{first}").status_code == 204
    enter(eve, path, second)
    enter(host, path, "house:greedy", "house:random")


def test_a_match_is_between_two(host, app, registered):
    path = make(host, format="match")
    enter(host, path, "house:greedy", "house:random")
    third = registered(app, host, "a")
    problem(host("PUT", f"{path}/entries/{third}", json={}), 409, "full")


def test_how_a_test_stands_is_shown_from_the_start_on(host):
    path = make(host, format="match", deals="rotate", challenger="house:random", sprt={"elo0": 0, "elo1": 20})
    for bot_id in ("house:random", "house:greedy"):
        assert host("GET", path).get_json()["test"] is None
        enter(host, path, bot_id)
    test = steer(host, path, "running").get_json()["test"]
    assert (test["challenger"], test["opponent"], test["pairs"]) == ("house:random", "house:greedy", 0)


def test_a_gauntlet_needs_its_challenger_at_the_start(host):
    path = make(host, format="gauntlet")
    enter(host, path, "house:greedy", "house:random")
    assert "challenger" in problem(steer(host, path, "running"), 409, "cannot_start")["detail"]
    assert host("PATCH", path, json={"challenger": "house:smart"}).status_code == 200
    assert "among the entries" in problem(steer(host, path, "running"), 409, "cannot_start")["detail"]
    assert host("PATCH", path, json={"challenger": "house:greedy"}).get_json()["challenger"] == "house:greedy"
    assert steer(host, path, "running").status_code == 200


def test_only_a_ladder_is_finished_by_its_host(host):
    path = make(host)
    enter(host, path, "house:greedy", "house:random")
    problem(steer(host, path, "finished"), 409, "bad_move")
    ladder = make(host, format="ladder")
    problem(steer(host, ladder, "finished"), 409, "bad_move")
    enter(host, ladder, "house:greedy", "house:random")
    assert steer(host, ladder, "running").get_json()["progress"]["planned"] is None
    assert steer(host, ladder, "finished").get_json()["max_games"] == 1


def test_a_change_that_the_format_cannot_have_is_refused(host, client):
    path = make(host, format="knockout")
    body = problem(host("PATCH", path, json={"rounds": 3}), 422, "invalid")
    assert "no rounds for knockout" in body["errors"]["rounds"][0]
    assert client.get(path).get_json()["rounds"] is None


def test_a_dry_run_says_what_it_would_come_to(host, client, app, registered):
    path = make(host, rounds=10)
    shown = client.get(f"{path}/plan").get_json()
    assert (shown["can_start"], shown["games"]) == (False, None)
    assert "at least 2 entries" in shown["why_not"]
    enter(host, path, "house:greedy", "house:random", registered(app, host, "a"))
    shown = client.get(f"{path}/plan").get_json()
    assert (shown["can_start"], shown["games"], shown["rounds"], shown["boards"]) == (True, 10, 10, 10)
    assert shown["games_per_entry"] == pytest.approx(20 / 3)
    assert shown["decisions"] > 100
    assert shown["seconds"] >= 1
    assert any("decisions" in each for each in shown["assumes"])
    assert shown["warnings"] == []
    assert client.get(path).get_json()["state"] == "open"
    assert steer(host, path, "running").status_code == 200
    assert client.get(path).get_json()["progress"]["planned"] == 10
    shown = client.get(f"{path}/plan").get_json()
    assert (shown["can_start"], shown["games"]) == (False, None)
    assert "this one is running" in shown["why_not"]


def test_a_dry_run_of_a_ladder_says_that_it_has_no_end(host, client):
    for most, is_said in ((None, True), (40, False)):
        path = make(host, format="ladder", max_games=most)
        enter(host, path, "house:greedy", "house:random")
        assumed = client.get(f"{path}/plan").get_json()["assumes"]
        assert any("nobody finishes it by hand" in each for each in assumed) is is_said


def test_a_dry_run_warns_of_bots_that_would_forfeit(host, client, app, registered):
    path, store = make(host), app.extensions["slagveld"].store
    paused, deleted = registered(app, host, "a"), registered(app, host, "b")
    enter(host, path, "house:greedy", paused, deleted)
    store.bots.change(paused, lambda old: replace(old, state=BotState.PAUSED))
    store.bots.delete(store.bots.get(deleted))
    warnings = client.get(f"{path}/plan").get_json()["warnings"]
    assert [each.split(":")[0] for each in warnings] == ["bot a is paused", "bot b is deleted"]


@pytest.mark.parametrize(("deals", "games", "boards"), [("field", 10, 5), ("fresh", 45, 45), ("rotate", 40, 10)])
def test_a_dry_run_counts_games_and_boards_by_the_deals(host, client, app, registered, deals, games, boards):
    path = make(host, ruleset="river", options={}, rounds=5, deals=deals)
    enter(host, path, *[registered(app, host, letter) for letter in "abcdefghi"])
    shown = client.get(f"{path}/plan").get_json()
    assert (shown["games"], shown["boards"]) == (games, boards)
    assert client.get(path).get_json()["tables_per_board"] == (2 if deals == "field" else 1)


# --- refused --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wrong", "field", "said"),
    [
        ({"name": None}, "name", ""),
        ({"name": ""}, "name", ""),
        ({"ruleset": "bridge"}, "ruleset", "river"),
        ({"options": {"target": 0}}, "options.target", "from 1"),
        ({"options": 5}, "options", ""),
        ({"format": "cup"}, "format", "swiss"),
        ({"format": 5}, "format", ""),
        ({"deals": "old"}, "deals", "rotate"),
        ({"format": "gauntlet", "deals": "field"}, "deals", "fresh"),
        ({"format": "match", "deals": "field"}, "deals", "fresh or rotate"),
        ({"format": "knockout", "rounds": 3}, "rounds", "no rounds for knockout"),
        ({"format": "ladder", "rounds": 3}, "rounds", "no rounds for ladder"),
        ({"rounds": -1}, "rounds", ""),
        ({"max_games": 10}, "max_games", "no max_games for round_robin"),
        ({"challenger": "house:greedy"}, "challenger", "no challenger for round_robin"),
        ({"format": "knockout", "advance": 1}, "advance", "two seats"),
        ({"ruleset": "river", "options": {}, "format": "knockout", "advance": 4}, "advance", "1 to 3"),
        ({"ruleset": "river", "options": {}, "format": "match"}, "table_size", "two seats"),
        ({"ruleset": "river", "options": {}, "format": "ladder"}, "table_size", "two seats"),
        ({"ruleset": "river", "options": {}, "format": "gauntlet"}, "table_size", "two seats"),
        ({"sprt": {"elo0": 0, "elo1": 10}}, "sprt", "no sprt for round_robin"),
        ({"format": "match", "sprt": {"elo0": 0, "elo1": 10}}, "sprt", "rotate"),
        ({"format": "match", "deals": "rotate", "sprt": {"elo0": 10, "elo1": 10}}, "sprt", "below"),
        ({"format": "match", "deals": "rotate", "sprt": {"elo0": 0}}, "sprt.elo1", ""),
        ({"format": "match", "deals": "rotate", "sprt": {"elo0": 0, "elo1": 9, "alpha": 0}}, "sprt.alpha", ""),
        ({"invited": "me"}, "invited", ""),
        ({"invited": ["house:greedy", "bob"]}, "invited.1", "the id of a bot or an account, got 'bob'"),
        ({"invited": ["trn_" + "a" * 26]}, "invited.0", ""),
        ({"entries_per_account": 0}, "entries_per_account", ""),
        ({"table_size": 4}, "table_size", "2 seats"),
        ({"table_size": 9}, "table_size", ""),
        ({"table_size": "2"}, "table_size", ""),
        ({"ruleset": "river", "options": {}, "table_size": 3}, "table_size", "4 to 8"),
        ({"ruleset": "river", "options": {"start_cards": 7}, "table_size": 8}, "options.start_cards", "at most 6"),
        ({"rounds": 0}, "rounds", ""),
        ({"rounds": 1001}, "rounds", ""),
        ({"rounds": 1.5}, "rounds", ""),
        ({"seed": -1}, "seed", ""),
        ({"seed": 2**60}, "seed", ""),
        ({"budget_ms": 1}, "budget_ms", ""),
        ({"colour": 1}, "colour", ""),
    ],
)
def test_an_order_that_cant_be_is_refused(host, client, wrong, field, said):
    body = problem(host("POST", "/v1/tournaments", json=ORDER | wrong), 422, "invalid")
    assert said in body["errors"][field][0]
    assert client.get("/v1/tournaments").get_json()["items"] == []


@pytest.mark.parametrize(
    "rest", ["", "/entries", "/standings", "/rounds", "/boards", "/games", "/plan", "/stream", "/export"]
)
def test_a_tournament_that_isnt_there(client, rest):
    problem(client.get(NOWHERE + rest), 404, "not_found")


@pytest.mark.parametrize(
    "query",
    ["rounds?cursor=x", "rounds?limit=0", "games?state=lost", "games?cursor=!", "export?format=xml", "standings?a=1"],
)
def test_a_query_that_cant_be(host, client, query):
    problem(client.get(f"{make(host)}/{query}"), 422, "invalid")


def test_unfinished_tournaments_are_limited(make_app, person_at):
    host = person_at(make_app(SLAGVELD_MAX_TOURNAMENTS="2"))
    paths = [make(host) for _ in range(2)]
    problem(host("POST", "/v1/tournaments", json=ORDER), 409, "quota_tournaments")
    steer(host, paths[0], "cancelled")
    make(host)


# --- played ---------------------------------------------------------------------------------------------------------


def test_a_round_robin_of_two(night, person_at):
    host, client = person_at(night), night.test_client()
    path = make(host, rounds=6, seed=5)
    enter(host, path, "house:random", "house:greedy")
    assert steer(host, path, "running").status_code == 200
    progress = messages(client.get(f"{path}/stream").data)
    assert [number for number, _ in progress] == sorted({number for number, _ in progress})
    last = {"state": "finished", "reason": "all its 6 games are over", "games": 6, "planned": 6, "finished": 6}
    assert progress[-1][1] == last | {"running": 0, "seconds_left": None}
    assert client.get(f"{path}/stream", headers={"Last-Event-ID": str(progress[-1][0])}).status_code == 204
    ended(client, path)
    standings = client.get(f"{path}/standings").get_json()
    assert standings["is_final"]
    assert standings["results"] == 6
    assert standings["method"]["tiebreaks"] == list(standings["items"][0]["tiebreaks"])
    assert [row["games"] for row in standings["items"]] == [6, 6]
    assert sum(row["points"] for row in standings["items"]) == 6
    for row in standings["items"]:
        assert row["mean"]["low"] <= row["mean"]["mean"] <= row["mean"]["high"]
        assert set(row["outcomes"]) == {"ok"}
    follow_pages(client, path)


def ended(client, path):
    """See that all secrets are revealed and all records verify."""
    shown = client.get(path).get_json()
    assert shown["state"] == "finished"
    root = bytes.fromhex(shown["secret"])
    assert root_commitment(root, shown["id"]) == shown["root"]
    boards = {each["board"]: each for page in pages(client, f"{path}/boards", 50) for each in page}
    for board, each in boards.items():
        secret = board_secret(root, board)
        assert (each["is_closed"], each["secret"]) == (True, secret.hex())
        assert each["commitment"] == commitment(secret, f"{shown['id']}/{board}")
    rounds = [each for page in pages(client, f"{path}/rounds") for each in page]
    games = [game for each in rounds for table in each["tables"] for game in table["games"]]
    lines = client.get(f"{path}/export?format=records").data.splitlines()
    records = [read(line) for line in lines]
    assert [each.game_id for each in records] == [game["game_id"] for game in games]
    for each, game in zip(records, games, strict=True):
        verify(each)
        assert (each.totals, game["state"]) == (game["totals"], "finished")
        assert each.fairness.commitment == boards[game["board"]]["commitment"]
    return games


def pages(client, url, limit=2):
    cursor = ""
    while cursor is not None:
        page = client.get(f"{url}?limit={limit}{cursor and f'&cursor={cursor}'}").get_json()
        assert len(page["items"]) <= limit
        yield page["items"]
        cursor = page["next_cursor"]


def follow_pages(client, path):
    games = [game["id"] for page in pages(client, f"{path}/games") for game in page]
    assert len(set(games)) == 6
    rounds = [each["round"] for page in pages(client, f"{path}/rounds") for each in page]
    assert rounds == [1, 2, 3, 4, 5, 6]
    assert client.get(f"{path}/games?state=cancelled").get_json()["items"] == []


def test_balanced_tables_with_bots_over_http(night, person_at, registered):
    host, client = person_at(night), night.test_client()
    path = make(host, ruleset="river", options={"start_cards": 2}, table_size=4, rounds=1, deals="fresh")
    with hosted(house("house:greedy")) as url:
        bots = [registered(night, host, letter, url=url, max_batch=8) for letter in "abc"]
        enter(host, path, *bots, entropy="mine")
        enter(host, path, "house:random", "house:greedy")
        assert steer(host, path, "running").status_code == 200
        assert messages(client.get(f"{path}/stream").data)[-1][1]["state"] == "finished"
    tables = ended(client, path)
    entries = {*bots, "house:random", "house:greedy"}
    assert len(tables) == len(entries)
    for seat in range(4):
        assert {table["bots"][seat] for table in tables} == entries
    standings = client.get(f"{path}/standings").get_json()
    assert {row["bot_id"]: row["outcomes"].keys() for row in standings["items"]} == {
        bot_id: {"ok"} for bot_id in entries
    }
    assert [row["games"] for row in standings["items"]] == [4] * 5
    record = read(client.get(f"/v1/games/{tables[0]['game_id']}/record").data)
    assert record.fairness.entropy == ["mine"] * 3 + [""] * 2


def test_no_secret_is_told_while_games_run(app, host, client, registered):
    """The sweeper isn't there to stop the games of a tournament that is cancelled, so they run on."""
    path = make(host)
    enter(host, path, registered(app, host, "a"), registered(app, host, "b"))
    assert steer(host, path, "running").status_code == 200
    assert steer(host, path, "cancelled").get_json()["secret"] is None
    assert client.get(path).get_json()["state"] == "cancelled"
    store = app.extensions["slagveld"].store
    root = store.tournaments.secret(path.split("/")[-1])
    for rest in ("", "/rounds", "/boards", "/entries", "/standings", "/games"):
        for told in (root, board_secret(root, "1.1")):
            assert told.hex() not in client.get(path + rest).text
    store.tournaments.settle(path.split("/")[-1])
    assert client.get(path).get_json()["secret"] == root.hex()
    assert (
        hashlib.sha256(b"slagveld/%b/v1\0%b\0%b" % (b"root", path.split("/")[-1].encode(), root)).hexdigest()
        == (client.get(path).get_json()["root"])
    )


def test_a_bot_that_is_paused_forfeits(night, person_at, registered):
    host, client = person_at(night), night.test_client()
    path = make(host, rounds=2)
    lost = registered(night, host, "a")
    enter(host, path, lost, "house:greedy")
    night.extensions["slagveld"].store.bots.change(lost, lambda old: replace(old, state=BotState.PAUSED))
    assert steer(host, path, "running").status_code == 200
    assert messages(client.get(f"{path}/stream").data)[-1][1]["state"] == "finished"
    rows = {row["bot_id"]: row for row in client.get(f"{path}/standings").get_json()["items"]}
    assert (rows[lost]["forfeits"], rows[lost]["games"]) == (2, 0)
    assert (rows["house:greedy"]["forfeit_wins"], rows["house:greedy"]["points"]) == (2, 2)
    ended(client, path)


def test_pausing_and_cancelling_while_games_run(night, person_at):
    host, client = person_at(night), night.test_client()
    path = make(host, rounds=1000, options={"target": 21})
    enter(host, path, "house:random", "house:greedy")
    assert steer(host, path, "running").status_code == 200
    parts = client.get(f"{path}/stream").response
    for part in parts:
        if any(progress["finished"] for _, progress in messages(part)):
            break
    parts.close()
    assert steer(host, path, "paused").get_json()["state"] == "paused"
    assert steer(host, path, "cancelled").get_json()["progress"]["finished"] >= 1
    settled = next(shown for shown in polled(client, path) if shown["secret"] is not None)
    assert root_commitment(bytes.fromhex(settled["secret"]), settled["id"]) == settled["root"]
    states = {game["state"] for page in pages(client, f"{path}/games", 100) for game in page}
    assert states <= {"finished", "cancelled"}
    cancelled = client.get(f"{path}/games?state=cancelled&limit=1").get_json()["items"]
    for game in cancelled:
        verify(read(client.get(f"/v1/games/{game['id']}/record").data))
    assert client.get(f"{path}/standings").get_json()["results"] >= settled["progress"]["finished"] >= 1


def test_what_is_exported_follows_from_its_results(night, person_at):
    host, client = person_at(night), night.test_client()
    path = make(host, options={}, rounds=4, deals="rotate")
    enter(host, path, "house:random", "house:greedy")
    assert steer(host, path, "running").status_code == 200
    assert messages(client.get(f"{path}/stream").data)[-1][1]["state"] == "finished"
    exported = next(found for found in exports(client, path) if found.ratings)
    assert len(exported.results) == 8
    assert {row.bot_id: row.games for row in exported.ratings} == {"house:random": 8, "house:greedy": 8}
    assert differences(exported) == []
    rows = list(csv.DictReader(client.get(f"{path}/export?format=csv").text.splitlines()))
    assert len(rows) == 16
    assert {row["bot_id"] for row in rows} == {"house:random", "house:greedy"}


def exports(client, path):
    for _ in polled(client, path):
        yield export.read(client.get(f"{path}/export?format=jsonl").data.splitlines())


def polled(client, path):
    """Give a tournament as it is shown, again and again for ten seconds."""
    until = time.monotonic() + 10
    while time.monotonic() < until:
        yield client.get(path).get_json()
        time.sleep(0.02)
    pytest.fail(f"not settled: {client.get(path).text}")
