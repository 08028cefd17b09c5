"""What the operator may do to accounts: look them up, disable them with all their bots, enable them again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from service.arena.accounts import GONE
from service.arena.errors import ConflictError, NotFoundError
from service.store.entities import Account, AccountState, Bot, BotState
from service.store.errors import NotFoundError as NotKeptError
from service.store.store import Store

_PAGE: Final = 100


@dataclass(frozen=True, slots=True)
class AccountFilter:
    """Which accounts to list; None lets any pass. `name` is part of a name, in capitals or not."""

    state: AccountState | None = None
    name: str | None = None


class Oversight:
    """The operator's use cases of accounts."""

    def __init__(self, store: Store) -> None:
        """Keep what it works with."""
        self._store = store

    def get(self, account_id: str) -> Account:
        """Give an account; raises NotFoundError."""
        account = self._store.accounts.get(account_id)
        if account is None:
            raise NotFoundError("there is no such account")
        return account

    def accounts(self, wanted: AccountFilter, *, limit: int, cursor: str | None) -> tuple[list[Account], str | None]:
        """List accounts, newest first; a page may hold fewer than `limit` and not be the last.

        Raises BadCursorError.
        """

        def keep(account: Account) -> bool:
            is_named = wanted.name is None or wanted.name.casefold() in account.name.casefold()
            return is_named and wanted.state in {None, account.state}

        return self._store.accounts.list_all(limit=limit, cursor=cursor, keep=keep)

    def set_state(self, account_id: str, state: AccountState, reason: str) -> Account:
        """Disable an account with all its bots, or enable it; a second call finishes what a first one left undone.

        Tokens of a disabled account are refused, its bots retire at once. Enabled again, those bots that were disabled
        with it wait for a check; those that had been disabled singly stay so. Raises NotFoundError, ConflictError for
        one that was erased.
        """
        self.get(account_id)
        why = reason if state is AccountState.DISABLED else None
        account = self._store.accounts.change(account_id, lambda old: _judged(old, state, why))
        for bot in self._bots(account_id):
            self._change(bot.id, _disabled(reason) if why else _enabled)
        return account

    def _bots(self, account_id: str) -> Iterator[Bot]:
        cursor, more = None, True
        while more:
            bots, cursor = self._store.bots.list_for_account(account_id, limit=_PAGE, cursor=cursor)
            yield from bots
            more = cursor is not None

    def _change(self, bot_id: str, edit: Callable[[Bot], Bot]) -> None:
        try:
            self._store.bots.change(bot_id, edit)
        except NotKeptError:  # deleted meanwhile
            return


def _judged(account: Account, state: AccountState, reason: str | None) -> Account:
    if account.state in GONE:
        raise ConflictError("the account was erased", code="account_erased")
    return replace(account, state=state, reason=reason)


def _disabled(reason: str) -> Callable[[Bot], Bot]:
    """Disable a bot with its account, unless it is disabled for a reason of its own."""

    def edit(bot: Bot) -> Bot:
        if bot.state is BotState.DISABLED and not bot.with_account:
            return bot
        return replace(bot, state=BotState.DISABLED, reason=reason, with_account=True, suspension=None)

    return edit


def _enabled(bot: Bot) -> Bot:
    if not bot.with_account:
        return bot
    why = "its account was enabled by the operator; a check has to pass"
    return replace(bot, state=BotState.PENDING, reason=why, with_account=False)
