"""What a run knows of the bots it asks: where they may be called and how that is signed, as it was a moment ago."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Final

from service.outbound.values import Endpoint
from service.referee.suspending import is_gone
from service.store.bots import BotStore
from service.store.entities import BotState, Transport, transport_of
from service.store.errors import NotFoundError

KNOWN_FOR_S: Final = 1.0
"""How long a bot's secrets and state are taken as they were read."""


@dataclass(frozen=True, slots=True)
class Known:
    """What was read of a bot. `gone_url`: where it has asked not to be called; `endpoints` by the URLs of its seats."""

    is_disabled: bool
    url: str = ""
    gone_url: str | None = None
    secrets: tuple[str, ...] = field(default=(), repr=False)
    endpoints: dict[str, Endpoint] = field(default_factory=dict, repr=False)


def endpoint_of(bot_id: str, url: str, secrets: tuple[str, ...]) -> Endpoint:
    """Say how a bot is called at a URL, or at `PULL`."""
    return Endpoint(bot_id, url, secrets, is_pull=transport_of(url) is Transport.PULL)


class Roster:
    """Knows bots by their ids; not for several threads. `now` is Unix time in milliseconds.

    What is known ages by `monotonic` (s), so that it doesn't stay known when a clock is set back; it only does so when
    `refresh` is called.
    """

    def __init__(self, bots: BotStore, now: Callable[[], int], monotonic: Callable[[], float] = monotonic) -> None:
        """Keep where bots are kept."""
        self._bots = bots
        self._now = now
        self._monotonic = monotonic
        self._known: dict[str, Known] = {}
        self._read_since = 0.0

    def refresh(self) -> None:
        """Forget what was read too long ago."""
        now = self._monotonic()
        if now - self._read_since > KNOWN_FOR_S:
            self._read_since = now
            self._known.clear()

    def meet(self, bot_ids: Iterable[str]) -> None:
        """Read what isn't known of these bots, so that nothing need be read until the next `refresh`."""
        for bot_id in bot_ids:
            if bot_id not in self._known:
                self._known[bot_id] = self._read(bot_id)

    def look_up(self, bot_id: str) -> Known:
        """Give what is known of a bot; one that was deleted counts as disabled, and has no secrets."""
        known = self._known.get(bot_id)
        if known is None:
            known = self._known[bot_id] = self._read(bot_id)
        return known

    def endpoint(self, bot_id: str, url: str) -> Endpoint:
        """Say how a bot is called at the URL of one of its seats."""
        known = self.look_up(bot_id)
        found = known.endpoints.get(url)
        if found is None:
            found = known.endpoints[url] = endpoint_of(bot_id, url, known.secrets)
        return found

    def gone(self, bot_id: str, url: str | None) -> None:
        """Hear that a bot has just asked at this URL not to be called, before the store knows."""
        self._known[bot_id] = replace(self.look_up(bot_id), gone_url=url)

    def _read(self, bot_id: str) -> Known:
        bot = self._bots.get(bot_id)
        try:
            secrets = self._bots.secrets(bot_id, self._now()) if bot else ()
        except NotFoundError:  # deleted meanwhile
            secrets = ()
        is_disabled = bot is None or not secrets or bot.state is BotState.DISABLED
        url = bot.url if bot else ""
        return Known(is_disabled, url, url if bot and is_gone(bot) else None, secrets)
