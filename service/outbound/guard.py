"""Where bots may live: the one place that turns a stranger's URL into a socket.

A name is looked up once, every address it gives is judged, and the connection goes to a judged address, never
to the name (`ssrfguard`). Public addresses are open; others only within the networks the operator allows, and
some never. The guard is asked at registration and at every new connection.
"""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Any, TypeAlias
from urllib.parse import quote, urlsplit

import ssrfguard
from ssrfguard import Address, Resolver, Target
from ssrfguard.resolvers import UdpResolver, nameservers_from_resolv_conf

from service.outbound.deadline import Deadline
from service.outbound.values import OutboundError

Network: TypeAlias = IPv4Network | IPv6Network
Found: TypeAlias = tuple[int, int, int, str, tuple[Any, ...]]  # as `socket.getaddrinfo` gives it
Lookup: TypeAlias = "Callable[[str, int, float], list[Found]]"  # of a host and a port, within seconds

LOOPBACK = ("127.0.0.0/8", "::1/128")  # both: `localhost` may be either
_LOCALHOST = ("127.0.0.1", "::1")

# Where no bot lives, and what no operator can open: this network and "any", link-local with the clouds' metadata,
# multicast, broadcast, protocols' own, and IPv6 that carries an IPv4 address to whoever translates it.
_NEVER = tuple(
    map(
        ipaddress.ip_network,
        (
            *("0.0.0.0/8", "169.254.0.0/16", "192.0.0.0/24", "224.0.0.0/3"),
            *("::/128", "::ffff:0:0:0/96", "64:ff9b:1::/48", "2001::/23", "2002::/16", "fe80::/10", "ff00::/8"),
        ),
    )
)
# Metadata services inside networks that an operator may well open.
_METADATA = frozenset(map(ipaddress.ip_address, ("100.100.100.200", "fd00:ec2::254", "fd20:ce::254")))
# IPv6 that carries an IPv4 address as well, but is judged by that; to open it would be to open what it carries.
_CARRIERS = (IPv6Network("::ffff:0:0/96"), IPv6Network("64:ff9b::/96"))
_PUBLIC_IPV6 = IPv6Network("2000::/3")  # no other address is anyone's on the public internet
# Ports under 1024 are other services', but for the web's own. Above, these listen to whoever can reach them.
_WEB_PORTS = frozenset({80, 443})
_SERVICE_PORTS = frozenset(
    {1433, 1521, 3306, 5432, 5672, 6379, 9200, 9300, 11211, 26379, 27017}  # databases, caches and queues
    | {2375, 2376, 2379, 2380, 6443, 10250}  # what runs containers
)
_MOST_ATTEMPTS = 4
_MOST_ADDRESSES = 32
_LONGEST_URL = 2048
_NO_DELAY = ((socket.IPPROTO_TCP, socket.TCP_NODELAY, 1),)
_PATH_SAFE = "/%:@!$&'()*+,;=~"
# What may stand between the slashes; `urlsplit` takes more, such as something after an address in brackets.
_AUTHORITY = re.compile(r"(\[[0-9a-f:.]+\]|[^\[\]:]+)(:[0-9]*)?", re.IGNORECASE)
# A last label that browsers and C libraries read as an IPv4 address in octal, hex or one piece.
_NUMBER = re.compile(r"(?:^|\.)(0x[0-9a-f]*|[0-9]+)\.?\Z", re.IGNORECASE)


class RefusedError(OutboundError):
    """A URL that a bot can't have here; the message says which rule refuses it."""


class NetworkSettingError(OutboundError):
    """An allowed network that isn't one, or that nobody may allow."""


def allowed_networks(networks: Iterable[str]) -> tuple[Network, ...]:
    """Read the operator's networks, such as ``10.1.0.0/16``; raises `NetworkSettingError`."""
    return tuple(_allowed_network(network.strip()) for network in networks)


