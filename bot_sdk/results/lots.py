"""Drawing lots: an order among bots that nobody chose and everybody can recompute."""

from __future__ import annotations

from hashlib import sha256


def lot(seed: int, bot_id: str) -> bytes:
    """Return the lot of a bot: SHA256 of the seed in decimal, a NUL and the id; the lowest comes first.

    It depends on nothing else, so the order of two bots doesn't change when a third comes or goes.
    """
    return sha256(f"{seed}\0{bot_id}".encode()).digest()
