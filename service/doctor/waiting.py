"""Looks at what is due, and at who is counted as unfinished."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from service.doctor.keyspace import shown
from service.doctor.suspects import ORPHAN_MS, Suspect
from service.store import due, keys
from service.store.catalogue import Thing
from service.store.inspection import Inspection
from service.store.store import Store

OVERDUE_MS: Final = 120_000
FAR_MS: Final = 8 * 24 * 3_600_000
"""Nothing of ours is put off for longer than a week."""
THINGS: Final = {
    due.game(""): Thing.GAME,
    due.tournament(""): Thing.TOURNAMENT,
    due.fit(""): Thing.TOURNAMENT,
    due.erasure(""): Thing.ACCOUNT,
    due.health(""): Thing.BOT,
    due.check(""): Thing.CHECK,
}
"""What a name that is due stands for, by how it begins."""


class DueCheck:
    """Looks at names that are due. Where nobody works on the store now, nothing is late: `is_still`."""

    def __init__(self, store: Inspection, *, is_still: bool) -> None:
        """Keep where it looks."""
        self._store = store
        self._is_still = is_still

    def look(self, subjects: Sequence[str]) -> Iterator[Suspect]:
        """Tell what is wrong with them."""
        known = [name for name in subjects if _thing(name) is not None]
        for name in set(subjects) - set(known):
            yield Suspect("due_unknown", shown(name), name)
        there = self._store.exist(
            [(thing, name.partition(":")[2]) for name in known if (thing := _thing(name))], in_part=True
        )
        times = self._store.due(known)
        now = self._store.now()
        for name, is_there, at in zip(known, there, times, strict=True):
            if at is None:
                continue
            if at > now + FAR_MS:
                yield Suspect("due_far", name, name)
            elif not is_there and at < now - ORPHAN_MS:
                yield Suspect("due_of_nothing", name, name)
            elif is_there and at < now - OVERDUE_MS and not self._is_still:
                yield Suspect("overdue", name, name)


def _thing(name: str) -> Thing | None:
    return THINGS.get(name.partition(":")[0] + ":")


class CounterCheck:
    """Looks at the counters of unfinished games and tournaments. Subjects are their keys."""

    def __init__(self, store: Inspection, values: Store) -> None:
        """Keep where it looks."""
        self._store = store
        self._values = values

    def look(self, subjects: Sequence[str]) -> Iterator[Suspect]:
        """Tell which count what has ended, or never was."""
        for key in subjects:
            owner = key.removeprefix(keys.unfinished(""))
            for page in self._store.members(key):
                for name in self._stale(owner, page):
                    yield Suspect("counter_stale", f"{name} of {owner}", key)

    def _stale(self, owner: str, page: Sequence[tuple[str, int]]) -> list[str]:
        now = self._store.now()
        names = [name for name, _ in page]
        thing = Thing.TOURNAMENT if owner.startswith("host:") else Thing.GAME
        there = self._store.exist([(thing, name) for name in names], in_part=True)
        over = self._over(owner, names)
        found = zip(page, there, over, strict=True)
        return [name for (name, at), is_there, is_over in found if (is_over if is_there else now - at > ORPHAN_MS)]

    def _over(self, owner: str, names: Sequence[str]) -> list[bool]:
        """Tell which games have ended and been settled; only bots and accounts are told when one is."""
        if not owner.startswith(("bot:", "account:")):
            return [False] * len(names)
        ended = self._values.unfinished.have_ended(names)
        left = self._store.due([due.game(name) for name in names])
        return [bool(has_ended) and at is None for has_ended, at in zip(ended, left, strict=True)]
