"""Headers of every answer: what browsers may do with it, and which pages of elsewhere may read it."""

from __future__ import annotations

import pytest

from service.api.wire import HEADERS
from tests.attacks.world import ADMIN

ORIGIN, EVIL = "https://play.example", "https://evil.example"
PAGES = ["/", "/docs", "/static/x/js/docs.js", "/static/x/vendor/swagger-ui/swagger-ui.css"]
ANSWERS = [
    ("GET", "/v1/rulesets", {}),
    ("GET", "/v1/nothing", {}),
    ("GET", "/health/live", {}),
    ("GET", "/openapi.json", {}),
    ("GET", "/static/nothing", {}),
    ("GET", "/v1/accounts/me", {}),
    ("GET", "/v1/accounts/me", {"Authorization": "Bearer x"}),
    ("GET", "/v1/admin/nothing", {"Authorization": f"Bearer {ADMIN}"}),
    ("POST", "/v1/accounts", {}),
    ("DELETE", "/v1/rulesets", {}),
    ("OPTIONS", "/v1/rulesets", {}),
    ("HEAD", "/v1/rulesets", {}),
    ("TRACE", "/v1/rulesets", {}),
    *(("GET", page, {}) for page in PAGES),
]


def told_to_pages(answer):
    return [name for name, _ in answer.headers if name.startswith("Access-Control-")]


@pytest.mark.parametrize(("method", "path", "headers"), ANSWERS)
def test_every_answer_says_what_browsers_may_do_with_it(builder, method, path, headers):
    with builder.client.open(path, method=method, headers=headers) as answer:
        assert set(HEADERS) <= set(answer.headers.keys())
        policy = dict(part.strip().split(" ", 1) for part in answer.headers["Content-Security-Policy"].split(";"))
        assert (policy["default-src"], policy["frame-ancestors"]) == ("'none'", "'none'")
        assert (policy["base-uri"], policy["form-action"]) == ("'none'", "'none'")
        assert policy.get("script-src", "'none'") in {"'none'", "'self'"}
        assert answer.headers["X-Content-Type-Options"] == "nosniff"
        assert "Cache-Control" in answer.headers
        if "Authorization" in headers:
            assert answer.headers["Cache-Control"] == "private, no-store"
        assert "Set-Cookie" not in answer.headers
        assert not told_to_pages(answer)


def test_no_header_is_made_of_what_was_sent(builder):
    for value in ("x\r\nSet-Cookie: a=b", "x%0d%0aSet-Cookie: a=b", "évil"):
        headers = {"X-Request-Id": value.replace("\r\n", " "), "Origin": value.replace("\r\n", " ")}
        answer = builder.client.get(f"/v1/rulesets?x={value}", headers=headers)
        assert "Set-Cookie" not in answer.headers
        assert "vil" not in str(answer.headers)


def preflight(client, origin, path="/v1/bots", method="DELETE"):
    asked = {"Access-Control-Request-Method": method, "Access-Control-Request-Headers": "authorization"}
    return client.options(path, headers={"Origin": origin, **asked})


@pytest.mark.parametrize("origin", [ORIGIN, EVIL, "null", "http://localhost:3000"])
def test_unless_configured_no_page_of_elsewhere_reads_anything(builder, origin):
    for answer in (preflight(builder.client, origin), builder.client.get("/v1/bots", headers={"Origin": origin})):
        assert not told_to_pages(answer)
        assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"


@pytest.fixture(scope="module")
def client(open_arena):
    """Give a client of an arena that pages of two origins may read."""
    return open_arena(SLAGVELD_CORS_ORIGINS=f"{ORIGIN}, https://other.example").test_client()


def test_a_page_of_an_origin_that_is_configured_may_ask_for_all(client):
    answer = preflight(client, ORIGIN)
    assert answer.status_code == 200
    assert answer.headers["Access-Control-Allow-Origin"] == ORIGIN
    assert "DELETE" in answer.headers["Access-Control-Allow-Methods"]
    assert "Authorization" in answer.headers["Access-Control-Allow-Headers"]
    assert "Access-Control-Allow-Credentials" not in answer.headers
    for path in ("/v1/bots", "/v1/nothing", "/v1/accounts/me"):
        read = client.get(path, headers={"Origin": ORIGIN})
        assert read.headers["Access-Control-Allow-Origin"] == ORIGIN, "errors are for pages, too"
        assert "Origin" in read.vary


@pytest.mark.parametrize(
    "origin",
    [
        EVIL, "null", "*", "", f"{ORIGIN}.evil.example", f"{ORIGIN}:444", ORIGIN.upper(), "http://play.example",
        f"{ORIGIN}, {EVIL}", f"{ORIGIN}/", "https://xplay.example", "https://play.example@evil.example",
    ],
)  # fmt: skip
def test_a_page_of_an_origin_that_is_nearly_so_may_not(client, origin):
    for answer in (preflight(client, origin), client.get("/v1/bots", headers={"Origin": origin})):
        assert not told_to_pages(answer)
        assert "Origin" in answer.vary, "or a cache gives it to another page"
