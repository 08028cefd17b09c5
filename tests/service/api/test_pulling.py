"""Bots that fetch their calls through the API: whose they may fetch, what they may send, and how long they may wait."""

from __future__ import annotations

import json
import threading
import time

import msgspec
import pytest

from service.api.bodies import LARGER, MAX_BYTES
from service.store import keys
from service.store.entities import PULL, BotState
from service.store.mailbox import Mailboxes, Office
from tests.integration.arena import wait_until

CARD = {"api": 1, "name": "lowball", "version": "3", "rulesets": ["river"], "max_batch": 8}
URL = "http://127.0.0.1:9000/bot"


def register(person, **changes):
    body = {"name": "lowball", "transport": "pull", "rulesets": ["river"]} | changes
    return person("POST", "/v1/bots", json={key: value for key, value in body.items() if value is not None})


@pytest.fixture
def store(app):
    return app.extensions["slagveld"].store


@pytest.fixture
def ann(person):
    return person("ann")


@pytest.fixture
def bot(ann):
    made = register(ann)
    assert made.status_code == 201, made.text
    return made.get_json()["id"]


@pytest.fixture
def post(redis, bot):
    """Put calls as a worker does."""
    office = Office(redis, "w1")

    def put(*names):
        Mailboxes(redis).keep_open()
        parcels = [json.dumps({"id": name, "headers": {"webhook-id": name}, "body": "{}"}) for name in names]
        return office.put([(bot, name, parcel.encode(), 30_000) for name, parcel in zip(names, parcels, strict=True)])

    put.office = office
    return put


def fetch(person, bot, wait=0, query=""):
    return person("GET", f"/v1/bots/{bot}/decisions/next{query}", headers={"Prefer": f"wait={wait}"})


def answer(person, bot, *answers):
    return person("POST", f"/v1/bots/{bot}/actions", json={"answers": list(answers)})


# --- what a bot without a URL is --------------------------------------------------------------------------------------


def test_a_bot_that_fetches_has_no_url(ann, bot, store):
    shown = ann("GET", f"/v1/bots/{bot}").get_json()
    assert (shown["transport"], shown["url"], shown["new_transport"], shown["new_url"]) == ("pull", None, None, None)
    assert store.bots.get(bot).url == PULL


@pytest.mark.parametrize(
    "changes", [{"url": URL}, {"transport": None}, {"transport": "push"}, {"transport": "x"}, {"url": "pull:xxx"}]
)
def test_a_new_bot_has_either_a_url_or_the_transport_pull(ann, changes):
    refused = register(ann, **changes)
    assert refused.status_code == 422
    assert set(refused.get_json()["errors"]) <= {"url", "transport"}


def test_whoever_plays_at_a_url_goes_on_there_until_the_check_of_the_new_transport_passes(ann, store):
    bot = register(ann, transport=None, url=URL).get_json()["id"]
    store.bots.change(bot, lambda old: msgspec.structs.replace(old, state=BotState.ACTIVE, activated_at=1))
    shown = ann("PATCH", f"/v1/bots/{bot}", json={"transport": "pull"}).get_json()
    assert (shown["transport"], shown["url"], shown["new_transport"], shown["new_url"]) == ("push", URL, "pull", None)
    assert fetch(ann, bot).status_code == 200, "or its check could not reach it"
    check = ann("POST", f"/v1/bots/{bot}/checks").get_json()
    assert (check["url"], store.bots.get_check(check["id"]).url) == (None, PULL)
    back = ann("PATCH", f"/v1/bots/{bot}", json={"url": URL}).get_json()
    assert (back["new_transport"], back["new_url"]) == (None, None)


@pytest.mark.parametrize("changes", [{"transport": "pull", "url": URL}, {"transport": "push"}])
def test_a_change_of_transport_says_what_it_is_to_be(ann, bot, changes):
    assert ann("PATCH", f"/v1/bots/{bot}", json=changes).status_code == 422


def test_strangers_do_not_see_how_a_bot_is_reached(person, bot, store):
    store.bots.change(bot, lambda old: msgspec.structs.replace(old, state=BotState.ACTIVE, activated_at=1))
    shown = person("bob")("GET", f"/v1/bots/{bot}").get_json()
    assert not {"transport", "url", "new_url", "new_transport"} & set(shown)


def test_checks_of_bots_that_fetch_have_no_limit_by_host(make_app, person_at):
    app = make_app(SLAGVELD_MAX_CHALLENGES="1")
    for name in ("ann", "bob", "cid"):
        person = person_at(app, name)
        checked = person("POST", f"/v1/bots/{register(person).get_json()['id']}/checks")
        assert checked.status_code == 202, checked.text


def test_a_card_is_kept_for_checks_and_one_that_is_none_refused(ann, bot, store):
    assert ann("PUT", f"/v1/bots/{bot}/card", json={"card": CARD}).status_code == 204
    assert json.loads(store.office("x").card(bot)[0]) == CARD
    for wrong in ({}, CARD | {"rulesets": []}, CARD | {"max_batch": 65}, [CARD], None):
        refused = ann("PUT", f"/v1/bots/{bot}/card", json={"card": wrong})
        assert (refused.status_code, set(refused.get_json()["errors"])) == (422, {"card"})
    assert json.loads(store.office("x").card(bot)[0]) == CARD


