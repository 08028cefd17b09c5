"""Whoever registers a URL has to hold the secret that its bot answers by: else the bot stays pending."""

from __future__ import annotations

import json
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from bot_sdk.bot import Bot
from bot_sdk.hosting import serving
from tests.attacks.world import BOT, Builder

PATIENCE_S = 30
SECRET, OTHER = "whsec_" + "A" * 32, "whsec_" + "B" * 32
CARD = {"api": 1, "name": "echo", "version": "1", "rulesets": ["seven_up"], "max_batch": 1, "max_games": 8}


class First(Bot):
    """Plays the first of the legal actions."""

    rulesets = ("seven_up",)

    def decide(self, decision):
        return decision.legal[0]


@contextmanager
def honest(secret):
    with serving(First("first", secret=secret)) as server:
        yield server.url


@contextmanager
def answering(answer):
    """Serve a card, and whatever `answer` makes of a message."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            self.say(json.dumps(CARD).encode())

        def do_POST(self):
            self.say(answer(self.rfile.read(int(self.headers["Content-Length"]))))

        def say(self, body):
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()


def proves_with_what_it_was_sent(body):
    """Send the challenge back as its own proof."""
    message = json.loads(body)
    return json.dumps({"challenge": message.get("challenge"), "proof": message.get("challenge")}).encode()


STRANGERS = {
    "an SDK bot with another secret": lambda: honest(OTHER),
    "an echo": lambda: answering(lambda body: body),
    "an echo in the form of a proof": lambda: answering(proves_with_what_it_was_sent),
    "a page that is always the same": lambda: answering(lambda _: b"{}"),
}


@pytest.fixture
def builder(night):
    return Builder(night)


def checked(builder, token, bot_id):
    """Have a bot checked, and give the check as it ended."""
    path = builder.make("POST", f"/v1/bots/{bot_id}/checks", token)["id"]
    ends = time.monotonic() + PATIENCE_S
    while (check := builder.make("GET", f"/v1/bots/{bot_id}/checks/{path}", token))["ended_at"] is None:
        assert time.monotonic() < ends, check
        time.sleep(0.02)
    return check


def test_bots_that_cant_prove_that_they_hold_the_secret_stay_pending(builder):
    token = builder.account("ann")[1]
    for name, stranger in STRANGERS.items():
        with stranger() as url:
            order = BOT | {"url": url, "rulesets": ["seven_up"], "secret": SECRET}
            bot = builder.make("POST", "/v1/bots", token, order)["id"]
            check = checked(builder, token, bot)
        failed = [step["name"] for step in check["steps"] if not step["ok"]]
        assert (check["state"], "challenge" in failed) == ("failed", True), name
        assert builder.make("GET", f"/v1/bots/{bot}", token)["state"] == "pending"
        assert builder.ask("GET", f"/v1/bots/{bot}").status_code == 404


def test_somebody_elses_url_is_of_no_use_and_does_its_bot_no_harm(builder):
    ann, mallory = builder.account("ann")[1], builder.account("mallory")[1]
    with honest(SECRET) as url:
        order = BOT | {"url": url, "rulesets": ["seven_up"]}
        theirs = builder.make("POST", "/v1/bots", ann, order | {"secret": SECRET})["id"]
        assert checked(builder, ann, theirs)["state"] == "passed"
        mine = builder.make("POST", "/v1/bots", mallory, order)["id"]
        assert checked(builder, mallory, mine)["state"] == "failed"
    assert builder.make("GET", f"/v1/bots/{mine}", mallory)["state"] == "pending"
    assert builder.make("GET", f"/v1/bots/{theirs}", None)["state"] == "active"
