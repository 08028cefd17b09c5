from __future__ import annotations

import re
from pathlib import Path

import pytest

from service import openapi
from service.api.auth import Audience
from service.api.resource import _camel
from tests.bot_sdk.specified import document

ROOT = Path(__file__).parents[3]
COMMITTED = document()
METHODS = {"get", "post", "put", "patch", "delete"}


OPERATIONS = [
    pytest.param(path, method, item[method], id=f"{method} {path}")
    for path, item in COMMITTED["paths"].items()
    for method in sorted(METHODS & set(item))
]
CLOSED = [case for case in OPERATIONS if {} not in case.values[2]["security"]]
"""Those that not everybody may call."""


def test_the_committed_specification_says_what_the_api_does(client):
    assert openapi.rendered() == (ROOT / "openapi" / "service.yaml").read_text("utf-8"), "run `make openapi`"
    assert client.get("/openapi.json").get_json() == COMMITTED


@pytest.mark.parametrize(("path", "method", "operation"), OPERATIONS)
def test_every_operation_is_described_whole(path, method, operation):
    assert not path.endswith("/")
    assert operation["summary"]
    assert re.fullmatch(r"[a-z][A-Za-z]+", operation["operationId"])
    assert "security" in operation
    problems = {code for code in operation["responses"] if code.startswith(("4", "5"))}
    assert {"401", "403", "422", "429", "503"} <= problems
    if "{" in path:
        assert "404" in problems
    if "requestBody" in operation:
        assert {"400", "411", "413", "415"} <= problems


@pytest.mark.parametrize(("path", "method", "operation"), CLOSED)
def test_who_isnt_admitted_gets_nowhere(client, path, method, operation):
    filled = re.sub(r"\{([a-z_]+)\}", lambda name: example(path, name[1]), path)
    assert client.open(filled, method=method.upper(), json={} if method != "get" else None).status_code == 401


def example(path, name):
    parameters = COMMITTED["paths"][path]["parameters"]
    return next(parameter["schema"]["example"] for parameter in parameters if parameter["name"] == name)


def test_every_view_of_the_api_names_its_audience(app):
    for rule in app.url_map.iter_rules():
        if rule.rule.startswith("/v1/"):
            assert isinstance(app.view_functions[rule.endpoint].audience, Audience), rule.rule


def test_all_that_an_operation_reads_of_the_query_is_described(app):
    """Also where it reads headers besides, which once took the place of it."""
    described = {
        operation["operationId"]: {each["name"] for each in operation.get("parameters", ()) if "$ref" not in each}
        - {"If-None-Match", "Last-Event-ID", "Prefer"}
        for *_, operation in (case.values for case in OPERATIONS)
    }
    read = {}
    for view in {app.view_functions[rule.endpoint] for rule in app.url_map.iter_rules() if rule.rule[:4] == "/v1/"}:
        parts = view._apidoc.get("arguments", {}).get("parameters", ())
        read[view.__name__] = {name for part in parts if part["in"] == "query" for name in part["schema"]().fields}
    assert read["list_events"] == {"after", "cursor", "limit"}
    assert {name for name, fields in read.items() if described[_camel(name)] != fields} == set()


def test_the_specification_is_served(client):
    assert client.get("/openapi.json").get_json() == COMMITTED


def test_the_page_to_try_it_loads_nothing_from_elsewhere(client):
    page = client.get("/docs")
    assert page.status_code == 200
    loaded = re.findall(r'<(?:script|link|img|div)[^>]*\s(?:src|href|data-specification)="([^"]*)"', page.text)
    assert len(loaded) >= 5
    for path in loaded:
        assert path.startswith("/")
        assert not path.startswith("//")
        with client.get(path) as answer:
            assert answer.status_code == 200, path
    assert "<style" not in page.text
    assert re.findall(r"<script[^>]*>([^<]*)</script>", page.text) == [""] * 3
    policy = page.headers["Content-Security-Policy"]
    assert "script-src 'self'; style-src 'self';" in policy
    assert "unsafe" not in policy


def test_what_is_vendored_says_its_version_and_licence():
    folder = ROOT / "service" / "web" / "static" / "vendor" / "swagger-ui"
    assert re.search(r"Swagger UI \d+\.\d+\.\d+", (folder / "README.md").read_text("utf-8"))
    assert "Apache License" in (folder / "LICENSE").read_text("utf-8")
