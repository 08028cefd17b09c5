from __future__ import annotations

import re

import msgspec
import pytest

from bot_sdk.events import Outcome
from service.store.entities import AskedBy, BotState, Check, Suspension
from service.store.ledger import LedgerLine

URL = "http://127.0.0.1:9000/bot"
WHSEC = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


def register(person, **changes):
    body = {"name": "lowball", "url": URL, "rulesets": ["river"]} | changes
    return person("POST", "/v1/bots", json={key: value for key, value in body.items() if value is not None})


@pytest.fixture
def store(app):
    return app.extensions["slagveld"].store


@pytest.fixture
def activate(store):
    """Do to a bot what a passed check does."""

    def run(bot_id, **changes):
        now = {"state": BotState.ACTIVE, "activated_at": 1, "version": "3"} | changes
        store.bots.change(bot_id, lambda bot: msgspec.structs.replace(bot, **now))

    return run


def test_a_new_bot_is_pending_and_its_secret_shown_once(person, store):
    ann = person()
    made = register(ann)
    assert made.status_code == 201
    body = made.get_json()
    assert re.fullmatch(r"bot_[a-z2-7]{26}", body["id"])
    assert made.headers["Location"] == f"/v1/bots/{body['id']}"
    assert (body["state"], body["kind"], body["version"]) == ("pending", "bot", None)
    assert re.fullmatch(r"whsec_[A-Za-z0-9+/]{43}=", body["secret"])
    assert store.bots.secrets(body["id"], now=0) == (body["secret"],)
    assert "secret" not in ann("GET", f"/v1/bots/{body['id']}").get_json()


def test_a_secret_of_the_owners_is_kept_and_not_shown(person, store):
    body = register(person(), secret=WHSEC).get_json()
    assert "secret" not in body
    assert store.bots.secrets(body["id"], now=0) == (WHSEC,)


def test_a_retry_shows_the_same_bot_and_secret(person):
    ann = person()
    body = {"name": "lowball", "url": URL, "rulesets": ["river"]}
    first, second = (ann("POST", "/v1/bots", json=body, headers={"Idempotency-Key": "k"}) for _ in range(2))
    assert first.get_json() == second.get_json()
    assert first.headers["Location"] == second.headers["Location"]
    assert len(ann("GET", "/v1/bots?owner=me").get_json()["items"]) == 1


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"name": None}, "name"),
        ({"url": "not a url"}, "url"),
        ({"url": "file:///etc/passwd"}, "url"),
        ({"url": "http://10.0.0.1/"}, "url"),
        ({"url": "http://169.254.169.254/latest"}, "url"),
        ({"url": "http://user:pw@127.0.0.1/"}, "url"),
        ({"url": "http://127.0.0.1:6379/"}, "url"),
        ({"rulesets": []}, "rulesets"),
        ({"rulesets": ["bridge"]}, "rulesets.0"),
        ({"rulesets": ["river", "river"]}, "rulesets"),
        ({"rulesets": "river"}, "rulesets"),
        ({"rulesets": [1]}, "rulesets.0"),
        ({"availability": "secret"}, "availability"),
        ({"secret": "whsec_tooshort"}, "secret"),
        ({"secret": "x" * 40}, "secret"),
        ({"secret": "whsec_" + "é" * 40}, "secret"),
        ({"rating": 3000}, "rating"),
        ({"state": "active"}, "state"),
        ({"account_id": "acc_" + "a" * 26}, "account_id"),
    ],
)
def test_a_bot_that_cant_be_is_refused_by_field(person, changes, field):
    ann = person()
    answer = register(ann, **changes)
    assert answer.status_code == 422, answer.text
    assert field in answer.get_json()["errors"]
    assert ann("GET", "/v1/bots?owner=me").get_json()["items"] == []


def test_an_account_has_so_many_bots(make_app, person_at):
    ann = person_at(make_app(SLAGVELD_MAX_BOTS="2"))
    assert [register(ann).status_code for _ in range(3)] == [201, 201, 409]


