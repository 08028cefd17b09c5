"""Where bots may not live: asked at registration, at every change, and again at every connection."""

from __future__ import annotations

import json

import pytest
from ssrfguard.resolvers import UdpResolver

from service.app import create_app
from service.config import Settings
from service.outbound.calls import Calls
from service.outbound.guard import LOOPBACK, Guard
from service.services import open_services
from tests.attacks.names import Names
from tests.service.api.conftest import HeldQueue
from tests.service.outbound.hostile import HostileServer, call_to, reply
from tests.service.outbound.urls import DISGUISED, NO_PLACE_FOR_A_BOT, PRIVATE

UNLIMITED = "100000 per second"
REFUSALS = [(422, ["url"]), (400, [])]  # the second for what isn't even JSON, such as half a surrogate pair
BOT = {"name": "fox", "url": "https://bot.example/", "rulesets": ["river"]}


@pytest.fixture
def owner(redis_url):
    """Send requests with the token of an account, to an arena that opens these networks."""
    services = []

    def sign_up(networks: str):
        environment = {
            "REDIS_URL": redis_url,
            "SLAGVELD_ACCOUNTS": "open",
            "SLAGVELD_BOT_NETWORKS": networks,
            "SLAGVELD_RATE_PER_ADDRESS": UNLIMITED,
            "SLAGVELD_RATE_PER_TOKEN": UNLIMITED,
        }
        services.append(open_services(Settings.from_env(environment), HeldQueue()))
        client = create_app(services[-1]).test_client()
        token = client.post("/v1/accounts", json={"name": "ada"}).json["token"]

        def send(method, path, body):
            headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
            return client.open(path, method=method, data=json.dumps(body), headers=headers)

        return send

    yield sign_up
    for each in services:
        each.close()


@pytest.mark.parametrize(
    ("networks", "urls"),
    [
        ("", PRIVATE + DISGUISED + NO_PLACE_FOR_A_BOT),
        ("127.0.0.0/8,::1/128,10.0.0.0/8", DISGUISED + NO_PLACE_FOR_A_BOT),
    ],
    ids=["nothing is open", "some networks are open"],
)
def test_no_bot_is_registered_or_moved_there(owner, networks, urls):
    send = owner(networks)
    bot = f"/v1/bots/{send('POST', '/v1/bots', BOT).json['id']}"
    for url in urls:
        for answer in (send("POST", "/v1/bots", BOT | {"url": url}), send("PATCH", bot, {"url": url})):
            assert (answer.status_code, list(answer.json.get("errors", ()))) in REFUSALS, (url, answer.json)
    assert send("GET", bot, None).json["url"] == BOT["url"]
    assert len(send("GET", "/v1/bots?owner=me", None).json["items"]) == 1


@pytest.fixture
def names():
    server = Names({"bot.example": ["127.0.0.1"]})
    yield server
    server.close()


@pytest.fixture
def call(names):
    """Call a URL, its name being asked for at our name server."""

    def look_up(host, port, timeout):
        return UdpResolver(("127.0.0.1",), timeout=timeout, nameserver_port=names.port)(host, port)

    calls = Calls(Guard(LOOPBACK, lookup=look_up))
    yield lambda url: calls.ask(call_to(url))
    calls.close()


@pytest.fixture
def bot():
    def answer_and_close(connection, _request):
        connection.sendall(reply())

    server = HostileServer(answer_and_close)
    yield server
    server.close()


@pytest.mark.parametrize(
    "later", [["169.254.169.254"], ["10.0.0.1"], ["127.0.0.1", "10.0.0.1"], ["127.0.0.1", "64:ff9b::a9fe:a9fe"]]
)
def test_a_name_that_changes_after_registration_is_not_followed(names, call, bot, later):
    url = f"http://bot.example:{bot.port}/"
    assert call(url).outcome == "ok"
    names.known["bot.example"] = later
    answer = call(url)
    assert answer.outcome == "unreachable"
    assert later[-1] in answer.error
    names.known["bot.example"] = ["127.0.0.1"]
    assert call(url).outcome == "ok"
    assert len(bot.requests) == 2
    assert names.asked == ["bot.example"] * 6  # both families, once a connection: what was judged is what is used
