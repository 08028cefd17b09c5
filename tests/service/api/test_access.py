"""Each request has a name, which its answer and its lines bear, and in JSON a line of its own."""

from __future__ import annotations

import json
import logging
import re

import pytest
from flask.testing import FlaskClient

from service.api.wire import REQUEST_ID
from service.logs import about, lines

MADE = re.compile(r"[0-9a-f]{16}")
GIVEN = "a-proxys-own-name-1"
FIELDS = {"method", "route", "status", "ms", "bytes", "client"}


class Lines(logging.Handler):
    """What is logged, as a process would write it."""

    def __init__(self):
        super().__init__()
        self.setFormatter(lines.JsonLine("api"))
        self.told = []

    def emit(self, record):
        self.told.append(json.loads(self.format(record)))

    def of_requests(self):
        return [line for line in self.told if line["logger"] == "service.api.access"]


@pytest.fixture
def told():
    root, heard = logging.getLogger(), Lines()
    before = root.level
    root.addHandler(heard)
    root.setLevel(logging.INFO)
    yield heard
    root.removeHandler(heard)
    root.setLevel(before)


class Reader(FlaskClient):
    """A client that reads answers to their end, which is when requests are told of."""

    def open(self, *args, **kwargs):
        return super().open(*args, buffered=True, **kwargs)


@pytest.fixture
def app(make_app):
    app = make_app(SLAGVELD_LOGS="json", SLAGVELD_ADMIN_TOKEN="o" * 32)
    app.test_client_class = Reader
    return app


@pytest.mark.parametrize(
    ("path", "status"),
    [("/v1/rulesets", 200), ("/v1/nothing", 404), ("/v1/accounts/me", 401), ("/", 200), ("/nowhere", 404),
     ("/v1/games?token=x", 400), ("//v1/rulesets", 404), ("/v1/rulesets?limit=1", 200)],
)  # fmt: skip
def test_every_answer_bears_the_name_of_its_request(client, path, status):
    headers = {"Accept": "text/html"}
    answers = [client.get(path, headers=headers), client.get(path, headers=headers | {REQUEST_ID: GIVEN})]
    assert [answer.status_code for answer in answers] == [status, status]
    assert MADE.fullmatch(answers[0].headers[REQUEST_ID])
    assert answers[1].headers[REQUEST_ID] == GIVEN
    assert [len(answer.headers.getlist(REQUEST_ID)) for answer in answers] == [1, 1]


@pytest.mark.parametrize("given", ["short", "with a space", "a" * 65, "sst_abcdefgh", "<script>alert</script>"])
def test_a_name_that_doesnt_look_right_is_replaced(client, given):
    assert MADE.fullmatch(client.get("/health/live", headers={REQUEST_ID: given}).headers[REQUEST_ID])


def test_a_page_of_another_origin_may_read_the_name(make_app):
    client = make_app(SLAGVELD_CORS_ORIGINS="https://pages.example").test_client()
    answer = client.get("/v1/rulesets", headers={"Origin": "https://pages.example"})
    assert REQUEST_ID in answer.headers["Access-Control-Expose-Headers"]


def test_a_request_has_a_line_with_its_route_and_nothing_that_was_sent(client, told, people):
    game, players = people("river", 4)
    told.told.clear()
    answer = players[0]("GET", "?wait_for=nonsense&token_of=me", headers={REQUEST_ID: GIVEN, "Referer": "https://me"})
    (line,) = told.of_requests()
    assert line.keys() - {"time", "pid"} == {"level", "logger", "process", "message", "request_id", "game_id"} | FIELDS
    assert line["message"] == f"GET /v1/games/{{game_id}}/seats/{{number}}: {answer.status_code}"
    assert (line["method"], line["route"]) == ("GET", "/v1/games/{game_id}/seats/{number}")
    assert (line["status"], line["bytes"], line["client"]) == (answer.status_code, len(answer.data), "seat")
    assert (line["request_id"], line["game_id"], line["level"]) == (GIVEN, game["id"], "info")
    assert 0 < line["ms"] < 60_000


@pytest.mark.parametrize(
    ("headers", "client_class"),
    [
        ({}, "anonymous"),
        ({"Authorization": "Bearer " + "o" * 32}, "operator"),
        ({"Authorization": "Bearer x"}, "unknown"),
    ],
)
def test_a_line_says_what_kind_of_client_asked(client, told, headers, client_class):
    client.get("/v1/rulesets", headers=headers)
    assert told.of_requests()[-1]["client"] == client_class


def test_an_account_is_told_as_one(told, person):
    person()("GET", "/v1/accounts/me")
    assert told.of_requests()[-1]["client"] == "account"


def test_what_is_nowhere_has_no_route_and_its_path_is_not_told(client, told):
    client.get("/v1/sst_secret")
    (line,) = told.of_requests()
    assert "route" not in line
    assert "secret" not in json.dumps(line)


def test_for_people_there_is_no_line_for_a_request(make_app, told):
    assert make_app().test_client().get("/v1/rulesets").status_code == 200
    assert told.of_requests() == []


def test_what_breaks_over_a_request_names_it_and_then_nothing_does(client, told, monkeypatch, people):
    game, _ = people("river", 4)
    told.told.clear()
    monkeypatch.setattr("service.arena.play.Play.look", broken)
    assert client.get(f"/v1/games/{game['id']}", headers={REQUEST_ID: GIVEN}).status_code == 500
    broke, asked = told.told
    assert broke["message"] == "GET /v1/games/{game_id} failed"
    assert broke["error"].endswith("ZeroDivisionError: by a bug")
    assert {line["request_id"] for line in (broke, asked)} == {GIVEN}
    assert {line["game_id"] for line in (broke, asked)} == {game["id"]}
    assert dict(about.ids()) == {}


def broken(*_, **__):
    raise ZeroDivisionError("by a bug")
