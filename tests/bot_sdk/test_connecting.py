"""A bot that fetches its calls, held against an arena of one mailbox; tests/integration/test_pull.py has a real one."""

from __future__ import annotations

import json
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import pytest

from bot_sdk import connecting
from bot_sdk.bots import house
from bot_sdk.connecting import Connection, Running
from bot_sdk.messages import encode
from bot_sdk.positions import positions
from bot_sdk.signing import make_secret, sign
from bot_sdk.transport import ArenaError

SECRET, OTHER = make_secret(bytes(32)), make_secret(bytes(range(32)))
PATIENCE_S = 20
PROBLEM = {"type": "about:blank", "title": "x", "code": "x", "detail": "no"}


class Mailbox:
    """Gives what is in `calls`, keeps what it is sent; `refuse` has the statuses of the next requests by method."""

    def __init__(self):
        self.calls = []
        self.fetches = []
        self.posts = []
        self.cards = []
        self.refuse = {"PUT": [], "GET": [], "POST": []}
        self.tokens = set()
        mailbox, self._lock = self, threading.Condition()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True
            wbufsize = 1 << 20

            def answer(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                mailbox.tokens.add(self.headers["Authorization"])
                refused = mailbox.refuse[self.command]
                status = refused.pop(0) if refused else 200
                if status is None:
                    self.close_connection = True
                    return
                told = mailbox.take(self, json.loads(body) if body else None) if status == 200 else PROBLEM
                raw = json.dumps(told).encode()
                self.send_response_only(status)
                self.send_header("Content-Length", str(len(raw)))
                self.send_header("Content-Type", "application/json")
                self.end_headers()
                self.wfile.write(raw)

            do_GET = do_POST = do_PUT = answer  # noqa: N815 - the base class calls them so

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def take(self, request, body):
        parts = urlsplit(request.path)
        with self._lock:
            self._lock.notify_all()
            if request.command == "PUT":
                self.cards.append(body["card"])
                return {}
            if request.command == "POST":
                self.posts.append(body["answers"])
                return {"taken": [each["id"] for each in body["answers"]]}
            limit = int(parse_qs(parts.query)["limit"][0])
            self.fetches.append(limit)
            self._lock.wait_for(lambda: self.calls, min(0.05, float(request.headers["Prefer"].removeprefix("wait="))))
            given, self.calls[:] = self.calls[:limit], self.calls[limit:]
            return given

    def ask(self, *messages, secret=SECRET):
        """Ask for answers, and wait for them; give them by the ids of their calls."""
        calls = []
        for number, message in enumerate(messages):
            body = encode(message)
            headers = sign(f"msg_{number}", int(time.time()), body, [secret])
            calls.append({"id": f"msg_{number}", "headers": headers, "body": body.decode()})
        with self._lock:
            self.calls += calls
            self._lock.notify_all()
        self.wait(lambda: len(self.answers()) >= len(calls))
        return self.answers()

    def answers(self):
        return {each["id"]: each for post in self.posts for each in post}

    def wait(self, holds):
        with self._lock:
            assert self._lock.wait_for(holds, PATIENCE_S), (self.fetches, self.posts)


@pytest.fixture
def mailbox():
    made = Mailbox()
    threading.Thread(target=made.server.serve_forever, args=(0.02,), daemon=True).start()
    yield made
    made.server.shutdown()
    made.server.server_close()


class Held:
    """A bot whose answers wait until they may go."""

    def __init__(self):
        self._bot = house("house:random")
        self.secret = SECRET
        self.card = self._bot.card
        self.may_go = threading.Event()
        self.asked = []

    def answer(self, message):
        self.asked.append(message.decision_id)
        assert self.may_go.wait(PATIENCE_S)
        return self._bot.answer(message)


@contextmanager
def connected(mailbox, bot, **more):
    told = more.pop("told", [])
    connection = Connection(mailbox.url, "slt_x", "bot_1", bot, tell=told.append, **more)
    with Running(connection) as running:
        running.wait_until_connected()
        yield connection
    assert not running._thread.is_alive()


@pytest.fixture
def bot():
    made = Held()
    made.may_go.set()
    return made


def decisions(number):
    return positions("river", "play", number, "seed")


def test_what_is_asked_is_answered_as_over_http(mailbox, bot):
    served = []
    with connected(mailbox, bot, on_decided=served.append):
        [decision] = decisions(1)
        [answer] = mailbox.ask(decision).values()
        assert answer["status"] == 200
        reply = json.loads(answer["body"])
        assert reply["decision_id"] == decision.decision_id
        assert reply["action"] in decision.legal_actions
    assert mailbox.cards == [{"author": "", "max_games": 8} | mailbox.cards[0]]
    assert mailbox.tokens == {"Bearer slt_x"}
    assert len(served) == 1


def test_what_is_signed_by_somebody_else_is_refused(mailbox, bot):
    with connected(mailbox, bot):
        [answer] = mailbox.ask(*decisions(1), secret=OTHER).values()
    assert answer["status"] == 401
    assert bot.asked == []


def test_answers_that_are_there_together_go_together(mailbox, bot):
    bot.may_go.clear()
    mailbox.refuse["POST"] = [None] * 3  # the first one's try takes a while
    with connected(mailbox, bot, threads=64):
        threading.Timer(0.2, bot.may_go.set).start()
        assert len(mailbox.ask(*decisions(3) * 10)) == 30
    assert len(mailbox.posts) < 15


def test_no_more_is_fetched_than_there_are_threads_for_and_who_is_busy_says_that_he_is_there(mailbox, bot, monkeypatch):
    monkeypatch.setattr(connecting, "ALIVE_S", 0.02)
    bot.may_go.clear()
    with connected(mailbox, bot, threads=2):
        asking = threading.Thread(target=mailbox.ask, args=decisions(3) * 2)
        asking.start()
        mailbox.wait(lambda: mailbox.posts.count([]) >= 3)
        assert len(bot.asked) == 2
        assert len(mailbox.calls) == 4
        bot.may_go.set()
        asking.join()
    assert max(mailbox.fetches) == 2


@pytest.mark.parametrize("trouble", [[503], [None] * 4, [429, 502], [500]])
def test_an_arena_that_is_away_is_tried_again_and_shown_the_card_again(mailbox, bot, trouble):
    told = []
    with connected(mailbox, bot, told=told):
        mailbox.ask(*decisions(1))
        mailbox.refuse["GET"] = list(trouble)
        mailbox.wait(lambda: not mailbox.refuse["GET"] and len(mailbox.cards) >= 2)
        mailbox.posts.clear()
        mailbox.ask(*decisions(1))
    assert len(told) == 2
    assert "away" in told[0]
    assert "back" in told[1]


def test_an_arena_that_is_asked_too_often_is_not_shown_the_card_again_on_top_of_that(mailbox, bot):
    with connected(mailbox, bot):
        mailbox.refuse["GET"] = [429, 429]
        mailbox.wait(lambda: not mailbox.refuse["GET"])
        mailbox.ask(*decisions(1))
    assert len(mailbox.cards) == 1


@pytest.mark.parametrize("status", [401, 403, 404, 409])
def test_a_refusal_that_will_not_pass_ends_it(mailbox, bot, status):
    mailbox.refuse["PUT"] = [status]
    with Running(Connection(mailbox.url, "slt_x", "bot_1", bot)) as running:
        for wait in (running.wait_until_connected, running.wait):
            with pytest.raises(ArenaError) as caught:
                wait()
            assert caught.value.status == status


def test_an_answer_is_sent_until_it_is_taken(mailbox, bot):
    mailbox.refuse["POST"] = [503, None, None, None, None, 503]
    with connected(mailbox, bot):
        assert len(mailbox.ask(*decisions(1))) == 1


def test_what_has_been_answered_is_sent_before_the_end(mailbox, bot):
    bot.may_go.clear()
    with connected(mailbox, bot) as connection:
        asking = threading.Thread(target=mailbox.ask, args=decisions(1))
        asking.start()
        mailbox.wait(lambda: bot.asked)
        bot.may_go.set()
        asking.join()
        connection.stop()
    assert len(mailbox.answers()) == 1
