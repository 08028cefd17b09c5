"""Games around their play: made, listed, joined, started; and what is refused with nothing changed."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from bot_sdk.games.packs import MAX_ENTROPY_BYTES
from bot_sdk.games.record import read, verify
from service.arena.play import Play
from service.store.entities import BotState
from tests.service.api.answers import problem

HUMAN = {"kind": "human", "name": "ann"}
HOUSE = {"kind": "house", "name": "greedy"}
OPEN = {"kind": "open"}
SEVEN_UP = {"ruleset": "seven_up", "seats": [HUMAN, HOUSE]}
RIVER = {"ruleset": "river", "seats": [HUMAN, HOUSE, HOUSE, HOUSE]}
NOWHERE = "gam_" + "a" * 26


def make(host, **order):
    answer = host("POST", "/v1/games", json=SEVEN_UP | order)
    assert answer.status_code == 201, answer.text
    return answer


def token_of(answer, seat):
    return {"Authorization": f"Bearer {answer.get_json()['seats'][seat]['token']}"}


def test_a_new_game(host, queue, client):
    answer = make(host, options={"target": 7}, budget_ms=500)
    game = answer.get_json()
    assert answer.headers["Location"] == f"/v1/games/{game['id']}"
    assert answer.headers["Cache-Control"] == "private, no-store"
    assert game["state"] == "running"
    assert game["options"]["target"] == 7
    assert game["options"]["gift"] is False
    assert game["limits"] == {
        "budget_ms": 500,
        "first_budget_ms": 5000,
        "human_budget_ms": 120_000,
        "max_faults": 5,
    }
    assert len(game["commitment"]) == 64
    assert game["seats"][0]["token"].startswith("sst_")
    assert "token" not in game["seats"][1]
    assert game["seats"][1] == {
        "kind": "house", "name": "greedy", "bot_id": "house:greedy", "version": "1", "retired": None,
    }  # fmt: skip
    assert queue.games == [game["id"]]
    shown = client.get(answer.headers["Location"])
    assert shown.status_code == 200
    assert "token" not in shown.text
    assert shown.get_json()["observation"]["hand"] is None


def test_a_retried_creation_finds_its_game_and_its_tokens(host):
    key = {"Idempotency-Key": "k1"}
    first, again = (host("POST", "/v1/games", json=SEVEN_UP, headers=key) for _ in range(2))
    assert first.get_json() == again.get_json()
    assert len(host("GET", "/v1/games").get_json()["items"]) == 1
    other = host("POST", "/v1/games", json=RIVER, headers=key)
    problem(other, 422, "idempotency_key_reused")


def test_lists(host, person, client):
    ids = [make(host).get_json()["id"] for _ in range(3)]
    assert person("bob")("GET", "/v1/games?owner=me").get_json()["items"] == []
    problem(client.get("/v1/games?owner=me"), 403, "account_needed")
    listed, cursor = [], ""
    while cursor is not None:
        page = host("GET", f"/v1/games?owner=me&limit=2{cursor and f'&cursor={cursor}'}").get_json()
        listed += [game["id"] for game in page["items"]]
        cursor = page["next_cursor"]
    assert listed == ids[::-1]
    host("PUT", f"/v1/games/{ids[1]}/state", json={"state": "cancelled"})
    cancelled = client.get("/v1/games?state=cancelled").get_json()["items"]
    assert [game["id"] for game in cancelled] == [ids[1]]
    assert cancelled[0]["tournament_id"] is None


def test_games_without_an_account(make_app):
    closed, opened = make_app().test_client(), make_app(SLAGVELD_ANONYMOUS_GAMES="1").test_client()
    problem(closed.post("/v1/games", json=SEVEN_UP), 403, "account_needed")
    assert opened.post("/v1/games", json=SEVEN_UP).status_code == 201
    with_bot = {"ruleset": "seven_up", "seats": [HUMAN, {"kind": "bot", "bot_id": "bot_" + "a" * 26}]}
    problem(opened.post("/v1/games", json=with_bot), 403, "account_needed")


def test_unfinished_games_are_limited(make_app, person_at):
    app = make_app(SLAGVELD_MAX_OPEN_GAMES="2")
    host = person_at(app)
    made = [host("POST", "/v1/games", json=SEVEN_UP) for _ in range(3)]
    assert [answer.status_code for answer in made] == [201, 201, 409]
    problem(made[2], 409, "quota_games")


# --- open seats, entropy, start -------------------------------------------------------------------------------------


def test_joining_and_leaving_open_seats(host, client):
    game = make(host, seats=[HUMAN, OPEN])
    path = game.headers["Location"]
    assert game.get_json()["state"] == "open"
    tag = client.get(path).headers["ETag"]
    key = {"Idempotency-Key": "a-key-that-is-long-enough"}
    first = client.put(f"{path}/seats/1", json={"name": "bob"}, headers=key)
    again = client.put(f"{path}/seats/1", json={"name": "bob"}, headers=key)
    assert first.get_json() == again.get_json()
    assert first.get_json()["seat"] == 1
    assert client.get(path, headers={"If-None-Match": tag}).get_json()["state"] == "running"
    problem(client.put(f"{path}/seats/1", json={"name": "eve"}), 409, "not_open")
    problem(client.put(f"{path}/seats/2", json={"name": "eve"}), 404, "not_found")


def test_who_leaves_before_the_start_frees_the_seat(host, client):
    game = make(host, seats=[HUMAN, HUMAN], start="manual")
    path = game.headers["Location"]
    bob = token_of(game, 1)
    tag = client.get(path).headers["ETag"]
    problem(client.put(f"{path}/seats/1", json={"name": "eve"}), 409, "seat_taken")
    problem(client.delete(f"{path}/seats/0", headers=bob), 403, "not_your_seat")
    assert client.delete(f"{path}/seats/1", headers=bob).status_code == 204
    shown = client.get(path, headers={"If-None-Match": tag})
    assert shown.get_json()["seats"][1]["kind"] == "open"
    problem(client.get(f"{path}/seats/1", headers=bob), 401, "bad_token")
    problem(host("PUT", f"{path}/state", json={"state": "running"}), 409, "cannot_start")
    assert client.put(f"{path}/seats/1", json={"name": "eve"}).status_code == 200


def test_a_leave_that_arrives_twice_does_not_put_out_who_came_in_between(host, client, monkeypatch):
    game = make(host, seats=[HUMAN, HUMAN], start="manual")
    path = game.headers["Location"]
    leave = Play.leave

    def overtaken(play, caller, game_id, number):
        leave(play, caller, game_id, number)
        assert client.put(f"{path}/seats/1", json={"name": "eve"}).status_code == 200
        leave(play, caller, game_id, number)

    monkeypatch.setattr(Play, "leave", overtaken)
    assert client.delete(f"{path}/seats/1", headers=token_of(game, 1)).status_code == 204
    assert client.get(path).get_json()["seats"][1]["name"] == "eve"


def test_a_manual_start_leaves_time_for_entropy(host, client):
    game = make(host, seats=[HUMAN, HUMAN], start="manual")
    path = game.headers["Location"]
    ann, bob = token_of(game, 0), token_of(game, 1)
    assert client.put(f"{path}/seats/0/entropy", json={"entropy": "é" * 128}, headers=ann).get_json()["seat"] == 0
    assert client.put(f"{path}/seats/1/entropy", json={"entropy": "first"}, headers=bob).status_code == 200
    assert client.put(f"{path}/seats/1/entropy", json={"entropy": "later"}, headers=bob).status_code == 200
    too_long = {"entropy": "é" * 128 + "x"}
    assert len(too_long["entropy"].encode()) == MAX_ENTROPY_BYTES + 1
    problem(client.put(f"{path}/seats/1/entropy", json=too_long, headers=bob), 422, "invalid")
    problem(client.put(f"{path}/seats/1/entropy", json={"entropy": ""}), 401, "token_needed")
    assert client.get(path).get_json()["state"] == "open"
    started = client.put(f"{path}/state", json={"state": "running"}, headers=bob)
    assert started.get_json()["state"] == "running"
    assert client.put(f"{path}/state", json={"state": "running"}, headers=bob).status_code == 403
    assert host("PUT", f"{path}/state", json={"state": "running"}).status_code == 200
    problem(client.put(f"{path}/seats/1/entropy", json={"entropy": "too late"}, headers=bob), 409, "not_open")
    for headers, seat in ((ann, 0), (bob, 1)):
        client.delete(f"{path}/seats/{seat}", headers=headers)
    record = read(client.get(f"{path}/record").data)
    verify(record)
    assert record.fairness.entropy == ["é" * 128, "later"]


def test_entropy_is_each_seats_own(host, client):
    game = make(host, seats=[HUMAN, HUMAN], start="manual")
    path = f"{game.headers['Location']}/seats/1/entropy"
    problem(client.put(path, json={"entropy": "x"}, headers=token_of(game, 0)), 403, "not_your_seat")


def test_entropy_is_for_manual_starts(host, client):
    game = make(host, seats=[HUMAN, OPEN])
    answer = client.put(f"{game.headers['Location']}/seats/0/entropy", json={"entropy": "x"}, headers=token_of(game, 0))
    problem(answer, 409, "not_open")


def test_a_game_that_never_began_has_no_record(host, client):
    path = make(host, seats=[HUMAN, OPEN]).headers["Location"]
    assert host("PUT", f"{path}/state", json={"state": "cancelled"}).status_code == 200
    problem(client.get(f"{path}/record"), 409, "never_began")
    problem(host("PUT", f"{path}/state", json={"state": "running"}), 409, "cannot_start")
    events = client.get(f"{path}/events").get_json()
    assert [event["event"] for event in events["items"]] == ["ended"]
    assert events["is_last"]
    problem(client.put(f"{path}/seats/1", json={"name": "eve"}), 409, "not_open")


def test_seats_are_their_holders_alone(host, person, client):
    game = make(host, seats=[HUMAN, HUMAN])
    path = game.headers["Location"]
    other = make(host, seats=[HUMAN, HUMAN])
    problem(client.get(f"{path}/seats/0"), 401, "token_needed")
    problem(client.get(f"{path}/seats/0", headers=token_of(game, 1)), 403, "not_your_seat")
    problem(client.get(f"{path}/seats/0", headers=token_of(other, 0)), 401, "bad_token")
    problem(host("GET", f"{path}/seats/0"), 403, "wrong_kind_of_token")
    problem(client.get(f"{path}/seats/7", headers=token_of(game, 0)), 404, "not_found")
    problem(client.get("/v1/accounts/me", headers=token_of(game, 0)), 403, "wrong_kind_of_token")
    problem(person("eve")("PUT", f"{path}/state", json={"state": "cancelled"}), 403, "not_yours")
    seen = client.get(f"{path}/seats/0", headers=token_of(game, 0))
    assert seen.headers["Cache-Control"] == "private, no-store"
    assert seen.get_json()["seat"] == 0


# --- what is refused ------------------------------------------------------------------------------------------------

EIGHT = [HUMAN, *[HOUSE] * 7]
BAD_ORDERS = [
    ({"ruleset": None}, "ruleset"),
    ({"ruleset": 7}, "ruleset"),
    ({"ruleset": "bridge"}, "ruleset"),
    ({"ruleset": ["river"]}, "ruleset"),
    ({"options": []}, "options"),
    ({"options": {"colour": 1}}, "options.colour"),
    ({"options": {"target": "7"}}, "options.target"),
    ({"options": {"target": True}}, "options.target"),
    ({"options": {"target": 1.0}}, "options.target"),
    ({"options": {"target": None}}, "options.target"),
    ({"options": {"target": -1}}, "options.target"),
    ({"options": {"target": 10**18}}, "options.target"),
    ({"options": {"gift": 1}}, "options.gift"),
    ({"options": {"pips": ["face"]}}, "options.pips"),
    ({"options": {"x" * 5000: 1}}, "options." + "x" * 64),
    ({"seats": None}, "seats"),
    ({"seats": []}, "seats"),
    ({"seats": [HUMAN]}, "seats"),
    ({"seats": [HUMAN] * 3}, "seats"),
    ({"seats": [HUMAN] * 9}, "seats"),
    ({"seats": [HUMAN, 5]}, "seats.1"),
    ({"seats": [HUMAN, {}]}, "seats.1.kind"),
    ({"seats": [HUMAN, {"kind": "dog"}]}, "seats.1.kind"),
    ({"seats": [HUMAN, {"kind": 1}]}, "seats.1.kind"),
    ({"seats": [HUMAN, {"kind": "bot"}]}, "seats.1.bot_id"),
    ({"seats": [HUMAN, {"kind": "bot", "bot_id": 5}]}, "seats.1.bot_id"),
    ({"seats": [HUMAN, {"kind": "bot", "bot_id": "nobody"}]}, "seats.1.bot_id"),
    ({"seats": [HUMAN, {"kind": "bot", "bot_id": "house:greedy"}]}, "seats.1.bot_id"),
    ({"seats": [HUMAN, {"kind": "house"}]}, "seats.1.name"),
    ({"seats": [HUMAN, {"kind": "house", "name": "nobody"}]}, "seats.1.name"),
    ({"seats": [HUMAN, {"kind": "house", "name": "greedy", "bot_id": "x"}]}, "seats.1.bot_id"),
    ({"seats": [HUMAN, {"kind": "open", "name": "x"}]}, "seats.1.name"),
    ({"seats": [{"kind": "human", "name": "a\nb"}, HOUSE]}, "seats.0.name"),
    ({"seats": [{"kind": "human", "name": "x" * 65}, HOUSE]}, "seats.0.name"),
    ({"seats": [{"kind": "human", "colour": 1}, HOUSE]}, "seats.0.colour"),
    ({"ruleset": "river"}, "seats"),
    ({"ruleset": "river", "seats": EIGHT, "options": {"start_cards": 7}}, "options.start_cards"),
    ({"ruleset": "river", "seats": EIGHT, "options": {"first_dealer": 8}}, "options.first_dealer"),
    ({"start": "later"}, "start"),
    ({"start": None}, "start"),
    ({"budget_ms": 49}, "budget_ms"),
    ({"budget_ms": 30_001}, "budget_ms"),
    ({"budget_ms": "100"}, "budget_ms"),
    ({"budget_ms": 100.0}, "budget_ms"),
    ({"budget_ms": True}, "budget_ms"),
    ({"first_budget_ms": 0}, "first_budget_ms"),
    ({"human_budget_ms": 4_999}, "human_budget_ms"),
    ({"human_budget_ms": 604_800_001}, "human_budget_ms"),
    ({"max_faults": 0}, "max_faults"),
    ({"limits": {"budget_ms": 100}}, "limits"),
]


@pytest.mark.parametrize(("wrong", "field"), BAD_ORDERS)
def test_an_order_that_cant_be_is_refused(host, redis, wrong, field):
    before = redis.dbsize()
    refused = host("POST", "/v1/games", json=SEVEN_UP | wrong)
    body = refused.get_json()
    assert refused.status_code == 422, refused.text
    assert body["code"] in {"invalid", "no_such_bot"}
    assert field in body["errors"], body
    assert len(refused.data) < 2_000
    assert host("GET", "/v1/games").get_json()["items"] == []
    assert redis.dbsize() <= before + 2, "only rate limits may have come"


def test_eight_seats_have_six_cards_at_most(host):
    order = {"ruleset": "river", "seats": EIGHT, "options": {"start_cards": 7}}
    assert "at most 6" in problem(host("POST", "/v1/games", json=order), 422, "invalid")["detail"]
    assert host("POST", "/v1/games", json=order | {"options": {"start_cards": 6}}).status_code == 201


@pytest.mark.parametrize("body", [b"[]", b"null", b'{"ruleset":' + b"9" * 5000 + b"}", b'{"a":' * 500, b"{", b"\xff"])
def test_what_is_no_order_at_all(host, body):
    for method, path in (
        ("POST", "/v1/games"),
        ("PUT", f"/v1/games/{NOWHERE}/state"),
        ("PUT", f"/v1/games/{NOWHERE}/seats/0"),
        ("POST", "/v1/tournaments"),
    ):
        answer = host(method, path, data=body, content_type="application/json")
        assert answer.status_code in {400, 422}, (path, answer.text)
        assert answer.get_json()["code"] in {"bad_json", "too_deep", "invalid"}


@pytest.mark.parametrize(
    "path",
    ["/v1/games/{}", "/v1/games/{}/events", "/v1/games/{}/stream", "/v1/games/{}/record", "/v1/tournaments/{}"],
)
@pytest.mark.parametrize("name", [NOWHERE, "x", "gam_", "1" * 5000, "gam_" + "A" * 26, "%00", "trn_" + "a" * 26])
def test_a_game_that_isnt_there(client, path, name):
    problem(client.get(path.format(name)), 404, "not_found")


def test_changing_a_game_that_isnt_there(host):
    problem(host("PUT", f"/v1/games/{NOWHERE}/state", json={"state": "running"}), 404, "not_found")
    problem(host("PUT", f"/v1/games/{NOWHERE}/seats/0", json={"name": "x"}), 404, "not_found")


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("limit=0", "limit"),
        ("limit=101", "limit"),
        ("limit=" + "9" * 3000, "limit"),
        ("state=lost", "state"),
        ("cursor=!", "cursor"),
        ("cursor=abc", "cursor"),
        ("owner=you", "owner"),
        ("colour=1", "colour"),
        ("state=open&state=running", "state"),
    ],
)
def test_a_query_that_cant_be(client, query, field):
    assert field in problem(client.get(f"/v1/games?{query}"), 422, "invalid")["errors"]


@pytest.mark.parametrize("query", ["after=-1", "after=x", "after=1e3", "after=" + "9" * 3000, "limit=0", "limit=101"])
def test_events_asked_for_wrongly(host, client, query):
    path = make(host).headers["Location"]
    problem(client.get(f"{path}/events?{query}"), 422, "invalid")


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        {"decision_id": 5, "action": "beg"},
        {"decision_id": "gam_1.0.0", "action": None},
        {"decision_id": "x" * 5000, "action": "beg"},
        {"decision_id": "", "action": "beg"},
        {"decision_id": "gam_1.0.0", "action": "beg"},
        {"decision_id": "{id}.1.0", "action": "beg"},
        {"decision_id": "{id}.0.0.0", "action": "beg"},
        {"decision_id": "{id}.0.99999999999", "action": "beg"},
        {"decision_id": "{id}.0.0", "action": "x" * 5000},
        {"decision_id": "{id}.0.0", "action": ["beg"]},
        {"decision_id": "{id}.0.0", "action": "beg", "more": 1},
    ],
)
def test_an_action_that_cant_be(host, client, wrong):
    game = make(host, seats=[HUMAN, HUMAN], options={"first_dealer": 1})
    path, ann = game.headers["Location"], token_of(game, 0)
    before = client.get(f"{path}/seats/0", headers=ann)
    assert before.get_json()["decision_id"] is not None
    sent = {
        key: value.replace("{id}", game.get_json()["id"]) if isinstance(value, str) else value
        for key, value in wrong.items()
    }
    problem(client.post(f"{path}/seats/0/actions", json=sent, headers=ann), 422, "invalid")
    after = client.get(f"{path}/seats/0", headers=ann)
    assert (after.data, after.headers["ETag"]) == (before.data, before.headers["ETag"])


@pytest.mark.parametrize("state", [None, "open", "finished", 1, "x" * 1000])
def test_a_state_that_cant_be_set(host, state):
    path = make(host).headers["Location"]
    problem(host("PUT", f"{path}/state", json={"state": state}), 422, "invalid")


# --- bots -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("more", "refusal"),
    [
        ({"state": BotState.PENDING}, ("bot_unavailable", False)),
        ({"state": BotState.PAUSED}, ("bot_unavailable", False)),
        ({"state": BotState.SUSPENDED}, ("bot_unavailable", False)),
        ({"state": BotState.DISABLED}, ("bot_unavailable", False)),
        ({"rulesets": ["river"]}, ("bot_unavailable", False)),
        ({"availability": "private"}, ("no_such_bot", True)),
        ({"availability": "tournaments"}, ("bot_unavailable", True)),
        ({}, (None, True)),
    ],
)
def test_which_bots_can_be_seated(app, host, person, registered, *, more, refusal):
    code, owner_may = refusal
    order = SEVEN_UP | {"seats": [HUMAN, {"kind": "bot", "bot_id": registered(app, host, "b", **more)}]}
    stranger = person("eve")("POST", "/v1/games", json=order)
    if code is None:
        assert stranger.status_code == 201
    else:
        assert problem(stranger, 422, code)["errors"].keys() == {"seats.1.bot_id"}
        assert (host("POST", "/v1/games", json=order).status_code == 201) is owner_may


def test_a_bot_has_as_many_games_as_its_card_allows(app, host, registered):
    bot_id = registered(app, host, "b", max_games=1)
    order = SEVEN_UP | {"seats": [HUMAN, {"kind": "bot", "bot_id": bot_id}]}
    assert host("POST", "/v1/games", json=order).status_code == 201
    problem(host("POST", "/v1/games", json=order), 409, "bot_busy")
    assert len(host("GET", "/v1/games").get_json()["items"]) == 1


def test_a_name_that_was_erased_is_news_to_who_has_read_it(app, client, people):
    game, _ = people()
    path, store = f"/v1/games/{game['id']}", app.extensions["slagveld"].store
    tag = client.get(path).headers["ETag"]
    assert client.get(path, headers={"If-None-Match": tag}).status_code == 304
    store.erasures.rewrite_seats(game["id"], lambda seat: replace(seat, name="erased"))
    after = client.get(path, headers={"If-None-Match": tag})
    assert after.status_code == 200
    assert {seat["name"] for seat in after.get_json()["seats"]} == {"erased"}
