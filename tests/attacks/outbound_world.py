"""All hostile bots at once, plain and over TLS, and a process of its own that calls them."""

from __future__ import annotations

import datetime as dt
import json
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import trustme

from tests.attacks.hostile_kinds import (
    BAD_REPLY,
    KINDS,
    LATE,
    UNREACHABLE,
    Kind,
    closes,
    drips_its_handshake,
    ends_after,
    says,
    waits,
)
from tests.attacks.names import Names
from tests.service.outbound.hostile import HostileServer, reply, reset

ROOT = Path(__file__).parents[2]
AMPLE_MS = 10_000
TWO_FIT = {"a reset after the first byte", "a reset within the body"}
"""A reset may overtake the bytes before it; then none of an answer has come."""


@dataclass
class World:
    """Hostile servers by the name of what they do, an honest one, and what a caller has to know of them."""

    steps: list[dict[str, Any]]
    outcomes: dict[str, set[str]]
    authority: str
    names: int

    def call(
        self, *, budget_ms: float, rounds: int, at_once: int, line: bool, bulk: bool = True, only: str = ""
    ) -> dict[str, Any]:
        """Have all that is hostile called from another process, on a line or by threads.

        Or `only` what ends so; `bulk`: large requests too.
        """
        steps = [
            step | {"budget_ms": budget_ms if LATE in self.outcomes[step["name"]] else AMPLE_MS}
            for step in self.steps
            if (not only or self.outcomes[step["name"]] == {only}) and (bulk or not step["sent"])
        ]
        plan = {"steps": steps, "rounds": rounds, "at_once": at_once, "line": line, "busy": 0}
        return run(plan | {"authority": self.authority, "names": self.names})


def run(plan: dict[str, Any]) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.attacks.outbound_caller"],
        cwd=ROOT,
        input=json.dumps(plan),
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    rounds = [json.loads(line) for line in done.stdout.splitlines()]
    taken = [each for told in rounds for each in told["taken"]]
    return {"taken": taken, **{key: [told[key] for told in rounds] for key in ("peak_kb", "objects")}}


class Certificates:
    """An authority that is trusted, and TLS as servers have it that should or should not be."""

    def __init__(self) -> None:
        self.authority = trustme.CA()
        self.pem = self.authority.cert_pem.bytes().decode()

    def good(self, tickets: int = 2) -> ssl.SSLContext:
        return self._context(self.authority.issue_cert("bot.example"), tickets)

    def expired(self) -> ssl.SSLContext:
        past = dt.datetime(2001, 1, 1, tzinfo=dt.UTC)
        cert = self.authority.issue_cert("bot.example", not_before=past, not_after=past + dt.timedelta(days=9))
        return self._context(cert)

    def not_yet(self) -> ssl.SSLContext:
        future = dt.datetime.now(dt.UTC) + dt.timedelta(days=9)
        cert = self.authority.issue_cert("bot.example", not_before=future, not_after=future + dt.timedelta(days=9))
        return self._context(cert)

    def wrong_name(self) -> ssl.SSLContext:
        return self._context(self.authority.issue_cert("other.example", "*.bot.example"))

    def unknown(self) -> ssl.SSLContext:
        return self._context(trustme.CA().issue_cert("bot.example"))

    def self_signed(self, folder: Path) -> ssl.SSLContext:
        its_own = trustme.CA()
        its_own.cert_pem.write_to_path(str(folder / "cert.pem"))
        its_own.private_key_pem.write_to_path(str(folder / "key.pem"))
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
        return context

    @staticmethod
    def _context(cert: trustme.LeafCert, tickets: int = 2) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.num_tickets = tickets
        cert.configure_cert(context)
        return context


