"""Accounts and their tokens. A token is shown once; the store keeps its SHA-256."""

from __future__ import annotations

import hmac
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from service.arena.caller import ALL_SCOPES, Caller, Scope
from service.arena.errors import ConflictError, ForbiddenError, NotFoundError, invalid
from service.arena.minting import ACCOUNT_TOKEN, Mint, token_hash
from service.store.accounts import Token
from service.store.entities import Account, AccountState
from service.store.errors import FullError, LastError

if TYPE_CHECKING:
    from service.store.accounts import AccountStore

MAX_TOKENS = 50
GONE: Final = {AccountState.ERASING, AccountState.ERASED}
"""Accounts whose tokens nobody has ever heard of."""


class Accounts:
    """The use cases of accounts. `invite_code` None with `is_open` false leaves it to the operator to make accounts."""

    def __init__(
        self, store: AccountStore, *, is_open: bool, invite_code: str | None, clock: Callable[[], int]
    ) -> None:
        self._store = store
        self._is_open = is_open
        self._invite_code = invite_code
        self._clock = clock

    def create(self, caller: Caller, name: str, invite_code: str | None, mint: Mint) -> tuple[Account, str]:
        """Make an account and its first token, which has every scope; raises ForbiddenError without an invitation."""
        self._check_invitation(caller, invite_code)
        account = self._store.get(mint.id("acc_"))
        if account is None:
            account = Account(id=mint.id("acc_"), name=name, created_at=self._clock())
            self._store.create(account)
        if account.name != name:
            raise ConflictError("that Idempotency-Key made another account", code="idempotency_key_reused")
        _, secret = self._new_token(mint, account.id, "first", ALL_SCOPES)
        return account, secret

    def get(self, account_id: str) -> Account:
        """Return an account; raises NotFoundError."""
        account = self._store.get(account_id)
        if account is None:
            raise NotFoundError("there is no such account")
        return account

    def tokens(self, caller: Caller) -> list[Token]:
        """List the caller's tokens, oldest first."""
        return self._store.tokens(caller.account)

    def add_token(self, caller: Caller, name: str, scopes: Sequence[str] | None, mint: Mint) -> tuple[Token, str]:
        """Make a further token; it can't have scopes that the caller's own lacks, and has all of those by default."""
        wanted = ALL_SCOPES if scopes is None else tuple(Scope(scope) for scope in scopes)
        granted = tuple(scope for scope in ALL_SCOPES if scope in wanted and scope in caller.scopes)
        if scopes is not None and len(granted) < len(set(wanted)):
            raise ForbiddenError("a token can't give scopes that it lacks", code="scope_needed")
        return self._new_token(mint, caller.account, name, granted)

    def revoke_token(self, caller: Caller, token_id: str) -> None:
        """End a token at once; raises NotFoundError unless it is the caller's, ConflictError if it is the last."""
        try:
            found = self._store.revoke(caller.account, token_id)
        except LastError as error:
            detail = "an account's last token can't be revoked; make another first"
            raise ConflictError(detail, code="last_token") from error
        if not found:
            raise NotFoundError("there is no such token")

    def identify(self, hashed: str, address: str) -> Caller | None:
        """Find whose a token is, by its SHA-256; raises ForbiddenError if the operator has disabled the account."""
        token = self._store.token(hashed)
        account = self._store.get(token.account_id) if token else None
        if token is None or account is None or account.state in GONE:
            return None
        if account.state is AccountState.DISABLED:
            detail = f"the operator has disabled this account: {account.reason}"
            raise ForbiddenError(detail, code="account_disabled")
        scopes = frozenset(Scope(scope) for scope in token.scopes)
        return Caller(address=address, account_id=token.account_id, token_id=token.id, scopes=scopes)

    def _check_invitation(self, caller: Caller, invite_code: str | None) -> None:
        if self._is_open or caller.is_operator:
            return
        if self._invite_code is None:
            raise ForbiddenError("only the operator makes accounts here", code="accounts_closed")
        if invite_code is None:
            raise ForbiddenError("accounts are by invitation; send `invite_code`", code="invite_needed")
        if not hmac.compare_digest(invite_code.encode(), self._invite_code.encode()):
            raise invalid("invite_code", "expected the code of an invitation", code="bad_invite_code")

    def _new_token(self, mint: Mint, account_id: str, name: str, scopes: Sequence[Scope]) -> tuple[Token, str]:
        secret = mint.secret(ACCOUNT_TOKEN, "account")
        token = Token(
            id=mint.id("tok_"),
            account_id=account_id,
            name=name,
            scopes=[scope.value for scope in scopes],
            created_at=self._clock(),
        )
        try:
            self._store.add_token(token, token_hash(secret), most=MAX_TOKENS)
        except FullError as error:
            detail = f"an account has at most {MAX_TOKENS} tokens; revoke one first"
            raise ConflictError(detail, code="quota_tokens") from error
        return token, secret
