"""TLS is verified, and stalls no longer than anything else."""

from __future__ import annotations

import socket
import ssl
import threading

import pytest
import trustme

from service.outbound.guard import LOOPBACK, Guard
from service.outbound.tls import OVERHEAD_LIMIT, tls_context
from tests.service.outbound.hostile import BODY, HostileServer, call_to, reply, timed


@pytest.fixture(scope="module")
def authority():
    return trustme.CA()


def resolve_to_loopback(host, port, timeout):
    return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]


@pytest.fixture
def calls(authority, make):
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)
    return make(Guard(LOOPBACK, lookup=resolve_to_loopback), slots=4, tls=trusting)


@pytest.fixture
def serve_tls(serve, authority):
    """A server with a certificate for a name, and how it answers over TLS."""

    def start(name: str, behave, issuer: trustme.CA = authority, tickets: int = 2):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.num_tickets = tickets
        issuer.issue_cert(name).configure_cert(context)
        server = serve(behave)
        server.tls = context
        return f"https://bot.example:{server.port}/", server

    return start


def test_a_good_certificate_is_answered_and_the_connection_kept(serve_tls, calls):
    url, server = serve_tls("bot.example", reply())
    assert [timed(calls, call_to(url)).body for _ in range(3)] == [BODY] * 3
    assert server.connections == 1


def test_long_answers_come_whole(serve_tls, calls):
    long = b'{"x":"%b"}' % (b"y" * 60_000)
    url, _ = serve_tls("bot.example", reply(long))
    assert [timed(calls, call_to(url, body=b"z" * 500_000)).body for _ in range(3)] == [long] * 3


def test_a_certificate_for_another_name_is_unreachable(serve_tls, calls):
    url, server = serve_tls("other.example", reply())
    answer = timed(calls, call_to(url))
    assert answer.outcome == "unreachable"
    assert "bot.example" in answer.error
    assert not server.requests


def test_a_certificate_of_an_unknown_authority_is_unreachable(serve_tls, calls):
    url, server = serve_tls("bot.example", reply(), trustme.CA())
    assert timed(calls, call_to(url)).outcome == "unreachable"
    assert not server.requests


def test_plain_http_where_tls_is_expected_is_unreachable(calls):
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer_plainly():
            connection, _ = listener.accept()
            with connection:
                connection.recv(1000)
                connection.sendall(reply())

        thread = threading.Thread(target=answer_plainly)
        thread.start()
        url = f"https://bot.example:{listener.getsockname()[1]}/"
        assert timed(calls, call_to(url)).outcome == "unreachable"
        thread.join(5)


def test_a_handshake_that_stalls_is_late(calls):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        url = f"https://bot.example:{listener.getsockname()[1]}/"
        answer = timed(calls, call_to(url, budget_ms=300))
        assert answer.outcome == "late"
        assert answer.error == "waited 300 ms for a connection"


def test_a_bot_that_is_slow_to_shake_hands_is_late(serve_tls, calls):
    _, good = serve_tls("bot.example", reply())

    def behave(connection, _):
        slow.stopping.wait(0.3)
        with good.tls.wrap_socket(connection, server_side=True):
            slow.stopping.wait(10)

    slow = HostileServer(behave, reads=False)
    try:
        answer = timed(calls, call_to(f"https://bot.example:{slow.port}/", budget_ms=900))
    finally:
        slow.close()
    assert (answer.outcome, answer.error) == ("late", "waited 900 ms for an answer")


def test_a_bot_that_is_silent_after_the_handshake_is_late(serve_tls, calls):
    url, server = serve_tls("bot.example", lambda *_: server.stopping.wait(10))
    answer = timed(calls, call_to(url, budget_ms=400))
    assert (answer.outcome, answer.error) == ("late", "waited 400 ms for an answer")


def test_a_bot_that_drips_over_tls_is_late(serve_tls, calls):
    url, server = serve_tls("bot.example", lambda connection, _: server.drip(connection, reply() * 3, 0.05))
    assert timed(calls, call_to(url, budget_ms=400)).outcome == "late"


def test_a_hang_up_in_the_handshake_is_tried_once_more(calls):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        accepted = []

        def hang_up_twice():
            for _ in range(2):
                connection, _ = listener.accept()
                connection.recv(1000)
                connection.close()
                accepted.append(1)

        thread = threading.Thread(target=hang_up_twice)
        thread.start()
        url = f"https://bot.example:{listener.getsockname()[1]}/"
        assert timed(calls, call_to(url)).outcome == "unreachable"
        thread.join(5)
        assert len(accepted) == 2


def test_an_answer_cut_short_within_tls_is_a_bad_reply(serve_tls, calls):
    url, server = serve_tls("bot.example", lambda connection, _: connection.sendall(reply()[:-5]))
    assert timed(calls, call_to(url)).outcome == "bad_reply"
    assert len(server.requests) == 1


def test_tickets_without_end_are_a_bad_reply(serve_tls, calls):
    url, _ = serve_tls("bot.example", reply(), tickets=2_000)
    answer = timed(calls, call_to(url))
    assert answer.outcome == "bad_reply"
    assert answer.error == f"expected at most {OVERHEAD_LIMIT} bytes of TLS that carry nothing"


def test_the_process_has_one_context_and_it_verifies():
    assert tls_context() is tls_context()
    assert tls_context().verify_mode is ssl.CERT_REQUIRED
    assert tls_context().check_hostname
