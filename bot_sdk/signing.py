"""Signatures on what the arena sends to bots: the scheme of Standard Webhooks, both ends of it.

A secret is ``whsec_`` and the base64 of 24 to 64 random bytes. What a bot verifies is what `standardwebhooks`
makes of the message. The arena signs by the same scheme in one `hmac.digest`, since it signs every call, and
since the package signs a wrong second for aware times outside UTC. The package's own `verify` isn't used: it
reads the system clock, and answers a signature without a comma, or bad base64, with a bare `ValueError`.

Knows no HTTP library and no clock: times come in as Unix seconds.
"""

from __future__ import annotations

import base64
import binascii
import hmac
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache

from standardwebhooks import Webhook

from bot_sdk.errors import SdkError

PREFIX = "whsec_"
TOLERANCE_S = 300
_KEY_SIZES = range(24, 65)


class SigningError(SdkError, ValueError):
    """A secret that is none, or a message that isn't signed as it should be."""


def make_secret(random: bytes) -> str:
    """Make a secret of random bytes: 24 to 64 of them, from the operating system's generator."""
    if len(random) not in _KEY_SIZES:
        raise SigningError(f"expected 24 to 64 random bytes, got {len(random)}")
    return PREFIX + base64.b64encode(random).decode()


def check_secret(secret: str) -> None:
    """Raise `SigningError` unless this is a secret; the message doesn't show it."""
    _key(secret)


def sign(webhook_id: str, timestamp: int, body: bytes, secrets: Sequence[str]) -> dict[str, str]:
    """Give the three headers that sign `body`; with two secrets, during a rotation, two signatures.

    `timestamp` is in Unix seconds. The id of a retry is the id of the first try.
    """
    if not secrets:
        raise SigningError("expected at least one secret")
    _check_id(webhook_id)
    message = b"%b.%d.%b" % (webhook_id.encode(), timestamp, body)
    return {
        "webhook-id": webhook_id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": " ".join(_signature(_key(secret), message) for secret in secrets),
    }


def verify(
    headers: Mapping[str, str],
    body: bytes,
    secrets: Iterable[str],
    *,
    now: float,
    tolerance: float = TOLERANCE_S,
) -> str:
    """Return the id of a message signed with one of `secrets`, not over `tolerance` seconds away from `now`.

    Header names may have any case. Raises `SigningError` for everything else, whatever the headers hold.
    Whether the id was seen before isn't checked: a retry repeats it.
    """
    webhook_id, timestamp, signatures = _signed_headers(headers)
    _check_id(webhook_id)
    signed_at = _time(timestamp, now, tolerance)
    given = [sent.encode(errors="replace") for sent in signatures.split(" ") if sent.startswith("v1,")]
    matches = False
    for secret in secrets:
        made = _webhook(secret).sign(webhook_id, signed_at, _text(body)).encode()
        for sent in given:  # all are compared, so that the time taken tells nothing
            matches |= hmac.compare_digest(made, sent)
    if not matches:
        raise SigningError("no signature fits: expected one made with this bot's secret")
    return webhook_id


def proof(secret: str, bot_id: str, challenge: str) -> str:
    """Answer a challenge: hex HMAC-SHA256 of ``bot_id.challenge`` (docs/contract.md, challenge)."""
    return hmac.digest(_key(secret), f"{bot_id}.{challenge}".encode(), "sha256").hex()


def is_proof(given: str, secret: str, bot_id: str, challenge: str) -> bool:
    """Whether `given` is the `proof` that only a holder of the secret can make; in constant time."""
    return hmac.compare_digest(given.encode(errors="replace"), proof(secret, bot_id, challenge).encode())


@lru_cache(maxsize=4096)
def _key(secret: str) -> bytes:
    """Decode a secret strictly: `standardwebhooks` alone would skip every character that isn't base64."""
    encoded = secret.removeprefix(PREFIX)
    if encoded == secret:
        raise SigningError("expected a secret that begins with whsec_")
    try:
        key = base64.b64decode(encoded + "=" * (-len(encoded) % 4), validate=True)
    except (binascii.Error, ValueError):
        raise SigningError("expected base64 after whsec_") from None
    if len(key) not in _KEY_SIZES:
        raise SigningError(f"expected a secret of 24 to 64 bytes, got {len(key)}")
    return key


@lru_cache(maxsize=64)
def _webhook(secret: str) -> Webhook:
    return Webhook(_key(secret))


def _check_id(webhook_id: str) -> None:
    if not (webhook_id.isascii() and webhook_id.isprintable()) or " " in webhook_id or not webhook_id:
        raise SigningError("expected a webhook-id of printable ascii characters")


def _signature(key: bytes, message: bytes) -> str:
    return "v1," + base64.b64encode(hmac.digest(key, message, "sha256")).decode()


def _signed_headers(headers: Mapping[str, str]) -> tuple[str, str, str]:
    lower = {name.lower(): value for name, value in headers.items()}
    try:
        return lower["webhook-id"], lower["webhook-timestamp"], lower["webhook-signature"]
    except KeyError as missing:
        raise SigningError(f"expected a header {missing.args[0]}") from None


def _time(timestamp: str, now: float, tolerance: float) -> datetime:
    if not (timestamp.isascii() and timestamp.isdigit() and len(timestamp) <= 11):
        raise SigningError("expected a webhook-timestamp in unix seconds")
    if abs(now - int(timestamp)) > tolerance:
        raise SigningError(f"expected a webhook-timestamp within {tolerance:g} s of now, check the clock")
    return datetime.fromtimestamp(int(timestamp), UTC)


def _text(body: bytes) -> str:
    try:
        return body.decode()
    except UnicodeDecodeError:
        raise SigningError("expected a body in utf-8") from None
