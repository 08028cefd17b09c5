"""Whatever a bot does, its call ends by the deadline, in the right outcome."""

from __future__ import annotations

import socket
import threading
import time

import pytest

from bot_sdk import signing
from service.outbound.values import Call, Endpoint
from tests.service.outbound.hostile import (
    BAD,
    BODY,
    CHUNKED,
    HEAD,
    LIMIT,
    SECRET,
    call_to,
    chunks,
    reply,
    reset,
    timed,
)


class TestHonestBots:
    def test_an_answer_is_given_with_its_time_and_status(self, serve, calls):
        answer = timed(calls, call_to(serve(reply()).url, key=("gam_1", 0)))
        assert (answer.outcome, answer.body, answer.status, answer.key) == ("ok", BODY, 200, ("gam_1", 0))
        assert answer.head == BODY
        assert answer.ms > 0

    def test_the_request_is_signed_and_asks_for_plain_json(self, serve, calls):
        server = serve(reply())
        timed(calls, call_to(f"{server.url}?room=7", body=b'{"x":"\xc3\xa9"}'))
        [request] = server.requests
        assert request.line == "POST /bot?room=7 HTTP/1.1"
        assert request.headers["host"] == f"127.0.0.1:{server.port}"
        assert request.headers["content-type"] == "application/json"
        assert request.headers["accept-encoding"] == "identity"
        assert signing.verify(request.headers, request.body, [SECRET], now=time.time()) == "msg_1"

    def test_during_a_rotation_both_secrets_sign(self, serve, calls):
        server, new = serve(reply()), signing.make_secret(b"n" * 32)
        calls.ask(Call(1, Endpoint("bot_1", server.url, (new, SECRET)), b"{}", 2_000, "msg_1"))
        for secret in (new, SECRET):
            signing.verify(server.requests[0].headers, b"{}", [secret], now=time.time())

    def test_a_connection_is_kept_for_the_next_call(self, serve, calls):
        server = serve(reply())
        assert [timed(calls, call_to(server.url)).outcome for _ in range(5)] == ["ok"] * 5
        assert server.connections == 1

    def test_a_connection_that_closes_after_the_answer_is_not_reused(self, serve, calls):
        server = serve(reply(BODY, "connection: close"))
        assert [timed(calls, call_to(server.url)).outcome for _ in range(3)] == ["ok"] * 3
        assert server.connections == 3

    @pytest.mark.parametrize(
        "answer",
        [
            CHUNKED + chunks(BODY),
            b"HTTP/1.1 100 Continue\r\n\r\n" + reply(),
            b"HTTP/1.1 103 Early Hints\r\nlink: </a>; rel=preload\r\n\r\n" * 3 + reply(),
            reply(kind="application/json; charset=utf-8"),
            reply(kind="Application/JSON"),
            reply(BODY, "content-encoding: identity"),
        ],
        ids=["chunked", "100-continue", "early hints", "charset", "upper case", "identity"],
    )
    def test_good_http_of_any_shape_will_do(self, serve, calls, answer):
        server = serve(answer)
        for _ in range(2):
            assert timed(calls, call_to(server.url)).body == BODY
        assert server.connections == 1

    def test_an_answer_without_a_length_lasts_as_long_as_its_connection(self, serve, calls):
        def behave(connection, _):
            connection.sendall(HEAD + b"\r\n" + BODY)

        assert timed(calls, call_to(serve(behave).url)).body == BODY

    def test_http_1_0_will_do(self, serve, calls):
        def behave(connection, _):
            connection.sendall(reply().replace(b"HTTP/1.1", b"HTTP/1.0"))

        assert timed(calls, call_to(serve(behave).url)).body == BODY

    def test_an_answer_in_many_pieces_is_put_together(self, serve, calls):
        server = serve(lambda connection, _: server.drip(connection, reply(), 0.001) or True)
        assert timed(calls, call_to(server.url)).body == BODY

    def test_a_large_batch_is_sent_and_may_be_answered_at_length(self, serve, calls):
        long = b'{"x":"%b"}' % (b"y" * (LIMIT + 60 * 1024))
        server = serve(reply(long))
        answer = timed(calls, call_to(server.url, body=b"z" * 3_000_000, decisions=64))
        assert answer.body == long
        assert len(server.requests[0].body) == 3_000_000

    @pytest.mark.parametrize("host", ["[::1]", "localhost"])
    def test_localhost_may_be_ipv6(self, serve, calls, host):
        server = serve(reply(), family=socket.AF_INET6)
        assert timed(calls, call_to(f"http://{host}:{server.port}/bot")).outcome == "ok"
        assert server.requests[0].headers["host"] == f"{host}:{server.port}"

    def test_localhost_may_be_ipv4(self, serve, calls):
        server = serve(reply())
        assert timed(calls, call_to(f"http://localhost:{server.port}/bot")).outcome == "ok"


