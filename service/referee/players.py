"""Those who sit at the tables: house bots, asked here in the worker, and registered bots, reached at their URLs."""

from __future__ import annotations

import hmac
import logging
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from time import monotonic, perf_counter
from typing import Final

from bot_sdk.bots import house
from bot_sdk.events import Outcome, RetiredBecause
from service.outbound.values import Endpoint
from service.referee.asking import Asking
from service.referee.suspending import is_gone
from service.referee.table import Table
from service.referee.verdicts import Verdict
from service.store.bots import BotStore
from service.store.entities import BotState
from service.store.errors import NotFoundError

logger: Final = logging.getLogger(__name__)

KNOWN_FOR_S: Final = 1.0
"""How long a bot's secrets and state are taken as they were read."""


@dataclass(frozen=True, slots=True)
class _Known:
    """What was read of a bot `at` a monotonic second. `gone_url`: where it has asked not to be called."""

    at: float
    is_disabled: bool
    gone_url: str | None = None
    secrets: tuple[str, ...] = field(default=(), repr=False)


class Players:
    """All players but people. `now` is Unix time in milliseconds; not for several threads.

    `key` is a secret of the arena's: without it anybody could draw what a house bot draws. What is known of a bot ages
    by `monotonic` (s), so that it doesn't stay known when a clock is set back.
    """

    def __init__(
        self,
        bots: BotStore,
        now: Callable[[], int],
        key: Callable[[], bytes],
        monotonic: Callable[[], float] = monotonic,
    ) -> None:
        """Keep where bots are kept."""
        self._bots = bots
        self._now = now
        self._key = key
        self._monotonic = monotonic
        self._known: dict[str, _Known] = {}

    def decide(self, table: Table, seat: int) -> Verdict:
        """Let a house bot decide. Its breaking is our fault, never the seat's."""
        bot_id = table.meta.seats[seat].bot_id
        key = hmac.digest(self._key(), b"draws of house bots", "sha256").hex()
        began = perf_counter()
        try:
            reply = house(bot_id or "").answer(table.decision(seat), key)
        except Exception as error:  # a house bot that breaks is our fault, never the seat's
            logger.exception("%s broke", bot_id)
            return Verdict(Outcome.OUR_FAULT, 0.0, error=f"{bot_id} broke: {type(error).__name__}")
        ms = (perf_counter() - began) * 1000
        return Verdict(Outcome.OK, ms, reply.action, reply.note)

    def asking(self, table: Table, seat: int) -> Asking:
        """Say how a bot's seat is asked for the decision it owes: where it was when the game was made."""
        shown = table.meta.seats[seat]
        bot_id = shown.bot_id or ""
        endpoint = Endpoint(bot_id, shown.url or "", self._look_up(bot_id).secrets)
        return Asking(table.id, table.decision(seat), endpoint, shown.max_batch)

    def why_out(self, table: Table, seat: int) -> RetiredBecause | None:
        """Say why a bot's seat isn't to be asked any more, None if it is.

        The operator has disabled the bot, or its owner has deleted it, since the game was made; or it has asked at this
        seat's URL not to be called.
        """
        shown = table.meta.seats[seat]
        known = self._look_up(shown.bot_id or "")
        if known.is_disabled:
            return RetiredBecause.DISABLED
        return RetiredBecause.LEFT if known.gone_url is not None and known.gone_url == shown.url else None

    def gone(self, table: Table, seat: int) -> None:
        """Hear that a seat has just asked not to be called, before the store knows."""
        shown = table.meta.seats[seat]
        bot_id = shown.bot_id or ""
        self._known[bot_id] = replace(self._look_up(bot_id), at=self._monotonic(), gone_url=shown.url)

    def _look_up(self, bot_id: str) -> _Known:
        at, known = self._monotonic(), self._known.get(bot_id)
        if known is None or at - known.at > KNOWN_FOR_S:
            known = self._known[bot_id] = self._read(bot_id, at)
        return known

    def _read(self, bot_id: str, at: float) -> _Known:
        bot = self._bots.get(bot_id)
        if bot is None or bot.state is BotState.DISABLED:
            return _Known(at, is_disabled=True)
        try:
            secrets = self._bots.secrets(bot_id, self._now())
        except NotFoundError:
            return _Known(at, is_disabled=True)
        return _Known(at, is_disabled=False, gone_url=bot.url if is_gone(bot) else None, secrets=secrets)
