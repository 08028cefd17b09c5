"""A bot is active once whoever runs its URL has proved to hold its secret, and plays only where that was proved."""

from __future__ import annotations

import functools
import json
import socket
from collections import Counter
from contextlib import ExitStack

import msgspec
import pytest

from bot_sdk.bot import Bot, Decision
from bot_sdk.hosting import respond, serving
from bot_sdk.messages import Challenge, ChallengeReply
from bot_sdk.signing import make_secret, proof
from tests.attacks.at_once import at_once, call
from tests.integration.arena import Arena, wait_until
from tests.service.outbound.hostile import HostileServer, Request, reply

SECRET, OTHER = make_secret(bytes(range(32))), make_secret(bytes(range(1, 33)))
SETTINGS = {"SLAGVELD_ACCOUNTS": "open", "SLAGVELD_RATE_NEW_ACCOUNTS": "1000 per hour"}
CHECK_S = 30.0


class Greatest(Bot):
    """Plays the last of the legal actions, and counts what it was asked."""

    rulesets = ("seven_up",)

    def __init__(self, secret: str) -> None:
        super().__init__("greatest", secret=secret)
        self.asked: list[str] = []

    def decide(self, decision: Decision) -> str:
        self.asked.append(decision.id)
        return decision.legal[-1]


class Account:
    """Somebody with an account at an arena."""

    def __init__(self, url, name):
        self._url = url
        self.token = call("POST", f"{url}/v1/accounts", {"name": name}).body["token"]

    def __call__(self, method, path, body=None, **headers):
        return call(
            method, f"{self._url}{path}", body, self.token, {k.replace("_", "-"): v for k, v in headers.items()}
        )

    def register(self, url, secret=None):
        """Register a bot; give its id and its secret."""
        order = {"name": "mine", "url": url, "rulesets": ["seven_up"]} | ({"secret": secret} if secret else {})
        made = self("POST", "/v1/bots", order)
        assert made.status == 201, made
        return made.body["id"], secret or made.body["secret"]

    def check(self, bot_id):
        """Have a bot checked; give the names of the steps that failed, and the bot after that."""
        asked = self("POST", f"/v1/bots/{bot_id}/checks")
        assert asked.status == 202, asked
        path = f"/v1/bots/{bot_id}/checks/{asked.body['id']}"
        wait_until(lambda: self("GET", path).body["ended_at"] is not None, CHECK_S, "the end of a check", every_s=0.03)
        steps = self("GET", path).body["steps"]
        return [step["name"] for step in steps if not step["ok"]], self("GET", f"/v1/bots/{bot_id}").body


@pytest.fixture(scope="module")
def arena(tmp_path_factory):
    with Arena(tmp_path_factory.mktemp("registration") / "arena", bots=[], **SETTINGS) as arena:
        arena.start_api()
        arena.start_worker()
        yield arena


@pytest.fixture(scope="module")
def ann(arena):
    return Account(arena.api.address, "ann")


@pytest.fixture(scope="module")
def bob(arena):
    return Account(arena.api.address, "bob")


@pytest.fixture
def host():
    """Serve bots of the SDK, or whatever answers requests; give their URLs."""
    with ExitStack() as stack:

        def serve(bot):
            if isinstance(bot, Bot):
                return stack.enter_context(serving(bot)).url
            server = HostileServer(bot)
            stack.callback(server.close)
            return server.url

        yield serve


# --- whose URL it isn't -----------------------------------------------------------------------------------------------


def test_somebody_else_s_bot_stays_pending_and_is_asked_for_no_decision(ann, bob, host):
    victim = Greatest(SECRET)
    url = host(victim)
    mine, _ = ann.register(url, SECRET)
    stolen, _ = bob.register(url)
    assert bob.check(stolen)[0] == ["challenge"]
    assert (bob("GET", f"/v1/bots/{stolen}").body["state"], victim.asked) == ("pending", [])
    assert ann.check(mine)[1]["state"] == "active"


def by_type(answers):
    """Answer messages by their type, as a bot with a good card; the answers get the request and its message."""
    card = msgspec.json.encode(Greatest(SECRET).card())

    def behave(connection: socket.socket, request: Request) -> bool:
        if request.line.startswith("GET"):
            connection.sendall(reply(card))
        else:
            message = json.loads(request.body)
            connection.sendall(answers.get(message["type"], lambda *_: reply(b"{}"))(request, message))
        return True

    return behave


def proves(make):
    """Answer the challenge by a proof that `make` makes of it."""

    def challenged(_request, message):
        return reply(msgspec.json.encode(make(msgspec.convert(message, Challenge))))

    return by_type({"challenge": challenged})


def another_bot_s(challenge):
    return ChallengeReply(challenge.challenge, proof(SECRET, "bot_another", challenge.challenge))


def another_challenge_s(challenge):
    return ChallengeReply(challenge.challenge, proof(SECRET, challenge.bot_id, "an old one"))


def replayed(challenge):
    return ChallengeReply("an old one", proof(SECRET, challenge.bot_id, "an old one"))


def other_secret_s(challenge):
    return ChallengeReply(challenge.challenge, proof(OTHER, challenge.bot_id, challenge.challenge))


def echo(connection: socket.socket, request: Request) -> bool:
    connection.sendall(reply(request.body))
    return True


