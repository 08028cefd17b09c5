"""Every setting of the arena, read once from the environment. Nothing else reads environment variables.

`Settings.from_env(os.environ)` either gives settings that make sense together or raises `SettingsError` with one
sentence that says what to set. An empty variable counts as one that isn't set. What holds a secret may stand in a file
instead, that the same variable with `_FILE` behind its name names.
"""

from __future__ import annotations

import binascii
import dataclasses
import ipaddress
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import SplitResult, parse_qsl, urlencode, urlsplit, urlunsplit

from bot_sdk.variables import VariableError, secret_of

Network: TypeAlias = ipaddress.IPv4Network | ipaddress.IPv6Network

DEFAULT_REDIS_URL = "redis://127.0.0.1:6379/0"
NEVER_OPEN = tuple(ipaddress.ip_network(n) for n in ("0.0.0.0/8", "169.254.0.0/16", "::/128", "fe80::/10"))
_DATABASE = re.compile(r"\d{1,4}", re.ASCII)
LOOPBACK: tuple[Network, ...] = (ipaddress.ip_network("127.0.0.0/8"), ipaddress.ip_network("::1/128"))


class SettingsError(Exception):
    """The environment asks for something that can't be; the message says which variable to set to what."""


def _text(value: str) -> str:
    return value


def _yes_or_no(value: str) -> bool:
    lowered = value.lower()
    if lowered in {"1", "true", "yes", "on"}:
        return True
    if lowered in {"0", "false", "no", "off"}:
        return False
    raise SettingsError(f"expected 1 or 0, got {value!r}")


def _whole(low: int, high: int) -> Callable[[str], int]:
    def parse(value: str) -> int:
        if not re.fullmatch(r"\d{1,12}", value, re.ASCII) or not low <= int(value) <= high:
            raise SettingsError(f"expected a whole number from {low} to {high}, got {value!r}")
        return int(value)

    return parse


def _one_of(*choices: str) -> Callable[[str], str]:
    def parse(value: str) -> str:
        if value not in choices:
            raise SettingsError(f"expected {' or '.join(choices)}, got {value!r}")
        return value

    return parse


def _redis_url(value: str) -> str:
    parts = urlsplit(value)
    by_path = parts.scheme == "unix" and not parts.netloc and parts.path
    by_host = parts.scheme in {"redis", "rediss"} and parts.hostname and parts.port != 0
    if not (by_path or by_host) or not _DATABASE.fullmatch(_database(parts)):
        raise SettingsError("expected a URL such as redis://127.0.0.1:6379/0 or unix:///run/valkey.sock?db=0")
    return value


def _database(parts: SplitResult) -> str:
    if parts.scheme == "unix":
        return dict(parse_qsl(parts.query)).get("db", "0")
    return parts.path.strip("/") or "0"


