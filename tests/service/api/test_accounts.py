from __future__ import annotations

import re

ADMIN = "operator-token-of-thirty-two-characters"


def test_making_an_account_shows_a_token_that_works(client):
    made = client.post("/v1/accounts", json={"name": "Ann"})
    assert made.status_code == 201
    body = made.get_json()
    assert re.fullmatch(r"acc_[a-z2-7]{26}", body["id"])
    assert re.fullmatch(r"slt_[A-Za-z0-9_-]{43}", body["token"])
    me = client.get("/v1/accounts/me", headers={"Authorization": f"Bearer {body['token']}"})
    assert me.get_json() == {"id": body["id"], "name": "Ann", "created_at": body["created_at"]}


def test_answers_to_an_account_are_kept_by_nobody(person):
    assert person()("GET", "/v1/accounts/me").headers["Cache-Control"] == "private, no-store"


def test_the_store_never_sees_a_token(person, redis):
    token = person().token.encode()
    for key in redis.scan_iter():
        kind = redis.type(key)
        value = {b"string": redis.get, b"hash": redis.hgetall, b"list": lambda k: redis.lrange(k, 0, -1)}.get(kind)
        assert token not in key
        assert value is None or token not in repr(value(key)).encode()


def test_a_further_token_can_do_less(person):
    ann = person()
    made = ann("POST", "/v1/accounts/me/tokens", json={"name": "ci", "scopes": ["games"]})
    assert made.status_code == 201
    token = made.get_json()["token"]
    refused = ann("POST", "/v1/accounts/me/tokens", json={}, headers={"Authorization": f"Bearer {token}"})
    assert refused.status_code == 403
    assert refused.get_json()["code"] == "scope_needed"


def test_a_token_cant_make_one_that_can_do_more(person):
    ann = person()
    narrow = ann("POST", "/v1/accounts/me/tokens", json={"scopes": ["account"]}).get_json()["token"]
    headers = {"Authorization": f"Bearer {narrow}"}
    asked = ann("POST", "/v1/accounts/me/tokens", json={"scopes": ["account", "bots"]}, headers=headers)
    assert asked.get_json()["code"] == "scope_needed"
    by_default = ann("POST", "/v1/accounts/me/tokens", json={}, headers=headers)
    assert by_default.get_json()["scopes"] == ["account"]


def test_a_revoked_token_is_dead_at_once(person):
    ann = person()
    made = ann("POST", "/v1/accounts/me/tokens", json={"name": "lost"}).get_json()
    assert ann("DELETE", f"/v1/accounts/me/tokens/{made['id']}").status_code == 204
    dead = ann("GET", "/v1/accounts/me", headers={"Authorization": f"Bearer {made['token']}"})
    assert (dead.status_code, dead.get_json()["code"]) == (401, "bad_token")
    names = [token["name"] for token in ann("GET", "/v1/accounts/me/tokens").get_json()["items"]]
    assert names == ["first"]


def test_the_last_token_stays(person):
    ann = person()
    [token] = ann("GET", "/v1/accounts/me/tokens").get_json()["items"]
    refused = ann("DELETE", f"/v1/accounts/me/tokens/{token['id']}")
    assert (refused.status_code, refused.get_json()["code"]) == (409, "last_token")
    assert ann("GET", "/v1/accounts/me").status_code == 200


def test_nobody_revokes_anothers_token(person):
    ann, bob = person(), person("bob")
    [token] = ann("GET", "/v1/accounts/me/tokens").get_json()["items"]
    assert bob("DELETE", f"/v1/accounts/me/tokens/{token['id']}").status_code == 404
    assert ann("GET", "/v1/accounts/me").status_code == 200


def test_by_invitation_the_code_is_needed(make_app):
    client = make_app(SLAGVELD_ACCOUNTS="invite", SLAGVELD_INVITE_CODE="open-sesame").test_client()
    assert client.post("/v1/accounts", json={"name": "ann"}).get_json()["code"] == "invite_needed"
    wrong = client.post("/v1/accounts", json={"name": "ann", "invite_code": "sésame"})
    assert (wrong.status_code, wrong.get_json()["code"]) == (422, "bad_invite_code")
    assert client.post("/v1/accounts", json={"name": "ann", "invite_code": "open-sesame"}).status_code == 201


def test_without_a_code_the_operator_alone_makes_accounts(make_app):
    client = make_app(SLAGVELD_ACCOUNTS="invite", SLAGVELD_ADMIN_TOKEN=ADMIN).test_client()
    assert client.post("/v1/accounts", json={"name": "ann"}).get_json()["code"] == "accounts_closed"
    headers = {"Authorization": f"Bearer {ADMIN}"}
    assert client.post("/v1/accounts", json={"name": "ann"}, headers=headers).status_code == 201


def test_the_operator_has_no_account(make_app):
    client = make_app(SLAGVELD_ADMIN_TOKEN=ADMIN).test_client()
    answer = client.get("/v1/accounts/me", headers={"Authorization": f"Bearer {ADMIN}"})
    assert (answer.status_code, answer.get_json()["code"]) == (403, "wrong_kind_of_token")
