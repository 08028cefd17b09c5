"""Bots: registering, changing, checking them, and what their owners may know about them."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from bot_sdk.bots import HOUSE, PREFIX, house
from service.arena.errors import ConflictError, ForbiddenError, NotFoundError, invalid
from service.arena.minting import BOT_SECRET, Mint
from service.store.entities import Bot, BotState, Check, Transport, transport_of
from service.store.errors import FullError

if TYPE_CHECKING:
    from service.arena.allowance import Allowance
    from service.arena.caller import Caller
    from service.arena.queue import Queue
    from service.store.bots import BotStore
    from service.store.ledger import Ledger, LedgerLine

UrlGuard = Callable[[str], str | None]
"""Says why a URL can't be called from here, None if it can."""

AVAILABILITY = ("public", "tournaments", "private")
OLD_SECRET_MS = 24 * 3_600_000
CHECK_MS = 120_000
"""After so long an unfinished check counts as lost, and another may be asked for."""


@dataclass(frozen=True, slots=True)
class BotFilter:
    """Which bots to list; None lets any pass."""

    mine: bool = False
    ruleset: str | None = None
    state: BotState | None = None


class Bots:
    """The use cases of bots. `houses` are the arena's own, which run inside its workers."""

    def __init__(
        self,
        store: BotStore,
        ledger: Ledger,
        queue: Queue,
        *,
        guard: UrlGuard,
        houses: Sequence[Bot],
        max_bots: int,
        clock: Callable[[], int],
        busy: Callable[[str], bool],
        allowance: Allowance,
    ) -> None:
        self._store = store
        self._ledger = ledger
        self._queue = queue
        self._guard = guard
        self._houses = {bot.id: bot for bot in houses}
        self._max_bots = max_bots
        self._clock = clock
        self._busy = busy
        self._allowance = allowance

    def create(
        self, caller: Caller, wanted: Mapping[str, Any], secret: str | None, mint: Mint
    ) -> tuple[Bot, str | None]:
        """Register a bot as pending; answers its secret too if the arena made it.

        `wanted` has `name`, `url` (or `PULL`), `rulesets` (known ones) and `availability`. Raises InvalidError for a
        URL or secret that can't be, ConflictError when the account has as many bots as it may.
        """
        self._check_url(wanted["url"])
        if secret:
            check_secret(secret)
        made = None if secret else mint.secret(BOT_SECRET, "bot")
        bot = self._store.get(mint.id("bot_"))
        if bot is None:
            bot = Bot(id=mint.id("bot_"), account_id=caller.account, created_at=self._clock(), **wanted)
            self._keep(bot, secret or made or "")
        return bot, made

    def get(self, caller: Caller, bot_id: str) -> Bot:
        """Return a bot; raises NotFoundError for one that the caller may not see."""
        bot = self._houses.get(bot_id) or self._store.get(bot_id)
        if bot is None or not is_visible(bot, caller):
            raise NotFoundError("there is no such bot")
        return bot

    def owned(self, caller: Caller, bot_id: str) -> Bot:
        """Return a bot of the caller's; raises ForbiddenError for another's, NotFoundError for one he may not see."""
        bot = self.get(caller, bot_id)
        if not caller.owns(bot.account_id):
            raise ForbiddenError("the bot is another account's", code="not_yours")
        return bot

    def is_busy(self, bot_id: str) -> bool:
        """Tell whether a bot is in a game."""
        return self._busy(bot_id)

    def find(self, bot_ids: Iterable[str]) -> dict[str, Bot]:
        """Give those bots that there are by id, house bots too; whoever shows them asks `is_visible` first."""
        wanted = list(bot_ids)
        found = {bot.id: bot for bot in self._store.get_many(wanted) if bot is not None}
        return found | {bot_id: self._houses[bot_id] for bot_id in wanted if bot_id in self._houses}

    def houses(self) -> list[Bot]:
        """List the arena's own bots."""
        return list(self._houses.values())

    def list_all(
        self, caller: Caller, wanted: BotFilter, *, limit: int, cursor: str | None
    ) -> tuple[list[Bot], str | None]:
        """List bots, newest first, that the caller may see; a page may hold fewer than `limit` and not be the last."""

        def keep(bot: Bot) -> bool:
            return is_visible(bot, caller) and _passes(bot, wanted)

        if wanted.mine:
            return self._store.list_for_account(caller.account, limit=limit, cursor=cursor, keep=keep)
        return self._store.list_all(limit=limit, cursor=cursor, keep=keep)

    def change(self, caller: Caller, bot_id: str, wanted: Mapping[str, Any]) -> Bot:
        """Change what `wanted` names: name, url, rulesets, availability, or the state to active or paused.

        The URL of a bot that has been active changes when a check of the new one passes; until then it is `new_url`. It
        may be `PULL`.
        A further ruleset makes the bot pending again. Raises ConflictError for a state that can't be reached.
        """
        self.owned(caller, bot_id)
        if "url" in wanted:
            self._check_url(wanted["url"])
        return self._store.change(bot_id, lambda bot: changed(bot, wanted))

    def judge(self, caller: Caller, bot_id: str, state: BotState, reason: str) -> Bot:
        """Disable a bot for a reason, or let a disabled one be checked again: `state` is disabled or pending.

        Raises NotFoundError, ConflictError for a house bot or one that isn't disabled.
        """
        if is_house(self.get(caller, bot_id)):
            raise ConflictError("a house bot is the arena's own", code="house_bot")
        return self._store.change(bot_id, lambda bot: judged(bot, state, reason))

    def delete(self, caller: Caller, bot_id: str) -> None:
        """Forget a bot; raises ConflictError while it plays. Where it is entered its waiting games are forfeited."""
        bot = self.owned(caller, bot_id)
        if self.is_busy(bot_id):
            raise ConflictError("the bot still plays; pause it and wait for its games to end", code="bot_busy")
        self._store.delete(bot)

    def check(self, caller: Caller, bot_id: str, mint: Mint) -> Check:
        """Have the bot challenged and checked by a worker; a pass activates it. One check at a time.

        Raises ConflictError, InvalidError for a URL that can't be called any more, TooManyError when its host, or the
        account, has had the checks of a day.
        """
        bot = self.owned(caller, bot_id)
        if bot.state is BotState.DISABLED:
            raise ConflictError("the operator has disabled this bot", code="bot_disabled")
        url = bot.new_url or bot.url
        self._check_url(url)
        check = self._store.get_check(mint.id("chk_"))
        if check is None:
            self._check_idle(bot_id)
            check = Check(id=mint.id("chk_"), bot_id=bot.id, url=url, created_at=self._clock())
            self._allowance.take_for(caller.account, check)
            self._store.create_check(check)
        self._queue.check(check.id)
        return check

    def get_check(self, caller: Caller, bot_id: str, check_id: str) -> Check:
        """Return a check of the caller's bot."""
        self.owned(caller, bot_id)
        check = self._store.get_check(check_id)
        if check is None or check.bot_id != bot_id:
            raise NotFoundError("there is no such check")
        return check

    def checks(self, caller: Caller, bot_id: str, *, limit: int, cursor: str | None) -> tuple[list[Check], str | None]:
        """List the checks of the caller's bot that are kept, newest first, the arena's own among them."""
        self.owned(caller, bot_id)
        return self._store.list_checks(bot_id, limit=limit, cursor=cursor)

    def rotate_secret(self, caller: Caller, bot_id: str, secret: str | None, mint: Mint) -> str | None:
        """Give the bot a new secret, which is answered if the arena makes it; the old one stays valid for 24 hours."""
        self.owned(caller, bot_id)
        if secret:
            check_secret(secret)
        made = None if secret else mint.secret(BOT_SECRET, "bot")
        self._store.rotate(bot_id, secret or made or "", previous_until=self._clock() + OLD_SECRET_MS)
        return made

    def decisions(
        self, caller: Caller, bot_id: str, *, limit: int, cursor: str | None
    ) -> tuple[list[LedgerLine], str | None]:
        """List the bot's latest decisions, newest first: outcome, time, error and the head of what it answered."""
        self.owned(caller, bot_id)
        return self._ledger.lines(bot_id, limit=limit, cursor=cursor)

    def _keep(self, bot: Bot, secret: str) -> None:
        try:
            self._store.create(bot, secret=secret, most=self._max_bots)
        except FullError as error:
            raise ConflictError(f"an account has at most {self._max_bots} bots", code="quota_bots") from error

    def _check_idle(self, bot_id: str) -> None:
        for check in self._store.list_checks(bot_id, limit=1)[0]:
            if check.ended_at is None and 0 <= self._clock() - check.created_at < CHECK_MS:
                detail = "a check of this bot is under way"
                raise ConflictError(detail, code="check_under_way", check_id=check.id)

    def _check_url(self, url: str) -> None:
        why = None if transport_of(url) is Transport.PULL else self._guard(url)
        if why is not None:
            raise invalid("url", why, code="bad_url")


