"""What ``slagbot connect`` does besides: an account if there is none yet, the bot, its check, and what comes next."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from bot_sdk.answers import BotView
from bot_sdk.check import Step
from bot_sdk.client import Arena
from bot_sdk.messages import BotCard
from bot_sdk.registering import NewAccount, Registered, make_account
from bot_sdk.registering import report as registered_report
from bot_sdk.reports import steps_text


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
    bot = _bot(arena, name, card, secret)
    return Enrolled(bot.id, name, card.known, bot.state, _needs_check(bot, card), token)


def check(arena: Arena, bot: Enrolled) -> Registered:
    """Have a bot checked that is connected."""
    ended = arena.wait_for_check(bot.bot_id, arena.start_check(bot.bot_id).id)
    return Registered(
        bot_id=bot.bot_id,
        name=bot.name,
        url="",
        rulesets=bot.rulesets,
        state=arena.bot(bot.bot_id).state,
        check=ended.state,
        steps=[Step(step.name, step.ok, step.detail or "", step.ms or 0.0) for step in ended.steps],
        token=bot.token,
    )


def report(done: Registered, arena_url: str, file: str) -> str:
    """Say in plain text how the check went and what comes next."""
    if done.active:
        return registered_report(done, arena_url, file)
    lines = [steps_text(done.steps), f"{done.name} ({done.bot_id}): check {done.check}, {done.state}"]
    return "\n".join([*lines, f"\nnext: put it right, see slagbot check {file}, then slagbot connect {file} once more"])


def _bot(arena: Arena, name: str, card: BotCard, secret: str) -> BotView:
    for bot in arena.bots(owner="me"):
        if bot.name == name:
            arena.rotate_secret(bot.id, secret)
            return arena.change_bot(bot.id, transport="pull", rulesets=card.known)
    return arena.create_bot(name, None, card.known, transport="pull", secret=secret)


def _needs_check(bot: BotView, card: BotCard) -> bool:
    """Whether the arena doesn't yet know a bot as it is; one that its owner has paused isn't made active by that."""
    if bot.state == "paused":
        return False
    is_known = (bot.version, bot.max_batch, bot.max_games) == (card.version, card.max_batch, card.max_games)
    return bot.state != "active" or bot.transport != "pull" or not is_known
