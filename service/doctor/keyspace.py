"""Looks at keys by their names: unknown ones, those of things that are gone, wrong types, wrong expiries."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from service.doctor.suspects import ORPHAN_MS, Suspect
from service.store import catalogue, keys, listing
from service.store.catalogue import Named, Thing
from service.store.inspection import Inspection, KeySeen

_LONGEST: Final = 80
_GAME: Final = (keys.game_meta, keys.game_log, keys.game_packed)
LEFT_BEHIND: Final = (
    keys.account_games,
    keys.account_bots,
    keys.account_tournaments,
    keys.bot_checks,
    keys.mail_card,
)
"""What a crash may leave behind of what was deleted or never came to be; it says nothing that anybody could miss."""
GONE: Final = "none"
JOIN: Final = "\0"
"""Between the key of a list and one of its members, in the name of a subject."""


def shown(key: str) -> str:
    """Show a key's name in one line of bounded length, whatever is in it."""
    return key.encode("ascii", "backslashreplace").decode()[:_LONGEST] if key.isprintable() else repr(key)[:_LONGEST]


class KeyCheck:
    """Looks at keys of any kind. Subjects are their names."""

    def __init__(self, store: Inspection) -> None:
        """Keep where it looks."""
        self._store = store

    def look(self, subjects: Sequence[str]) -> Iterator[Suspect]:
        """Tell what is wrong with them; what is in them is for other checks."""
        names = [subject.encode(errors="surrogateescape") for subject in subjects]
        known = [catalogue.named(name) for name in names]
        owned = [(each.kind.owner, each.ident) for each in known if each and each.kind.owner]
        there = dict(zip(owned, self._store.exist(owned), strict=True))
        for subject, each, seen in zip(subjects, known, self._store.keys_seen(names), strict=True):
            if seen.holds == GONE:
                continue
            if each is None:
                yield Suspect("key_unknown", shown(subject), subject)
            elif each.kind.owner and not there[each.kind.owner, each.ident]:
                yield _orphan(subject, each)
            else:
                yield from _of_wrong_kind(subject, each, seen)


def _orphan(subject: str, each: Named) -> Suspect:
    if each.kind.make in LEFT_BEHIND:
        return Suspect("key_orphaned", shown(subject), subject)
    return Suspect("parts_left", each.ident, subject)


def _of_wrong_kind(subject: str, each: Named, seen: KeySeen) -> Iterator[Suspect]:
    if seen.holds != each.kind.holds and each.kind.make in _GAME:
        yield Suspect("game_damaged", each.ident, subject)
    elif seen.holds != each.kind.holds:
        yield Suspect("key_of_wrong_type", shown(subject), subject)
    elif each.kind.lasts_s == 0 and seen.left_ms is not None:
        yield Suspect("key_that_expires", shown(subject), subject)
    elif each.kind.lasts_s and seen.left_ms is None:
        yield Suspect("key_without_expiry", shown(subject), subject)


class MemberCheck:
    """Looks at members of lists. Subjects are key and member."""

    def __init__(self, store: Inspection) -> None:
        """Keep where it looks."""
        self._store = store

    def look(self, subjects: Sequence[str]) -> Iterator[Suspect]:
        """Tell which name what doesn't exist, and what nobody can be about to make."""
        now = self._store.now()
        named = [_listed(subject) for subject in subjects]
        there = self._store.exist([(thing, name) for thing, name, _ in named], in_part=True)
        for subject, (_, name, made_at), is_there in zip(subjects, named, there, strict=True):
            if not is_there and now - made_at > ORPHAN_MS:
                yield Suspect("list_names_missing", f"{shown(name)} in {subject.partition(JOIN)[0]}", subject)


def _listed(subject: str) -> tuple[Thing, str, int]:
    key, _, member = subject.partition(JOIN)
    of = catalogue.named(key.encode())
    stamp = member[: listing.STAMP - 1]
    thing = of.kind.lists if of else None
    assert thing is not None, key  # noqa: S101 - only members of lists are handed in
    return thing, listing.name_of(member), int(stamp) if stamp.isdigit() else 0
