"""Where bots may live, and that a call goes nowhere else."""

from __future__ import annotations

import socket
import time

import pytest
from ssrfguard.resolvers import UdpResolver

from service.outbound.deadline import Deadline
from service.outbound.guard import LOOPBACK, Guard, NetworkSettingError, RefusedError
from tests.service.outbound.hostile import call_to, reply, timed
from tests.service.outbound.urls import DISGUISED, NO_PLACE_FOR_A_BOT, PRIVATE


def found(*addresses: str):
    """A resolver for which every name has these addresses."""

    def lookup(host, port, timeout):
        return [
            (socket.AF_INET6, 1, 6, "", (address, port, 0, 0))
            if ":" in address
            else (socket.AF_INET, 1, 6, "", (address, port))
            for address in addresses
        ]

    return lookup


def within(seconds: float) -> Deadline:
    return Deadline(seconds, time.monotonic)


@pytest.mark.parametrize("url", PRIVATE + DISGUISED + NO_PLACE_FOR_A_BOT)
def test_it_is_refused_before_any_network(url):
    def lookup(*_):
        raise AssertionError("no name is to be looked up")

    guard = Guard(lookup=lookup)
    with pytest.raises(RefusedError):
        guard.resolve(guard.check(url), within(1))


@pytest.mark.parametrize("url", DISGUISED + NO_PLACE_FOR_A_BOT)
def test_open_networks_open_no_disguise(url):
    with pytest.raises(RefusedError):
        Guard([*LOOPBACK, "10.0.0.0/8"]).check(url)


@pytest.mark.parametrize("url", PRIVATE)
def test_a_call_there_is_unreachable(url, make):
    calls = make(Guard())
    answer = timed(calls, call_to(url))
    assert answer.outcome == "unreachable"
    assert "not permitted" in answer.error or "refused" in answer.error


@pytest.mark.parametrize(
    ("url", "host", "path"),
    [
        ("https://example.org", "example.org", "/"),
        ("https://example.org:443/bot?room=1#part", "example.org", "/bot?room=1"),
        ("http://EXAMPLE.org:8080/a/../b", "example.org:8080", "/a/../b"),
        ("http://93.184.215.14:65535/", "93.184.215.14:65535", "/"),
        ("http://[2606:4700::1111]/é b".replace(" ", ""), "[2606:4700::1111]", "/%C3%A9b"),
        ("https://bücher.example/%20", "xn--bcher-kva.example", "/%20"),
        ("http://example.org./", "example.org", "/"),
        ("http://[::ffff:8.8.8.8]/", "[::ffff:8.8.8.8]", "/"),
        ("http://[64:ff9b::8.8.8.8]/", "[64:ff9b::8.8.8.8]", "/"),
        ("http://example.org?@127.0.0.1/", "example.org", "/?@127.0.0.1/"),
        ("http://example.org#@127.0.0.1/", "example.org", "/"),
        ("http://example.org/%0d%0ahost:%20x", "example.org", "/%0d%0ahost:%20x"),
        ("http://example.org/\u2028\x85?\xa0", "example.org", "/%E2%80%A8%C2%85?%C2%A0"),
        ("http://example.org/\\x", "example.org", "/%5Cx"),
        ("http://example.org:0080/", "example.org", "/"),
    ],
)
def test_a_public_url_is_read(url, host, path):
    place = Guard().check(url)
    assert (place.host_header, place.path) == (host, path)


@pytest.mark.parametrize(
    ("urls", "host"),
    [
        (["http://bot.example/a", "https://BOT.example.:8443/b?c"], "bot.example"),
        (["http://bücher.example/", "http://xn--bcher-kva.example:8080/"], "xn--bcher-kva.example"),
        (["http://93.184.215.14/", "http://[::ffff:93.184.215.14]:8080/"], "93.184.215.14"),
        (["http://[2606:4700::1111]/", "http://[2606:4700:0:0:ffff::2]:8080/"], "2606:4700::/64"),
        (["http://localhost:8001/", "http://localhost:8002/"], "localhost"),
    ],
)
def test_a_host_is_known_by_whatever_port_path_and_spelling(urls, host):
    assert {Guard(LOOPBACK).check(url).host for url in urls} == {host}


@pytest.mark.parametrize(
    "addresses",
    [["127.0.0.1"], ["::1"], ["10.1.2.3"], ["169.254.169.254"], ["::ffff:10.0.0.1"], ["64:ff9b::a00:1"], ["fd00::1"]],
)
def test_a_name_with_a_private_address_is_refused(addresses):
    guard = Guard(lookup=found(*addresses))
    with pytest.raises(RefusedError):
        guard.resolve(guard.check("http://bot.example/"), within(1))


def test_a_name_with_public_and_private_addresses_is_refused():
    guard = Guard(lookup=found("93.184.215.14", "127.0.0.1"))
    with pytest.raises(RefusedError, match="both permitted and denied"):
        guard.resolve(guard.check("http://bot.example/"), within(1))


def test_a_name_is_judged_anew_at_every_connection(serve, make):
    server = serve(reply(b"{}", "connection: close"))
    answers = iter([["127.0.0.1"], ["169.254.169.254"]])

    def lookup(host, port, timeout):
        return found(*next(answers))(host, port, timeout)

    calls = make(Guard(LOOPBACK, lookup=lookup))
    url = f"http://bot.example:{server.port}/"
    assert timed(calls, call_to(url)).outcome == "ok"
    assert timed(calls, call_to(url)).outcome == "unreachable"
    assert [request.headers["host"] for request in server.requests] == [f"bot.example:{server.port}"]