def test_what_is_the_owners_stays_the_owners(person, client, activate):
    bot = register(person()).get_json()
    bob = person("bob")
    assert client.get(f"/v1/bots/{bot['id']}").status_code == 404
    activate(bot["id"])
    for seen in (client.get(f"/v1/bots/{bot['id']}"), bob("GET", f"/v1/bots/{bot['id']}")):
        assert seen.get_json()["state"] == "active"
        assert not {"url", "new_url", "reason", "secret"} & set(seen.get_json())


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PATCH", "", {"name": "mine"}),
        ("DELETE", "", None),
        ("POST", "/checks", None),
        ("GET", "/checks", None),
        ("GET", "/checks/chk_" + "a" * 26, None),
        ("POST", "/secret", {}),
        ("GET", "/decisions", None),
    ],
)
def test_others_change_nothing(person, activate, method, path, body):
    bot = register(person()).get_json()
    activate(bot["id"])
    refused = person("bob")(method, f"/v1/bots/{bot['id']}{path}", json=body)
    assert (refused.status_code, refused.get_json()["code"]) == (403, "not_yours")


def test_a_private_bot_is_nobody_elses_to_see(person, client, activate):
    ann = person()
    bot = register(ann, availability="private").get_json()
    activate(bot["id"])
    assert client.get(f"/v1/bots/{bot['id']}").status_code == 404
    assert client.get("/v1/bots").get_json()["items"] == []
    assert ann("GET", f"/v1/bots/{bot['id']}").status_code == 200


def test_lists_go_by_pages_newest_first(person, client, activate):
    ann = person()
    ids = [register(ann, name=f"b{n}").get_json()["id"] for n in range(5)]
    for bot_id in ids:
        activate(bot_id)
    seen, cursor = [], ""
    for _ in range(3):
        page = client.get(f"/v1/bots?limit=2{cursor}").get_json()
        seen += [bot["name"] for bot in page["items"]]
        cursor = f"&cursor={page['next_cursor']}"
    assert page["next_cursor"] is None
    assert sorted(seen) == ["b0", "b1", "b2", "b3", "b4"]


def test_lists_are_filtered(person, client, activate):
    ann, bob = person(), person("bob")
    one = register(ann, rulesets=["seven_up"]).get_json()["id"]
    two = register(bob).get_json()["id"]
    activate(one)
    activate(two, state=BotState.PAUSED)

    def ids(query):
        return [bot["id"] for bot in ann("GET", f"/v1/bots?{query}").get_json()["items"]]

    assert ids("ruleset=seven_up") == [one]
    assert ids("state=paused") == [two]
    assert ids("owner=me") == [one]
    assert ids("owner=me&state=paused") == []


def test_a_list_of_ones_own_needs_an_account(client):
    assert client.get("/v1/bots?owner=me").get_json()["code"] == "account_needed"


def test_an_owner_pauses_and_resumes(person, activate):
    ann = person()
    bot = register(ann).get_json()
    path = f"/v1/bots/{bot['id']}"
    early = ann("PATCH", path, json={"state": "active"})
    assert (early.status_code, early.get_json()["code"]) == (409, "check_needed")
    activate(bot["id"])
    assert ann("PATCH", path, json={"state": "paused"}).get_json()["state"] == "paused"
    assert ann("PATCH", path, json={"state": "active"}).get_json()["state"] == "active"


def test_a_disabled_bot_stays_disabled(person, activate):
    ann = person()
    bot = register(ann).get_json()
    activate(bot["id"], state=BotState.DISABLED)
    path = f"/v1/bots/{bot['id']}"
    for changes in ({"state": "active"}, {"rulesets": ["river", "seven_up"]}):
        assert ann("PATCH", path, json=changes).get_json()["code"] == "bot_disabled"
    assert ann("POST", f"{path}/checks").get_json()["code"] == "bot_disabled"


def test_a_new_url_waits_for_its_check(person, activate):
    ann = person()
    bot = register(ann).get_json()
    path = f"/v1/bots/{bot['id']}"
    assert ann("PATCH", path, json={"url": "http://127.0.0.1:9001/"}).get_json()["url"] == "http://127.0.0.1:9001/"
    activate(bot["id"])
    changed = ann("PATCH", path, json={"url": "http://127.0.0.1:9002/"}).get_json()
    assert (changed["url"], changed["new_url"]) == ("http://127.0.0.1:9001/", "http://127.0.0.1:9002/")
    assert ann("POST", f"{path}/checks").get_json()["url"] == "http://127.0.0.1:9002/"
    assert ann("PATCH", path, json={"url": "http://127.0.0.1:9001/"}).get_json()["new_url"] is None


def test_a_further_ruleset_needs_a_check_and_a_dropped_one_doesnt(person, activate):
    ann = person()
    bot = register(ann, rulesets=["river", "seven_up"]).get_json()
    activate(bot["id"])
    path = f"/v1/bots/{bot['id']}"
    assert ann("PATCH", path, json={"rulesets": ["river"]}).get_json()["state"] == "active"
    assert ann("PATCH", path, json={"rulesets": ["river", "seven_up"]}).get_json()["state"] == "pending"