def test_a_card_goes_with_its_bot(ann, bot, redis):
    ann("PUT", f"/v1/bots/{bot}/card", json={"card": CARD})
    assert ann("DELETE", f"/v1/bots/{bot}").status_code == 204
    assert not redis.exists(keys.mail_card(bot))


# --- whose calls they are ---------------------------------------------------------------------------------------------


def test_calls_are_fetched_and_answered_once(ann, bot, post):
    assert fetch(ann, bot).get_json() == []
    post("msg_1", "msg_2", "msg_3")
    assert [each["id"] for each in fetch(ann, bot, query="?limit=2").get_json()] == ["msg_1", "msg_2"]
    assert fetch(ann, bot).get_json() == [{"id": "msg_3", "headers": {"webhook-id": "msg_3"}, "body": "{}"}]
    told = answer(ann, bot, {"id": "msg_1", "body": '{"é":1}'}, {"id": "msg_3", "status": 500, "body": ""})
    assert (told.status_code, told.get_json()) == (200, {"taken": ["msg_1", "msg_3"]})
    heard = [(each.bot_id, each.call_id, each.status, each.body) for each in post.office.hear(1)]
    assert heard == [(bot, "msg_1", 200, '{"é":1}'.encode()), (bot, "msg_3", 500, b"")]
    assert answer(ann, bot, {"id": "msg_1", "body": "{}"}).get_json() == {"taken": []}


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PUT", "/card", {"card": CARD}),
        ("GET", "/decisions/next", None),
        ("POST", "/actions", {"answers": [{"id": "msg_1", "body": "{}"}]}),
    ],
)
def test_nobody_but_its_owner_does_anything_for_a_bot(client, person, ann, bot, store, post, redis, method, path, body):
    fetch(ann, bot)
    post("msg_1")
    path, bob = f"/v1/bots/{bot}{path}", person("bob")
    store.bots.change(bot, lambda old: msgspec.structs.replace(old, activated_at=1))
    powerless = ann("POST", "/v1/accounts/me/tokens", json={"name": "eyes", "scopes": []}).get_json()["token"]
    headers = {"Prefer": "wait=0"}
    assert client.open(path, method=method, json=body, headers=headers).status_code == 401
    assert bob(method, path, json=body, headers=headers).status_code == 403
    seen = {**headers, "Authorization": f"Bearer {powerless}"}
    assert client.open(path, method=method, json=body, headers=seen).status_code == 403
    assert post.office.hear(1) == []
    assert redis.get(keys.mail_card(bot)) is None
    assert [each["id"] for each in fetch(ann, bot).get_json()] == ["msg_1"]


def test_a_bot_at_a_url_fetches_nothing(ann):
    bot = register(ann, transport=None, url=URL).get_json()["id"]
    for told in (fetch(ann, bot), answer(ann, bot), ann("PUT", f"/v1/bots/{bot}/card", json={"card": CARD})):
        assert (told.status_code, told.get_json()["code"]) == (409, "not_pull")


def test_a_disabled_bot_fetches_nothing(ann, bot, store):
    store.bots.change(bot, lambda old: msgspec.structs.replace(old, state=BotState.DISABLED))
    assert fetch(ann, bot).get_json()["code"] == "bot_disabled"


# --- waiting ----------------------------------------------------------------------------------------------------------


def test_a_poll_waits_for_a_call_and_gets_it_at_once(ann, bot, post):
    fetch(ann, bot)
    told = []
    waiting = threading.Thread(target=lambda: told.append((fetch(ann, bot, wait=60).get_json(), time.monotonic())))
    waiting.start()
    time.sleep(0.2)  # so that it does wait
    posted_at = time.monotonic()
    post("msg_1")
    waiting.join(30)
    [(calls, at)] = told
    assert [each["id"] for each in calls] == ["msg_1"]
    assert at - posted_at < 10


def test_a_poll_in_vain_ends_in_time_with_nothing(ann, bot):
    began = time.monotonic()
    assert fetch(ann, bot, wait=1).get_json() == []
    assert time.monotonic() - began >= 1


def test_who_waits_is_there_for_as_long_as_he_waits(ann, bot, redis, monkeypatch):
    monkeypatch.setattr("service.store.mailbox.REMEMBERED_MS", 1_500)
    monkeypatch.setattr("service.arena.pulling.LOOK_S", 0.3)
    waiting = threading.Thread(target=fetch, args=(ann, bot, 3))
    waiting.start()
    wait_until(lambda: redis.exists(keys.mail_polled(bot)), 10, "a mark")
    while waiting.is_alive():
        assert redis.exists(keys.mail_polled(bot)) or not waiting.is_alive()
        time.sleep(0.01)