def test_a_name_with_more_addresses_than_it_needs_is_refused():
    guard = Guard(lookup=found(*(f"93.184.215.{n}" for n in range(33))))
    with pytest.raises(RefusedError, match="at most 32 addresses, got 33"):
        guard.resolve(guard.check("http://bot.example/"), within(1))


def test_what_is_said_of_many_refused_addresses_is_short(make):
    calls = make(Guard(lookup=found(*(f"10.0.0.{n}" for n in range(32)))))
    assert len(timed(calls, call_to("http://bot.example/")).error) == 500


def test_a_kept_connection_stays_with_the_address_that_was_judged(serve, make):
    server = serve(reply())
    answers = iter([["127.0.0.1"], ["169.254.169.254"]])

    def lookup(host, port, timeout):
        return found(*next(answers))(host, port, timeout)

    calls = make(Guard(LOOPBACK, lookup=lookup))
    url = f"http://bot.example:{server.port}/"
    assert [timed(calls, call_to(url)).outcome for _ in range(3)] == ["ok"] * 3
    server.behave = lambda *_: False  # hangs up: the second try needs a new connection
    assert timed(calls, call_to(url)).outcome == "unreachable"
    assert (server.connections, next(answers, None)) == (1, None)


def test_the_next_address_is_tried_if_one_is_refused(serve, make):
    server = serve(reply())
    calls = make(Guard(LOOPBACK, lookup=found("127.0.0.9", "::1", "127.0.0.1")))
    assert timed(calls, call_to(f"http://bot.example:{server.port}/")).outcome == "ok"


def test_many_addresses_get_few_attempts(serve, make):
    server = serve(reply())
    calls = make(Guard(LOOPBACK, lookup=found(*(f"127.0.1.{n}" for n in range(1, 9)), "127.0.0.1")))
    assert timed(calls, call_to(f"http://bot.example:{server.port}/")).outcome == "unreachable"
    assert not server.connections


@pytest.mark.parametrize("name", ["localhost", "bot.localhost"])
def test_localhost_needs_only_one_open_family(serve, make, name):
    server = serve(reply())
    calls = make(Guard(["127.0.0.0/8"]))
    assert timed(calls, call_to(f"http://{name}:{server.port}/")).outcome == "ok"


def test_the_operators_names_are_the_systems_to_resolve(monkeypatch, serve, make):
    server = serve(reply())
    monkeypatch.setattr(socket, "getaddrinfo", lambda host, port, *_: found("127.0.0.1")(host, port, 0))
    calls = make(Guard(LOOPBACK, local_names=["Bot-A"]))
    assert timed(calls, call_to(f"http://bot-a:{server.port}/")).outcome == "ok"


@pytest.mark.parametrize("budget_ms", [150, 600])
def test_slow_dns_is_late_at_the_deadline(budget_ms, make):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as silent:
        silent.bind(("127.0.0.1", 0))
        port = silent.getsockname()[1]

        def lookup(host, asked, timeout):
            return UdpResolver(("127.0.0.1",), timeout=timeout, attempt_timeout=60, nameserver_port=port)(host, asked)

        answer = timed(make(Guard(lookup=lookup)), call_to("http://bot.example/", budget_ms=budget_ms))
        assert answer.outcome == "late"
        assert silent.recv(100, socket.MSG_DONTWAIT)


def test_a_name_that_does_not_exist_is_unreachable(make):
    def lookup(host, port, timeout):
        raise socket.gaierror(socket.EAI_NONAME, "no such name")

    assert timed(make(Guard(lookup=lookup)), call_to("http://bot.example/")).outcome == "unreachable"


@pytest.mark.parametrize(
    "network",
    [
        "0.0.0.0/0",
        "::/0",
        "0.0.0.0/1",
        "128.0.0.0/1",
        "169.254.0.0/16",
        "169.254.169.254/32",
        "fe80::/10",
        "fe80::1/128",
        "::/96",
        "64:ff9b::/96",
        "::ffff:0:0/96",
        "224.0.0.0/4",
        "64:ff9b:1::/48",
        "::ffff:0:0:0/96",
        "::ffc0:0:0/90",
        "2001::/32",
        "2002::/16",
        "2000::/3",
        "192.0.0.0/16",
        "10.0.0.1/8",
        "10.0.0.0/33",
        "loopback",
        "",
    ],
)
def test_a_network_that_nobody_may_open_stops_the_start(network):
    with pytest.raises(NetworkSettingError):
        Guard([network])


@pytest.mark.parametrize(
    ("network", "url"), [("100.64.0.0/10", "http://100.100.100.200/"), ("fd00::/8", "http://[fd00:ec2::254]/")]
)
def test_metadata_services_stay_shut_in_open_networks(network, url):
    with pytest.raises(RefusedError, match="no bot may live there"):
        Guard([network]).check(url)


def test_what_is_open_is_open_exactly():
    guard = Guard(["10.1.0.0/16"])
    guard.check("http://10.1.255.255/")
    with pytest.raises(RefusedError):
        guard.check("http://10.2.0.0/")
