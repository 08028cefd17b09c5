"""Strict marshmallow fields for what comes in, and common schemas. JSON types are never converted."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

from marshmallow import Schema, ValidationError, fields, validate

_UNFIT = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
"""Unicode categories that have no place in a name: controls, direction marks, surrogates, line separators."""

MAX_PAGE = 100
_DIGITS = re.compile(r"[0-9]{1,18}", re.ASCII)
_CURSOR = re.compile(r"[A-Za-z0-9_-]{1,300}", re.ASCII)


class Text(fields.String):
    """A string of so many characters on one line, without controls or direction marks, without blank ends."""

    def __init__(self, low: int = 1, high: int = 100, **kwargs: Any) -> None:
        kwargs.setdefault("validate", validate.Length(low, high))
        super().__init__(**kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        text = super()._deserialize(value, attr, data, **kwargs)
        if text is not None and any(unicodedata.category(character) in _UNFIT for character in text):
            raise ValidationError("expected text without control characters or direction marks")
        if text is not None and text != text.strip():
            raise ValidationError("expected text without blanks at its ends")
        return text


class Name(Text):
    """What people call a thing: up to 64 characters."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(1, 64, **kwargs)


class Whole(fields.Integer):
    """A whole number from `low` to `high`; 1.0, "1" and true aren't taken."""

    def __init__(self, low: int, high: int, **kwargs: Any) -> None:
        kwargs.setdefault("validate", validate.Range(low, high))
        super().__init__(strict=True, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if value is not None and type(value) is not int:
            raise self.make_error("invalid", input=value)
        return super()._deserialize(value, attr, data, **kwargs)


class Number(fields.Float):
    """A number from `low` to `high`; "1" and true aren't taken."""

    def __init__(self, low: float, high: float, **kwargs: Any) -> None:
        super().__init__(validate=validate.Range(low, high), **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        if type(value) not in {int, float}:
            raise self.make_error("invalid", input=value)
        return super()._deserialize(value, attr, data, **kwargs)


class Flag(fields.Boolean):
    """True or false; 1, "yes" and their like aren't taken."""

    def _deserialize(self, value: Any, attr: str | None, data: Mapping[str, Any] | None, **kwargs: Any) -> Any:
        if not isinstance(value, bool):
            raise self.make_error("invalid", input=value)
        return super()._deserialize(value, attr, data, **kwargs)


class Digits(fields.Integer):
    """A whole number from `low` to `high` in a query string, in plain digits."""

    def __init__(self, low: int, high: int, *, metadata: dict[str, Any] | None = None, **kwargs: Any) -> None:
        self._range = (low, high)
        super().__init__(metadata={**(metadata or {}), "minimum": low, "maximum": high}, **kwargs)

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> Any:
        low, high = self._range
        if not _DIGITS.fullmatch(str(value)) or not low <= int(value) <= high:
            raise ValidationError(f"expected a whole number from {low} to {high}, got {value!r:.40}")
        return super()._deserialize(value, attr, data, **kwargs)


class PageArgs(Schema):
    """The query of every list."""

    limit = Digits(1, MAX_PAGE, load_default=50, metadata={"description": "How many items at most."})
    cursor = fields.String(
        load_default=None,
        validate=validate.Regexp(_CURSOR, error="expected a cursor that a list answered as next_cursor"),
        metadata={"description": "Where to go on: `next_cursor` of the page before."},
    )


def page_of(item: type[Schema], name: str) -> type[Schema]:
    """Make the schema of one page of items, under that name in the specification."""
    return Schema.from_dict(
        {
            "items": fields.List(fields.Nested(item), required=True),
            "next_cursor": fields.String(
                allow_none=True,
                required=True,
                metadata={"description": "Send it as `cursor` for what follows; null on the last page."},
            ),
        },
        name=name,
    )


class ProblemSchema(Schema):
    """RFC 9457. `code` stays what it is between versions; `detail` is for people."""

    type = fields.String(required=True)
    title = fields.String(required=True)
    status = fields.Integer(required=True)
    code = fields.String(required=True)
    detail = fields.String(required=True)
    errors = fields.Dict(
        keys=fields.String(),
        values=fields.List(fields.String()),
        metadata={"description": "What is wrong by field, as a dotted path such as `seats.0.kind`."},
    )
