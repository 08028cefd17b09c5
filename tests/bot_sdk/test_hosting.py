from __future__ import annotations

import http.client
import io
import json
import os
import socket
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from bot_sdk import messages, signing
from bot_sdk.bot import Bot
from bot_sdk.bots.greedy import greedy
from bot_sdk.hosting import MAX_REQUEST_BYTES, Server, respond, serving
from bot_sdk.positions import positions

SECRET = signing.make_secret(bytes(range(32)))
OTHER = signing.make_secret(bytes(32))


def asked(bot, message, headers=None, **more):
    body = message if isinstance(message, bytes) else messages.encode(message)
    reply = respond(bot, "POST", headers or {}, body, **more)
    return reply.status, json.loads(reply.body)


def signed(body: bytes, secret: str = SECRET, at: float | None = None) -> dict[str, str]:
    return signing.sign("msg_1", int(time.time() if at is None else at), body, [secret])


@pytest.fixture(autouse=True)
def no_secret(monkeypatch):
    monkeypatch.delenv("SLAGVELD_BOT_SECRET", raising=False)


@pytest.fixture
def bot():
    return greedy()


@pytest.fixture
def decision():
    return positions("river", "play", 1, "hosting")[0]


def test_get_shows_the_card(bot):
    reply = respond(bot, "GET", {}, b"")
    assert reply.status == 200
    assert json.loads(reply.body)["rulesets"] == ["seven_up", "river"]


def test_decision_is_answered(bot, decision):
    status, body = asked(bot, decision)
    assert status == 200
    assert body["decision_id"] == decision.decision_id
    assert body["action"] in decision.legal_actions


def test_unknown_fields_are_ignored(bot, decision):
    message = {**msgspec.json.decode(messages.encode(decision)), "later": {"x": [1]}}
    status, body = asked(bot, json.dumps(message).encode())
    assert (status, body["action"] in decision.legal_actions) == (200, True)


def test_batch_is_answered_without_those_that_fail(caplog):
    fragile = Bot("fragile")

    @fragile.on("river")
    def any_but_bids(decision):
        if decision.phase == "bid":
            raise RuntimeError("no bids today")
        return decision.legal[0]

    plays, bids = positions("river", "play", 2, "b1"), positions("river", "bid", 1, "b2")
    status, body = asked(fragile, messages.Decisions(budget_ms=1000, decisions=[plays[0], *bids, plays[1]]))
    assert status == 200
    assert [item["decision_id"] for item in body["actions"]] == [each.decision_id for each in plays]
    assert "no bids today" in caplog.text


def test_batch_sends_what_it_has_when_the_budget_is_nearly_spent(bot):
    times = iter([0.0, 0.5, 0.95])
    batch = messages.Decisions(budget_ms=1000, decisions=positions("river", "bid", 3, "slow"))
    status, body = asked(bot, batch, monotonic=lambda: next(times))
    assert (status, len(body["actions"])) == (200, 2)


def test_each_decision_is_told_with_what_was_chosen_and_the_time_it_took(caplog):
    fragile = Bot("fragile")

    @fragile.on("river")
    def any_but_bids(decision):
        if decision.phase == "bid":
            raise RuntimeError("no bids today")
        return "play:XX"

    told, times = [], iter([10.0, 10.25, 10.75, 11.0])
    play, bid = positions("river", "play", 1, "t1") + positions("river", "bid", 1, "t2")
    batch = messages.Decisions(budget_ms=2000, decisions=[play, bid])
    asked(fragile, batch, on_decided=told.append, monotonic=lambda: next(times))
    assert [(served.decision, served.ms, served.action, served.error) for served in told] == [
        (play, 250, "play:XX", None),
        (bid, 500, None, "RuntimeError: no bids today"),
    ]
    assert not any(served.legal for served in told)


def test_who_listens_hears_of_single_decisions_and_of_their_failures_too(decision):
    told, broken = [], Bot("broken")
    broken.on("river")(lambda decision: None)
    asked(greedy(), decision, on_decided=told.append)
    asked(broken, decision, on_decided=told.append)
    good, bad = told
    assert good.legal
    assert (bad.action, bad.error.partition(":")[0]) == (None, "NoActionError")


def test_server_tells_of_decisions_and_of_whole_exchanges(bot, decision):
    decided, exchanged = [], []
    server = Server(bot, on_decided=decided.append, on_exchanged=lambda body, reply: exchanged.append((body, reply)))
    body = messages.encode(decision)
    with server:
        assert server.respond("GET", {}, b"").status == 200
        reply = server.respond("POST", {}, body)
    assert [served.decision for served in decided] == [decision]
    assert exchanged == [(body, reply)]


