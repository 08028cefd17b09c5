"""Looks at bots, their checks, and at accounts that are to be erased."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

from service.arena.health import GIVEN_UP_MS
from service.arena.recovery import swept
from service.doctor.suspects import UNREADABLE, Suspect
from service.outbound.guard import Guard, RefusedError
from service.store import due, keys
from service.store.entities import Bot, BotState, Check, Transport, transport_of
from service.store.inspection import Inspection
from service.store.store import Store

_CALLED: Final = (BotState.ACTIVE, BotState.SUSPENDED)


class BotCheck:
    """Looks at bots. Subjects are their ids."""

    def __init__(self, store: Inspection, values: Store, guard: Guard) -> None:
        """Keep where it looks; `guard` judges URLs as workers do."""
        self._store = store
        self._values = values
        self._guard = guard

    def look(self, subjects: Sequence[str]) -> Iterator[Suspect]:
        """Tell what is wrong with them."""
        secrets = self._store.there([keys.bot_secrets(bot_id) for bot_id in subjects])
        times = self._store.due([due.health(bot_id) for bot_id in subjects])
        now = self._store.now()
        for bot_id, has_secret, due_at in zip(subjects, secrets, times, strict=True):
            bot = _read(self._values.bots.get, bot_id)
            if bot is None:
                yield Suspect("bot_damaged", bot_id, bot_id)
            elif isinstance(bot, Bot):
                if not has_secret:
                    yield Suspect("bot_secret_missing", bot_id, bot_id)
                if self._is_refused(bot):
                    yield Suspect("bot_refused", bot_id, bot_id)
                yield from _of_suspended(bot, due_at, now)

    def _is_refused(self, bot: Bot) -> bool:
        if bot.state not in _CALLED or transport_of(bot.url) is Transport.PULL:
            return False
        try:
            self._guard.check(bot.url)
        except RefusedError:
            return True
        return False


def _of_suspended(bot: Bot, due_at: int | None, now: int) -> Iterator[Suspect]:
    if bot.state is BotState.SUSPENDED:
        yield Suspect("bots_suspended", bot.id, bot.id)
    suspension = swept(bot)
    if suspension is not None and due_at is None and now < suspension.since + GIVEN_UP_MS:
        yield Suspect("bot_not_due", bot.id, bot.id)


class CheckCheck:
    """Looks at checks of bots. Subjects are their ids."""

    def __init__(self, store: Inspection, values: Store) -> None:
        """Keep where it looks."""
        self._store = store
        self._values = values

    def look(self, subjects: Sequence[str]) -> Iterator[Suspect]:
        """Tell which nobody would run; those of bots that are gone are nobody's any more."""
        times = self._store.due([due.check(check_id) for check_id in subjects])
        for check_id, due_at in zip(subjects, times, strict=True):
            check = _read(self._values.bots.get_check, check_id)
            if not isinstance(check, Check):
                continue
            is_waiting = check.ended_at is None and due_at is None
            if not self._store.there([keys.bot(check.bot_id)])[0]:
                yield Suspect("check_orphaned", f"{check_id} of {check.bot_id}", check_id)
            elif is_waiting:
                yield Suspect("check_not_due", f"{check_id} of {check.bot_id}", check_id)


class ErasureCheck:
    """Looks at erasures of accounts. Subjects are the ids of the accounts."""

    def __init__(self, store: Inspection) -> None:
        """Keep where it looks."""
        self._store = store

    def look(self, subjects: Sequence[str]) -> Iterator[Suspect]:
        """Tell which nobody would finish."""
        there = self._store.there([keys.erasure(account_id) for account_id in subjects])
        times = self._store.due([due.erasure(account_id) for account_id in subjects])
        for account_id, is_there, due_at in zip(subjects, there, times, strict=True):
            if is_there and due_at is None:
                yield Suspect("erasure_not_due", account_id, account_id)


class _Gone:
    """There is no such thing any more."""


def _read(get: Callable[[str], object], ident: str) -> object:
    """Give a thing, `_Gone` if there is none, and None if it can't be read."""
    try:
        found = get(ident)
    except UNREADABLE:
        return None
    return _Gone if found is None else found