def _allowed_network(written: str) -> Network:
    try:
        network = ipaddress.ip_network(written)
    except ValueError as error:
        raise NetworkSettingError(f"expected a network such as 10.1.0.0/16, got {written!r}: {error}") from error
    for never in (*_NEVER, *_CARRIERS):
        if network.version == never.version and network.overlaps(never):
            raise NetworkSettingError(f"bots can't be allowed in {network}: it holds addresses of {never}")
    return network


class _BotPolicy(ssrfguard.Policy):
    """The package's policy, except that some addresses stay shut in any network, and of IPv6 more are no one's."""

    def check_address(self, address: str | IPv4Address | IPv6Address) -> None:
        parsed = ipaddress.ip_address(address) if isinstance(address, str) else address
        super().check_address(parsed)
        if parsed in _METADATA or any(parsed in network for network in _NEVER):
            raise ssrfguard.BlockedAddressError(str(parsed), "no bot may live there")
        if parsed.version == 6 and not any(
            parsed in network for network in (_PUBLIC_IPV6, *_CARRIERS, *self.allowed_networks)
        ):
            raise ssrfguard.BlockedAddressError(str(parsed), "it isn't on the public internet")


@dataclass(frozen=True, slots=True)
class Place:
    """A judged URL: an origin and what to ask of it. `target` isn't resolved yet."""

    target: Target
    path: str

    @property
    def is_tls(self) -> bool:
        """Whether the URL is https."""
        return self.target.scheme == "https"

    @property
    def host(self) -> str:
        """Who answers there, as far as a URL tells: a name, an IPv4 address, or a /64, as one IPv6 host may have."""
        address = self.target.address
        if isinstance(address, IPv6Address):
            return str(address.ipv4_mapped or IPv6Network((address, 64), strict=False))
        return self.target.host.rstrip(".")

    @property
    def host_header(self) -> str:
        """The host as HTTP writes it, with a port that isn't the usual one."""
        host = self.target.host.rstrip(".")
        host = f"[{host}]" if ":" in host else host
        return host if self.target.port == (443 if self.is_tls else 80) else f"{host}:{self.target.port}"