def test_another_bot_takes_over_without_a_break(bot, decision):
    with serving(bot) as server, closing(http.client.HTTPConnection("127.0.0.1", server.server_port, 5)) as line:
        for name in ("greedy", "second"):
            line.request("GET", "/")
            assert json.loads(line.getresponse().read())["name"] == name
            server.bot = Bot("second")
            server.bot.on("river")(lambda decision: decision.legal[0])


def test_authors_exception_is_500_with_the_traceback_in_the_log(caplog, decision):
    broken = Bot("broken")

    @broken.on("river")
    def boom(decision):
        raise ZeroDivisionError("by hand")

    status, body = asked(broken, decision)
    assert (status, body) == (500, {"error": "the bot failed to answer, see its log"})
    assert "ZeroDivisionError: by hand" in caplog.text


def test_a_decision_that_would_exit_is_500_and_the_server_stays(decision):
    leaving, told = Bot("leaving"), []
    leaving.on("river")(lambda decision: sys.exit(3))
    assert asked(leaving, decision, on_decided=told.append)[0] == 500
    assert told[0].error == "SystemExit: 3"
    batch = messages.Decisions(budget_ms=1000, decisions=[decision])
    assert asked(leaving, batch) == (200, {"actions": []})


def test_nonsense_is_500(decision):
    broken = Bot("broken")
    broken.on("river")(lambda _decision: None)
    assert asked(broken, decision)[0] == 500


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{}",
        b"null",
        b'{"type":"decision"}',
        b'{"type":"takeover"}',
        b'{"type":"decision","decision_id":NaN}',
        b"\xff\xfe",
        b'{"type":"challenge","challenge":"\xed\xa0\x80","bot_id":"b"}',
        b'{"type":"decision","observation":' + b"[" * 100_000,
        b'{"type":"decision","seat":' + b"9" * 5000 + b"}",
    ],
)
def test_what_is_no_message_is_400(bot, body):
    status, answer = asked(bot, body)
    assert status == 400
    assert answer["error"].startswith("expected a message of the bot contract")


def test_other_methods_are_405(bot):
    reply = respond(bot, "DELETE", {}, b"")
    assert (reply.status, reply.allow) == (405, "GET, POST")


def test_challenge_is_answered_with_its_proof(bot):
    bot.secret = SECRET
    body = messages.encode(messages.Challenge(challenge="c1", bot_id="bot_1"))
    assert asked(bot, body, signed(body)) == (
        200,
        {"challenge": "c1", "proof": signing.proof(SECRET, "bot_1", "c1")},
    )


def test_challenge_without_a_secret_says_what_to_set(bot):
    status, body = asked(bot, messages.Challenge(challenge="c1", bot_id="bot_1"))
    assert status == 503
    assert "SLAGVELD_BOT_SECRET" in body["error"]


def test_with_a_secret_only_signed_calls_are_answered(bot, decision):
    bot.secret = SECRET
    body = messages.encode(decision)
    assert asked(bot, body, signed(body))[0] == 200
    assert asked(bot, body)[0] == 401
    assert asked(bot, body, signed(body, OTHER))[0] == 401
    assert asked(bot, body, signed(body + b" "))[0] == 401
    assert asked(bot, body, signed(body, at=time.time() - 1000))[0] == 401
    assert respond(bot, "GET", {}, b"").status == 200


def test_signature_survives_the_http_server(bot, decision):
    bot.secret = SECRET
    body = messages.encode(decision)
    with serving(bot) as server, closing(http.client.HTTPConnection("127.0.0.1", server.server_port, 5)) as line:
        line.request("POST", "/any/path", body, signed(body))
        assert line.getresponse().status == 200


def test_connection_is_kept_and_answers_dont_stall(bot, decision):
    body = messages.encode(decision)
    with serving(bot) as server, closing(http.client.HTTPConnection("127.0.0.1", server.server_port, 5)) as line:
        taken = []
        for _ in range(50):
            start = time.perf_counter()
            line.request("POST", "/", body, {"Content-Type": "application/json"})
            response = line.getresponse()
            assert response.read()
            kept = line.sock
            taken.append(time.perf_counter() - start)
        assert kept is not None
        assert response.version == 11
        assert min(taken[10:]) < 0.03  # a Nagle stall makes all of them take 40 ms