def test_a_check_is_handed_to_the_workers_and_can_be_followed(person, queue):
    ann = person()
    bot = register(ann).get_json()
    asked = ann("POST", f"/v1/bots/{bot['id']}/checks")
    assert asked.status_code == 202
    check = asked.get_json()
    assert queue.checks == [check["id"]]
    assert ann("GET", asked.headers["Location"]).get_json() == check
    assert (check["state"], check["steps"], check["url"]) == ("queued", [], URL)


def test_one_check_at_a_time(person, store, queue):
    ann = person()
    bot = register(ann).get_json()
    path = f"/v1/bots/{bot['id']}/checks"
    check = ann("POST", path).get_json()
    refused = ann("POST", path)
    assert (refused.status_code, refused.get_json()["code"]) == (409, "check_under_way")
    assert refused.get_json()["check_id"] == check["id"]
    ended = {"state": "failed", "ended_at": check["created_at"] + 5}
    store.bots.change_check(check["id"], lambda old: msgspec.structs.replace(old, **ended))
    assert ann("POST", path).status_code == 202
    assert len(queue.checks) == 2


def test_a_check_belongs_to_its_bot(person):
    ann = person()
    one, two = register(ann).get_json()["id"], register(ann).get_json()["id"]
    check = ann("POST", f"/v1/bots/{one}/checks").get_json()["id"]
    assert ann("GET", f"/v1/bots/{two}/checks/{check}").status_code == 404


def test_the_old_secret_lives_a_day_beside_the_new(person, store):
    ann = person()
    bot = register(ann).get_json()
    made = ann("POST", f"/v1/bots/{bot['id']}/secret", json={})
    assert made.status_code == 201
    secret = made.get_json()["secret"]
    now = store.due.now()
    assert store.bots.secrets(bot["id"], now) == (secret, bot["secret"])
    assert store.bots.secrets(bot["id"], now + made.get_json()["previous_valid_ms"] + 60_000) == (secret,)


def test_a_bot_that_plays_cant_be_forgotten(person, store):
    ann = person()
    bot = register(ann).get_json()
    path = f"/v1/bots/{bot['id']}"
    store.unfinished.reserve(f"bot:{bot['id']}", "gam_x", 8)
    assert ann("DELETE", path).get_json()["code"] == "bot_busy"
    store.unfinished.drop(f"bot:{bot['id']}", "gam_x")
    assert ann("DELETE", path).status_code == 204
    assert ann("GET", path).status_code == 404


def test_the_ledger_shows_what_the_bot_did(person, store):
    ann = person()
    bot = register(ann).get_json()
    for n in range(3):
        line = LedgerLine(
            bot_id=bot["id"], decision_id=f"gam_1.0.{n}", game_id="gam_1", at=n, outcome=Outcome.LATE, ms=1000.0
        )
        store.ledger.add([line])
    page = ann("GET", f"/v1/bots/{bot['id']}/decisions?limit=2").get_json()
    assert [line["decision_id"] for line in page["items"]] == ["gam_1.0.2", "gam_1.0.1"]
    assert page["items"][0]["outcome"] == "late"
    rest = ann("GET", f"/v1/bots/{bot['id']}/decisions?limit=2&cursor={page['next_cursor']}").get_json()
    assert [line["decision_id"] for line in rest["items"]] == ["gam_1.0.0"]
    assert rest["next_cursor"] is None


def test_house_bots_are_listed_apart_and_belong_to_nobody(person, client):
    page = client.get("/v1/bots?kind=house").get_json()
    assert {"house:random", "house:greedy"} <= {bot["id"] for bot in page["items"]}
    for bot in page["items"]:
        assert (bot["kind"], bot["state"], bot["account_id"]) == ("house", "active", None)
        assert client.get(f"/v1/bots/{bot['id']}").get_json() == bot
        assert person()("PATCH", f"/v1/bots/{bot['id']}", json={"name": "mine"}).status_code == 403
    assert client.get("/v1/bots").get_json()["items"] == []


# --- suspended bots, and how many checks there may be -----------------------------------------------------------------

REASON = "retired from 3 of its last 4 games"
EVIDENCE = ["gam_1", "gam_2", "gam_3"]


@pytest.fixture
def suspended(person, activate):
    """Give the owner of a suspended bot, and the bot."""
    ann = person()
    bot = register(ann).get_json()
    suspension = Suspension(since=5, games=EVIDENCE, checks=2, good=1)
    activate(bot["id"], state=BotState.SUSPENDED, reason=REASON, suspension=suspension)
    return ann, bot


