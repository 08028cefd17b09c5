from __future__ import annotations

import hashlib
import json
import time

import pytest

from service.api.idempotency import with_secrets, without_secrets
from service.arena.minting import ACCOUNT_TOKEN, SEAT_TOKEN, Mint

KEY = "a-random-key-of-somebody"
ADDRESS = "127.0.0.1"


def post(client, name, key=KEY):
    return client.post("/v1/accounts", json={"name": name}, headers={"Idempotency-Key": key})


def test_the_same_key_and_body_give_the_same_answer(client):
    first, second = post(client, "ann"), post(client, "ann")
    assert first.status_code == second.status_code == 201
    assert first.get_json() == second.get_json()
    assert second.headers["Idempotency-Replayed"] == "true"
    assert "Idempotency-Replayed" not in first.headers


def test_without_a_key_each_request_makes_something_new(client):
    made = {client.post("/v1/accounts", json={"name": "ann"}).get_json()["id"] for _ in range(2)}
    assert len(made) == 2


def test_another_body_under_the_key_is_refused(client):
    post(client, "ann")
    refused = post(client, "bob")
    assert (refused.status_code, refused.get_json()["code"]) == (422, "idempotency_key_reused")


def test_a_request_in_flight_is_told_to_wait(client, app):
    scope = hashlib.sha256(f"address {ADDRESS}\0POST /v1/accounts\0{KEY}".encode()).hexdigest()
    body = json.dumps({"name": "ann"}).encode()
    kept = app.extensions["slagveld"].store.idempotency
    begun = kept.begin(scope, hashlib.sha256(body).hexdigest())
    headers = {"Idempotency-Key": KEY}
    waiting = client.post("/v1/accounts", data=body, content_type="application/json", headers=headers)
    assert (waiting.status_code, waiting.get_json()["code"]) == (409, "in_flight")
    assert int(waiting.headers["Retry-After"]) >= 1
    kept.abandon(begun)
    assert client.post("/v1/accounts", data=body, content_type="application/json", headers=headers).status_code == 201


def test_what_a_dead_try_made_is_found_not_doubled(client, app, monkeypatch, redis):
    kept = app.extensions["slagveld"].store.idempotency
    begin = kept.begin
    monkeypatch.setattr(kept, "begin", lambda *args, **more: begin(*args, in_flight_ms=1, **more))
    monkeypatch.setattr(kept, "finish", lambda *_: False)
    first = post(client, "ann").get_json()
    monkeypatch.undo()
    deadline = time.monotonic() + 5
    while (again := post(client, "ann")).status_code == 409 and time.monotonic() < deadline:
        time.sleep(0.002)
    assert again.get_json() == first
    assert "Idempotency-Replayed" not in again.headers
    accounts, _ = app.extensions["slagveld"].store.accounts.list_all(limit=10)
    assert [account.id for account in accounts] == [first["id"]]


def test_a_refused_request_leaves_the_key_free(person):
    ann = person()
    headers = {"Idempotency-Key": "k"}
    refused = ann("POST", "/v1/accounts/me/tokens", json={"scopes": ["nonsense"]}, headers=headers)
    assert refused.status_code == 422
    assert ann("POST", "/v1/accounts/me/tokens", json={"name": "x"}, headers=headers).status_code == 201


def test_keys_of_two_accounts_are_two_keys(person):
    ann, bob = person(), person("bob")
    headers = {"Idempotency-Key": "k"}
    one = ann("POST", "/v1/accounts/me/tokens", json={"name": "x"}, headers=headers).get_json()
    two = bob("POST", "/v1/accounts/me/tokens", json={"name": "x"}, headers=headers).get_json()
    assert one["token"] != two["token"]


@pytest.mark.parametrize("key", ["", "short", "x" * 129, "with blank inside it", "umlaut-ä-umlaut-ä"])
def test_a_key_that_can_be_guessed_or_isnt_one_is_refused(client, key):
    refused = post(client, "ann", key)
    assert (refused.status_code, refused.get_json()["code"]) == (422, "bad_idempotency_key")


def test_kept_answers_hold_no_secret(client, redis):
    token = post(client, "ann").get_json()["token"]
    kept = [redis.get(key) or b"" for key in redis.scan_iter() if redis.type(key) == b"string"]
    kept += [repr(redis.hgetall(key)).encode() for key in redis.scan_iter() if redis.type(key) == b"hash"]
    assert any(b"Location" in value or b"created_at" in value for value in kept)
    assert not any(token.encode() in value for value in kept)


def test_secrets_come_back_where_they_were_cut_out():
    mint = Mint(b"k" * 32, b"seed")
    one, two = mint.secret(SEAT_TOKEN, "seat 0"), mint.secret(ACCOUNT_TOKEN, "account")
    body = json.dumps({"a": one, "b": [two, one], "c": "sst_"})
    pieces = without_secrets(body, mint)
    assert one.encode() not in pieces
    assert two.encode() not in pieces
    assert with_secrets(pieces, Mint(b"k" * 32, b"seed")) == body
    assert with_secrets(pieces, Mint(b"k" * 32, b"another")) != body
