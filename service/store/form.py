"""Says what form the store has: a number that stands in it, so that no release works on what it doesn't understand.

The form is what all keys together mean. It is raised by a change after which an earlier release would misread, or take
to pieces, what a later one keeps; docs/upgrades.md tells which changes don't need that.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, cast

from service.store import keys
from service.store.errors import FormError

if TYPE_CHECKING:
    from redis import Redis

FORM: Final = 1
"""The form that this release reads and writes. A store without a number is of form 1, or empty."""
_LONGEST: Final = 20


class FormStore:
    """The form of one store."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis

    def check(self) -> bool:
        """See that the store has the form of this release; False if no number stands in it.

        Raises FormError for any other.
        """
        found = cast("bytes | None", self._redis.get(keys.FORM))
        if found is not None and found != b"%d" % FORM:
            raise FormError(_refusal(found))
        return found is not None

    def claim(self) -> None:
        """See the same, and put the number into a store that has none. Idempotent; raises FormError."""
        if not self.check():
            self._redis.set(keys.FORM, FORM, nx=True)
            self.check()


def _refusal(found: bytes) -> str:
    if found.isdigit() and len(found) <= _LONGEST and int(found) > FORM:
        return (
            f"expected a store of form {FORM}, got form {int(found)}: a newer release has worked on it; "
            "run that, or restore a backup from before (docs/upgrades.md)"
        )
    return f"expected a store of form {FORM}, got {found[:_LONGEST]!r} for its form: something else wrote there"