def tls_kinds(certificates: Certificates, folder: Path) -> dict[str, tuple[Kind, ssl.SSLContext | None]]:
    """What only TLS makes possible; without a context, the server is spoken to as if it had TLS and has none."""
    good = says(reply())
    return {
        "a handshake that stalls": (Kind(waits, LATE, reads=False), None),
        "a handshake that drips": (Kind(drips_its_handshake(certificates.good()), LATE, reads=False), None),
        "an end of the handshake": (Kind(ends_after(b"", closes), UNREACHABLE, reads=False), None),
        "a reset of the handshake": (Kind(ends_after(b"", reset), UNREACHABLE, reads=False), None),
        "no TLS at all": (Kind(good, UNREACHABLE, reads=False), None),
        "tickets without end": (Kind(good, BAD_REPLY), certificates.good(tickets=2_000)),
        "expired": (Kind(good, UNREACHABLE), certificates.expired()),
        "not yet valid": (Kind(good, UNREACHABLE), certificates.not_yet()),
        "self-signed": (Kind(good, UNREACHABLE), certificates.self_signed(folder)),
        "of an unknown authority": (Kind(good, UNREACHABLE), certificates.unknown()),
        "of another name": (Kind(good, UNREACHABLE), certificates.wrong_name()),
    }


def named_kinds(port: int) -> dict[str, tuple[str, str]]:
    """What a name may do: a URL, and its outcome."""
    return {
        "a name that nobody answers for": (f"http://hanging.example:{port}/", LATE),
        "a name that doesn't exist": (f"http://missing.example:{port}/", UNREACHABLE),
        "a name without an address": (f"http://empty.example:{port}/", UNREACHABLE),
        "a name with a private address": (f"http://private.example:{port}/", UNREACHABLE),
        "a name with the clouds' metadata": (f"http://metadata.example:{port}/", UNREACHABLE),
        "a name with public and private addresses": (f"http://mixed.example:{port}/", UNREACHABLE),
        "a name with a crowd of addresses": (f"http://crowd.example:{port}/", UNREACHABLE),
    }


KNOWN = {
    "bot.example": ["127.0.0.1"],
    "hanging.example": None,
    "empty.example": [],
    "private.example": ["10.0.0.1"],
    "metadata.example": ["169.254.169.254"],
    "mixed.example": ["127.0.0.1", "fd00::1"],
    "crowd.example": [f"127.0.1.{number}" for number in range(33)],
}


@contextmanager
def all_hostile(folder: Path) -> Iterator[World]:
    """Start them all; `folder` is for what must be written."""
    certificates = Certificates()
    plain = {name: (kind, None) for name, kind in KINDS.items()}
    over_tls = {name: (kind, certificates.good()) for name, kind in KINDS.items()}
    over_tls |= tls_kinds(certificates, folder)
    steps: list[dict[str, Any]] = []
    outcomes: dict[str, set[str]] = {}
    with ExitStack() as open_until_the_end:
        names = Names(dict(KNOWN))
        open_until_the_end.callback(names.close)

        def add(name: str, url: str, outcome: str, honest: str, sent: int = 0) -> None:
            steps.append({"name": name, "url": url, "sent": sent, "honest": honest})
            outcomes[name] = {outcome, UNREACHABLE} if name.partition(": ")[2] in TWO_FIT else {outcome}

        for scheme, kinds in (("http", plain), ("https", over_tls)):
            honest = serve(open_until_the_end, *kinds["an answer"])
            for name, (kind, tls) in kinds.items():
                port = serve(open_until_the_end, kind, tls)
                url = f"{scheme}://bot.example:{port}/bot"
                add(f"{scheme}: {name}", url, kind.outcome, f"{scheme}://bot.example:{honest}/", kind.sent)
            if scheme == "http":
                for name, (url, outcome) in named_kinds(honest).items():
                    add(f"dns: {name}", url, outcome, f"http://bot.example:{honest}/")
        yield World(steps, outcomes, certificates.pem, names.port)


def serve(open_until_the_end: ExitStack, kind: Kind, tls: ssl.SSLContext | None) -> int:
    server = HostileServer(lambda *asked: kind.behave(server, *asked), tls=tls, reads=kind.reads)
    open_until_the_end.callback(server.close)
    return server.port
