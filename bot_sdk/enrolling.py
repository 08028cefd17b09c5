"""What ``slagbot connect`` does before it fetches calls: an account if there is none yet, the bot, its check."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from bot_sdk.answers import BotView
from bot_sdk.client import Arena
from bot_sdk.messages import BotCard
from bot_sdk.registering import NewAccount, Registered, checked, enter, make_account


class Enrolled(Struct, frozen=True):
    """A bot of an arena that will fetch its calls; `token` is there if an account was made for it.

    One that `needs_check` plays only once that is passed, and the check only gets to it while it is connected.
    """

    bot_id: str
    name: str
    rulesets: list[str]
    state: str
    needs_check: bool
    token: str | None = None


def enrol(
    arena: Arena,
    card: BotCard,
    secret: str,
    *,
    name: str | None,
    new_account: NewAccount,
    tell: Callable[[str], None],
) -> Enrolled:
    """Register a bot that fetches its calls; one of mine with that name is brought up to date instead.

    Raises `ArenaError` where the arena refuses.
    """
    name = name or card.name
    token = None if arena.token else make_account(arena, new_account.name or name, new_account.invite_code, tell)
    bot = enter(arena, name, None, card.known, secret)
    return Enrolled(bot.id, name, card.known, bot.state, _needs_check(bot, card), token)


def check(arena: Arena, bot: Enrolled) -> Registered:
    """Have a bot checked that is connected; raises `ArenaError`."""
    return checked(arena, bot.bot_id, name=bot.name, url=None, rulesets=bot.rulesets, token=bot.token)


def _needs_check(bot: BotView, card: BotCard) -> bool:
    """Whether the arena doesn't yet know a bot as it is; one that its owner has paused isn't made active by that."""
    if bot.state == "paused":
        return False
    is_known = (bot.version, bot.max_batch, bot.max_games) == (card.version, card.max_batch, card.max_games)
    return bot.state != "active" or bot.transport != "pull" or not is_known
