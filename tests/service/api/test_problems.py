from __future__ import annotations

import pytest
from redis.exceptions import ConnectionError as StoreGone
from redis.exceptions import OutOfMemoryError, ResponseError

from service.api.bodies import MAX_BYTES, MAX_DEPTH
from tests.service.api.answers import problem

JSON = {"Content-Type": "application/json"}


def test_an_unknown_path(client):
    problem(client.get("/v1/nothing"), 404, "not_found")
    problem(client.get("/v1/accounts/"), 404, "not_found")
    problem(client.get("//v1/accounts"), 404, "not_found")


def test_a_wrong_method_is_told_the_right_ones(client):
    answer = client.delete("/v1/rulesets")
    problem(answer, 405, "method_not_allowed")
    assert "GET" in answer.headers["Allow"]


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b'{"name": NaN}',
        b'{"name": -Infinity}',
        b'{"name": 1e999}',
        b'{"name": 1' + b"0" * 5000 + b"}",
        b'{"name": "\xff"}',
        b'\xef\xbb\xbf{"name": "ann"}',
        b'{"name": "\\ud800"}',
        b'{"\\udc00": 1}',
        b'{"name": "ann", "name": "bob"}',
        b"'name'",
    ],
)
def test_what_isnt_strict_json_is_refused(client, body):
    problem(client.post("/v1/accounts", data=body, headers=JSON), 400, "bad_json")


@pytest.mark.parametrize("levels", [MAX_DEPTH + 1, 500, 30_000])
def test_deep_nesting_is_refused(client, levels):
    body = b'{"name":' + b"[" * levels + b"]" * levels + b"}"
    problem(client.post("/v1/accounts", data=body, headers=JSON), 400, "too_deep")


def test_unclosed_deep_nesting_is_refused(client):
    assert client.post("/v1/accounts", data=b"[" * 60_000, headers=JSON).status_code == 400


@pytest.mark.parametrize("body", [b"[]", b"null", b"1", b'"ann"', b"true", b"1.5"])
def test_json_that_is_no_object_is_refused(client, body):
    problem(client.post("/v1/accounts", data=body, headers=JSON), 422, "invalid")


def test_an_empty_body_counts_as_an_empty_object(client):
    body = problem(client.post("/v1/accounts"), 422, "invalid")
    assert body["errors"] == {"name": ["missing data for required field"]}


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", None])
def test_a_body_of_another_type_is_refused(client, kind):
    problem(client.post("/v1/accounts", data=b'{"name":"ann"}', content_type=kind), 415, "unsupported_media_type")


def test_a_charset_beside_the_type_is_fine(client):
    kind = "application/json; charset=utf-8"
    assert client.post("/v1/accounts", data=b'{"name":"ann"}', content_type=kind).status_code == 201


def test_a_large_body_is_refused(client):
    body = b'{"name":"' + b"x" * MAX_BYTES + b'"}'
    problem(client.post("/v1/accounts", data=body, headers=JSON), 413, "body_too_large")


def test_a_chunked_body_is_refused(client):
    headers = {**JSON, "Transfer-Encoding": "chunked"}
    problem(client.post("/v1/accounts", data=b'{"name":"ann"}', headers=headers), 411, "length_required")


@pytest.mark.parametrize(
    "name", [None, [], {}, 1, 1.5, True, "", " ann", "x" * 65, "a\x00b", "a\nb", "a\u202eb", "a\u2028b", "a\ue000b"]
)
def test_a_name_that_is_none_is_named_in_the_errors(client, name):
    body = problem(client.post("/v1/accounts", json={"name": name}), 422, "invalid")
    assert list(body["errors"]) == ["name"]


def test_unknown_fields_are_named(client):
    body = problem(client.post("/v1/accounts", json={"name": "ann", "state": "x"}), 422, "invalid")
    assert body["errors"] == {"state": ["unknown field"]}


def test_faults_inside_lists_have_a_path(person):
    answer = person()("POST", "/v1/accounts/me/tokens", json={"scopes": ["games", "everything"]})
    assert list(problem(answer, 422, "invalid")["errors"]) == ["scopes.1"]


@pytest.mark.parametrize("query", ["x=1", "limit=1", "%00=1", "a=1&b=2"])
def test_arguments_that_an_operation_doesnt_know_are_refused(client, query):
    problem(client.get(f"/v1/rulesets/river?{query}"), 422, "invalid")