def house_bots() -> list[Bot]:
    """Describe the arena's own bots, which run inside its workers and belong to nobody."""
    cards = {bot_id: house(bot_id).card() for bot_id in HOUSE}
    return [
        Bot(
            id=bot_id,
            account_id="",
            name=card.name,
            url="",
            rulesets=list(card.rulesets),
            state=BotState.ACTIVE,
            version=card.version,
            created_at=0,
            activated_at=0,
        )
        for bot_id, card in cards.items()
    ]


def is_house(bot: Bot) -> bool:
    """Tell whether a bot is one of the arena's own."""
    return bot.id.startswith(PREFIX)


def is_visible(bot: Bot, caller: Caller) -> bool:
    """Tell whether the caller may know of the bot: private ones and those never active yet are their owner's alone."""
    if is_house(bot) or caller.owns(bot.account_id) or caller.is_operator:
        return True
    return bot.availability != "private" and bot.activated_at is not None


def changed(bot: Bot, wanted: Mapping[str, Any]) -> Bot:
    """Apply an owner's wishes to a bot; see `Bots.change`."""
    after = dict(wanted)
    if "url" in after and bot.activated_at is not None:
        new = after.pop("url")
        after["new_url"] = None if new == bot.url else new
    if not set(after.get("rulesets", ())) <= set(bot.rulesets) and bot.state is not BotState.PENDING:
        _refuse_disabled(bot)
        why = "its rulesets have changed; a check has to pass"
        after |= {"state": BotState.PENDING, "reason": why, "suspension": None}
    elif "state" in after:
        after |= {"state": reached(bot, BotState(after["state"])), "reason": None}
    return msgspec.structs.replace(bot, **after)


