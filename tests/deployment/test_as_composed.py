"""docker-compose.yml as it stands, its services as processes of this machine: what a newcomer gets, and an operator."""

from __future__ import annotations

import http.client
import json
import re
import socket
import threading
import time
from urllib.parse import urlsplit

import pytest
import requests
import trustme

from bot_sdk.client import Arena
from service.api.wire import CODES, PROBLEM_JSON, TITLES
from service.launch.report import Report
from tests.deployment.composed import Composition
from tests.deployment.composefile import FILE, UnknownError
from tests.deployment.connections import established
from tests.deployment.translating import program
from tests.programs import do_without

SERVICES = ("proxy", "worker-interactive", "worker-tournament", "prometheus", "bot-cautious", "bot-counter", "examples")
PARTS = ("api", "worker-interactive", "worker-tournament")
PATIENT = {"budget_ms": 30_000, "first_budget_ms": 30_000}
"""No decision is late, however busy the machine."""
LONG_S = 120.0
PROGRAMS = {
    "nginx": "nginx-light",
    "curl": "curl",
    "valkey-cli": "redis-tools",
    "prometheus": "prometheus",
    "wget": "wget",
}
"""Debian's, by the packages they come in."""


@pytest.fixture(scope="module", autouse=True)
def _programs():
    """Skip where a Debian program is missing, but never in CI."""
    for name, package in PROGRAMS.items():
        try:
            program(name)
        except UnknownError:
            do_without(name, package)


@pytest.fixture(scope="module")
def composed(tmp_path_factory, _programs):
    with Composition(tmp_path_factory.mktemp("composed")) as composition:
        composition.up(*SERVICES)
        yield composition


@pytest.fixture
def organiser(composed):
    """Give the account that the example bots are of, through the proxy."""
    token = (composed.volume("organiser") / "token").read_text().strip()
    with Arena(composed.url, token) as arena:
        yield arena


def wait_until(holds, what, seconds=LONG_S):
    ends = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < ends, what
        time.sleep(0.02)


def expect_played(arena, tournament, games):
    """See that a tournament was played to its end, as its records tell."""
    report = Report()
    report.take(arena.records(tournament))
    assert report.refused == []
    assert report.verified == games
    return report


# --- what a newcomer sees ---------------------------------------------------------------------------------------------


def test_one_curl_shows_that_the_example_bots_play_the_house(composed, organiser):
    (shown,) = requests.get(f"{composed.url}/v1/tournaments", timeout=30).json()["items"]
    assert shown["name"] == "first night"
    *_, last = organiser.follow_tournament(shown["id"], timeout_s=LONG_S)
    assert last["state"] == "finished"
    assert {line.name for line in organiser.standings(shown["id"]).items} >= {"cautious", "counter"}
    expect_played(organiser, shown["id"], games=24)
    assert f"{composed.url}/tournaments/{shown['id']}" in composed.said("examples")


def test_page_comes_through_the_proxy(composed):
    page = requests.get(f"{composed.url}/", timeout=30)
    assert page.status_code == 200
    assert page.headers["Content-Type"].startswith("text/html")


def test_examples_have_nothing_left_to_do_the_next_time(composed, organiser):
    before = [(bot.id, bot.state) for bot in organiser.bots(owner="me")]
    composed.again("examples")
    assert [(bot.id, bot.state) for bot in organiser.bots(owner="me")] == before
    assert [each.name for each in organiser.tournaments(owner="me")] == ["first night"]


def test_secrets_were_made_for_their_owner_alone_and_stay(composed):
    files = [composed.volume("secrets") / name for name in ("cautious", "counter")]
    before = [file.read_text() for file in files]
    assert len(set(before)) == 2
    assert all(file.stat().st_mode & 0o077 == 0 for file in [*files, composed.volume("organiser") / "token"])
    composed.again("make-secrets")
    assert [file.read_text() for file in files] == before
    said = composed.said("examples") + composed.said("make-secrets")
    assert not [secret for secret in before if secret.strip() in said]
    assert (composed.volume("organiser") / "token").read_text().strip() not in said


# --- a night with a death ---------------------------------------------------------------------------------------------


class Reader(threading.Thread):
    """Reads a path again and again, and never a second time what went wrong."""

    def __init__(self, url):
        super().__init__()
        self.statuses = []
        self._url = url
        self._over = threading.Event()
        self.start()

    def run(self):
        with requests.Session() as session:
            while not self._over.wait(0.03):
                self.statuses.append(session.get(self._url, timeout=30).status_code)

    def close(self):
        self._over.set()
        self.join()


