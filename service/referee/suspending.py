"""Suspends bots: those retired from too many of their last games, and those that ask not to be called.

Whoever calls may do so again after a crash, and several processes at once: a bot is suspended once, by what it did
since it became active. That the arena looks after its health is in `due` before the caller goes on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from msgspec.structs import replace

from service.store import due
from service.store.bots import BotStore
from service.store.due import Due
from service.store.entities import Bot, BotState, Suspension
from service.store.errors import NotFoundError
from service.store.ledger import Ending, Ledger

GONE: Final = 410
"""The status by which a bot asks not to be called."""
LAST_GAMES: Final = 5
MOST_RETIRED: Final = 2
"""Retired from more of its last games than this, a bot is suspended."""
ENDINGS_READ: Final = 50
GONE_REASON: Final = (
    "it answered 410 Gone, and so asked not to be called; a check that its owner asks for makes it active again"
)


class Suspending:
    """Suspends the bots of a store."""

    def __init__(self, bots: BotStore, ledger: Ledger, due: Due) -> None:
        """Keep what it works with."""
        self._bots = bots
        self._ledger = ledger
        self._due = due

    def retired(self, bot_id: str) -> None:
        """Look at a bot that was retired from a game, whose ending stands in the ledger by now."""
        endings = self._ledger.endings(bot_id, limit=ENDINGS_READ)
        now = self._due.now()
        self._change(bot_id, lambda bot: failing(bot, endings, now))

    def gone(self, bot_id: str, url: str, game_id: str) -> None:
        """Suspend a bot whose `url` has answered a decision of this game with 410."""
        now = self._due.now()
        self._change(bot_id, lambda bot: gone(bot, url, game_id, now))

    def _change(self, bot_id: str, edit: Callable[[Bot], Bot]) -> None:
        try:
            bot = self._bots.change(bot_id, edit)
        except NotFoundError:  # deleted meanwhile
            return
        if bot.suspension is not None and not bot.suspension.is_gone:
            self._due.begin(due.health(bot_id), bot.suspension.since)


def failing(bot: Bot, endings: Sequence[Ending], now: int) -> Bot:
    """Give an active bot suspended if it was retired from three of its last five games since it became active.

    `endings` are newest first. Games it forfeited, and those of others under harsh limits, aren't counted, nor are
    those that began before it became active, whenever they ended.
    """
    since = bot.activated_at or 0
    last = [each for each in endings if not (each.forfeited or each.is_harsh) and each.began >= since][:LAST_GAMES]
    games = [each.game_id for each in last if each.retired]
    if bot.state is not BotState.ACTIVE or len(games) <= MOST_RETIRED:
        return bot
    reason = (
        f"retired from {len(games)} of its last {len(last)} games; the arena checks it from time to time, and two good "
        "checks in a row, or one that its owner asks for, make it active again"
    )
    return replace(bot, state=BotState.SUSPENDED, reason=reason, suspension=Suspension(since=now, games=games))


def gone(bot: Bot, url: str, game_id: str, now: int) -> Bot:
    """Give a bot suspended until its owner asks for a check, whatever else it was, unless the operator has disabled it.

    One that has moved from that URL stays as it is.
    """
    if bot.state is BotState.DISABLED or is_gone(bot) or bot.url != url:
        return bot
    suspension = Suspension(since=now, games=[game_id], is_gone=True)
    return replace(bot, state=BotState.SUSPENDED, reason=GONE_REASON, suspension=suspension)


def is_gone(bot: Bot) -> bool:
    """Whether the bot has asked not to be called."""
    return bot.suspension is not None and bot.suspension.is_gone
