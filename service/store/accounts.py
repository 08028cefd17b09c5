"""Keeps accounts and what their tokens allow. Of a token only its SHA-256 is ever known here."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import msgspec

from service.store import keys, listing
from service.store.documents import Documents, encode
from service.store.entities import Account
from service.store.errors import FullError, LastError
from service.store.lua import Scripts

if TYPE_CHECKING:
    from collections.abc import Callable

    from redis import Redis


class Token(msgspec.Struct, frozen=True, kw_only=True):
    """What a bearer token stands for. `name` is its owner's word for it."""

    id: str
    account_id: str
    name: str = ""
    scopes: list[str] = []
    created_at: int


_token = msgspec.json.Decoder(Token)


class AccountStore:
    """All accounts and their tokens."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._scripts = Scripts(redis)
        self._accounts = Documents(redis, Account, keys.account)
        self.get = self._accounts.get
        self.change = self._accounts.change

    def create(self, account: Account) -> bool:
        """Keep a new account; False if another has its id."""
        self._redis.zadd(keys.ACCOUNTS, {listing.member(account.created_at, account.id): 0})
        return self._accounts.create(account.id, account)

    def list_all(
        self, *, limit: int, cursor: str | None = None, keep: Callable[[Account], bool] | None = None
    ) -> tuple[list[Account], str | None]:
        """Give up to `limit` accounts that `keep` likes, newest first, and the next cursor; or BadCursorError."""
        read = self._accounts.get_many
        return listing.select(self._redis, keys.ACCOUNTS, read, limit=limit, cursor=cursor, keep=keep)

    def add_token(self, token: Token, digest: str, *, most: int) -> None:
        """Let the token with this SHA-256 (hex) stand for `token`; raises FullError if its account has `most`."""
        names = [keys.account_tokens(token.account_id), keys.token(digest)]
        if not self._scripts.run("add_token", names, [token.id, digest, encode(token), most]):
            raise FullError(f"account {token.account_id} has {most} tokens already")

    def token(self, digest: str) -> Token | None:
        """Give what the token with this SHA-256 stands for, None if for nothing (any more)."""
        raw = cast("bytes | None", self._redis.get(keys.token(digest)))
        return None if raw is None else _token.decode(raw)

    def tokens(self, account_id: str) -> list[Token]:
        """Give all tokens of an account, the oldest first."""
        digests = cast("list[bytes]", self._redis.hvals(keys.account_tokens(account_id)))
        if not digests:
            return []
        found = cast("list[bytes | None]", self._redis.mget([keys.token(d.decode()) for d in digests]))
        return sorted((_token.decode(raw) for raw in found if raw), key=lambda t: (t.created_at, t.id))

    def revoke_all(self, account_id: str) -> None:
        """Let all tokens of an account stand for nothing from now on."""
        digests = cast("list[bytes]", self._redis.hvals(keys.account_tokens(account_id)))
        with self._redis.pipeline(transaction=True) as pipe:
            pipe.delete(keys.account_tokens(account_id), *(keys.token(digest.decode()) for digest in digests))
            pipe.execute()

    def revoke(self, account_id: str, token_id: str) -> bool:
        """Let a token stand for nothing from now on; False if the account has no such token.

        Raises LastError if the account would be left without any.
        """
        digest = cast("bytes | None", self._redis.hget(keys.account_tokens(account_id), token_id))
        if digest is None:
            return False
        names = [keys.account_tokens(account_id), keys.token(digest.decode())]
        if not self._scripts.run("revoke_token", names, [token_id, digest]):
            raise LastError(f"token {token_id} is the last of account {account_id}")
        return True
