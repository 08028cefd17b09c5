from __future__ import annotations

import socket

import pytest

from service.launch import ports
from service.launch.ports import PortError, listen, url_of


def test_port_0_takes_a_free_one():
    with listen("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        assert port > 0
        assert url_of(listening) == f"http://127.0.0.1:{port}"
        with socket.create_connection(("127.0.0.1", port), timeout=5):
            pass


def test_taken_port_is_refused_with_what_to_do():
    with listen("127.0.0.1", 0) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(PortError, match=f"port {port} on 127.0.0.1 is taken; stop what uses it or choose another"):
            listen("127.0.0.1", port)


def test_port_can_be_taken_again_at_once():
    with listen("127.0.0.1", 0) as first:
        port = first.getsockname()[1]
        with socket.create_connection(("127.0.0.1", port), timeout=5):
            first.accept()[0].close()
    listen("127.0.0.1", port).close()


def test_name_that_is_no_address_of_this_machine_is_refused():
    with pytest.raises(PortError, match=r"expected an address of this machine as --host, got 'no such host'"):
        listen("no such host", 0)
    with pytest.raises(PortError, match=r"can't listen on 192\.0\.2\.1 port 0"):
        listen("192.0.2.1", 0)


def test_every_address_is_reached_on_loopback():
    with listen("0.0.0.0", 0) as listening:
        assert url_of(listening) == f"http://127.0.0.1:{listening.getsockname()[1]}"


def test_ipv6_address_stands_in_brackets():
    if not socket.has_ipv6:
        pytest.skip("this machine has no IPv6 to listen on")
    try:
        listening = listen("::1", 0)
    except PortError:
        pytest.skip("this machine has no IPv6 to listen on")
    with listening:
        assert ports.url_of(listening) == f"http://[::1]:{listening.getsockname()[1]}"
