"""Who may sit where: seats made from an order, or from a bot as it is now."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from bot_sdk.bots import HOUSE, PREFIX, house
from bot_sdk.games.registry import Ruleset
from service.arena.caller import Caller
from service.arena.errors import invalid
from service.referee.table import BOT, HUMAN, OPEN
from service.referee.table import HOUSE as HOUSE_KIND
from service.store.entities import Bot, BotState, Seat

OPEN_SEAT: Final = Seat(kind=OPEN, name="open")


def check_bot(caller: Caller, bot: Bot | None, rules: Ruleset, field: str) -> None:
    """Raise InvalidError unless the caller may seat this bot, and it plays now, by these rules."""
    hidden = bot is not None and bot.availability == "private" and not caller.owns(bot.account_id)
    if bot is None or hidden:
        raise invalid(field, "there is no such bot", code="no_such_bot")
    if bot.availability == "tournaments" and not caller.owns(bot.account_id):
        raise invalid(field, f"{bot.name} plays in tournaments only", code="bot_unavailable")
    if bot.state is not BotState.ACTIVE:
        raise invalid(field, not_active(bot, caller), code="bot_unavailable")
    if rules.name not in bot.rulesets:
        raise invalid(field, f"{bot.name} doesn't play {rules.name}", code="bot_unavailable")


def not_active(bot: Bot, caller: Caller) -> str:
    """Say that a bot doesn't play now; to its owner also why."""
    said = f"expected an active bot, {bot.name} is {bot.state.value}"
    return f"{said}: {bot.reason}" if bot.reason and caller.owns(bot.account_id) else said


def seated(number: int, shown: Mapping[str, Any], bots: Mapping[str, Bot], account_id: str | None) -> Seat:
    """Make seat `number` as an account ordered it; `bots` holds the registered ones of the order by id."""
    kind = shown["kind"]
    if kind == BOT:
        return bot_seat(bots[shown["bot_id"]])
    if kind == HOUSE_KIND:
        return house_seat(shown["name"], f"seats.{number}.name")
    if kind == OPEN:
        return OPEN_SEAT
    return Seat(kind=HUMAN, name=shown.get("name") or "somebody", account_id=account_id)


def bot_seat(bot: Bot) -> Seat:
    """Pin a bot to a seat as it is now."""
    return Seat(
        kind=BOT,
        name=bot.name,
        bot_id=bot.id,
        version=bot.version,
        url=bot.url,
        account_id=bot.account_id,
        max_batch=bot.max_batch,
    )


def house_seat(name: str, field: str = "seats") -> Seat:
    """Seat a house bot by its name, such as ``greedy``; raises InvalidError for one that isn't there."""
    bot_id = PREFIX + name
    if bot_id not in HOUSE:
        known = ", ".join(each.removeprefix(PREFIX) for each in HOUSE)
        raise invalid(field, f"expected a house bot among {known}, got {name!r:.80}", code="no_such_bot")
    return Seat(kind=HOUSE_KIND, name=name, bot_id=bot_id, version=house(bot_id).version)
