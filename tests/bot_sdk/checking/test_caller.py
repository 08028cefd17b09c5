from __future__ import annotations

import time
from contextlib import closing

import pytest

from bot_sdk import messages, signing
from bot_sdk.bots.greedy import greedy
from bot_sdk.checking.caller import Caller
from bot_sdk.checking.wire import WireError, place_of
from bot_sdk.events import Outcome
from bot_sdk.hosting import serving
from bot_sdk.positions import positions
from tests.bot_sdk.strangers import always, answering, reply, request_of

SECRET = signing.make_secret(bytes(range(32)))
DECISION = positions("river", "play", 1, "caller")[0]
GOOD = messages.encode(messages.ActionReply(decision_id=DECISION.decision_id, action=DECISION.legal_actions[0]))
CHUNKED = (
    b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%b\r\n0\r\n\r\n"
)


def asked(behave, budget_ms=1000):
    with answering(behave) as url, closing(Caller(url)) as caller:
        return caller.post(messages.encode(DECISION), budget_ms, None)


@pytest.mark.parametrize(
    ("answer", "outcome"),
    [
        (reply(GOOD), Outcome.OK),
        (CHUNKED % (len(GOOD), GOOD), Outcome.OK),
        (b"HTTP/1.0 200 OK\r\nContent-Type: application/json\r\n\r\n" + GOOD, Outcome.OK),
        (reply(GOOD, b"500 Oops"), Outcome.BAD_STATUS),
        (reply(b"", b"302 Found\r\nLocation: /"), Outcome.BAD_STATUS),
        (reply(GOOD, kind=b"text/html"), Outcome.BAD_REPLY),
        (reply(b"x" * 100_000), Outcome.BAD_REPLY),
        (b"SSH-2.0-OpenSSH_9\r\n\r\n", Outcome.BAD_REPLY),
        (reply(GOOD)[:-5], Outcome.BAD_REPLY),
        (b"HTTP/1.1 200", Outcome.BAD_REPLY),
        (b"", Outcome.UNREACHABLE),
    ],
)
def test_outcomes_have_the_arenas_names(answer, outcome):
    heard = asked(always(answer))
    assert heard.outcome is outcome, heard
    assert (heard.error is None) == (outcome is Outcome.OK)


def test_nobody_there_is_unreachable():
    with answering(always(b"")) as url:
        pass
    with closing(Caller(url)) as caller:
        heard = caller.post(b"{}", 1000, None)
    assert (heard.outcome, heard.error) == (Outcome.UNREACHABLE, "no connection: Connection refused")


def test_a_host_that_does_not_exist_is_unreachable_in_one_short_sentence():
    with closing(Caller("http://no-such-host.invalid/")) as caller:
        heard = caller.post(b"{}", 5000, None)
    assert heard.outcome is Outcome.UNREACHABLE
    assert "HTTPConnectionPool" not in heard.error


def dripping(answer, pause_s):
    def behave(connection, _number):
        request_of(connection)
        for byte in answer:
            connection.sendall(bytes([byte]))
            time.sleep(pause_s)

    return behave


@pytest.mark.parametrize("answer", [reply(GOOD), b"HTTP/1.1 200 OK\r\n" + b"X-A: b\r\n" * 500])
def test_the_deadline_holds_against_whoever_drips_headers_or_body(answer):
    heard = asked(dripping(answer, 0.02), budget_ms=300)
    assert heard.outcome is Outcome.LATE
    assert 300 <= heard.ms < 2000


def test_silence_is_late_and_shows_the_time_waited():
    heard = asked(lambda connection, _number: request_of(connection) + connection.recv(1), budget_ms=200)
    assert heard.outcome is Outcome.LATE
    assert 200 <= heard.ms < 2000


def test_a_connection_that_ends_before_any_answer_is_tried_once_more():
    def second_time(connection, number):
        request_of(connection)
        if number:
            connection.sendall(reply(GOOD))

    with answering(second_time) as url, closing(Caller(url)) as caller:
        assert caller.post(messages.encode(DECISION), 1000, None).outcome is Outcome.OK


def test_a_connection_is_used_again_and_requests_are_signed():
    connections = []

    def behave(connection, number):
        connections.append(number)
        for _ in range(3):
            request_of(connection)
            connection.sendall(reply(GOOD))

    with answering(behave) as url, closing(Caller(url)) as caller:
        for _ in range(3):
            assert caller.post(messages.encode(DECISION), 1000, None).outcome is Outcome.OK
    assert connections == [0]


def test_calls_are_signed_as_old_as_they_are_said_to_be():
    bot = greedy()
    bot.secret = SECRET
    with serving(bot) as server, closing(Caller(server.url)) as caller:
        body = messages.encode(DECISION)
        assert caller.post(body, 1000, SECRET).outcome is Outcome.OK
        assert caller.post(body, 1000, None).status == 401
        assert caller.post(body, 1000, SECRET, age_s=600).status == 401


@pytest.mark.parametrize(
    "url", ["ftp://x", "http://", "http://x:port/", "http://[", "bot.py", "", f"http://{'x' * 64}/", "http://a..b"]
)
def test_what_is_no_url_is_refused(url):
    with pytest.raises(WireError, match="expected a URL"):
        Caller(url)


def test_any_letter_may_stand_in_a_url():
    place = place_of("http://b\u00fcr.example:8100/my b\u20act?\u00e9=%20&x")
    assert (place.host, place.host_header) == ("xn--br-xka.example", "xn--br-xka.example:8100")
    assert place.target == "/my%20b%E2%82%ACt?%C3%A9=%20&x"
    assert place_of("http://[::1]:8100").host_header == "[::1]:8100"
