"""Calls to a bot at a URL, for offline matches and checks: simple, one at a time, with the arena's outcomes.

The arena has its own, with a guard against strangers (``service.outbound``). Here the URL is the user's own choice.
"""

from __future__ import annotations

import secrets as random
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from http import HTTPStatus
from http.client import BadStatusLine, RemoteDisconnected
from typing import Final
from urllib.parse import urlsplit

import requests
from urllib3.exceptions import HTTPError, ProtocolError, ReadTimeoutError

from bot_sdk import messages, signing
from bot_sdk.check import card_in
from bot_sdk.errors import SdkError, reason
from bot_sdk.events import Outcome
from bot_sdk.games.record import SeatShown
from bot_sdk.local import Answered
from bot_sdk.replies import BadReply, read_action

_CHUNK: Final = 64 * 1024


class RemoteError(SdkError):
    """A URL where no bot can be."""


@dataclass(frozen=True, slots=True)
class Heard:
    """What became of a request, as `bot_sdk.check.Sent` promises."""

    outcome: Outcome
    ms: float
    status: int | None = None
    error: str | None = None
    body: bytes | None = None


def _new_id() -> str:
    return f"msg_{random.token_hex(8)}"


class Remote:
    """A bot at a URL; keeps its connection open. Proxies and credentials of the environment aren't used.

    The budget holds against a bot that is silent or drips its body. Against one that drips its headers it doesn't:
    here nobody plays against strangers.
    """

    def __init__(
        self,
        url: str,
        *,
        clock: Callable[[], float] = time.monotonic,
        now: Callable[[], float] = time.time,
        new_id: Callable[[], str] = _new_id,
    ) -> None:
        """Aim at an http or https URL; raises `RemoteError` for any other."""
        parts = urlsplit(url)
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise RemoteError(f"expected a URL such as 'http://127.0.0.1:8100', got {url!r:.200}")
        self.url = url
        self._clock = clock
        self._now = now
        self._new_id = new_id
        self._session = requests.Session()
        self._session.trust_env = False

    def close(self) -> None:
        """Close the connection."""
        self._session.close()

    def get_card(self, budget_ms: int) -> Heard:
        """GET the bot's URL."""
        return self._send("GET", b"", budget_ms, {}, messages.MAX_REPLY_BYTES)

    def post(self, body: bytes, budget_ms: int, secret: str | None, *, decisions: int = 1, age_s: int = 0) -> Heard:
        """POST a message, signed with `secret` if there is one, as if that had been done `age_s` seconds ago."""
        headers = {"Content-Type": "application/json"}
        if secret is not None:
            headers |= signing.sign(self._new_id(), int(self._now()) - age_s, body, [secret])
        limit = messages.MAX_REPLY_BYTES + decisions * messages.MAX_REPLY_BYTES_PER_DECISION
        return self._send("POST", body, budget_ms, headers, limit)

    def _send(self, method: str, body: bytes, budget_ms: int, headers: dict[str, str], limit: int) -> Heard:
        start = self._clock()
        until = start + budget_ms / 1000
        try:
            heard = self._exchange(method, body, headers, until, limit)
        except requests.Timeout:
            heard = Heard(Outcome.LATE, 0.0)
        except (requests.ConnectionError, HTTPError) as error:
            heard = _broke(error)
        except (requests.RequestException, ValueError) as error:
            heard = Heard(Outcome.BAD_REPLY, 0.0, error=f"expected an HTTP answer: {error}")
        ms = 1000 * (self._clock() - start)
        if ms >= budget_ms:
            heard = Heard(Outcome.LATE, ms, heard.status, f"no whole answer within {budget_ms} ms")
        return replace(heard, ms=ms)

    def _exchange(self, method: str, body: bytes, headers: dict[str, str], until: float, limit: int) -> Heard:
        with self._open(method, body, headers, until) as response:
            got = self._body(response, until, limit)
        status = response.status_code
        if status != HTTPStatus.OK:
            return Heard(Outcome.BAD_STATUS, 0.0, status, f"status {status}: {got[:200].decode(errors='replace')}")
        if len(got) > limit:
            return Heard(Outcome.BAD_REPLY, 0.0, status, f"expected at most {limit} bytes, got more")
        kind = response.headers.get("Content-Type", "")
        if kind.partition(";")[0].strip().lower() != "application/json":
            return Heard(Outcome.BAD_REPLY, 0.0, status, f"expected application/json, got {kind!r:.80}")
        return Heard(Outcome.OK, 0.0, status, None, got)

    def _open(self, method: str, body: bytes, headers: dict[str, str], until: float) -> requests.Response:
        """Send, and wait for the head of an answer; once more on a fresh connection if the kept one has gone."""
        for tries_left in (1, 0):
            try:
                return self._session.request(
                    method,
                    self.url,
                    data=body,
                    headers=headers,
                    timeout=max(until - self._clock(), 0.001),
                    allow_redirects=False,
                    stream=True,
                )
            except requests.Timeout:
                raise
            except requests.ConnectionError:
                if not tries_left:
                    raise
        raise AssertionError

    def _body(self, response: requests.Response, until: float, limit: int) -> bytes:
        """Read the body as it comes in, so that a dripping one meets the deadline; stops there, or over the limit."""
        got = bytearray()
        while chunk := response.raw.read1(_CHUNK, decode_content=True):
            got += chunk
            if len(got) > limit or self._clock() > until:
                break
        return bytes(got)


def _broke(error: Exception) -> Heard:
    """Tell a connection that broke from one where somebody speaks another language."""
    causes = [error, *error.args, *(inner for cause in error.args for inner in getattr(cause, "args", ()))]
    if any(isinstance(cause, ReadTimeoutError) for cause in causes):
        return Heard(Outcome.LATE, 0.0)
    spoke = any(isinstance(cause, BadStatusLine) and not isinstance(cause, RemoteDisconnected) for cause in causes)
    if spoke or isinstance(error, ProtocolError):
        return Heard(Outcome.BAD_REPLY, 0.0, error=f"expected a whole HTTP answer: {error}")
    return Heard(Outcome.UNREACHABLE, 0.0, error=f"no connection: {reason(error)}")


@dataclass(frozen=True, slots=True)
class AtUrl:
    """A bot at a URL as a player of an offline match (`bot_sdk.local.Player`)."""

    remote: Remote
    secret: str | None
    shown: SeatShown

    def ask(self, decision: messages.Decision, /) -> Answered:
        """Ask for one decision over HTTP."""
        heard = self.remote.post(messages.encode(decision), decision.budget_ms, self.secret)
        if heard.outcome is not Outcome.OK:
            return Answered(heard.outcome, heard.ms)
        try:
            action, note = read_action(heard.body or b"", decision.decision_id)
        except BadReply:
            return Answered(Outcome.BAD_REPLY, heard.ms)
        return Answered(Outcome.OK, heard.ms, action, note)

    def notify(self, message: messages.GameStarted | messages.GameEnded, /) -> None:
        """Tell the bot; whatever it answers will do."""
        self.remote.post(messages.encode(message), messages.BUDGET_MS, self.secret)


def at_url(url: str, *, secret: str | None) -> tuple[AtUrl, list[str]]:
    """Make a player of the bot at a URL, and list the rulesets on its card.

    Raises `RemoteError`, or `BadReply` if it shows no card.
    """
    remote = Remote(url)
    card = card_in(remote)
    return AtUrl(remote, secret, SeatShown(card.name, "bot", None, card.version)), card.known
