"""How much one may ask for: rates, places to wait, things of one's own; however fast, and whatever is down."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from service.launch.valkey import EmbeddedValkey
from tests.attacks.conftest import next_address
from tests.attacks.world import BOT, GAME, Builder
from tests.service.api.answers import problem

TIGHT = "3 per hour"
NOW = 50
"""How many ask at once."""


def statuses(client, times, path="/v1/rulesets", **kwargs):
    return [client.get(path, **kwargs).status_code for _ in range(times)]


def of(address):
    """Send a request from an address."""
    return {"environ_overrides": {"REMOTE_ADDR": address}}


@pytest.fixture(scope="module")
def tight(open_arena):
    """Give a client of an arena where an address may ask three times."""
    return open_arena(SLAGVELD_RATE_PER_ADDRESS=TIGHT).test_client()


@pytest.fixture(scope="module")
def behind_a_proxy(open_arena):
    """Give a client of such an arena behind a proxy of its own."""
    return open_arena(SLAGVELD_RATE_PER_ADDRESS=TIGHT, SLAGVELD_PROXIES="1").test_client()


@pytest.fixture
def other(request):
    """Give another address from which nobody has asked yet."""
    return next_address(request)


# --- rates ------------------------------------------------------------------------------------------------------------


def test_rates_hold_in_memory_while_the_store_is_stopped_and_in_the_store_again_after(make_app, tmp_path):
    with EmbeddedValkey(tmp_path) as server:
        one, two = (make_app(REDIS_URL=server.url, SLAGVELD_RATE_PER_ADDRESS=TIGHT).test_client() for _ in range(2))
        assert statuses(one, 2) == [200, 200]
        server.stop()
        assert statuses(one, 4) == [200, 200, 200, 429]
        assert statuses(two, 4) == [200, 200, 200, 429]
        server.start()
        ends = time.monotonic() + 60
        while 200 not in (seen := statuses(one, 1) + statuses(two, 1)):
            assert time.monotonic() < ends, seen
            assert set(seen) == {429}
            time.sleep(0.2)
        assert sorted(seen) == [200, 429], "one more of three, and no more"
        assert statuses(one, 2) + statuses(two, 2) == [429] * 4


def test_a_token_spelt_otherwise_is_the_same_token(open_arena):
    builder = Builder(open_arena(SLAGVELD_RATE_PER_TOKEN=TIGHT))
    token = builder.account("ann")[1]
    assert statuses(builder.client, 3, headers={"Authorization": f"Bearer {token}"}) == [200] * 3
    for spelt in ("bearer {}", "BEARER {}", "Bearer  {}", "bEaReR   {}", " Bearer {} "):
        assert statuses(builder.client, 1, headers={"Authorization": spelt.format(token)}) == [429]


@pytest.mark.parametrize("path", ["/v1/nothing", "/v1/bots/x", "/v1/accounts/me", "/v1/bots?token=x", "/v1/bots?x=1"])
def test_what_is_refused_counts_too(tight, address, path):
    assert 429 not in statuses(tight, 3, path, **of(address))
    assert statuses(tight, 1, path, **of(address)) == [429]
    assert statuses(tight, 1, **of(address)) == [429]


def test_guesses_at_tokens_count(tight, address):
    guesses = [{"Authorization": f"Bearer slt_{number}"} for number in range(4)]
    assert [statuses(tight, 1, headers=guess, **of(address))[0] for guess in guesses] == [401, 401, 401, 429]


@pytest.mark.parametrize("header", ["X-Forwarded-For", "X-Real-IP", "Forwarded", "True-Client-IP", "X-Client-IP"])
def test_an_address_of_ones_own_choosing_is_believed_without_a_proxy_never(tight, address, header):
    spoofed = [{header: f"10.0.0.{n}"} for n in range(4)]
    assert [statuses(tight, 1, headers=headers, **of(address))[0] for headers in spoofed] == [200, 200, 200, 429]


@pytest.mark.parametrize("before", ["10.9.9.{}, ", "10.9.9.{},10.8.8.8, ", "{}, ", ",{},"])
def test_of_forwarded_addresses_that_of_our_proxy_is_believed(behind_a_proxy, address, other, before):
    """A client may send the header too: what our proxy adds to it stands last."""
    spoofed = [{"X-Forwarded-For": before.format(number) + address} for number in range(4)]
    assert [statuses(behind_a_proxy, 1, headers=headers)[0] for headers in spoofed] == [200, 200, 200, 429]
    assert statuses(behind_a_proxy, 1, headers={"X-Forwarded-For": f"{address}, {other}"}) == [200]


@pytest.mark.parametrize(
    "forms",
    [
        ["10.0.0.1:{}"], ["[2001:db8::{}]:{}"], ["2001:db8:1::{}"],
        ["10.0.0.2", "::ffff:10.0.0.2", "[::ffff:10.0.0.2]:8{}", "10.0.0.2:1"], ["", "x{}", "%00", "1" * 5_000],
    ],
)  # fmt: skip
def test_one_address_in_many_forms_is_one_and_what_is_none_another(tight, forms):
    told = [forms[number % len(forms)].format(number, number) for number in range(4)]
    assert [statuses(tight, 1, **of(address))[0] for address in told] == [200, 200, 200, 429]


# --- places to wait ---------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def waiting(open_arena):
    """Give an app at which an address may wait twice, and a game."""
    app = open_arena(SLAGVELD_MAX_WAITING="2")
    builder = Builder(app)
    game = builder.make("POST", "/v1/games", builder.account("ann")[1], GAME)
    return builder.client, f"/v1/games/{game['id']}", game["seats"], app.extensions["slagveld.waiting"]


def test_an_address_has_so_many_streams_open_at_once(waiting):
    client, path, seats, places = waiting
    open_now = [client.get(f"{path}/stream") for _ in range(2)]
    refused = client.get(f"{path}/stream")
    problem(refused, 429, "too_many_waiting")
    assert int(refused.headers["Retry-After"]) >= 1
    patient = {"Prefer": "wait=20", "Authorization": f"Bearer {seats[0]['token']}"}
    problem(client.get(f"{path}/seats/0", headers=patient), 429, "too_many_waiting")
    problem(client.get(f"{path}/events?after=9", headers={"Prefer": "wait=1"}), 429, "too_many_waiting")
    assert client.get(path).status_code == 200, "who doesn't wait is served"
    with client.get(f"{path}/stream", **of("10.0.0.2")) as other:
        assert other.status_code == 200
    open_now[0].close()
    with client.get(f"{path}/stream") as again:
        assert again.status_code == 200
    open_now[1].close()
    assert places.count() == 0


def test_who_has_waited_leaves_his_place(waiting):
    client, path, seats, places = waiting
    headers = {"Prefer": "wait=1", "Authorization": f"Bearer {seats[0]['token']}"}
    assert client.get(f"{path}/events?after=9", headers={"Prefer": "wait=1"}).status_code == 200
    assert client.get(f"{path}/seats/0?wait_for=decision", headers=headers).status_code == 200
    assert client.get(f"{path}/seats/1?wait_for=decision", headers=headers).status_code == 403
    assert client.get("/v1/games/gam_" + "a" * 26, headers={"Prefer": "wait=1"}).status_code == 404
    with client.head(f"{path}/stream") as head:
        assert head.status_code == 200
    assert places.count() == 0


# --- quotas -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def processes(open_arena):
    """Give two processes of an arena where one may have five of each thing."""
    few = {f"SLAGVELD_MAX_{each}": "5" for each in ("BOTS", "OPEN_GAMES", "TOURNAMENTS")}
    return [Builder(open_arena(**few)) for _ in range(2)]


PEOPLE = GAME | {"seats": [{"kind": "human"}, {"kind": "house", "name": "random"}]}
QUOTAS = [
    ("/v1/bots", BOT, "quota_bots"),
    ("/v1/games", GAME, "quota_games"),
    ("/v1/tournaments", {"name": "t", "ruleset": "river"}, "quota_tournaments"),
]


def at_once(processes, token, path, body, **kwargs):
    """Ask for a thing by many requests at the same time, and give the answers."""
    with ThreadPoolExecutor(10) as pool:
        asked = [pool.submit(processes[n % 2].ask, "POST", path, token, json=body, **kwargs) for n in range(NOW)]
    return [each.result() for each in asked]


@pytest.mark.parametrize(("path", "body", "code"), QUOTAS)
def test_many_at_once_make_no_more_than_an_account_may_have(processes, path, body, code):
    token = processes[0].account("ann")[1]
    answers = at_once(processes, token, path, body)
    made = [answer.get_json()["id"] for answer in answers if answer.status_code == 201]
    assert len(made) == 5
    for answer in answers:
        if answer.status_code != 201:
            problem(answer, 409, code)
    listed = processes[0].ask("GET", f"{path}?owner=me&limit=100", token).get_json()["items"]
    assert {item["id"] for item in listed} == set(made)
    another = processes[1].account("bob")[1]
    assert processes[1].ask("POST", path, another, json=body).status_code == 201


@pytest.mark.parametrize(("path", "body", "code"), QUOTAS)
def test_what_is_over_makes_room(processes, path, body, code):
    one, token = processes[0], processes[0].account("ann")[1]
    made = [one.make("POST", path, token, body)["id"] for _ in range(5)]
    problem(one.ask("POST", path, token, json=body), 409, code)
    if path == "/v1/bots":
        assert one.ask("DELETE", f"{path}/{made[0]}", token).status_code == 204
    else:
        one.make("PUT", f"{path}/{made[0]}/state", token, {"state": "cancelled"})
    assert [one.ask("POST", path, token, json=body).status_code for _ in range(2)] == [201, 409]


def test_many_at_once_make_no_more_games_than_an_address_may_have(processes, address, other):
    answers = at_once(processes, None, "/v1/games", PEOPLE, **of(address))
    assert sorted(answer.status_code for answer in answers) == [201] * 5 + [409] * (NOW - 5)
    assert processes[0].ask("POST", "/v1/games", json=PEOPLE, **of(other)).status_code == 201


def test_a_creation_that_fails_takes_no_room(processes):
    one, token = processes[0], processes[0].account("ann")[1]
    for _ in range(9):
        assert one.ask("POST", "/v1/bots", token, json=BOT | {"secret": "whsec_" + "!" * 40}).status_code == 422
        wrong = {"name": "t", "ruleset": "river", "format": "swiss", "challenger": "house:random"}
        assert one.ask("POST", "/v1/tournaments", token, json=wrong).status_code == 422
        assert one.ask("POST", "/v1/games", token, json=GAME | {"options": {"x": 1}}).status_code == 422
    for path, body, _ in QUOTAS:
        assert one.ask("POST", path, token, json=body).status_code == 201
