"""Playing by HTTP: whole games against house bots, people against people, and what happens at once."""

from __future__ import annotations

import functools
import threading
import time
from base64 import b64encode
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256

import pytest

from bot_sdk.games.record import read, verify
from service.arena.caller import Caller
from service.arena.minting import Mint

LOOPBACK = "127.0.0.1"


def all_at_once(calls):
    """Make calls from as many threads, all let go together."""
    gate = threading.Barrier(len(calls))

    def make(call):
        gate.wait(timeout=5)
        return call()

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(make, calls))


@pytest.mark.parametrize(("ruleset", "seats", "options"), [("seven_up", 2, {}), ("river", 4, {"start_cards": 4})])
def test_a_whole_game_against_the_house(night, seated, ruleset, seats, options):
    client = night.test_client()
    order = {
        "ruleset": ruleset,
        "options": options,
        "seats": [{"kind": "human", "name": "ann"}, *[{"kind": "house", "name": "greedy"}] * (seats - 1)],
    }
    game, people = seated(lambda method, path, **kwargs: client.open(path, method=method, **kwargs), order, client)
    ann = people[0]
    moves = 0
    while (view := ann.decision())["decision_id"] is not None:
        taken = ann.act(view["legal_actions"][-1], view["decision_id"])
        assert taken.status_code == 201, taken.text
        moves += 1
    assert view["state"] == "finished"
    assert moves > 10
    kept = client.get(f"/v1/games/{game['id']}/record")
    assert kept.status_code == 200
    assert kept.headers["Repr-Digest"] == f"sha-256=:{b64encode(sha256(kept.data).digest()).decode()}:"
    played = read(kept.data)
    verify(played)
    assert played.totals == view["totals"]
    assert played.places == view["places"]
    assert played.fairness.commitment == game["commitment"]
    own = [event for deal in played.deals for event in deal.events if event["seat"] == 0]
    assert {event["outcome"] for event in own} == {"ok"}
    assert len(own) == moves


def test_who_comes_too_late_has_the_first_legal_action_played(night, seated):
    services = night.extensions["slagveld"]
    order = {
        "ruleset": "seven_up",
        "options": {},
        "seats": [{"kind": "human", "name": "ann"}, {"kind": "human", "name": "bob"}],
        # Less than the API takes, so that the test is short.
        "limits": {"budget_ms": 1000, "first_budget_ms": 1000, "human_budget_ms": 150, "max_faults": 2},
        "start": "auto",
    }
    mint = Mint(b"key", b"seed")
    made = services.games.create(Caller(address=LOOPBACK), order, mint)
    client = night.test_client()
    headers = {"Authorization": f"Bearer {made.tokens[0]}"}
    path = f"/v1/games/{made.game.id}"
    first = client.get(f"{path}/seats/0", headers=headers).get_json()
    tag = '"1.running"'
    for _ in range(60):
        answer = client.get(path, headers={"If-None-Match": tag, "Prefer": "wait=5"})
        tag = answer.headers["ETag"]
        if answer.status_code == 200 and answer.get_json()["state"] != "running":
            break
    assert answer.get_json()["state"] == "void"
    events = client.get(f"{path}/events").get_json()
    actions = [event for event in events["items"] if event["event"] == "action"]
    assert actions[0]["outcome"] == "late"
    assert actions[0]["ms"] == 150
    assert [event["reason"] for event in events["items"] if event["event"] == "retired"] == ["faults"]
    assert events["is_last"]
    if first["decision_id"] is not None:
        late = {"decision_id": first["decision_id"], "action": first["legal_actions"][-1]}
        refused = client.post(f"{path}/seats/0/actions", headers=headers, json=late)
        assert (refused.status_code, refused.get_json()["code"]) == (409, "decided")


def test_people_sit_down_and_play_without_a_worker(app, host, seated):
    order = {"ruleset": "seven_up", "options": {"target": 2}, "seats": [{"kind": "human"}, {"kind": "open"}]}
    game, people = seated(host, order, app.test_client())
    assert game["state"] == "open"
    assert game["phase"] is None
    path = f"/v1/games/{game['id']}"
    assert people[0].decision(0)["state"] == "open"
    client = app.test_client()
    joined = client.put(f"{path}/seats/1", json={"name": "bob"})
    assert joined.status_code == 200
    bob = type(people[0])(client, game["id"], 1, joined.get_json()["token"])
    players = [people[0], bob]
    while (views := [player.view() for player in players])[0]["state"] == "running":
        for player, view in zip(players, views, strict=True):
            if view["decision_id"]:
                assert player.act(view["legal_actions"][0], view["decision_id"]).status_code == 201
    assert views[0]["state"] == "finished"
    assert sorted(views[0]["places"]) == [1, 2]
    assert client.get(path).get_json()["seats"][1]["name"] == "bob"
    verify(read(client.get(f"{path}/record").data))


