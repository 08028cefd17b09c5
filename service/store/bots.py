"""Keeps bots: what they are, their signing secrets, and their checks. What they did is in `ledger`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

import msgspec

from service.store import due, keys, listing
from service.store.documents import Documents
from service.store.entities import Bot, Check
from service.store.errors import FullError, NotFoundError
from service.store.lua import Scripts

if TYPE_CHECKING:
    from collections.abc import Callable

    from redis import Redis

NO_LIMIT = 10**9

KEPT_CHECKS: Final = 50
"""So many checks of a bot are kept, the newest ones."""

CHECK_DUE_MS: Final = 5_000
"""When the sweeper looks at a new check, should the job by which it was sent be lost."""


class BotSecrets(msgspec.Struct, frozen=True, kw_only=True):
    """The signing secrets of a bot; the previous one is good until `previous_until` (Unix ms)."""

    current: str
    previous: str | None = None
    previous_until: int = 0


class BotStore:
    """All bots."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        self._scripts = Scripts(redis)
        self._bots = Documents(redis, Bot, keys.bot)
        self._secrets = Documents(redis, BotSecrets, keys.bot_secrets)
        self._checks = Documents(redis, Check, keys.check)
        self.get = self._bots.get
        self.get_many = self._bots.get_many
        self.change = self._bots.change
        self.get_check = self._checks.get
        self.change_check = self._checks.change

    def create(self, bot: Bot, *, secret: str, most: int = NO_LIMIT) -> bool:
        """Keep a new bot and its secret (`whsec_...`), all at once; False if another has its id.

        Raises FullError if its account has `most` bots already.
        """
        names = [keys.bot(bot.id), keys.bot_secrets(bot.id), keys.BOTS, keys.account_bots(bot.account_id)]
        values = [self._bots.written(bot), self._secrets.written(BotSecrets(current=secret))]
        told = self._scripts.run("create_bot", names, [*values, listing.member(bot.created_at, bot.id), most])
        if told < 0:
            raise FullError(f"account {bot.account_id} has {most} bots already")
        return bool(told)

    def delete(self, bot: Bot) -> None:
        """Forget a bot, its secrets, checks and what it did lately; the games it played stay."""
        entry = listing.member(bot.created_at, bot.id)
        with self._redis.pipeline(transaction=True) as pipe:
            pipe.delete(keys.bot(bot.id), keys.bot_secrets(bot.id))
            pipe.zrem(keys.BOTS, entry)
            pipe.zrem(keys.account_bots(bot.account_id), entry)
            pipe.execute()
        self.forget(bot.id)

    def forget(self, bot_id: str) -> None:
        """Forget what was noted of a bot that is deleted: what it did lately, how its checks went."""
        self._forget_checks(bot_id, keep=0)
        lists = (keys.bot_ledger, keys.bot_endings, keys.bot_appearances)
        self._redis.delete(keys.mail_card(bot_id), *(each(bot_id) for each in lists))

    def list_all(
        self, *, limit: int, cursor: str | None = None, keep: Callable[[Bot], bool] | None = None
    ) -> tuple[list[Bot], str | None]:
        """Give up to `limit` bots that `keep` likes, newest first, and the next cursor; or BadCursorError."""
        read = self._bots.get_many
        return listing.select(self._redis, keys.BOTS, read, limit=limit, cursor=cursor, keep=keep)

    def list_for_account(
        self,
        account_id: str,
        *,
        limit: int,
        cursor: str | None = None,
        keep: Callable[[Bot], bool] | None = None,
    ) -> tuple[list[Bot], str | None]:
        """Give the bots an account owns, as `list_all` does."""
        read = self._bots.get_many
        return listing.select(self._redis, keys.account_bots(account_id), read, limit=limit, cursor=cursor, keep=keep)

    # --- secrets --------------------------------------------------------------------------------------------

    def secrets(self, bot_id: str, now: int) -> tuple[str, ...]:
        """Give the secrets that are good at `now` (Unix ms), the current one first. Raises NotFoundError."""
        found = self._secrets.get(bot_id)
        if found is None:
            raise NotFoundError(f"no secret is kept for bot {bot_id}")
        both = found.previous is not None and now < found.previous_until
        return (found.current, str(found.previous)) if both else (found.current,)

    def rotate(self, bot_id: str, secret: str, *, previous_until: int) -> None:
        """Make `secret` the current one; the one before is good until `previous_until`. Idempotent."""

        def edit(old: BotSecrets) -> BotSecrets:
            if old.current == secret:
                return old
            return BotSecrets(current=secret, previous=old.current, previous_until=previous_until)

        self._secrets.change(bot_id, edit)

    # --- checks ---------------------------------------------------------------------------------------------

    def create_check(self, check: Check) -> bool:
        """Keep a new check of a bot, and so many before it; False if another has its id.

        It is due before it exists, so that none is lost.
        """
        times = due.Due(self._redis)
        times.add(due.check(check.id), times.now() + CHECK_DUE_MS)
        self._redis.zadd(keys.bot_checks(check.bot_id), {listing.member(check.created_at, check.id): 0})
        is_new = self._checks.create(check.id, check)
        self._forget_checks(check.bot_id, keep=KEPT_CHECKS)
        return is_new

    def _forget_checks(self, bot_id: str, *, keep: int) -> None:
        """Forget all but the newest checks, what they are together with where they stand."""
        index = keys.bot_checks(bot_id)
        old = [member.decode() for member in cast("list[bytes]", self._redis.zrange(index, 0, -keep - 1))]
        if old:
            with self._redis.pipeline(transaction=True) as pipe:
                pipe.delete(*(keys.check(listing.name_of(member)) for member in old))
                pipe.zrem(index, *old)
                pipe.execute()

    def list_checks(self, bot_id: str, *, limit: int, cursor: str | None = None) -> tuple[list[Check], str | None]:
        """Give the checks of a bot, newest first, and the next cursor."""
        read = self._checks.get_many
        return listing.select(self._redis, keys.bot_checks(bot_id), read, limit=limit, cursor=cursor)

    def lease_check(self, check_id: str, token: str, ms: int) -> bool:
        """Let nobody but `token` run a check in the next `ms`; False while another does."""
        return bool(self._scripts.run("acquire", [keys.check_lease(check_id)], [token, ms]))

    def release_check(self, check_id: str, token: str) -> None:
        """Give that back, if it is ours."""
        self._scripts.run("release", [keys.check_lease(check_id)], [token])