def test_the_owner_of_a_suspended_bot_sees_why_and_which_games_show_it(suspended, client, person):
    ann, bot = suspended
    shown = ann("GET", f"/v1/bots/{bot['id']}").get_json()
    assert (shown["state"], shown["reason"]) == ("suspended", REASON)
    assert shown["suspension"] == {"since": 5, "games": EVIDENCE, "checks": 2, "good": 1}
    for seen in (client.get(f"/v1/bots/{bot['id']}"), person("bob")("GET", f"/v1/bots/{bot['id']}")):
        assert seen.get_json()["state"] == "suspended"
        assert not {"reason", "suspension"} & set(seen.get_json())
        assert REASON not in seen.text


def test_a_bot_that_is_not_suspended_has_no_suspension(person):
    assert register(person()).get_json()["suspension"] is None


@pytest.mark.parametrize("state", ["active", "paused"])
def test_the_owner_cant_end_a_suspension(suspended, state):
    ann, bot = suspended
    answer = ann("PATCH", f"/v1/bots/{bot['id']}", json={"state": state})
    assert (answer.status_code, answer.get_json()["code"]) == (409, "check_needed")
    assert answer.get_json()["detail"] == "the bot is suspended; a check has to pass first"


def test_a_suspended_bot_can_be_neither_seated_nor_entered_and_its_owner_is_told_why(suspended, person):
    ann, bot = suspended
    bob = person("bob")
    seats = [{"kind": "house", "name": "greedy"}] * 3 + [{"kind": "bot", "bot_id": bot["id"]}]
    for asking, why in ((ann, f"is suspended: {REASON}"), (bob, "is suspended")):
        game = asking("POST", "/v1/games", json={"ruleset": "river", "seats": seats})
        assert (game.status_code, game.get_json()["code"]) == (422, "bot_unavailable")
        night = asking("POST", "/v1/tournaments", json={"name": "night", "ruleset": "river"}).get_json()["id"]
        entry = asking("PUT", f"/v1/tournaments/{night}/entries/{bot['id']}", json={})
        assert (entry.status_code, entry.get_json()["code"]) == (409, "bot_unavailable")
        for refused in (game, entry):
            assert refused.get_json()["detail"].endswith(f"expected an active bot, lowball {why}")


def test_checks_are_listed_newest_first_with_who_asked_for_them(person, store):
    ann = person()
    bot = register(ann).get_json()["id"]
    for n, asked_by in enumerate([AskedBy.OWNER, AskedBy.ARENA, AskedBy.ARENA]):
        check = Check(id="chk_" + "abc"[n] * 26, bot_id=bot, url=URL, asked_by=asked_by, created_at=n)
        store.bots.create_check(check)
    page = ann("GET", f"/v1/bots/{bot}/checks?limit=2").get_json()
    assert [(each["id"][4], each["asked_by"]) for each in page["items"]] == [("c", "arena"), ("b", "arena")]
    rest = ann("GET", f"/v1/bots/{bot}/checks?cursor={page['next_cursor']}").get_json()
    assert [(each["id"][4], each["asked_by"]) for each in rest["items"]] == [("a", "owner")]


def test_a_host_that_was_checked_often_enough_today_is_refused_and_says_until_when(make_app, person_at, queue):
    ann = person_at(make_app(SLAGVELD_MAX_CHALLENGES="1"))
    one, two = (register(ann, url=url).get_json()["id"] for url in (URL, "http://LOCALHOST:9000/"))
    keyed = {"Idempotency-Key": "k"}
    first = ann("POST", f"/v1/bots/{one}/checks", headers=keyed)
    assert first.status_code == 202
    assert ann("POST", f"/v1/bots/{one}/checks", headers=keyed).get_json() == first.get_json()
    refused = ann("POST", f"/v1/bots/{two}/checks")
    assert (refused.status_code, refused.get_json()["code"]) == (429, "too_many_checks")
    assert 86_000 < int(refused.headers["Retry-After"]) <= 86_400
    assert refused.content_type == "application/problem+json"
    bob = person_at(ann.client.application, "bob")
    other = register(bob, url="http://127.0.0.1:9999/").get_json()["id"]
    assert bob("POST", f"/v1/bots/{other}/checks").get_json()["detail"].startswith("bots at 127.0.0.1 have been")
    assert queue.checks == [first.get_json()["id"]]
    assert ann("GET", f"/v1/bots/{two}/checks").get_json()["items"] == []
