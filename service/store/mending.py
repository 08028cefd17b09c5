"""Takes away or puts right what the doctor has found. Each step is safe to repeat, and idle where all is well."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from service.store import catalogue, due, keys
from service.store.lua import Scripts

if TYPE_CHECKING:
    from redis import Redis

    from service.store.catalogue import Named, Thing

_DUE_NAMES = (due.game, due.tournament, due.fit, due.erasure, due.health, due.check)


class Mending:
    """The store's part in it. What was read or written less than `idle_s` seconds ago may be somebody's work."""

    def __init__(self, redis: Redis, *, idle_s: int) -> None:
        self._redis = redis
        self._scripts = Scripts(redis)
        self._idle_s = idle_s

    def unlink_orphan(self, name: bytes) -> bool:
        """Take a key away whose owner is gone, and that nobody has used for a while; False if it stays."""
        found = catalogue.named(name)
        if found is None or found.kind.owner is None:
            return False
        idle = cast("int | None", self._redis.object("idletime", name))
        if idle is not None and idle < self._idle_s:
            return False
        owners = [make(found.ident) for make in found.kind.owner.value]
        return bool(self._scripts.run("unlink_orphan", [name.decode(), *owners]))

    def unlink_check(self, check_id: str, bot_id: str) -> bool:
        """Take the check of a bot away that is gone; False if the bot is there."""
        return bool(self._scripts.run("unlink_orphan", [keys.check(check_id), keys.bot(bot_id)]))

    def let_run_out(self, name: bytes) -> bool:
        """Give a key the expiry it should have, unless it has one."""
        found = catalogue.named(name)
        return bool(_lasts_s(found) and self._redis.expire(name, _lasts_s(found), nx=True))

    def keep(self, name: bytes) -> bool:
        """Take the expiry away from a key that shouldn't have one."""
        found = catalogue.named(name)
        return found is not None and found.kind.lasts_s == 0 and bool(self._redis.persist(name))

    def drop(self, thing: Thing, ident: str) -> int:
        """Take all keys of a thing away, and let it leave what is due; tell how many there were."""
        self._redis.zrem(keys.DUE, *(name(ident) for name in _DUE_NAMES))
        return int(self._redis.unlink(*keys_of(thing, ident)))

    def drop_member(self, key: str, member: str) -> bool:
        """Take a member off a list."""
        return bool(self._redis.zrem(key, member))


def keys_of(thing: Thing, ident: str) -> list[str]:
    """Give every key that is one thing's alone."""
    own = (kind.make for kind in catalogue.KINDS if kind.owner is thing)
    return [make(ident) for make in own if not isinstance(make, str)]


def _lasts_s(found: Named | None) -> int:
    return 0 if found is None else found.kind.lasts_s or 0