@pytest.mark.parametrize("limit", ["0", "-1", "101", "1e2", "1_0", "٣", "1" * 23, "", "1&limit=2"])
def test_a_page_size_that_is_none_is_refused(client, limit):
    problem(client.get(f"/v1/bots?limit={limit}"), 422, "invalid")


@pytest.mark.parametrize("cursor", ["x", "é", "*" * 10, "A" * 5000, "MDAw", ""])
def test_a_cursor_that_no_list_gave_is_refused(client, cursor):
    problem(client.get("/v1/bots", query_string={"cursor": cursor}), 422, "invalid")


@pytest.mark.parametrize(
    "bad", ["bot_", "bot_" + "A" * 26, "bot_" + "a" * 27, "..%2f", "%00", "%ff", "*", "x" * 5000, "bot_%0a" + "a" * 26]
)
def test_ids_that_cant_be_are_unknown(client, bad):
    problem(client.get(f"/v1/bots/{bad}"), 404, "not_found")


@pytest.mark.parametrize("where", ["token=x", "access_token=x", "TOKEN=x", "q=slt_abc", "limit=sst_abc"])
def test_a_token_in_a_url_is_refused(client, where):
    problem(client.get(f"/v1/bots?{where}"), 400, "token_in_url")


@pytest.mark.parametrize(
    "header",
    [
        "Basic YTpi",
        "Bearer",
        "Bearer ",
        "Bearer a b",
        "slt_abc",
        "Bearer slt_" + "x" * 300,
        "Bearer garbage",
        "Bearer slt_ä",
    ],
)
def test_a_token_that_is_none_is_refused_even_where_none_is_needed(client, header):
    answer = client.get("/v1/rulesets", headers={"Authorization": header})
    problem(answer, 401, "bad_token")
    assert answer.headers["WWW-Authenticate"].startswith("Bearer")


def test_a_seat_token_opens_nothing_else(client):
    answer = client.get("/v1/accounts/me", headers={"Authorization": "Bearer sst_" + "x" * 43})
    problem(answer, 403, "wrong_kind_of_token")


@pytest.mark.parametrize(
    "error",
    [
        StoreGone("refused"),
        OutOfMemoryError("command not allowed when used memory > 'maxmemory'."),
        ResponseError("MISCONF Redis is configured to save RDB snapshots"),
        ResponseError("NOREPLICAS Not enough good replicas to write."),
    ],
)
def test_a_store_that_is_away_is_503(client, app, monkeypatch, error):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr(app.extensions["slagveld"].store.accounts, "get", fail)
    answer = client.post("/v1/accounts", json={"name": "ann"})
    problem(answer, 503, "store_away")
    assert int(answer.headers["Retry-After"]) >= 1


def test_a_bug_is_500_and_tells_nothing(client, app, monkeypatch, caplog):
    def fail(*_, **__):
        raise RuntimeError("the secret ingredient")

    monkeypatch.setattr(app.extensions["slagveld"].store.accounts, "get", fail)
    answer = client.post("/v1/accounts", json={"name": "ann"})
    problem(answer, 500, "internal_error")
    assert "ingredient" not in answer.text
    assert "ingredient" in caplog.text


def test_a_dead_store_is_503_and_health_says_so(make_app, tmp_path):
    client = make_app(REDIS_URL=f"unix://{tmp_path}/nothing.sock").test_client()
    assert client.get("/health/live").status_code == 200
    problem(client.get("/health/ready"), 503, "store_away")
    problem(client.get("/v1/bots"), 503, "store_away")


def test_headers_of_every_answer(client):
    for path in ("/v1/rulesets", "/v1/nothing", "/health/live", "/openapi.json"):
        headers = client.get(path).headers
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Content-Security-Policy"].startswith("default-src 'none'")
        assert "Access-Control-Allow-Origin" not in headers


def test_origins_are_allowed_by_name_alone(make_app):
    client = make_app(SLAGVELD_CORS_ORIGINS="https://play.example").test_client()
    allowed = client.get("/v1/rulesets", headers={"Origin": "https://play.example"})
    assert allowed.headers["Access-Control-Allow-Origin"] == "https://play.example"
    other = client.get("/v1/rulesets", headers={"Origin": "https://evil.example"})
    assert "Access-Control-Allow-Origin" not in other.headers
