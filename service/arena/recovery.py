"""What a passed or failed check makes of a bot: pending and suspended ones become active, by rules that are pure.

The arena checks suspended bots itself. A bot's `Suspension` says how far that has come; the id of the next check
follows from it, so that whoever looks, however often, asks for the same one, and none counts twice.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Final

from msgspec.structs import replace

from bot_sdk.messages import BotCard
from service.arena.minting import short
from service.referee.suspending import GONE_REASON
from service.store.entities import Bot, BotState, Check, Suspension

GOOD_NEEDED: Final = 2
"""So many good checks of the arena in a row bring a bot back."""
LONGEST_PAUSE: Final = 60
"""Pauses between them double from the first one up to so many times it."""
MOST_DOUBLINGS: Final = LONGEST_PAUSE.bit_length()


def activated(bot: Bot, check: Check, card: BotCard, now: int, *, checked: Sequence[str]) -> Bot:
    """Give the bot as a passed check leaves it: active at the URL that was checked, with what its card says.

    A bot that the operator has disabled, whose URL has changed since, or that claims more than the rulesets `checked`
    by now, is left as it is.
    """
    if bot.state is BotState.DISABLED or check.url not in {bot.url, bot.new_url}:
        return bot
    if not set(bot.rulesets) <= set(checked):
        return bot
    return replace(
        bot,
        url=check.url,
        new_url=None if bot.new_url == check.url else bot.new_url,
        state=BotState.ACTIVE,
        reason=None,
        suspension=None,
        version=card.version,
        max_batch=card.max_batch,
        max_games=card.max_games,
        activated_at=now,
    )


def swept(bot: Bot | None) -> Suspension | None:
    """Give the suspension of a bot that the arena checks, None if it doesn't."""
    suspension = bot.suspension if bot is not None and bot.state is BotState.SUSPENDED else None
    return None if suspension is None or suspension.is_gone else suspension


def next_at(suspension: Suspension, pause_ms: int) -> int:
    """Tell when the next check is due (Unix ms): soon after a good one, after ever longer pauses otherwise."""
    doublings = 0 if suspension.good else min(suspension.checks, MOST_DOUBLINGS)
    return (suspension.checked_at or suspension.since) + pause_ms * min(1 << doublings, LONGEST_PAUSE)


def check_id(bot_id: str, suspension: Suspension) -> str:
    """Give the id of a suspension's next check: the same whoever works it out."""
    named = f"{bot_id}/{suspension.since}/{suspension.checks}"
    return "chk_" + short(hashlib.sha256(named.encode()).digest())


def checked(bot: Bot, check: Check, card: BotCard | None, now: int, *, rulesets: Sequence[str], is_gone: bool) -> Bot:
    """Give a suspended bot as a check by the arena leaves it: `card` is there if it passed.

    A check that has counted already, or is of another suspension, changes nothing.
    """
    suspension = swept(bot)
    if suspension is None or check.id != check_id(bot.id, suspension):
        return bot
    good = 0 if card is None else suspension.good + 1
    if card is not None and good >= GOOD_NEEDED:
        well = activated(bot, check, card, now, checked=rulesets)
        if well.state is BotState.ACTIVE:
            return well
    counted = replace(suspension, checks=suspension.checks + 1, good=good, checked_at=now, is_gone=is_gone)
    return replace(bot, reason=GONE_REASON if is_gone else bot.reason, suspension=counted)


def given_up(bot: Bot, before: int) -> Bot:
    """Tell the owner of a bot that was suspended before that Unix ms that the arena checks it no more."""
    suspension = swept(bot)
    if suspension is None or suspension.since > before:
        return bot
    reason = (
        "suspended for so long that the arena checks it no more; a check that its owner asks for makes it active again"
    )
    return replace(bot, reason=reason)
