"""Paths, methods, hosts and types: whatever looks like a request for something else is for nothing."""

from __future__ import annotations

import base64

import pytest

from tests.attacks.specified import operations
from tests.attacks.world import BOT, GAME
from tests.service.api.answers import problem

OPERATIONS = list(operations())
WITH_IDS = [(each, name) for each in OPERATIONS for name in each.parameters]
NO_IDS = [
    "..%2f", "%00", "%ff", "*", "x" * 5_000, "..", "%2e%2e", "%0d%0aX", "{id}", "me", "-1", "%f0%9f%82%a1", "'",
    "gam_%2a", "__proto__",
]  # fmt: skip
"""What stands where an id should."""


@pytest.mark.parametrize(("operation", "name"), WITH_IDS, ids=lambda each: getattr(each, "name", each))
def test_an_id_that_is_none_gets_as_far_as_routing(builder, shared, operation, name):
    """Nobody is asked for a token, and nothing of it reaches the store: there is no such path."""
    for bad in (*NO_IDS, *spoiled(shared.things.get(name, "river"))):
        path = operation.filled(shared.things | {name: bad})
        answer = builder.ask(operation.method, path, json={})
        assert problem(answer, 404, "not_found")["detail"] in NOWHERE, path


NOWHERE = {"there is nothing at this path", "there is no such ruleset"}


def spoiled(good):
    """Give ids that are nearly one."""
    return [
        good + "%0a",
        good + "%00",
        good + ";a=1",
        good + "/",
        good + "%2f",
        good.upper() + "A",
        "%20" + good,
        good * 2,
    ]


@pytest.mark.parametrize(
    "path",
    [
        "/v1//bots", "/v1/bots/", "/v1/bots//", "/v1/./bots", "/v1/../v1/bots", "/v1/bots;a=1",
        "/v1;/bots", "/V1/bots", "/v1/Bots", "/v1/bots%2f", "/v1/bots%00", "/v1/bots%20", "/v1/bots.json", "/v2/bots",
        "/%2e%2e/v1/bots", "/v1/bots%3flimit=1", "/v1/bots%23", "/static/../config.py", "/static/..%2fconfig.py",
        "/static/%2e%2e/%2e%2e/config.py", "/static//etc/passwd", "/static/%00", "/health", "/metrics", "/.env",
        "/admin", "/v1/admin", "/console", "/server-status",
    ],
)  # fmt: skip
def test_a_path_that_is_nearly_one_is_none(builder, path):
    problem(builder.ask("GET", path), 404, "not_found")


def test_a_path_with_two_slashes_ahead_is_none(builder):
    with builder.client.get(
        "/", environ_overrides={"PATH_INFO": "//v1/bots"}
    ) as answer:  # the client takes it for a host
        problem(answer, 404, "not_found")


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda each: each.name)
def test_other_methods_are_refused_and_head_and_options_tell_no_more(builder, shared, operation):
    path = shared.filled(operation)
    allowed = {each.method for each in OPERATIONS if each.path == operation.path}
    for method in {"POST", "PUT", "PATCH", "DELETE", "TRACE", "CONNECT", "PROPFIND", "GETS"} - allowed:
        answer = builder.ask(method, path, json={})
        problem(answer, 405, "method_not_allowed")
        assert set(answer.headers["Allow"].split(", ")) - {"HEAD", "OPTIONS"} == allowed
    options = builder.ask("OPTIONS", path)
    assert (options.status_code, options.data) == (200, b"")
    if operation.method == "GET":
        seen, head = builder.ask("GET", path), builder.ask("HEAD", path)
        assert (head.status_code, head.data) == (seen.status_code, b"")
        seen.close()


@pytest.mark.parametrize("header", ["X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override", "_method"])
def test_a_method_is_what_the_request_line_says(builder, shared, header):
    bot = builder.active_bot(shared.tokens["owner"])
    for method in ("GET", "POST"):
        builder.ask(method, f"/v1/bots/{bot}", shared.tokens["owner"], headers={header: "DELETE"})
        builder.ask(method, f"/v1/bots/{bot}", shared.tokens["owner"], data={header: "DELETE"})
    assert builder.ask("GET", f"/v1/bots/{bot}").status_code == 200


@pytest.mark.parametrize("header", ["X-Original-URL", "X-Rewrite-URL", "X-Forwarded-Prefix", "X-Forwarded-Path"])
def test_a_path_is_what_the_request_line_says(builder, header):
    listed = builder.ask("GET", "/v1/rulesets", headers={header: "/v1/accounts/me"})
    assert listed.status_code == 200
    assert len(listed.get_json()["items"]) == 2


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:80",
        "127.0.0.1@evil.example",
        "a b",
        "[::1",
        "a" * 300,
        "",
        "é",
        "..",
        "a/b",
        "a\\b",
    ],
)
def test_a_host_is_nobodys_word(builder, shared, host):
    """No answer is made from it: not where a thing is, not what it links to."""
    asked = builder.ask("POST", "/v1/games", shared.tokens["owner"], json=GAME, headers={"Host": host})
    assert asked.status_code in {201, 400}, asked.text
    if asked.status_code == 201:
        assert asked.headers["Location"] == f"/v1/games/{asked.get_json()['id']}"
    assert "evil" not in asked.text + str(asked.headers)
    forwarded = {"X-Forwarded-Host": host, "Forwarded": f"host={host}"} if host.isascii() else {}
    assert "evil" not in builder.ask("GET", "/docs", headers=forwarded).text