class TestLateBots:
    def test_a_silent_bot_is_late(self, serve, calls):
        server = serve(lambda *_: server.stopping.wait(10))
        answer = timed(calls, call_to(server.url, budget_ms=200))
        assert (answer.outcome, answer.status) == ("late", None)
        assert answer.error == "waited 200 ms for an answer"

    @pytest.mark.parametrize("already", [b"", HEAD, reply()[:-9]], ids=["headers", "more headers", "body"])
    def test_a_bot_that_drips_is_late(self, serve, calls, already):
        def behave(connection, _):
            connection.sendall(already)
            server.drip(connection, reply()[len(already) :] * 9, 0.05)

        server = serve(behave)
        assert timed(calls, call_to(server.url, budget_ms=250)).outcome == "late"

    def test_chunks_that_drip_are_late(self, serve, calls):
        def behave(connection, _):
            connection.sendall(CHUNKED)
            server.drip(connection, chunks(b" " * 100, 1), 0.02)

        server = serve(behave)
        assert timed(calls, call_to(server.url, budget_ms=250)).outcome == "late"

    def test_interim_replies_are_no_answer(self, serve, calls):
        def behave(connection, _):
            while not server.stopping.wait(0.02):
                connection.sendall(b"HTTP/1.1 102 Processing\r\n\r\n")

        server = serve(behave)
        assert timed(calls, call_to(server.url, budget_ms=250)).outcome == "late"

    def test_a_bot_that_never_accepts_is_late(self, calls):
        with socket.create_server(("127.0.0.1", 0), backlog=0) as listener:
            port = listener.getsockname()[1]
            filling = [socket.socket() for _ in range(4)]
            for client in filling:
                client.settimeout(0)
                client.connect_ex(("127.0.0.1", port))
            answer = timed(calls, call_to(f"http://127.0.0.1:{port}/", budget_ms=300))
            assert answer.outcome == "late"
            assert answer.error == "waited 300 ms for a connection"
            for client in filling:
                client.close()

    def test_a_bot_that_never_reads_is_late(self, calls):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            url = f"http://127.0.0.1:{listener.getsockname()[1]}/"
            assert timed(calls, call_to(url, budget_ms=300, body=b"x" * 30_000_000)).outcome == "late"

    def test_the_time_of_a_retry_is_that_of_the_first_try(self, serve, calls):
        def behave(*_):
            server.stopping.wait(0.2)
            if server.connections == 2:
                server.stopping.wait(10)

        server = serve(behave)
        answer = timed(calls, call_to(server.url, budget_ms=400))
        assert (answer.outcome, server.connections) == ("late", 2)
        assert answer.ms < 400 + 300

    def test_late_bots_leave_nothing_behind(self, serve, calls):
        server = serve(lambda connection, _: server.stopping.wait(0.3) or connection.sendall(reply()) or True)
        assert timed(calls, call_to(server.url, budget_ms=100)).outcome == "late"
        server.behave = lambda connection, _: connection.sendall(reply(b'{"second":1}')) or True
        assert timed(calls, call_to(server.url)).body == b'{"second":1}'