IMPOSTORS = {
    "echo of everything": (echo, "card"),
    "echo with a card": (by_type({"challenge": lambda request, _: reply(request.body)}), "challenge"),
    "proof of another bot": (proves(another_bot_s), "challenge"),
    "proof of another challenge": (proves(another_challenge_s), "challenge"),
    "whole answer to another challenge": (proves(replayed), "challenge"),
    "proof by another secret": (proves(other_secret_s), "challenge"),
    "bot of the sdk with another secret": (Greatest(OTHER), "challenge"),
    "bot without a word": (by_type({}), "challenge"),
}


@pytest.mark.parametrize("name", IMPOSTORS)
def test_who_does_not_hold_the_secret_stays_pending(ann, host, name):
    impostor, step = IMPOSTORS[name]
    bot_id, _ = ann.register(host(impostor), SECRET)
    failed, bot = ann.check(bot_id)
    assert (failed, bot["state"], bot["activated_at"]) == ([step], "pending", None)
    game = {"ruleset": "seven_up", "seats": [{"kind": "bot", "bot_id": bot_id}, {"kind": "house", "name": "random"}]}
    assert ann("POST", "/v1/games", game).code == "bot_unavailable"


def test_relay_to_somebody_else_s_bot_proves_nothing(ann, bob, host):
    """The victim refuses what isn't signed with its secret, wherever it comes from."""
    victim = Greatest(SECRET)

    def relay(connection: socket.socket, request: Request) -> bool:
        verb = request.line.partition(" ")[0]
        told = respond(victim, verb, request.headers, request.body)
        connection.sendall(reply(told.body, status=f"{told.status.value} Told"))
        return True

    bot_id, _ = bob.register(host(relay))
    failed, bot = bob.check(bot_id)
    assert (failed, bot["state"], victim.asked) == (["challenge"], "pending", [])


def test_redirect_to_a_good_bot_is_not_followed(ann, host):
    good = Greatest(SECRET)
    url = host(good)

    def redirect(connection: socket.socket, _request: Request) -> bool:
        connection.sendall(reply(b"{}", f"location: {url}", status="307 Temporary Redirect"))
        return True

    bot_id, _ = ann.register(host(redirect), SECRET)
    assert ann.check(bot_id)[0] == ["card"]
    assert good.asked == []


# --- a new URL --------------------------------------------------------------------------------------------------------


def play(account, bot_id):
    """Have a bot play a game, and wait for its end."""
    seats = [{"kind": "bot", "bot_id": bot_id}, {"kind": "house", "name": "random"}]
    game = account("POST", "/v1/games", {"ruleset": "seven_up", "options": {"target": 3}, "seats": seats}).body["id"]
    wait_until(lambda: account("GET", f"/v1/games/{game}").body["state"] == "finished", 30, "the end of a game")
    return game


def test_new_url_takes_the_place_of_the_old_one_only_when_it_has_itself_proved_to_hold_the_secret(ann, host):
    first, wrong, second = Greatest(SECRET), Greatest(OTHER), Greatest(SECRET)
    old, new = host(first), host(second)
    bot_id, _ = ann.register(old, SECRET)
    assert ann.check(bot_id)[1]["state"] == "active"
    for moved, failed in ((host(echo), ["card"]), (host(wrong), ["challenge"])):
        ann("PATCH", f"/v1/bots/{bot_id}", {"url": moved})
        told, bot = ann.check(bot_id)
        assert (told, bot["state"], bot["url"], bot["new_url"]) == (failed, "active", old, moved)
        asked = len(first.asked)
        play(ann, bot_id)
        assert len(first.asked) > asked
    assert wrong.asked == []
    ann("PATCH", f"/v1/bots/{bot_id}", {"url": new})
    failed, bot = ann.check(bot_id)
    assert (failed, bot["url"], bot["new_url"]) == ([], new, None)
    asked = len(first.asked)
    game = play(ann, bot_id)
    assert len(first.asked) == asked
    assert any(name.startswith(game) for name in second.asked)


# --- the same bot twice -----------------------------------------------------------------------------------------------


def test_one_url_may_be_registered_twice_and_each_is_a_bot_of_its_own_that_proves_for_itself(ann, host):
    url = host(Greatest(SECRET))
    (one, _), (two, _), (other, made) = ann.register(url, SECRET), ann.register(url, SECRET), ann.register(url)
    assert len({one, two, other}) == 3
    assert made != SECRET
    assert [ann.check(each)[1]["state"] for each in (one, two, other)] == ["active", "active", "pending"]


def test_registration_sent_many_times_at_once_under_one_key_makes_one_bot_with_one_secret(arena):
    carl = Account(arena.api.address, "carl")
    order = {"name": "mine", "url": "http://127.0.0.1:9999/", "rulesets": ["river"]}
    send = functools.partial(carl, "POST", "/v1/bots", order, Idempotency_Key="once")
    told = at_once([send] * 20)
    counted = Counter((each.status, each.body.get("code")) for each in told)
    assert counted.keys() <= {(201, None), (409, "in_flight")}
    made = {each.body["secret"]: each.body["id"] for each in told if each.status == 201}
    assert len(made) == 1
    assert send().body["secret"] in made
    assert [bot["id"] for bot in carl("GET", "/v1/bots?owner=me").body["items"]] == list(made.values())
