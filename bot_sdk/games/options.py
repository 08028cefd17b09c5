"""The options of a ruleset, declared once: they give the defaults, the checks and the JSON Schema."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot_sdk.errors import SdkError, quoted


class OptionError(SdkError, ValueError):
    """An option that doesn't exist or has no such value; `field` names it."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True, slots=True)
class Choice:
    """An option with a closed set of values, the default first."""

    name: str
    values: tuple[Any, ...]
    meaning: str

    @property
    def default(self) -> Any:
        """The value of an option that isn't given."""
        return self.values[0]

    def check(self, value: Any) -> None:
        """Raise `OptionError` unless this is one of the values; ``True`` is no 1."""
        if not any(type(value) is type(each) and value == each for each in self.values):
            expected = ", ".join(repr(each) for each in self.values)
            raise OptionError(self.name, f"expected {self.name} to be one of {expected}, got {quoted(value)}")

    def schema(self) -> dict[str, Any]:
        """Describe the option as JSON Schema."""
        return {"enum": list(self.values), "default": self.default, "description": self.meaning}


@dataclass(frozen=True, slots=True)
class Whole:
    """An option that is a whole number from `low` to `high`; `limit` says where `high` comes from."""

    name: str
    low: int
    high: int
    default: int
    meaning: str
    limit: str = ""

    def check(self, value: Any) -> None:
        """Raise `OptionError` unless this is one of the values; ``True`` is no 1."""
        if type(value) is not int or not self.low <= value <= self.high:
            why = f" ({self.limit})" if self.limit else ""
            span = f"a whole number from {self.low} to at most {self.high}{why}"
            raise OptionError(self.name, f"expected {self.name} to be {span}, got {quoted(value)}")

    def schema(self) -> dict[str, Any]:
        """Describe the option as JSON Schema."""
        return {
            "type": "integer",
            "minimum": self.low,
            "maximum": self.high,
            "default": self.default,
            "description": self.meaning,
        }


Option = Choice | Whole


def resolve(declared: Sequence[Option], given: Mapping[str, Any]) -> dict[str, Any]:
    """Check the given options and fill in the defaults, in declared order; raises `OptionError`."""
    known = {option.name for option in declared}
    for name in given:
        if name not in known:
            raise OptionError(str(name), f"expected an option among {', '.join(sorted(known))}, got {quoted(name)}")
    resolved = {}
    for option in declared:
        value = given.get(option.name, option.default)
        option.check(value)
        resolved[option.name] = value
    return resolved


def schema(declared: Sequence[Option]) -> dict[str, Any]:
    """Describe the options as a JSON Schema object."""
    return {
        "type": "object",
        "additionalProperties": False,
        "properties": {option.name: option.schema() for option in declared},
    }