def judged(bot: Bot, state: BotState, reason: str) -> Bot:
    """Apply the operator's judgement to a bot; see `Bots.judge`."""
    if state is BotState.DISABLED:
        return msgspec.structs.replace(bot, state=state, reason=reason, with_account=False, suspension=None)
    if bot.with_account:
        raise ConflictError("the bot's account is disabled: enable that", code="account_disabled")
    if bot.state is BotState.DISABLED:
        why = "enabled by the operator; a check has to pass"
        return msgspec.structs.replace(bot, state=BotState.PENDING, reason=why)
    if bot.state is not BotState.PENDING:
        raise ConflictError(f"expected a disabled bot, this one is {bot.state}", code="not_disabled")
    return bot


def reached(bot: Bot, state: BotState) -> BotState:
    """Return the state an owner asks for; raises ConflictError unless it is a step from active to paused or back."""
    _refuse_disabled(bot)
    if bot.state not in {BotState.ACTIVE, BotState.PAUSED}:
        raise ConflictError(f"the bot is {bot.state}; a check has to pass first", code="check_needed")
    return state


def check_secret(secret: str) -> None:
    """Raise InvalidError unless this is `whsec_` and base64 of 24 to 64 bytes, as Standard Webhooks has it."""
    try:
        raw = base64.b64decode(secret.removeprefix(BOT_SECRET), validate=True)
    except (binascii.Error, ValueError):
        raw = b""
    if not secret.startswith(BOT_SECRET) or not 24 <= len(raw) <= 64:
        raise invalid("secret", f"expected {BOT_SECRET} and base64 of 24 to 64 bytes", code="bad_secret")


def _refuse_disabled(bot: Bot) -> None:
    if bot.state is BotState.DISABLED:
        raise ConflictError("the operator has disabled this bot", code="bot_disabled")


def _passes(bot: Bot, wanted: BotFilter) -> bool:
    if wanted.state is not None and bot.state is not wanted.state:
        return False
    return wanted.ruleset is None or wanted.ruleset in bot.rulesets