def _public_url(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme not in {"http", "https"} or not parts.hostname or parts.query or parts.fragment:
        raise SettingsError(f"expected a URL such as https://arena.example, got {value!r}")
    return value.rstrip("/")


def _networks(value: str) -> tuple[Network, ...]:
    return tuple(_network(part.strip()) for part in value.split(",") if part.strip())


def _network(value: str) -> Network:
    try:
        network = ipaddress.ip_network(value)
    except ValueError as error:
        raise SettingsError(f"expected networks such as 10.1.0.0/16, comma between, got {value!r}") from error
    if network.prefixlen == 0 or any(n.version == network.version and n.overlaps(network) for n in NEVER_OPEN):
        raise SettingsError(f"{value} can't be opened to bots: it holds link-local or unspecified addresses")
    return network


def _key(value: str) -> bytes:
    try:
        key = bytes.fromhex(value)
    except (ValueError, binascii.Error):
        key = b""
    if len(key) < 32:
        raise SettingsError("expected at least 64 hex digits, such as `openssl rand -hex 32` prints")
    return key


def _secret(length: int) -> Callable[[str], str]:
    def parse(value: str) -> str:
        if len(value) < length or not value.isascii() or not value.isprintable() or " " in value:
            raise SettingsError(f"expected at least {length} printable ASCII characters without spaces")
        return value

    return parse


def _rate(value: str) -> str:
    one = r"[1-9]\d{0,6} per ([1-9]\d{0,3} )?(second|minute|hour|day)s?"
    if not re.fullmatch(rf"{one}(; {one})*", value, re.ASCII):
        raise SettingsError(f"expected rates such as '50 per second; 1000 per minute', got {value!r}")
    return value


def _origins(value: str) -> tuple[str, ...]:
    origins = tuple(part.strip() for part in value.split(",") if part.strip())
    for origin in origins:
        if not re.fullmatch(r"https?://[A-Za-z0-9.-]+(:\d{1,5})?", origin, re.ASCII):
            raise SettingsError(f"expected origins such as https://example.org, comma between, got {origin!r}")
    return origins


class Address(NamedTuple):
    """Where to listen."""

    host: str
    port: int

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def _address(value: str) -> Address:
    match = re.fullmatch(r"(?:\[([0-9A-Fa-f:.]+)\]|([A-Za-z0-9.-]+)):(\d{1,5})", value, re.ASCII)
    if match is None or int(match[3]) > 65_535:
        raise SettingsError(f"expected an address to listen on such as 127.0.0.1:9100, got {value!r}")
    return Address(match[1] or match[2], int(match[3]))


def _folder(value: str) -> str:
    if not value.startswith("/") or "\0" in value:
        raise SettingsError(f"expected a folder's path that begins with /, got {value!r}")
    return value


def _setting(variable: str, default: Any, parse: Callable[[str], Any], *, shown: bool = True) -> Any:
    return dataclasses.field(default=default, repr=shown, metadata={"variable": variable, "parse": parse})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All that an operator may choose. The string after each field is its documentation."""

    redis_url: str = _setting("REDIS_URL", DEFAULT_REDIS_URL, _redis_url, shown=False)
    """Where games, accounts and tournaments are kept: Redis or Valkey, 7.0 or later."""
    broker_url: str = _setting("SLAGVELD_BROKER_URL", "", _redis_url, shown=False)
    """Where jobs for the workers wait; by default the next database of the same server."""
    fsync: str = _setting("SLAGVELD_FSYNC", "everysec", _one_of("everysec", "always"))
    """How often the embedded store syncs to disk: `always` loses nothing even when the power is cut."""

    memory_mb: int = _setting("SLAGVELD_MEMORY_MB", 0, _whole(0, 100_000_000))
    """How many MiB the embedded store may use before it refuses writes; 0: half of what the machine has."""
    archive: str = _setting("SLAGVELD_ARCHIVE", "", _folder)
    """A folder for what leaves the store, for each worker that is to see to that; without one nothing ever leaves."""
    keep_days: int = _setting("SLAGVELD_KEEP_DAYS", 30, _whole(1, 36_500))
    """How many days after their end games and tournaments leave the store for SLAGVELD_ARCHIVE."""

    logs: str = _setting("SLAGVELD_LOGS", "text", _one_of("text", "json"))
    """How processes write what happens: lines for people, or JSON, with a line for each request of the API, too."""
    log_level: str = _setting("SLAGVELD_LOG_LEVEL", "info", _one_of("debug", "info", "warning", "error"))
    """What is worth a line: that and whatever is worse."""

    public_url: str = _setting("SLAGVELD_PUBLIC_URL", "http://127.0.0.1:8000", _public_url)
    """Where the arena is reached from outside; links to records in messages to bots begin with it."""
    proxies: int = _setting("SLAGVELD_PROXIES", 0, _whole(0, 5))
    """How many reverse proxies of ours stand before the API; only their X-Forwarded-For is believed."""
    cors_origins: tuple[str, ...] = _setting("SLAGVELD_CORS_ORIGINS", (), _origins)
    """Origins whose pages may call the API from a browser; none by default."""

    bot_networks: tuple[Network, ...] = _setting("SLAGVELD_BOT_NETWORKS", (), _networks)
    """Networks beside the public internet in which bots may be called; link-local ones never."""

    key: bytes | None = _setting("SLAGVELD_KEY", None, _key, shown=False)
    """The arena key that tokens and secrets are derived from; made at the first start if it isn't given."""
    admin_token: str | None = _setting("SLAGVELD_ADMIN_TOKEN", None, _secret(32), shown=False)
    """The operator's bearer token; without it nobody is the operator."""
    accounts: str = _setting("SLAGVELD_ACCOUNTS", "invite", _one_of("open", "invite"))
    """Who may make an account: anyone, or who knows the invite code (the operator always may)."""
    invite_code: str | None = _setting("SLAGVELD_INVITE_CODE", None, _secret(8), shown=False)
    """What to send as `invite_code` to make an account when accounts are by invitation."""
    anonymous_games: bool = _setting("SLAGVELD_ANONYMOUS_GAMES", default=False, parse=_yes_or_no)
    """Whether games of house bots and people may be made without an account."""

    rate_per_address: str = _setting("SLAGVELD_RATE_PER_ADDRESS", "50 per second; 1000 per minute", _rate)
    """How many requests one address (an IPv6 /64) may make."""
    rate_per_token: str = _setting("SLAGVELD_RATE_PER_TOKEN", "50 per second; 1000 per minute", _rate)
    """How many requests one token may make, from all addresses together."""
    rate_pull: str = _setting("SLAGVELD_RATE_PULL", "500 per second", _rate)
    """How often bots that fetch their calls may connect, poll and answer, by address and by token; counted apart."""
    rate_new_accounts: str = _setting("SLAGVELD_RATE_NEW_ACCOUNTS", "10 per hour", _rate)
    """How many accounts one address may ask for."""
    max_bots: int = _setting("SLAGVELD_MAX_BOTS", 50, _whole(1, 100_000))
    """How many bots one account may have."""
    max_challenges: int = _setting("SLAGVELD_MAX_CHALLENGES", 200, _whole(1, 1_000_000))
    """How many checks there may be within a day of bots at one host, and for one account; half of it by the arena."""
    max_open_games: int = _setting("SLAGVELD_MAX_OPEN_GAMES", 20, _whole(1, 100_000))
    """How many unfinished games one account (or address, without one) may have outside tournaments."""
    max_tournaments: int = _setting("SLAGVELD_MAX_TOURNAMENTS", 20, _whole(1, 100_000))
    """How many unfinished tournaments one account may have."""

    client_ms: int = _setting("SLAGVELD_CLIENT_MS", 20_000, _whole(100, 600_000))
    """How long a client may take over the head of its first request, over a body, or not read what it is sent."""
    max_waiting: int = _setting("SLAGVELD_MAX_WAITING", 2_000, _whole(1, 100_000))
    """How many streams and long polls one address (an IPv6 /64) may have open at one API process."""

    trust_accounts: bool = _setting("SLAGVELD_TRUST_ACCOUNTS", default=False, parse=_yes_or_no)
    """Whether games between bots of one account count for ratings."""
    ratings_ms: int = _setting("SLAGVELD_RATINGS_MS", 10_000, _whole(50, 86_400_000))
    """How often at most the ratings of a ruleset are computed anew, if there are new results."""

    calls: int = _setting("SLAGVELD_CALLS", 512, _whole(1, 1_000))
    """How many bots a worker process calls at once; one bot gets half of that, one host three quarters."""
    thinkers: int = _setting("SLAGVELD_THINKERS", 2, _whole(1, 256))
    """In how many processes of its own, at most, a worker has house bots think; they begin when there is work."""
    lease_ms: int = _setting("SLAGVELD_LEASE_MS", 15_000, _whole(200, 600_000))
    """How long a worker that went silent keeps its games."""
    renew_ms: int = _setting("SLAGVELD_RENEW_MS", 5_000, _whole(50, 300_000))
    """How often a worker renews its leases; at most half of SLAGVELD_LEASE_MS."""
    sweep_ms: int = _setting("SLAGVELD_SWEEP_MS", 1_000, _whole(20, 60_000))
    """How often a worker process looks for what is due."""
    heartbeat_ms: int = _setting("SLAGVELD_HEARTBEAT_MS", 10_000, _whole(500, 600_000))
    """How long a worker of the queue may be silent before its jobs go to another."""
    health_ms: int = _setting("SLAGVELD_HEALTH_MS", 60_000, _whole(50, 3_600_000))
    """When the arena checks a suspended bot for the first time; pauses double from there up to 60 times as long."""
    open_seat_ms: int = _setting("SLAGVELD_OPEN_SEAT_MS", 900_000, _whole(1_000, 604_800_000))
    """How long an open seat waits for somebody to sit down."""

    metrics: Address | None = _setting("SLAGVELD_METRICS", None, _address)  # noqa: RUF009 (an Address is a tuple)
    """Where each launch of API, worker or `slagveld up` serves its metrics: host:port. Nowhere by default."""

    def __post_init__(self) -> None:
        """Derive the broker's URL and refuse settings that contradict each other."""
        if not self.broker_url:
            object.__setattr__(self, "broker_url", next_database(self.redis_url))
        if self.renew_ms * 2 > self.lease_ms:
            raise SettingsError(
                f"set SLAGVELD_RENEW_MS to at most half of SLAGVELD_LEASE_MS ({self.lease_ms}), got {self.renew_ms}"
            )

    @classmethod
    def from_env(cls, environment: Mapping[str, str]) -> Settings:
        """Read all settings from a mapping such as `os.environ`; raises SettingsError at the first bad one."""
        given = {}
        for field in dataclasses.fields(cls):
            variable = field.metadata["variable"]
            if value := _given(environment, variable, is_secret=not field.repr):
                given[field.name] = _parsed(variable, value, field.metadata["parse"])
        return cls(**given)


def _given(environment: Mapping[str, str], variable: str, *, is_secret: bool) -> str:
    if not is_secret:
        return environment.get(variable, "").strip()
    try:
        return secret_of(environment, variable)
    except VariableError as error:
        raise SettingsError(str(error)) from None


def _parsed(variable: str, value: str, parse: Callable[[str], Any]) -> Any:
    try:
        return parse(value)
    except SettingsError as error:
        raise SettingsError(f"set {variable} right: {error}") from error
    except ValueError as error:
        raise SettingsError(f"set {variable} right: its value can't be read") from error


def database_of(redis_url: str) -> int:
    """Give the number of the database that a URL names."""
    return int(_database(urlsplit(redis_url)))


def next_database(redis_url: str) -> str:
    """Return the URL of the next database on the same server, so that jobs and games don't share one."""
    parts = urlsplit(redis_url)
    following = str(database_of(redis_url) + 1)
    if parts.scheme == "unix":
        return f"unix://{parts.path}?{urlencode(dict(parse_qsl(parts.query)) | {'db': following})}"
    return urlunsplit(parts._replace(path=f"/{following}"))