class TestBotsThatAreNotThere:
    def test_a_refused_connection_is_unreachable_at_once(self, calls):
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
        answer = timed(calls, call_to(f"http://127.0.0.1:{port}/"))
        assert answer.outcome == "unreachable"
        assert answer.ms < 1_000
        assert "refused" in answer.error

    @pytest.mark.parametrize("end", [lambda connection: None, reset], ids=["closed", "reset"])
    def test_an_end_before_an_answer_is_tried_once_more_with_the_same_id(self, serve, calls, end):
        server = serve(lambda connection, _: end(connection))
        assert timed(calls, call_to(server.url)).outcome == "unreachable"
        assert server.connections == 2
        assert [request.headers["webhook-id"] for request in server.requests] == ["msg_1", "msg_1"]

    @pytest.mark.parametrize("end", [lambda connection: None, reset], ids=["closed", "reset"])
    def test_the_second_try_may_succeed(self, serve, calls, end):
        def behave(connection, request):
            if request.connection == 1:
                return end(connection)
            connection.sendall(reply())
            return True

        server = serve(behave)
        assert timed(calls, call_to(server.url)).outcome == "ok"
        assert len(server.requests) == 2

    def test_an_idle_connection_closed_by_the_bot_costs_no_try(self, serve, calls):
        server = serve(lambda connection, _: connection.sendall(reply()))
        for connections in (1, 2, 3):
            assert timed(calls, call_to(server.url)).outcome == "ok"
            assert server.connections == connections
            wait_for_end_of(server, connections)
        assert len(server.requests) == 3

    def test_a_connection_closed_as_the_request_arrives_is_tried_afresh(self, serve, calls):
        def behave(connection, request):
            if request.connection == 1 and len(server.requests) == 2:
                return False
            connection.sendall(reply())
            return True

        server = serve(behave)
        assert [timed(calls, call_to(server.url)).outcome for _ in range(2)] == ["ok", "ok"]
        assert (server.connections, len(server.requests)) == (2, 3)


def wait_for_end_of(server, connections):
    """Wait until the thread that serves the last connection has closed it."""
    for thread in server.serving[:connections]:
        thread.join(5)