class Guard:
    """Judges URLs, looks names up within a deadline, and connects to what it has judged.

    `networks` is what the operator opens besides the public internet. `local_names` are the names that the operator's
    own resolver answers, by `getaddrinfo`: that knows no deadline, so it is the operator's to keep quick. `localhost`,
    and what ends in it, needs no resolver. All other names go to the name servers by `lookup`.
    """

    def __init__(
        self,
        networks: Iterable[str] = (),
        *,
        local_names: Iterable[str] = (),
        lookup: Lookup | None = None,
    ) -> None:
        self._networks = allowed_networks(networks)
        self._local_names = frozenset(name.lower().rstrip(".") for name in local_names)
        self._lookup = lookup or ask_name_servers
        self._policy = lru_cache(maxsize=256)(self._make_policy)
        self._policy(443, "reject")  # a setting that makes no policy stops the start, not the first call

    def check(self, url: str) -> Place:
        """Judge a URL without the network: scheme, host, port, a literal address. Raises `RefusedError`."""
        try:
            parts = urlsplit(url)
            port = parts.port or (443 if parts.scheme.lower() == "https" else 80)
            path = quote(parts.path or "/", safe=_PATH_SAFE)
            query = quote(parts.query, safe=_PATH_SAFE + "?")
        except ValueError as error:
            raise RefusedError(f"expected a URL such as https://example.org/bot: {error}") from error
        _check_port(port)
        try:
            target = self._policy(port, "reject").check_url(url)
        except ssrfguard.SSRFGuardError as error:
            raise RefusedError(str(error)) from error
        if not _AUTHORITY.fullmatch(parts.netloc):
            raise RefusedError(f"expected a host and perhaps a port, got {parts.netloc!r}")
        if target.address is None and _NUMBER.search(target.host):
            raise RefusedError(f"expected a name or an address in its usual form, got {target.host!r}")
        if _is_localhost(target) and not any(map(self._policy(port, "drop").permits_address, _LOCALHOST)):
            raise RefusedError(f"{target.host!r} is not permitted: this machine's own addresses aren't open to bots")
        return Place(target, f"{path}?{query}" if query else path)

    def resolve(self, place: Place, deadline: Deadline) -> tuple[Address, ...]:
        """Look the name up once and judge every address.

        Raises `RefusedError`, `socket.gaierror`, `TimeoutError`.
        """
        target = place.target
        resolver, partly_blocked = self._resolver(target, deadline)
        policy = self._policy(target.port, partly_blocked)
        try:
            return ssrfguard.resolve(target, policy=policy, resolver=resolver)
        except ssrfguard.SSRFGuardError as error:
            raise RefusedError(str(error)) from error

    def connect(self, place: Place, deadline: Deadline) -> socket.socket:
        """Open a plain connection to a judged address. Raises as `resolve` does, and `OSError`."""
        addresses = self.resolve(place, deadline)[:_MOST_ATTEMPTS]
        policy = self._policy(place.target.port, "drop")
        for attempts_left in range(len(addresses), 0, -1):
            address = addresses[-attempts_left]
            timeout = deadline.left() / attempts_left
            try:
                return ssrfguard.connect((address,), policy=policy, timeout=timeout, socket_options=_NO_DELAY)
            except ssrfguard.SSRFGuardError as error:
                raise RefusedError(str(error)) from error
            except OSError:
                if attempts_left == 1:
                    raise
        raise AssertionError("a resolved place has an address")

    def _resolver(self, target: Target, deadline: Deadline) -> tuple[Resolver | None, ssrfguard.PartialBlock]:
        """Say who answers for a name, and what to do with an answer that is allowed in part.

        From the operator's resolver, and for `localhost`, such an answer only means that one address family isn't
        open; from a stranger's name server it is the mark of an attack.
        """
        if _is_localhost(target):
            return _localhost, "drop"
        if target.address is not None or target.host.rstrip(".") in self._local_names:
            return None, "drop"

        def resolver(host: str, port: int, *_: int) -> list[Found]:
            found = self._lookup(host, port, deadline.left())
            if len(found) > _MOST_ADDRESSES:
                raise RefusedError(f"expected a name with at most {_MOST_ADDRESSES} addresses, got {len(found)}")
            return found

        return resolver, "reject"

    def _make_policy(self, port: int, partly_blocked: ssrfguard.PartialBlock) -> _BotPolicy:
        # One policy a port, since the package takes a set of ports and prints all of it when it refuses one.
        try:
            return _BotPolicy(
                allowed_networks=self._networks,
                allowed_ports=frozenset({port}),
                on_partial_block=partly_blocked,
                max_url_length=_LONGEST_URL,
            )
        except ValueError as error:
            raise NetworkSettingError(str(error)) from error


def ask_name_servers(host: str, port: int, timeout: float) -> list[Found]:
    """Ask the name servers of `/etc/resolv.conf`, read anew each time, within `timeout` seconds."""
    try:
        servers = nameservers_from_resolv_conf()
    except (OSError, ValueError) as error:
        raise socket.gaierror(socket.EAI_AGAIN, f"no name server to ask: {error}") from error
    return UdpResolver(nameservers=servers, timeout=timeout)(host, port)


def _is_localhost(target: Target) -> bool:
    """Whether a name is this machine's own, which no name server is asked about (RFC 6761, 6.3)."""
    return f".{target.host.rstrip('.')}".endswith(".localhost")


def _localhost(_host: str, port: int, *_: int) -> list[Found]:
    """Both loopback addresses, whatever the hosts file says: a bot may listen on either."""
    v4, v6 = _LOCALHOST
    return [
        (socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (v4, port)),
        (socket.AF_INET6, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", (v6, port, 0, 0)),
    ]


def _check_port(port: int) -> None:
    if port not in _WEB_PORTS and (port < 1024 or port in _SERVICE_PORTS):
        raise RefusedError(f"expected port 80, 443 or a free one over 1023, got {port}: another service's")
