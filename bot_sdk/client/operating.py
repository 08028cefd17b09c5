"""The part of the client that is for the arena's operator, by his token."""

from __future__ import annotations

from collections.abc import Iterator

from bot_sdk.answers import AccountSeen, AuditLine, BotView, DeadLetter, MaintenanceView
from bot_sdk.client.part import Part
from bot_sdk.transport import at, given


class Operating(Part):
    """The operations of the operator."""

    def accounts(self, *, state: str | None = None, name: str | None = None) -> Iterator[AccountSeen]:
        """List accounts, those in a `state`, or those whose name has `name` in it."""
        return self._session.pages("/v1/admin/accounts", AccountSeen, given(state=state, name=name))

    def account(self, account_id: str) -> AccountSeen:
        """Show an account."""
        return self._session.get(at("/v1/admin/accounts/{}", account_id), AccountSeen)

    def set_account_state(self, account_id: str, state: str, *, reason: str | None = None) -> AccountSeen:
        """Disable an account, which retires its bots at once, or make it ``active`` again."""
        path = at("/v1/admin/accounts/{}/state", account_id)
        return self._session.call("PUT", path, given(state=state, reason=reason), AccountSeen)

    def erase_account(self, account_id: str) -> None:
        """Have an account erased, for ever."""
        self._session.remove(at("/v1/admin/accounts/{}", account_id))

    def set_bot_state(self, bot_id: str, state: str, *, reason: str | None = None) -> BotView:
        """Disable a bot, which retires its seats at once, or make it ``pending``, so that it can be checked again."""
        path = at("/v1/admin/bots/{}/state", bot_id)
        return self._session.call("PUT", path, given(state=state, reason=reason), BotView)

    def maintenance(self) -> MaintenanceView:
        """Show whether the arena begins games."""
        return self._session.get("/v1/admin/maintenance", MaintenanceView)

    def set_maintenance(self, *, on: bool, reason: str | None = None) -> MaintenanceView:
        """Let no game begin, for a `reason` that is shown to everybody, or let them again."""
        return self._session.call("PUT", "/v1/admin/maintenance", given(on=on, reason=reason), MaintenanceView)

    def acts(self, *, of: str | None = None) -> Iterator[AuditLine]:
        """List what has been done, newest first: by an account (`of` its id), or by the operator."""
        return self._session.pages("/v1/admin/audit", AuditLine, given(of=of))

    def dead_letters(self) -> Iterator[DeadLetter]:
        """List the jobs that were given up."""
        return self._session.pages("/v1/admin/dead-letters", DeadLetter)

    def replay_dead_letter(self, letter_id: str) -> None:
        """Have a job that was given up tried again."""
        self._session.remove(at("/v1/admin/dead-letters/{}/replay", letter_id), method="POST")

    def delete_dead_letter(self, letter_id: str) -> None:
        """Forget a job that was given up."""
        self._session.remove(at("/v1/admin/dead-letters/{}", letter_id))
