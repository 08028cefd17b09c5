"""What is wrong and needs somebody's attention: noted by whoever notices, read by `/health/ready`.

Each alarm has a word that stays what it is, and runs out unless it is noted again. Its detail is public: it names no
path, address or secret.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import msgspec

from service.store import keys
from service.store.documents import encode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from redis import Redis


class Alarm(msgspec.Struct, frozen=True):
    """What is wrong, in words, and the store's time (Unix ms) until which that counts."""

    detail: str
    until: int


_alarm = msgspec.json.Decoder(Alarm).decode


class Alarms:
    """The alarms of all processes; one word has one detail, the last one noted."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    def note(self, word: str, detail: str, *, until: int) -> None:
        """Raise an alarm, or keep it up."""
        self._redis.hset(keys.ALARMS, word, encode(Alarm(detail, until)))

    def clear(self, word: str) -> None:
        """End an alarm; without one nothing happens."""
        self._redis.hdel(keys.ALARMS, word)


def standing(fields: Mapping[bytes, bytes], now: int) -> dict[str, str]:
    """Give the details by word of those alarms, as they are kept, that count at `now`."""
    alarms = {word.decode(): _alarm(kept) for word, kept in cast("dict[bytes, bytes]", fields).items()}
    return {word: alarm.detail for word, alarm in sorted(alarms.items()) if alarm.until > now}