class Follower(threading.Thread):
    """Follows a tournament to its end by its stream."""

    def __init__(self, url, tournament):
        super().__init__()
        self.finished = []
        self.state = None
        self._url, self._tournament = url, tournament
        self.start()

    def run(self):
        with Arena(self._url) as arena:
            for message in arena.follow_tournament(self._tournament, timeout_s=LONG_S):
                self.finished.append(message["finished"])
                self.state = message["state"]


def api_with_a_stream(composed):
    """Tell which API has connections; waits until one has."""

    def having():
        return [n for n, at in enumerate(composed.ground.names["api"]) if established(at, composed.ground.port(8000))]

    wait_until(having, "no API has a stream")
    return having()[0]


def test_api_that_dies_amid_a_tournament_is_not_missed(composed, organiser):
    bots = [bot.id for bot in organiser.bots(owner="me")]
    made = organiser.create_tournament("second night", "seven_up", rounds=24, **PATIENT)
    for entry in (*bots, "house:greedy", "house:counting"):
        organiser.enter(made.id, entry)
    organiser.set_tournament_state(made.id, "running")
    follower = Follower(composed.url, made.id)
    dying = api_with_a_stream(composed)
    reader = Reader(f"{composed.url}/v1/tournaments/{made.id}")
    try:
        wait_until(lambda: reader.statuses, "nothing was read")
        assert organiser.tournament(made.id).state == "running"
        composed.kill("api", dying)
        read = len(reader.statuses)
        wait_until(lambda: len(reader.statuses) > read + 50, "reading stopped when an API died")
        composed.start_again("api", dying)
        follower.join(LONG_S)
        assert follower.state == "finished", composed.said("worker-tournament")
    finally:
        reader.close()
    assert set(reader.statuses) == {200}
    assert follower.finished == sorted(follower.finished)
    report = expect_played(organiser, made.id, games=48)
    assert {"cautious", "counter"} <= set(report.outcomes)
    assert {outcome for counts in report.outcomes.values() for outcome in counts} == {"ok"}  # nobody was at fault


def requests_logged(composed):
    """Read what the proxy says of the latest requests, each in a line of its own."""
    lines = composed.said("proxy").splitlines()
    return [json.loads(line) for line in lines if line.startswith("{") and line.endswith("}")]


def test_both_apis_answer(composed):
    seen = set()

    def both():
        requests.get(f"{composed.url}/health/live", timeout=30)
        seen.update(line["api"] for line in requests_logged(composed))
        return {f"{address}:{composed.ground.port(8000)}" for address in composed.ground.names["api"]} <= seen

    wait_until(both, "one API gets everything")


# --- what stands before the API ---------------------------------------------------------------------------------------


def connections(composed):
    return sum(established(address, composed.ground.port(8000)) for address in composed.ground.names["api"])


def test_client_that_is_slow_with_its_request_holds_nothing_of_the_api(composed):
    wait_until(lambda: connections(composed) == 0, "the API isn't quiet")
    body = json.dumps({"ruleset": "seven_up", "seats": [{"kind": "house", "name": "greedy"}] * 2}).encode()
    where = urlsplit(composed.url)
    with socket.create_connection((where.hostname, where.port), timeout=30) as slow:
        head = f"POST /v1/games HTTP/1.1\r\nHost: {where.netloc}\r\nContent-Type: application/json\r\n"
        slow.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body[:10])
        for _ in range(10):  # others come and go meanwhile
            assert requests.get(f"{composed.url}/health/live", timeout=30).status_code == 200
        wait_until(lambda: connections(composed) == 0, "the API has the slow client")
        slow.sendall(body[10:])
        assert slow.recv(12) == b"HTTP/1.1 201"


def test_chunked_body_arrives_as_one_of_known_length(composed):
    body = json.dumps({"ruleset": "seven_up", "seats": [{"kind": "house", "name": "greedy"}] * 2}).encode()
    pieces = iter([body[:20], body[20:]])
    kind = {"Content-Type": "application/json"}
    assert requests.post(f"{composed.url}/v1/games", data=pieces, headers=kind, timeout=30).status_code == 201


def test_large_body_comes_to_the_api(composed):
    """The API says what is too large, and for what; the proxy takes in as much as the API ever does."""

    def code(path, size):
        kind = {"Content-Type": "application/json"}
        answer = requests.post(f"{composed.url}{path}", data=b" " * size, headers=kind, timeout=30)
        return answer.json()["code"]

    assert code("/v1/games", 70_000) == "body_too_large"
    assert code("/v1/bots/bot_aaaaaaaaaaaaaaaaaaaaaaaaaa/actions", 1_048_576) == "token_needed"