def test_answer_leaves_in_one_segment(bot, decision):
    body = messages.encode(decision)
    with serving(bot) as server, socket.create_connection(("127.0.0.1", server.server_port), 5) as line:
        line.sendall(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        head, _, answer = line.recv(65536).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 OK")
    assert json.loads(answer)["decision_id"] == decision.decision_id


def test_slow_decisions_dont_wait_for_each_other(decision):
    together = threading.Barrier(16, timeout=10)
    slow = Bot("slow")

    @slow.on("river")
    def wait(decision):
        together.wait()
        return decision.legal[0]

    body = messages.encode(decision)

    def ask(port):
        with closing(http.client.HTTPConnection("127.0.0.1", port, 10)) as line:
            line.request("POST", "/", body)
            return line.getresponse().status

    with serving(slow) as server, ThreadPoolExecutor(16) as pool:
        assert list(pool.map(ask, [server.server_port] * 16)) == [200] * 16


@pytest.mark.parametrize(
    ("request_head", "status"),
    [
        (b"POST / HTTP/1.1\r\nHost: x\r\n\r\n", 411),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -4\r\n\r\n", 400),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % (MAX_REQUEST_BYTES + 1), 413),
        (b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: %s\r\n\r\n" % (b"9" * 5000), 413),
        (b"PUT / HTTP/1.1\r\nHost: x\r\n\r\n", 405),
        (b"HEAD / HTTP/1.1\r\nHost: x\r\n\r\n", 405),
    ],
)
def test_bad_requests_get_a_clear_4xx(bot, request_head, status):
    with serving(bot) as server, socket.create_connection(("127.0.0.1", server.server_port), 5) as line:
        line.sendall(request_head)
        answer = b"".join(iter(lambda: line.recv(65536), b""))
    assert answer.startswith(b"HTTP/1.1 %d " % status)
    if not request_head.startswith(b"HEAD"):
        assert b'{"error": "' in answer


def test_what_is_no_http_is_told_so_and_the_connection_closed(bot):
    with serving(bot) as server, socket.create_connection(("127.0.0.1", server.server_port), 5) as line:
        line.sendall(b"nonsense\r\n\r\n")
        answer = b"".join(iter(lambda: line.recv(65536), b""))
    assert answer.rpartition(b"\r\n\r\n")[2].startswith(b'{"error": "Bad')  # with a head from Python 3.15 on


def wsgi_call(bot, method, body=b"", **environ):
    started = []
    environ = {"REQUEST_METHOD": method, "wsgi.input": io.BytesIO(body), **environ}
    answer = b"".join(bot(environ, lambda status, headers: started.append((status, dict(headers)))))
    ((status, headers),) = started
    assert headers["Content-Type"] == "application/json"
    return status, answer


def test_bot_is_a_wsgi_application(bot, decision):
    bot.secret = SECRET
    body = messages.encode(decision)
    headers = {f"HTTP_{name.upper().replace('-', '_')}": value for name, value in signed(body).items()}
    assert wsgi_call(bot, "POST", body, CONTENT_LENGTH=str(len(body)), **headers)[0] == "200 OK"
    assert wsgi_call(bot, "POST", body, CONTENT_LENGTH=str(len(body)))[0] == "401 Unauthorized"
    assert wsgi_call(bot, "POST", body, CONTENT_LENGTH="")[0] == "411 Length Required"
    assert wsgi_call(bot, "GET")[0] == "200 OK"
    assert wsgi_call(bot, "HEAD") == ("405 Method Not Allowed", b"")


def test_gunicorn_serves_a_bot(tmp_path, decision):
    (tmp_path / "my_bot.py").write_text("from bot_sdk.bots.greedy import greedy\nbot = greedy()\n")
    command = [sys.executable, "-m", "gunicorn", "my_bot:bot", "--bind", "127.0.0.1:0", "--no-control-socket"]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(Path.cwd())])}
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True) as server:
        try:
            line = next(line for line in server.stderr if "Listening at: " in line)
            port = int(line.split("127.0.0.1:")[1].split()[0])
            with closing(http.client.HTTPConnection("127.0.0.1", port, 10)) as client:
                client.request("POST", "/", messages.encode(decision))
                response = client.getresponse()
                assert json.loads(response.read())["action"] in decision.legal_actions
        finally:
            server.terminate()
            server.stderr.read()