class TestBadStatus:
    @pytest.mark.parametrize("status", [201, 204, 206, 301, 302, 304, 307, 308, 400, 404, 410, 413, 429, 500, 503, 999])
    def test_anything_but_200_is_a_bad_status(self, serve, calls, status):
        server = serve(reply(b'{"error":"no"}', "location: /elsewhere", status=f"{status} Whatever"))
        answer = timed(calls, call_to(server.url))
        assert (answer.outcome, answer.status) == ("bad_status", status)
        assert answer.error == f"expected 200, got {status}"
        assert len(server.requests) == 1  # no redirect is followed, and nothing is asked twice
        assert answer.head == (b"" if status in {204, 304} else b'{"error":"no"}')

    @pytest.mark.parametrize("status", ["302 Found", "500 Oops"])
    def test_the_huge_body_of_a_bad_status_is_not_read(self, serve, calls, status):
        sent = []

        def behave(connection, _):
            connection.sendall(f"HTTP/1.1 {status}\r\nlocation: /\r\ncontent-length: 100000000\r\n\r\n".encode())
            while not server.stopping.is_set():
                sent.append(connection.send(b"x" * 65536))

        server = serve(behave)
        answer = timed(calls, call_to(server.url))
        assert answer.outcome == "bad_status"
        assert answer.ms < 1_000
        assert len(answer.head) <= 512
        assert sum(sent) < 20_000_000

    def test_switching_protocols_is_a_bad_status(self, serve, calls):
        server = serve(b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\nhello")
        answer = timed(calls, call_to(server.url))
        assert (answer.outcome, answer.status) == ("bad_status", 101)

    def test_the_connection_is_closed_after_it(self, serve, calls):
        server = serve(reply(status="500 Oops"))
        for _ in range(2):
            timed(calls, call_to(server.url))
        assert server.connections == 2


class TestBadReplies:
    @pytest.mark.parametrize("answer", BAD.values(), ids=BAD)
    def test_it_is_a_bad_reply_at_once_and_the_connection_is_closed(self, serve, calls, answer):
        server = serve(answer)
        for connections in (1, 2):
            given = timed(calls, call_to(server.url))
            assert given.outcome == "bad_reply"
            assert given.ms < 1_500
            assert len(given.head) <= 512
            assert server.connections == connections == len(server.requests)

    @pytest.mark.parametrize(
        "cut",
        [
            reply()[:8],
            reply()[:40],
            reply()[:-1],
            HEAD + b"content-length: 5\r\n\r\n",
            CHUNKED + chunks(BODY)[:-2],
            CHUNKED + b"5\r\n{}",
            b"HTTP/1.1 100 Continue\r\n\r\n",
        ],
        ids=["status line", "headers", "body", "no body", "last chunk", "chunk", "interim"],
    )
    @pytest.mark.parametrize("end", [lambda connection: None, reset], ids=["closed", "reset"])
    def test_an_answer_cut_short_is_a_bad_reply_and_not_asked_again(self, serve, calls, cut, end):
        def behave(connection, _):
            connection.sendall(cut)
            if end is reset:  # what is sent must have been read, or the reset overtakes it
                server.stopping.wait(0.1)
            return end(connection)

        server = serve(behave)
        answer = timed(calls, call_to(server.url))
        assert answer.outcome == "bad_reply"
        assert len(server.requests) == 1

    def test_the_owner_is_shown_the_head_of_what_was_sent(self, serve, calls):
        answer = timed(calls, call_to(serve(reply(b"<html>" + b"x" * 1000, kind="text/html")).url))
        assert answer.head == b"<html>" + b"x" * 506
        assert answer.error == "expected content-type application/json, got 'text/html'"

    @pytest.mark.parametrize("endless", [b"x" * 65536, b"10000\r\n" + b"x" * 65536 + b"\r\n"], ids=["plain", "chunks"])
    def test_an_endless_body_is_cut_at_the_limit(self, serve, calls, endless):
        sent = []

        def behave(connection, _):
            connection.sendall(HEAD + b"\r\n" if endless[:1] == b"x" else CHUNKED)
            while not server.stopping.is_set():
                sent.append(connection.send(endless))

        server = serve(behave)
        answer = timed(calls, call_to(server.url))
        assert answer.outcome == "bad_reply"
        assert answer.error == f"expected at most {LIMIT} bytes"
        assert sum(sent) < 20_000_000

    def test_empty_chunk_extensions_count_on_the_wire(self, serve, calls):
        padded = b"".join(b"1;%b\r\n \r\n" % (b"e" * 1000) for _ in range(200)) + b"0\r\n\r\n"
        assert timed(calls, call_to(serve(CHUNKED + padded).url)).outcome == "bad_reply"

    @pytest.mark.parametrize("extra", [reply(b'{"second":1}'), b"junk"], ids=["a second answer", "junk"])
    def test_what_follows_an_answer_is_never_the_next_one(self, serve, calls, extra):
        server = serve(reply() + extra)
        for connections in (1, 2):
            assert timed(calls, call_to(server.url)).body == BODY
            assert server.connections == connections

    def test_a_second_answer_to_an_idle_connection_is_never_the_next_one(self, serve, calls):
        sent = threading.Event()

        def behave(connection, _):
            connection.sendall(reply())
            server.stopping.wait(0.05)
            connection.sendall(reply(b'{"second":1}'))
            sent.set()
            return True

        server = serve(behave)
        for connections in (1, 2):
            sent.clear()
            assert timed(calls, call_to(server.url)).body == BODY
            assert server.connections == connections
            assert sent.wait(5)


class TestCardsAndNews:
    def test_a_card_is_asked_for_without_a_signature(self, serve, calls):
        server = serve(reply(b'{"api":1}'))
        answer = calls.get_card(server.url, 2_000)
        assert (answer.outcome, answer.body, answer.key) == ("ok", b'{"api":1}', server.url)
        [request] = server.requests
        assert request.line == "GET /bot HTTP/1.1"
        assert not [name for name in request.headers if name.startswith(("webhook", "content"))]

    @pytest.mark.parametrize("url", ["http://10.0.0.1/", "http://127.0.0.1:6379/", "gopher://127.0.0.1/", "nonsense"])
    def test_a_card_at_a_refused_url_is_unreachable(self, calls, url):
        assert calls.get_card(url, 2_000).outcome == "unreachable"

    @pytest.mark.parametrize("status", ["200 OK", "204 No Content", "202 Accepted", "500 Oops"])
    def test_news_are_told_and_any_answer_is_dropped(self, serve, calls, status):
        told = threading.Event()

        def behave(connection, _):
            connection.sendall(reply(b"thanks", status=status, kind="text/plain"))
            told.set()
            return True

        server = serve(behave)
        calls.notify(call_to(server.url))
        assert told.wait(5)
        assert server.requests[0].headers["webhook-id"] == "msg_1"

    def test_bots_that_ignore_news_hold_up_no_call(self, serve, calls):
        silent = serve(lambda *_: silent.stopping.wait(20))
        for _ in range(50):
            calls.notify(call_to(silent.url, budget_ms=500))
        assert timed(calls, call_to(serve(reply()).url)).outcome == "ok"

    def test_host_that_ignores_news_costs_no_other_host_its_own(self, serve, calls, monkeypatch, caplog):
        monkeypatch.setattr("service.outbound.news._MOST_OF_HOST", 5)
        told = threading.Event()
        honest = serve(lambda *_: told.set())
        silent = serve(lambda *_: silent.stopping.wait(20))
        for _ in range(20):
            calls.notify(call_to(silent.url))
        assert "dropped" in caplog.text
        calls.notify(call_to(honest.url.replace("127.0.0.1", "localhost")))
        assert told.wait(5)