def refused(composed, head):
    """Send the head of a request that the proxy itself refuses; give its answer."""
    where = urlsplit(composed.url)
    with socket.create_connection((where.hostname, where.port), timeout=30) as sent:
        sent.sendall(head.encode())
        answer = http.client.HTTPResponse(sent)
        answer.begin()
        return answer, json.loads(answer.read())


@pytest.mark.parametrize(
    ("head", "status", "code"),
    [
        ("GET /v1/games HTTP/1.1\r\n\r\n", 400, "bad_request"),
        ("GET /v1/%zz HTTP/1.1\r\nHost: x\r\n\r\n", 400, "bad_request"),
        ("GET /-/refused HTTP/1.1\r\nHost: x\r\n\r\n", 404, "not_found"),
        ("TRACE /v1/games HTTP/1.1\r\nHost: x\r\n\r\n", 405, "method_not_allowed"),
        ("POST /v1/games HTTP/1.1\r\nHost: x\r\nContent-Length: 2000000\r\n\r\n", 413, "body_too_large"),
        (f"GET /{'a' * 9_000} HTTP/1.1\r\nHost: x\r\n\r\n", 414, "uri_too_long"),
        (f"GET /v1/games HTTP/1.1\r\nHost: x\r\nX: {'a' * 9_000}\r\n\r\n", 431, "headers_too_large"),
        ("POST /v1/games HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501, "not_implemented"),
    ],
    ids=["host", "path", "inside", "method", "body", "line", "field", "coding"],
)
def test_what_the_proxy_refuses_is_a_problem_as_the_api_tells_it(composed, head, status, code):
    answer, problem = refused(composed, head)
    assert (answer.status, problem["status"], problem["code"]) == (status, status, code)
    assert answer.headers["Content-Type"] == PROBLEM_JSON
    assert (problem["title"], problem["type"]) == (TITLES[status], "about:blank")
    assert CODES[status] == code
    name = answer.headers["X-Request-Id"]
    wait_until(lambda: any(each["request_id"] == name for each in requests_logged(composed)), "it isn't in the log")
    (line,) = (each for each in requests_logged(composed) if each["request_id"] == name)
    method, path, _ = head.split(maxsplit=2)
    assert (line["method"], line["path"]) in {(method, path), (method, "")}  # a line that is too long isn't read


def test_stream_comes_as_it_happens(composed):
    """What a person does is told by the stream while the table waits for the next move."""
    with Arena(composed.url) as arena:
        made = arena.create_game("seven_up", [{"kind": "human", "name": name} for name in ("ann", "bob")])
        stream = arena.follow_game(made.id, timeout_s=LONG_S)
        before = list(arena.events(made.id))
        assert [next(stream) for _ in before] == before
        views = [arena.seat(made.id, seat, made.seats[seat].token) for seat in (0, 1)]
        (asked,) = (view for view in views if view.decision_id)
        arena.act(made.id, asked.seat, asked.decision_id, asked.legal_actions[0], made.seats[asked.seat].token)
        assert next(stream) == list(arena.events(made.id))[len(before)]
        assert arena.game(made.id).state == "running"


def test_path_is_passed_on_as_it_came(composed):
    where = urlsplit(composed.url)

    def status(path):
        connection = http.client.HTTPConnection(where.hostname, where.port, timeout=30)
        connection.request("GET", path)
        answer = connection.getresponse()
        connection.close()
        return answer.status

    assert status("/v1/rulesets") == 200
    assert status("//v1/rulesets") == status("/v1//rulesets") == 404


def new_account(composed, address, claimed):
    """Ask for an account from an address of this machine; `claimed` is what the client says its address is."""
    where = urlsplit(composed.url)
    connection = http.client.HTTPConnection(where.hostname, where.port, timeout=30, source_address=(address, 0))
    said = dict.fromkeys(("X-Forwarded-For", "X_Forwarded_For", "X-Real-IP"), claimed)
    headers = {"Content-Type": "application/json", "Forwarded": f"for={claimed}", **said}
    connection.request("POST", "/v1/accounts", json.dumps({"name": "ann"}), headers)
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status


def test_client_has_the_address_it_comes_from_whatever_it_says(composed):
    one, other = str(composed.ground.network[20]), str(composed.ground.network[21])
    statuses = [new_account(composed, one, f"203.0.113.{number}") for number in range(11)]
    assert statuses == [201] * 10 + [429]
    assert new_account(composed, other, one) == 201
    assert {one, other} <= {line["client"] for line in requests_logged(composed)}


def test_prometheus_reads_every_replica_and_the_proxy_shows_nothing_of_it(composed):
    prometheus = f"http://{composed.ground.names['prometheus'][0]}:{composed.ground.port(9090)}"

    def up():
        query = requests.get(f"{prometheus}/api/v1/query", params={"query": "up == 1"}, timeout=30).json()
        return {each["metric"]["instance"] for each in query["data"]["result"]}

    parts = [address for part in PARTS for address in composed.ground.names[part]]
    wait_until(lambda: up() == {f"{address}:{composed.ground.port(9100)}" for address in parts}, "not all are read")
    assert requests.get(f"{composed.url}/metrics", timeout=30).status_code == 404


# --- an operator's: care, TLS, secrets --------------------------------------------------------------------------------


def test_doctor_finds_nothing_wrong(composed):
    ran = composed.run("worker-tournament", "slagveld", "doctor")
    assert ran.returncode == 0, ran.stdout + ran.stderr


def test_backup_of_the_head_is_made(composed):
    (words,) = re.findall(r"docker compose exec worker-tournament (slagveld .+)", FILE.read_text())
    ran = composed.run("worker-tournament", *words.split())
    assert ran.returncode == 0, ran.stderr
    assert (composed.volume("archive") / "arena.rdb").stat().st_size > 1_000


def test_operator_gives_a_certificate_and_secrets(tmp_path):
    given = {
        "ADMIN_TOKEN_FILE": "operator-" * 4,
        "ARENA_KEY_FILE": "ab" * 32,
        "INVITE_CODE_FILE": "opensesame",
    }
    for name, value in given.items():
        (tmp_path / name).write_text(f"{value}\n")
    authority = trustme.CA()
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    variables = {name: str(tmp_path / name) for name in (*given, "TLS_CERTIFICATE", "TLS_KEY")} | {"ACCOUNTS": "invite"}
    with Composition(tmp_path, variables) as composition:
        certificate = authority.issue_cert(urlsplit(composition.url).hostname)
        for pem in certificate.cert_chain_pems:
            pem.write_to_path(tmp_path / "TLS_CERTIFICATE", append=True)
        certificate.private_key_pem.write_to_path(tmp_path / "TLS_KEY")
        composition.up("proxy")
        with requests.Session() as session:
            session.verify = str(tmp_path / "ca.pem")
            session.trust_env = False  # or a bundle that a variable names would stand before it
            live = session.get(f"{composition.url}/health/live", timeout=30)
            assert live.headers["Strict-Transport-Security"] == "max-age=31536000"
            made = [
                session.post(f"{composition.url}/v1/accounts", json={"name": "ann", **more}, timeout=30).status_code
                for more in ({}, {"invite_code": "opensesame"})
            ]
            assert made == [403, 201]
            operator = {"Authorization": f"Bearer {given['ADMIN_TOKEN_FILE']}"}
            assert session.get(f"{composition.url}/v1/admin/accounts", headers=operator, timeout=30).status_code == 200
            refused = session.get(f"{composition.url}/v1/games", headers={"X": "a" * 9_000}, timeout=30)
            assert (refused.status_code, refused.json()["code"]) == (431, "headers_too_large")
            assert refused.headers["Strict-Transport-Security"] == "max-age=31536000"
            plain = f"http://{urlsplit(composition.url).hostname}:{composition.ground.port(8080)}/v1/games?limit=1"
            sent = session.get(plain, timeout=30, allow_redirects=False)
            assert (sent.status_code, sent.headers["Location"]) == (
                308,
                f"https://{urlsplit(composition.url).hostname}/v1/games?limit=1",
            )
        composition.down()


def test_token_of_the_examples_that_outlived_its_arena_is_replaced(composed, organiser):
    file = composed.volume("organiser") / "token"
    outlived = organiser.token[:-1] + ("a" if organiser.token[-1] != "a" else "b")
    file.write_text(outlived)
    composed.again("examples")
    with Arena(composed.url, file.read_text().strip()) as anew:
        assert {bot.state for bot in anew.bots(owner="me")} == {"active"}
        *_, last = anew.follow_tournament(next(anew.tournaments(owner="me")).id, timeout_s=LONG_S)
        assert last["state"] == "finished"


# --- the end ----------------------------------------------------------------------------------------------------------


def test_everything_stops_in_good_order(composed):
    composed.down()
    for name in ("proxy", "api", "worker-tournament"):
        assert "Traceback" not in composed.said(name)
