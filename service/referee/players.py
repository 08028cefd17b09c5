"""Those who sit at the tables: house bots, asked here in the worker, and registered bots, reached at their URLs.

House bots that think are asked as registered ones are, but for the way that their calls take (`thinking`).
"""

from __future__ import annotations

import hmac
import logging
from collections.abc import Callable
from functools import cached_property
from time import perf_counter
from typing import Final

from bot_sdk.bots import THINKING, house
from bot_sdk.events import Outcome, RetiredBecause
from service.outbound.values import Endpoint
from service.referee.asking import Asking
from service.referee.roster import Roster
from service.referee.table import BOT, Table
from service.referee.verdicts import Verdict

logger: Final = logging.getLogger(__name__)


class Players:
    """All players but people; not for several threads.

    `key` is a secret of the arena's: without it anybody could draw what a house bot draws.
    """

    def __init__(self, roster: Roster, key: Callable[[], bytes]) -> None:
        """Keep what is known of bots."""
        self._roster = roster
        self._key = key

    def decide(self, table: Table, seat: int) -> Verdict:
        """Let a house bot decide. Its breaking is our fault, never the seat's."""
        bot_id = table.meta.seats[seat].bot_id
        began = perf_counter()
        try:
            reply = house(bot_id or "").answer(table.decision(seat), self._draws)
        except Exception as error:  # a house bot that breaks is our fault, never the seat's
            logger.exception("%s broke", bot_id, extra={"game_id": table.meta.id, "bot_id": bot_id})
            return Verdict(Outcome.OUR_FAULT, 0.0, error=f"{bot_id} broke: {type(error).__name__}")
        ms = (perf_counter() - began) * 1000
        return Verdict(Outcome.OK, ms, reply.action, reply.note)

    @cached_property
    def _draws(self) -> str:
        """What goes into the draws of house bots."""
        return hmac.digest(self._key(), b"draws of house bots", "sha256").hex()

    def is_asked(self, table: Table, seat: int) -> bool:
        """Whether a seat other than a person's is asked by a line; `decide` is for the others."""
        shown = table.meta.seats[seat]
        return shown.kind == BOT or shown.bot_id in THINKING

    def refresh(self) -> None:
        """Take nothing for known any more that was read too long ago."""
        self._roster.refresh()

    def meet(self, table: Table) -> None:
        """Read what must be known of a table's bots; until the next `refresh` the store isn't asked for more."""
        self._key()
        self._roster.meet(table.bots)

    def asking(self, table: Table, seat: int) -> Asking:
        """Say how a bot's seat is asked for the decision it owes: where it was when the game was made.

        A house bot has no URL, and for a secret what goes into its draws.
        """
        shown = table.meta.seats[seat]
        if shown.kind != BOT:
            return Asking(table.id, table.request(seat), Endpoint(shown.bot_id or "", "", (self._draws,)))
        endpoint = self._roster.endpoint(shown.bot_id or "", shown.url or "")
        return Asking(table.id, table.request(seat), endpoint, shown.max_batch)

    def why_out(self, table: Table, seat: int) -> RetiredBecause | None:
        """Say why a bot's seat isn't to be asked any more, None if it is.

        The operator has disabled the bot, or its owner has deleted it, since the game was made; or it has asked at this
        seat's URL not to be called.
        """
        shown = table.meta.seats[seat]
        known = self._roster.look_up(shown.bot_id or "")
        if known.is_disabled:
            return RetiredBecause.DISABLED
        return RetiredBecause.LEFT if known.gone_url is not None and known.gone_url == shown.url else None

    def gone(self, table: Table, seat: int) -> None:
        """Hear that a seat has just asked not to be called, before the store knows."""
        shown = table.meta.seats[seat]
        self._roster.gone(shown.bot_id or "", shown.url)
