"""What a use case refuses, and why. The API turns each into one HTTP status; nothing here knows HTTP.

Every refusal carries a `code` that clients may rely on and a `detail` for people, lower case, no full stop.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


class ArenaError(Exception):
    """A use case can't do what it was asked; nothing has changed.

    `errors` names the fields at fault, by dotted path (`seats.0.kind`); `members` are shown beside the detail.
    """

    code = "refused"

    def __init__(
        self,
        detail: str,
        *,
        code: str | None = None,
        errors: Mapping[str, Sequence[str]] | None = None,
        **members: Any,
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.code = code or self.code
        self.errors = errors
        self.members = members


class NotFoundError(ArenaError):
    """There is no such thing, or the caller may not know that there is."""

    code = "not_found"


class ForbiddenError(ArenaError):
    """The caller is known and may not do this."""

    code = "forbidden"


class ConflictError(ArenaError):
    """It can't be done in the state that things are in."""

    code = "conflict"


class InvalidError(ArenaError):
    """What was sent can't be right in any state."""

    code = "invalid"


class UnavailableError(ArenaError):
    """Not now; `retry_after` is in seconds."""

    code = "unavailable"

    def __init__(self, detail: str, *, code: str | None = None, retry_after: int = 5) -> None:
        super().__init__(detail, code=code)
        self.retry_after = retry_after


class TooManyError(UnavailableError):
    """This caller, or all together, have asked for it often enough for now; `retry_after` is in seconds."""

    code = "too_many"


def invalid(field: str, detail: str, *, code: str | None = None) -> InvalidError:
    """Refuse one field by its dotted path."""
    return InvalidError(f"{field}: {detail}", code=code, errors={field: [detail]})