def test_who_has_left_is_given_nothing_and_counts_as_gone(ann, bot, post, store, app, redis):
    fetch(ann, bot)
    post("msg_1")
    redis.delete(keys.mail_polled(bot))
    pulling = app.extensions["slagveld"].pulling
    caller = type("Caller", (), {"owns": lambda *_: True, "is_operator": False})()
    assert pulling.fetch(caller, bot, most=9, seconds=5, has_left=lambda: True, again=lambda: None) == []
    assert not redis.exists(keys.mail_polled(bot))
    assert Mailboxes(redis).waiting(bot) == 1


def test_who_waits_while_his_token_is_revoked_or_the_bot_goes_is_given_nothing_more(ann, bot, post, redis, client):
    second = ann("POST", "/v1/accounts/me/tokens", json={"name": "lost"}).get_json()
    told = []

    def wait(token):
        headers = {"Authorization": f"Bearer {token}", "Prefer": "wait=60"}
        told.append(client.open(f"/v1/bots/{bot}/decisions/next", headers=headers))

    for token, end, status in (
        (second["token"], lambda: ann("DELETE", f"/v1/accounts/me/tokens/{second['id']}"), 200),
        (ann.token, lambda: ann("DELETE", f"/v1/bots/{bot}"), 404),
    ):
        redis.delete(keys.mail_polled(bot))
        waiting = threading.Thread(target=wait, args=(token,))
        waiting.start()
        wait_until(lambda: redis.exists(keys.mail_polled(bot)), 20, "a poll")
        assert end().status_code == 204
        post("msg_1")
        waiting.join(30)
        assert told[-1].status_code == status
        assert b"msg_1" not in told[-1].data
        assert [json.loads(raw)["id"] for raw in Mailboxes(redis).fetch(bot, 9)] == ["msg_1"]


# --- how much ---------------------------------------------------------------------------------------------------------


def test_only_so_many_polls_of_one_bot_wait_since_each_call_wakes_them_all(make_app, person_at, monkeypatch):
    monkeypatch.setattr("service.api.waiting.MOST_OF_BOT", 2)
    app = make_app()
    ann = person_at(app)
    bot, other = (register(ann).get_json()["id"] for _ in range(2))
    waiting = [threading.Thread(target=fetch, args=(ann, bot, 3)) for _ in range(2)]
    for thread in waiting:
        thread.start()
    wait_until(lambda: app.extensions["slagveld.waiting.bots"].count() == 2, 10, "two polls that wait")
    refused = fetch(ann, bot, wait=3)
    assert (refused.status_code, refused.get_json()["code"]) == (429, "too_many_waiting")
    assert refused.headers["Retry-After"]
    assert fetch(ann, bot).status_code == fetch(ann, other, wait=1).status_code == 200
    for thread in waiting:
        thread.join()
    assert app.extensions["slagveld.waiting.bots"].count() == app.extensions["slagveld.waiting"].count() == 0


def test_polls_and_answers_are_counted_apart_and_by_limits_of_their_own(make_app, person_at):
    app = make_app(SLAGVELD_RATE_PULL="13 per hour", SLAGVELD_RATE_PER_TOKEN="3 per hour")
    ann = person_at(app)
    bot = register(ann).get_json()["id"]
    assert ann("PUT", f"/v1/bots/{bot}/card", json={"card": CARD}).status_code == 204
    for _ in range(6):
        assert fetch(ann, bot).status_code == 200
        assert answer(ann, bot).status_code == 200
    assert fetch(ann, bot).status_code == 429
    assert ann("GET", f"/v1/bots/{bot}").status_code == 200
    assert ann("GET", f"/v1/bots/{bot}").status_code == 200
    assert ann("GET", f"/v1/bots/{bot}").status_code == 429


def test_answers_to_a_batch_may_be_longer_than_other_bodies(ann, bot, post):
    fetch(ann, bot)
    post("msg_1")
    long = "x" * (2 * MAX_BYTES)
    assert answer(ann, bot, {"id": "msg_1", "body": long}).get_json() == {"taken": ["msg_1"]}
    assert post.office.hear(1)[0].body == long.encode()
    post("msg_2")
    answer(ann, bot, {"id": "msg_2", "body": 4 * long})
    assert post.office.hear(1)[0].body == long.encode() + b"x", "so much tells that it is too long"
    too_long = "x" * LARGER["pulling.post_actions"]
    assert answer(ann, bot, {"id": "msg_1", "body": too_long}).status_code == 413


@pytest.mark.parametrize(
    "wrong",
    [
        {"body": "{}"},
        {"id": "", "body": "{}"},
        {"id": "x" * 201, "body": "{}"},
        {"id": "x"},
        {"id": "x", "body": {}},
        {"id": "x", "body": "{}", "status": 99},
        {"id": "x", "body": "{}", "status": "200"},
        {"id": "x", "body": "{}", "more": 1},
    ],
)
def test_what_is_no_answer_is_refused(ann, bot, wrong):
    assert answer(ann, bot, wrong).status_code == 422


def test_so_many_answers_at_once_and_no_more(ann, bot):
    one = {"id": "x", "body": "{}"}
    assert answer(ann, bot, *[one] * 256).status_code == 200
    assert answer(ann, bot, *[one] * 257).status_code == 422
