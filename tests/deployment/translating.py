"""From what docker-compose.yml says of containers to what holds for processes of this machine, and nothing by guess.

Each replica of a service has an address of its own in a network of loopback; names become these addresses, ports become
free ones, paths become folders. What looks like an address, a port or a path and isn't known raises `UnknownError`.
"""

from __future__ import annotations

import ipaddress
import os
import re
import shutil
import socket
import sys
from contextlib import ExitStack
from pathlib import Path

from service.launch.valkey import find_server
from tests.deployment.composefile import UnknownError

PORTS = (53, 6379, 8000, 8080, 8081, 8100, 8443, 9090, 9100)
"""All ports that anything listens on in a container."""
SUBNET = ipaddress.ip_network("172.28.5.0/24")
FIRST = 128
"""From here on addresses are given to whatever isn't told its own, as `ip_range` has it."""
_WORDS = re.compile(
    r"(?P<url>\w+://(?P<url_host>[\w.-]+):(?P<url_port>\d+))"
    r"|(?<![\w/.-])(?P<address>\d+\.\d+\.\d+\.\d+)(?:/(?P<length>\d+)|:(?P<port>\d+))?(?![\w.])"
    r"|(?<![\w/.-])(?P<name>[a-z][\w-]*):(?P<name_port>\d+)(?!\w)"
    r"|(?<![\w/.:-])(?P<path>/[\w./-]*\w)"
)
_ALONE = {"--port", "-p"}
"""Options whose value is a port and nothing else."""


def free_ports(count):
    """Find ports that are free on all addresses of this machine."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server(("0.0.0.0", 0))) for _ in range(count)]
        return [each.getsockname()[1] for each in sockets]


def program(name):
    """Find what a container would run under this name; raises `UnknownError`."""
    ours = Path(sys.executable).parent
    found = {
        "python": sys.executable,
        "slagveld": ours / "slagveld",
        "gunicorn": ours / "gunicorn",
        "valkey-server": find_server(),
        "valkey-cli": shutil.which("valkey-cli") or shutil.which("redis-cli"),
        "nginx": shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin"),
        "curl": shutil.which("curl"),
        "prometheus": shutil.which("prometheus"),
        "wget": shutil.which("wget"),
    }.get(name)
    if found is None:
        raise UnknownError(f"no program is known as {name}")
    return str(found)


class Ground:
    """A network of loopback with an address for each replica, and ports of this machine for those of the file."""

    def __init__(self, number=None):
        number = os.getpid() if number is None else number
        self.network = ipaddress.ip_network(f"127.{64 + number // 256 % 128}.{number % 256}.0/24")
        self.ports = dict(zip(PORTS, free_ports(len(PORTS)), strict=True))
        self.names = {}
        self._next = FIRST

    def settle(self, service, replicas, fixed=None):
        """Give a service its addresses; a fixed one is that of the same number."""
        if fixed is not None:
            self.names[service] = [self.mapped(fixed)]
            return
        self.names[service] = [str(self.network[self._next + number]) for number in range(replicas)]
        self._next += replicas

    def mapped(self, address):
        """Give our address for one of the file's network."""
        given = ipaddress.ip_address(address)
        if given not in SUBNET:
            raise UnknownError(f"no network is known that {address} is in")
        return str(self.network[int(given) - int(SUBNET.network_address)])

    def port(self, text):
        """Give our port for one of the file's."""
        if int(text) not in self.ports:
            raise UnknownError(f"nothing is known to listen on port {text}")
        return self.ports[int(text)]

    @property
    def resolver(self):
        return str(self.network[11])


class Place:
    """Where one replica is: its address and its folders; translates what the file says of it."""

    def __init__(self, ground, address, folders):
        self.ground = ground
        self.address = address
        self.folders = folders
        """Our path for each path of the container's that something is mounted on."""

    def command(self, words):
        """Translate a command line: its program, then each word."""
        name, *rest = words
        return [program(name), *(self._argument(before, word) for before, word in zip(words, rest, strict=False))]

    def _argument(self, before, word):
        return str(self.ground.port(word)) if before in _ALONE else self.text(word)

    def text(self, text):
        """Translate all that looks like an address, a port or a path in a text."""
        return _WORDS.sub(self._word, text)

    def _word(self, found):
        if found["url"]:
            return self._url(found)
        if found["address"]:
            return self._address(found)
        if found["name"]:
            return f"{self._host(found['name'])}:{self.ground.port(found['name_port'])}"
        return self.path(found["path"])

    def _url(self, found):
        host, port = found["url_host"], found["url_port"]
        if self._is_ours(host):
            return found[0]
        return f"{found[0].partition('://')[0]}://{self._host(host)}:{self.ground.port(port)}"

    def _address(self, found):
        address, length, port = found["address"], found["length"], found["port"]
        if self._is_ours(address):
            return found[0]
        if length is not None:
            if not ipaddress.ip_network(f"{address}/{length}", strict=False).subnet_of(SUBNET):
                raise UnknownError(f"no network is known that {found[0]} is in")
            return f"{self.ground.mapped(address)}/{length}"
        return self._host(address) + (f":{self.ground.port(port)}" if port else "")

    def _is_ours(self, host):
        return bool(re.fullmatch(r"[\d.]+", host)) and ipaddress.ip_address(host) in self.ground.network

    def _host(self, host):
        if host in {"127.0.0.1", "0.0.0.0"}:
            return self.address  # its own loopback, or all that it has
        if host == "127.0.0.11":
            return self.ground.resolver
        if host in self.ground.names:
            return self.ground.names[host][0]
        if re.fullmatch(r"[\d.]+", host):
            return self.ground.mapped(host)
        raise UnknownError(f"nobody is known as {host}")

    def path(self, path):
        """Give our path for one of the container's; raises `UnknownError` for one that nothing is mounted on."""
        if path in {"/dev/null", "/dev/stdout"}:
            return path
        for target, ours in sorted(self.folders.items(), reverse=True):
            if path == target or path.startswith(f"{target}/"):
                return f"{ours}{path.removeprefix(target)}"
        raise UnknownError(f"nothing is mounted at {path}")
