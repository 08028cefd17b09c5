"""Ids and secrets of what one request creates.

A `Mint` is made per creating request. What it mints follows from the arena key and the request's own seed, so that
a retry under the same Idempotency-Key finds the thing its first try made and shows the same secrets, although the
store keeps only their hashes. Without such a key the seed is random.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from typing import NamedTuple

ID_LENGTH = 26
"""Base32 characters after an id's prefix: 130 bits."""
ACCOUNT_TOKEN = "slt_"  # noqa: S105 (a prefix)
SEAT_TOKEN = "sst_"  # noqa: S105 (a prefix)
BOT_SECRET = "whsec_"  # noqa: S105 (a prefix)


class Minted(NamedTuple):
    """A secret and the two words it follows from."""

    secret: str
    prefix: str
    purpose: str


class Mint:
    """Makes the ids and secrets of one request; see the module."""

    def __init__(self, arena_key: bytes, seed: bytes) -> None:
        self._key = hmac.digest(arena_key, b"mint\0" + seed, "sha256")
        self.minted: list[Minted] = []

    def id(self, prefix: str) -> str:
        """Return the id with that prefix, such as `acc_`; a request has one of each prefix."""
        return prefix + short(hmac.digest(self._key, b"id\0" + prefix.encode(), "sha256"))

    def secret(self, prefix: str, purpose: str) -> str:
        """Return a secret of 256 bits for that purpose, such as `seat 2`, and remember that it was shown.

        Tokens are base64url without padding; what follows `whsec_` is plain base64, as Standard Webhooks wants it.
        """
        raw = hmac.digest(self._key, f"secret\0{prefix}\0{purpose}".encode(), "sha256")
        text = base64.b64encode(raw) if prefix == BOT_SECRET else base64.urlsafe_b64encode(raw).rstrip(b"=")
        minted = Minted(prefix + text.decode(), prefix, purpose)
        self.minted.append(minted)
        return minted.secret


def short(digest: bytes) -> str:
    """Write a digest as the 26 lower-case base32 characters that our ids end in."""
    return base64.b32encode(digest).decode().lower()[:ID_LENGTH]


def token_hash(token: str) -> str:
    """Return the SHA-256 of a token in hex: all that the store keeps of it."""
    return hashlib.sha256(token.encode()).hexdigest()