@pytest.mark.parametrize("seats", [4, 8])
def test_bids_made_at_once_all_land(people, seats):
    _, players = people("river", seats, options={"bidding": "simultaneous", "start_cards": 3})
    views = [player.view() for player in players.values()]
    for number, view in enumerate(views):
        assert view["decision_id"] is not None
        assert view["observation"]["bids"] == [None] * seats
        assert view["turn"] == list(range(seats)), number
    bids = [view["legal_actions"][number % 4] for number, view in enumerate(views)]
    calls = [
        functools.partial(player.act, bid, view["decision_id"])
        for player, bid, view in zip(players.values(), bids, views, strict=True)
    ]
    answers = all_at_once(calls)
    assert [answer.status_code for answer in answers] == [201] * seats
    after = players[0].view()
    assert after["phase"] == "play"
    assert [f"bid:{bid}" for bid in after["observation"]["bids"]] == bids


def test_both_discard_at_once(people):
    _, players = people(options={"target": 21})
    to_discards(players)
    for _ in range(30):
        views = [player.view() for player in players.values()]
        if views[0]["phase"] != "discard":
            break
        owing = [(players[at], view) for at, view in enumerate(views) if view["decision_id"]]
        calls = [functools.partial(p.act, view["legal_actions"][0], view["decision_id"]) for p, view in owing]
        assert {answer.status_code for answer in all_at_once(calls)} == {201}
    assert [view["phase"] for view in views] == ["play", "play"]
    assert [len(view["observation"]["hand"]) for view in views] == [6, 6]


def to_discards(players):
    """Beg and run the cards, over as many deals as it takes, until discards are owed."""
    for _ in range(200):
        views = [player.view() for player in players.values()]
        if views[0]["phase"] == "discard":
            return
        at = next(at for at, view in enumerate(views) if view["decision_id"])
        legal = views[at]["legal_actions"]
        wanted = next((action for action in ("beg", "run") if action in legal), legal[0])
        assert players[at].act(wanted, views[at]["decision_id"]).status_code == 201
    pytest.fail("never came to discards")


def test_of_two_actions_for_one_decision_exactly_one_is_taken(people):
    _, players = people("river", 4, options={"start_cards": 8})
    for _ in range(4):
        owing = next(player for player in players.values() if player.view()["decision_id"])
        view = owing.view()
        tried = view["legal_actions"][:3]
        calls = [functools.partial(owing.act, action, view["decision_id"]) for action in tried]
        answers = all_at_once(calls)
        assert sorted(answer.status_code for answer in answers) == [201, 409, 409]
        taken = next(answer for answer in answers if answer.status_code == 201).get_json()
        assert {a.get_json()["code"] for a in answers if a.status_code == 409} == {"decided"}
        assert owing.view()["last"]["action"] == taken["action"]


def test_the_same_action_again_has_the_same_answer(people):
    game, players = people(options={"target": 2})
    owing = next(player for player in players.values() if player.view()["decision_id"])
    view = owing.view()
    first = owing.act(view["legal_actions"][0], view["decision_id"])
    again = owing.act(view["legal_actions"][0], view["decision_id"])
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.get_json() == again.get_json()
    other = owing.act(view["legal_actions"][1], view["decision_id"])
    assert (other.status_code, other.get_json()["code"]) == (409, "decided")
    again = all_at_once([lambda: owing.act(view["legal_actions"][0], view["decision_id"])] * 4)
    assert {answer.status_code for answer in again} == {200}
    owing("DELETE")
    assert owing.view()["state"] in {"finished", "void"}
    assert owing.act(view["legal_actions"][0], view["decision_id"]).status_code == 200
    assert owing.act(view["legal_actions"][1], view["decision_id"]).status_code == 409
    assert game["id"] in view["decision_id"]


def test_what_isnt_legal_is_told_what_is(people):
    _, players = people()
    owing, other = sorted(players.values(), key=lambda player: player.view()["decision_id"] is None)
    view = owing.view()
    refused = owing.act("play:2C", view["decision_id"])
    assert refused.status_code == 422
    assert refused.get_json()["code"] == "illegal_action"
    assert refused.get_json()["legal_actions"] == view["legal_actions"]
    assert owing.view() == view
    early = other.act("play:2C", f"{view['game_id']}.{other.number}.0")
    assert (early.status_code, early.get_json()["code"]) == (409, "not_owed")
    assert "legal_actions" not in early.get_json()


