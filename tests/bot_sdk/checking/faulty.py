"""Bots of strangers with typical faults, in real servers that owe nothing to the SDK's."""

from __future__ import annotations

import json
import socket
import threading
import time
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer

from bot_sdk import signing

SECRET = signing.make_secret(bytes(range(32)))
CARD = {"api": 1, "name": "stranger", "version": "1", "rulesets": ["river"], "max_batch": 4}


class Stranger(BaseHTTPRequestHandler):
    """A good bot: a thread a connection, which is kept; each answer leaves in one piece. Faults are made of it."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1
    disable_nagle_algorithm = True
    path_of_bot = "/"
    timeout = 10

    def do_GET(self):
        if not self.is_elsewhere():
            self.answer(CARD)

    def do_POST(self):
        if self.is_elsewhere():
            return
        asked = json.loads(self.read())
        match asked["type"]:
            case "decision":
                self.answer(self.decide(asked))
            case "decisions":
                self.answer({"actions": [self.decide(each) for each in asked["decisions"]]})
            case _:
                self.answer({})

    def read(self):
        return self.rfile.read(int(self.headers["Content-Length"]))

    def decide(self, asked):
        return {"decision_id": asked["decision_id"], "action": asked["legal_actions"][0]}

    def answer(self, value, status=200):
        self.write(json.dumps(value).encode(), status)

    def write(self, body, status=200, kind="application/json", **headers):
        self.send_response_only(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def is_elsewhere(self):
        if self.path == self.path_of_bot:
            return False
        self.read() if self.command == "POST" else None
        self.elsewhere()
        return True

    def elsewhere(self):
        self.answer({}, 404)

    def log_message(self, *_):
        pass


class Quick(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


class OneByOne(HTTPServer):
    request_queue_size = 128

    def handle_error(self, *_):
        pass


@contextmanager
def served(handler, server=Quick):
    """Serve; gives the URL of the root."""
    with server(("127.0.0.1", 0), handler) as running:
        thread = threading.Thread(target=running.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{running.server_port}/"
        finally:
            running.shutdown()
            thread.join(5)


class Smallest(Stranger):
    """The smallest bot of docs/contract.md: it ignores signatures, but holds the secret."""

    def do_POST(self):
        asked = json.loads(self.read())
        match asked["type"]:
            case "decision":
                self.answer(self.decide(asked))
            case "challenge":
                proof = signing.proof(SECRET, asked["bot_id"], asked["challenge"])
                self.answer({"challenge": asked["challenge"], "proof": proof})
            case _:
                self.answer({})

    def answer(self, value, status=200):
        super().answer(value | {"max_batch": 1} if "rulesets" in value else value, status)


class NullAction(Stranger):
    def decide(self, asked):
        return super().decide(asked) | {"action": None}


class LongNote(Stranger):
    def decide(self, asked):
        return super().decide(asked) | {"note": "x" * 501}


class NoId(Stranger):
    def decide(self, asked):
        return {"action": asked["legal_actions"][0]}


class LowerCase(Stranger):
    def decide(self, asked):
        return super().decide(asked) | {"action": asked["legal_actions"][0].lower()}


class CardObject(Stranger):
    def decide(self, asked):
        return super().decide(asked) | {"action": {"rank": "Q", "suit": "H"}}


class LastTurn(Stranger):
    kept = None

    def decide(self, asked):
        action, LastTurn.kept = LastTurn.kept, asked["legal_actions"][0]
        return super().decide(asked) | {"action": action or LastTurn.kept}


class LastAnswer(Stranger):
    kept = None

    def decide(self, asked):
        said, LastAnswer.kept = LastAnswer.kept, super().decide(asked)
        return said or LastAnswer.kept


class Raises(Stranger):
    def do_POST(self):
        self.read()
        self.write(b"Traceback (most recent call last): KeyError: 'trick'", 500, "text/plain")


class PrintsIntoTheBody(Stranger):
    def answer(self, value, status=200):
        self.write(b"thinking...\n" + json.dumps(value).encode() if "action" in value else json.dumps(value).encode())


class HtmlType(Stranger):
    def answer(self, value, status=200):
        self.write(json.dumps(value).encode(), kind="text/html; charset=utf-8")


class OldHttp(Stranger):
    protocol_version = "HTTP/1.0"


class Ponders(OldHttp):
    def decide(self, asked):
        time.sleep(0.02)
        return super().decide(asked)


class Sleeps(Stranger):
    def decide(self, asked):
        time.sleep(0.6)
        return super().decide(asked)


class WakesUp(Stranger):
    """Sleeps until it is asked anything at all, and then takes a second."""

    awake = threading.Event()

    def do_GET(self):
        if not WakesUp.awake.is_set():
            time.sleep(1)
        WakesUp.awake.set()
        super().do_GET()


class SlashRedirect(Stranger):
    path_of_bot = "/bot/"

    def elsewhere(self):
        self.write(b"", 308, "text/html", Location="/bot/")


class SlashNotFound(Stranger):
    path_of_bot = "/bot"


class Closes(Stranger):
    def write(self, body, status=200, kind="application/json", **headers):
        super().write(body, status, kind, Connection="close", **headers)
        self.close_connection = True


class Lingers(Closes):
    """Waits until the other side has closed, as gunicorn does, since what was sent might be lost otherwise."""

    def finish(self):
        super().finish()
        with suppress(OSError):  # it has closed, or takes too long
            self.connection.shutdown(socket.SHUT_WR)
            self.connection.settimeout(1)
            while self.connection.recv(4096):
                pass


class ClosesWithoutAWord(Stranger):
    def write(self, body, status=200, kind="application/json", **headers):
        super().write(body, status, kind, **headers)
        self.close_connection = True


class NeverSaysHowLong(Stranger):
    def write(self, body, status=200, kind="application/json", **headers):
        self.send_response_only(status)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(body)
        self.close_connection = True


class LeavesTheBody(Stranger):
    def do_POST(self):
        self.answer({"decision_id": "mine", "action": "play:QH"})


class SameForAll(Stranger):
    def do_POST(self):
        self.read()
        self.answer({"decision_id": "mine", "action": "play:QH"})


class AnswersList(Stranger):
    def answer(self, value, status=200):
        super().answer([value] if "action" in value else value, status)


class Stalls(Stranger):
    """Writes head and body each for itself, with Nagle's algorithm, as http.server does if left alone."""

    wbufsize = 0
    disable_nagle_algorithm = False


class MixesUp(Stranger):
    """Good as long as it is asked one thing at a time: it keeps the request where another may write."""

    def decide(self, asked):
        MixesUp.asked = asked
        time.sleep(0.02)
        return super().decide(MixesUp.asked)


class OneAnswerToABatch(Stranger):
    def answer(self, value, status=200):
        super().answer(value["actions"][0] if "actions" in value else value, status)


class LeavesOneOut(Stranger):
    def answer(self, value, status=200):
        super().answer({"actions": value["actions"][1:]} if "actions" in value else value, status)


class Backwards(Stranger):
    """A good bot: it answers batches in another order than they are asked in."""

    def answer(self, value, status=200):
        super().answer({"actions": value["actions"][::-1]} if "actions" in value else value, status)
