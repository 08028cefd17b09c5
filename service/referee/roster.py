"""What a run knows of the bots it asks: where they may be called and how that is signed, as it was a moment ago."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Final

from service.referee.suspending import is_gone
from service.store.bots import BotStore
from service.store.entities import BotState
from service.store.errors import NotFoundError

KNOWN_FOR_S: Final = 1.0
"""How long a bot's secrets and state are taken as they were read."""


@dataclass(frozen=True, slots=True)
class Known:
    """What was read of a bot `at` a monotonic second. `gone_url`: where it has asked not to be called."""

    at: float
    is_disabled: bool
    gone_url: str | None = None
    secrets: tuple[str, ...] = field(default=(), repr=False)


class Roster:
    """Knows bots by their ids; not for several threads. `now` is Unix time in milliseconds.

    What is known of a bot ages by `monotonic` (s), so that it doesn't stay known when a clock is set back.
    """

    def __init__(self, bots: BotStore, now: Callable[[], int], monotonic: Callable[[], float] = monotonic) -> None:
        """Keep where bots are kept."""
        self._bots = bots
        self._now = now
        self._monotonic = monotonic
        self._known: dict[str, Known] = {}

    def look_up(self, bot_id: str) -> Known:
        """Give what is known of a bot; one that was deleted counts as disabled, and has no secrets."""
        at, known = self._monotonic(), self._known.get(bot_id)
        if known is None or at - known.at > KNOWN_FOR_S:
            known = self._known[bot_id] = self._read(bot_id, at)
        return known

    def gone(self, bot_id: str, url: str | None) -> None:
        """Hear that a bot has just asked at this URL not to be called, before the store knows."""
        self._known[bot_id] = replace(self.look_up(bot_id), at=self._monotonic(), gone_url=url)

    def _read(self, bot_id: str, at: float) -> Known:
        bot = self._bots.get(bot_id)
        try:
            secrets = self._bots.secrets(bot_id, self._now()) if bot else ()
        except NotFoundError:  # deleted meanwhile
            secrets = ()
        is_disabled = bot is None or not secrets or bot.state is BotState.DISABLED
        return Known(at, is_disabled, bot.url if bot and is_gone(bot) else None, secrets)