def test_a_long_poll_wakes_when_there_is_news(people):
    _, players = people()
    owing, other = sorted(players.values(), key=lambda player: player.view()["decision_id"] is None)
    tag = other("GET").headers["ETag"]
    assert other("GET", headers={"If-None-Match": tag}).status_code == 304
    with ThreadPoolExecutor(1) as pool:
        began = time.monotonic()
        waiting = pool.submit(lambda: other("GET", headers={"If-None-Match": tag, "Prefer": "wait=20"}))
        assert not waiting.done()
        assert owing.act().status_code == 201
        answer = waiting.result(timeout=10)
    assert time.monotonic() - began < 5
    assert answer.status_code == 200
    assert answer.headers["ETag"] != tag
    assert answer.headers["Cache-Control"] == "private, no-store"


def test_a_long_poll_gives_up_in_time(people, client):
    game, players = people()
    path = f"/v1/games/{game['id']}"
    tag = client.get(path).headers["ETag"]
    began = time.monotonic()
    assert client.get(path, headers={"If-None-Match": tag, "Prefer": "wait=1"}).status_code == 304
    assert 0.9 < time.monotonic() - began < 4
    waiting = next(player for player in players.values() if player.view()["decision_id"] is None)
    view = waiting.decision(0)
    assert (view["decision_id"], view["legal_actions"], view["deadline"]) == (None, [], None)


def test_who_waits_for_a_decision_gets_it(people):
    _, players = people()
    owing, other = sorted(players.values(), key=lambda player: player.view()["decision_id"] is None)
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(other.decision)
        while other.view()["decision_id"] is None:
            assert owing.act().status_code == 201
        assert waiting.result(timeout=10)["decision_id"] is not None


def test_who_leaves_retires(people, client):
    game, players = people("river", 4)
    assert players[1]("DELETE").status_code == 204
    assert players[1]("DELETE").status_code == 204
    view = players[1].decision()
    assert view["retired"] == "left"
    assert view["decision_id"] is None
    shown = client.get(f"/v1/games/{game['id']}").get_json()
    assert [seat["retired"] for seat in shown["seats"]] == [None, "left", None, None]
    events = client.get(f"/v1/games/{game['id']}/events").get_json()["items"]
    assert events[-1] == {"id": len(events), "event": "retired", "seat": 1, "reason": "left"}


def test_when_all_have_left_the_game_is_void(people, client):
    game, players = people("river", 4)
    for player in players.values():
        assert player("DELETE").status_code == 204
    path = f"/v1/games/{game['id']}"
    assert client.get(path).get_json()["state"] == "void"
    verify(read(client.get(f"{path}/record").data))
    late = players[0]("POST", "/actions", json={"decision_id": f"{game['id']}.0.0", "action": "bid:0"})
    assert (late.status_code, late.get_json()["code"]) == (409, "not_running")


def test_a_cancelled_game_takes_no_action(people, host, person, client):
    game, players = people()
    path = f"/v1/games/{game['id']}"
    stranger = person("eve")
    refused = stranger("PUT", f"{path}/state", json={"state": "cancelled"})
    assert (refused.status_code, refused.get_json()["code"]) == (403, "not_yours")
    owing = next(player for player in players.values() if player.view()["decision_id"])
    view = owing.view()
    before = client.get(path)
    assert client.get(f"{path}/record").get_json()["code"] == "not_ended"
    assert client.get(path).headers["ETag"] == before.headers["ETag"]
    assert host("PUT", f"{path}/state", json={"state": "cancelled"}).get_json()["state"] == "cancelled"
    assert host("PUT", f"{path}/state", json={"state": "cancelled"}).status_code == 200
    assert owing.act(view["legal_actions"][0], view["decision_id"]).get_json()["code"] == "not_running"
    after = client.get(path)
    assert after.get_json()["state"] == "cancelled"
    assert after.headers["ETag"] != before.headers["ETag"]
    events = client.get(f"{path}/events").get_json()
    assert events["items"][-1]["event"] == "ended"
    assert events["is_last"]
    verify(read(client.get(f"{path}/record").data))


def test_a_game_that_its_first_card_decides_takes_nothing_more(people, app, client):
    """A turned Jack wins at once when one point is enough; until a worker has settled that, the game seems to run."""
    games = app.extensions["slagveld"].games
    for _ in range(500):
        game, players = people(options={"target": 1})
        if games.standing(game["id"]).table.game.is_over:
            break
        assert players[0]("DELETE").status_code == 204  # ends it, or the host would have too many
        assert players[1]("DELETE").status_code in {204, 409}
        app.extensions["slagveld"].store.games.settle(games.get(game["id"]))
    else:
        pytest.fail("no Jack was turned")
    for player in players.values():
        view = player.view()
        assert (view["decision_id"], view["turn"], view["totals"].count(1)) == (None, [], 1)
        refused = player("POST", "/actions", json={"decision_id": f"{game['id']}.{player.number}.0", "action": "beg"})
        assert (refused.status_code, refused.get_json()["code"]) == (409, "not_owed")
        assert player("DELETE").get_json()["code"] == "ended"
    assert client.get(f"/v1/games/{game['id']}/events").get_json()["items"][-1]["event"] == "ended"
