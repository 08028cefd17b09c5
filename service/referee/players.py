"""Those who sit at the tables: house bots, asked here in the worker, and registered bots, reached at their URLs."""

from __future__ import annotations

import hmac
import logging
from collections.abc import Callable
from time import perf_counter
from typing import Final

from bot_sdk.bots import house
from bot_sdk.events import Outcome
from service.outbound.values import Endpoint
from service.referee.asking import Asking
from service.referee.table import Table
from service.referee.verdicts import Verdict
from service.store.bots import BotStore
from service.store.entities import BotState
from service.store.errors import NotFoundError

logger: Final = logging.getLogger(__name__)

KNOWN_FOR_MS: Final = 1_000
"""How long a bot's secrets and state are taken as they were read."""


class Players:
    """All players but people. `now` is Unix time in milliseconds; not for several threads.

    `key` is a secret of the arena's: without it anybody could draw what a house bot draws.
    """

    def __init__(self, bots: BotStore, now: Callable[[], int], key: Callable[[], bytes]) -> None:
        """Keep where bots are kept."""
        self._bots = bots
        self._now = now
        self._key = key
        self._known: dict[str, tuple[int, bool, tuple[str, ...]]] = {}

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
        _, secrets = self._look_up(bot_id)
        endpoint = Endpoint(bot_id, shown.url or "", secrets)
        return Asking(table.id, table.decision(seat), endpoint, shown.max_batch)

    def is_disabled(self, table: Table, seat: int) -> bool:
        """Whether the operator has disabled the bot, or its owner has deleted it, since the game was made."""
        is_disabled, _ = self._look_up(table.meta.seats[seat].bot_id or "")
        return is_disabled

    def _look_up(self, bot_id: str) -> tuple[bool, tuple[str, ...]]:
        now = self._now()
        known = self._known.get(bot_id)
        if known is None or now - known[0] > KNOWN_FOR_MS:
            known = (now, *self._read(bot_id, now))
            self._known[bot_id] = known
        return known[1:]

    def _read(self, bot_id: str, now: int) -> tuple[bool, tuple[str, ...]]:
        bot = self._bots.get(bot_id)
        if bot is None or bot.state is BotState.DISABLED:
            return True, ()
        try:
            return False, self._bots.secrets(bot_id, now)
        except NotFoundError:
            return True, ()
