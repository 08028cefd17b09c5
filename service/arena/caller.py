"""Who asks: what the use cases know about the sender of a request."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from service.arena.errors import ForbiddenError


class Scope(StrEnum):
    """What a token of an account may change. Every token may read what its account may read."""

    ACCOUNT = "account"
    BOTS = "bots"
    GAMES = "games"
    TOURNAMENTS = "tournaments"


ALL_SCOPES = tuple(Scope)


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """The sender of a request: nobody in particular, an account, one seat of one game, or the operator.

    `address` is where the request came from; it names those who have no account. `seat_hash` is the SHA-256 of the
    token that a seat came with: somebody else may sit there by the time the request is worked on.
    """

    address: str
    account_id: str | None = None
    token_id: str | None = None
    scopes: frozenset[Scope] = frozenset()
    game_id: str | None = None
    seat: int | None = None
    seat_hash: str | None = None
    is_operator: bool = False

    @property
    def account(self) -> str:
        """The id of the account; raises ForbiddenError for a caller without one."""
        if self.account_id is None:
            raise ForbiddenError("only an account can do this", code="account_needed")
        return self.account_id

    @property
    def name(self) -> str:
        """A word that separates this caller's Idempotency-Keys from everybody else's.

        Each token has its own: a kept answer may show what another token of the account, or who sat there before, was
        allowed to make.
        """
        if self.is_operator:
            return "operator"
        if self.game_id is not None:
            return f"{self.game_id}.{self.seat} {self.seat_hash}"
        return f"{self.account_id} {self.token_id}" if self.account_id else f"address {self.address}"

    def owns(self, account_id: str | None) -> bool:
        """Tell whether a thing of that account is the caller's own."""
        return account_id is not None and account_id == self.account_id


@dataclass(frozen=True, slots=True)
class Gate:
    """Tells whose a token is, by the token's SHA-256; each answers None for a token it doesn't know.

    `account` takes hash and address, `seat` the id of a game and the hash.
    """

    account: Callable[[str, str], Caller | None]
    seat: Callable[[str, str], int | None]