TYPES = [
    "text/plain", "text/json", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x",
    "application/xml", "application/json, text/plain", "application/jsonx", "application/x-json", "json", "*/*", "",
    "application/json\x00",
]  # fmt: skip


@pytest.mark.parametrize("kind", TYPES)
def test_json_under_another_name_is_refused(builder, shared, kind):
    answer = builder.ask("POST", "/v1/bots", shared.tokens["owner"], data=b'{"name": "x"}', content_type=kind)
    problem(answer, 415, "unsupported_media_type")


@pytest.mark.parametrize(
    "kind", ["application/json; charset=utf-16", "application/json; charset=utf-7", "APPLICATION/JSON"]
)
def test_json_is_utf_8_whatever_is_said(builder, shared, kind):
    name = "ann +ADwA-"
    answer = builder.ask("POST", "/v1/accounts", json=None, data=f'{{"name": "{name}"}}'.encode(), content_type=kind)
    assert (answer.status_code, answer.get_json()["name"]) == (201, name)
    utf_16 = '{"name": "ann"}'.encode("utf-16")
    problem(builder.ask("POST", "/v1/accounts", data=utf_16, content_type=kind), 400, "bad_json")


def test_a_compressed_body_is_no_json(builder):
    headers = {"Content-Encoding": "gzip"}
    answer = builder.ask("POST", "/v1/accounts", data=b"\x1f\x8b\x08", content_type="application/json", headers=headers)
    problem(answer, 400, "bad_json")


@pytest.mark.parametrize("path", ["/v1/bots?owner=me", "/v1/games?owner=me", "/v1/tournaments?owner=me"])
def test_a_cursor_of_anothers_list_shows_ones_own(builder, shared, path):
    ann, bob = shared.tokens["owner"], shared.tokens["other account"]
    for token in (ann, bob):
        for _ in range(2):
            builder.active_bot(token, availability="private")
            builder.make("POST", "/v1/games", token, GAME)
            builder.make("POST", "/v1/tournaments", token, {"name": "t", "ruleset": "river"})
    mine = {item["id"] for item in builder.ask("GET", f"{path}&limit=100", bob).get_json()["items"]}
    cursor = builder.ask("GET", f"{path}&limit=1", ann).get_json()["next_cursor"]
    forged = base64.urlsafe_b64encode(b"999999999999999:" + b"z" * 30).rstrip(b"=").decode()
    for each in (cursor, forged):
        shown = builder.ask("GET", f"{path}&limit=100&cursor={each}", bob).get_json()["items"]
        assert {item["id"] for item in shown} <= mine
    assert shown, "a cursor from beyond the newest shows all"


def test_a_forged_cursor_shows_no_private_bot(builder, shared):
    bot = builder.active_bot(shared.tokens["owner"], availability="private")
    made = builder.ask("GET", f"/v1/bots/{bot}", shared.tokens["owner"]).get_json()["created_at"]
    just_before = base64.urlsafe_b64encode(f"{made + 1:015d}:bot_a".encode()).rstrip(b"=").decode()
    assert bot not in builder.ask("GET", f"/v1/bots?limit=100&cursor={just_before}").text
    problem(
        builder.ask("GET", f"/v1/bots/{bot}/decisions?cursor={just_before}", shared.tokens["other account"]),
        404,
        "not_found",
    )


def test_a_tag_is_good_for_its_own_reader_alone(builder, shared):
    """Of what another can see, a tag tells neither that it is so nor that it isn't."""
    path = f"/v1/games/{shared.things['game_id']}/seats/{shared.things['number']}"
    mine = builder.ask("GET", path, shared.tokens["seat"]).headers["ETag"]
    for tag in (mine, "W/" + mine, "*", '"0"', '"", ' + mine):
        headers = {"If-None-Match": tag}
        asked = builder.ask("GET", path, shared.tokens["seat"], headers=headers)
        assert asked.status_code == (304 if mine in tag else 200)
        problem(builder.ask("GET", path, shared.tokens["other seat"], headers=headers), 403, "not_your_seat")
        problem(builder.ask("GET", path, headers=headers), 401, "token_needed")


@pytest.mark.parametrize("key", ["", " ", "a b", "é", "x" * 129, "\x7f", "a\tb"])
def test_an_idempotency_key_that_is_none(builder, shared, key):
    answer = builder.ask("POST", "/v1/bots", shared.tokens["owner"], json=BOT, headers={"Idempotency-Key": key})
    problem(answer, 422, "bad_idempotency_key")


def test_without_a_token_a_key_has_to_be_hard_to_guess(builder):
    answer = builder.ask("POST", "/v1/accounts", json={"name": "ann"}, headers={"Idempotency-Key": "1"})
    problem(answer, 422, "bad_idempotency_key")
