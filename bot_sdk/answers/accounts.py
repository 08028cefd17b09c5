"""What the arena says of accounts and their tokens."""

from __future__ import annotations

from bot_sdk.answers.base import Answer


class AccountView(Answer, frozen=True, kw_only=True):
    """An account, as it sees itself; times are Unix milliseconds."""

    id: str
    name: str
    created_at: int


class AccountMade(AccountView, frozen=True, kw_only=True):
    """A new account with its first token, which is shown this once."""

    token: str


class AccountSeen(AccountView, frozen=True, kw_only=True):
    """An account, as the operator sees it: `state` is active, disabled, erasing or erased."""

    state: str
    reason: str | None


class TokenView(Answer, frozen=True, kw_only=True):
    """A token of an account, without the token: `scopes` say what it may change."""

    id: str
    name: str
    scopes: list[str]
    created_at: int


class TokenMade(TokenView, frozen=True, kw_only=True):
    """A new token, shown this once."""

    token: str
