"""The health of suspended bots: the sweeper has each checked from time to time, for some days.

How far that has come is kept with the bot (`recovery`); what is in `due` only says when to look.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Final

from service.arena.allowance import Allowance
from service.arena.bots import CHECK_MS
from service.arena.errors import TooManyError
from service.arena.queue import Queue
from service.arena.recovery import check_id, given_up, next_at, swept
from service.store import due
from service.store.entities import AskedBy, Bot, Check, Suspension
from service.store.errors import NotFoundError
from service.store.store import Store

GIVEN_UP_MS: Final = 7 * 24 * 3_600_000
"""So long after its suspension a bot is checked no more."""


class Health:
    """Has suspended bots checked, the first time `pause_ms` after their suspension."""

    def __init__(
        self, store: Store, queue: Queue, allowance: Allowance, *, clock: Callable[[], int], pause_ms: int
    ) -> None:
        """Keep what it works with."""
        self._store = store
        self._queue = queue
        self._allowance = allowance
        self._clock = clock
        self._pause_ms = pause_ms

    def look(self, bot_id: str) -> None:
        """Ask for the next check of a suspended bot if its time has come, and say when to look again.

        A check that no worker has ended by then is asked for again.
        """
        bot = self._store.bots.get(bot_id)
        suspension = swept(bot)
        now = self._clock()
        if bot is None or suspension is None:
            self._leave(bot_id)
        elif now >= suspension.since + GIVEN_UP_MS:
            self._give_up(bot_id, now - GIVEN_UP_MS)
        elif now < (at := next_at(suspension, self._pause_ms)):
            self._look_again(bot_id, at)
        else:
            self._look_again(bot_id, now + CHECK_MS)
            self._ask(bot, suspension, now)

    def _look_again(self, bot_id: str, at: int) -> None:
        self._store.due.move({due.health(bot_id): at})

    def _ask(self, bot: Bot, suspension: Suspension, now: int) -> None:
        check = Check(
            id=check_id(bot.id, suspension), bot_id=bot.id, url=bot.url, asked_by=AskedBy.ARENA, created_at=now
        )
        try:
            self._allowance.take_for_arena(check)
        except TooManyError as error:
            self._look_again(bot.id, now + error.retry_after * 1000)
            return
        if self._store.bots.get_check(check.id) is None:
            self._store.bots.create_check(check)
        self._queue.check(check.id)

    def _leave(self, bot_id: str) -> None:
        """Let a bot leave what is due; should it be suspended at this very moment, it stays."""
        self._store.due.drop(due.health(bot_id))
        suspension = swept(self._store.bots.get(bot_id))
        if suspension is not None:
            self._store.due.begin(due.health(bot_id), suspension.since)

    def _give_up(self, bot_id: str, before: int) -> None:
        """Say to a bot's owner that it isn't checked any more, then let it leave what is due."""
        with suppress(NotFoundError):  # deleted meanwhile
            self._store.bots.change(bot_id, lambda bot: given_up(bot, before))
        self._store.due.drop(due.health(bot_id))
