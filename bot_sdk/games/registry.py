"""The rulesets the arena knows: one entry a game, with everything that callers may ask about it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from bot_sdk.errors import SdkError, quoted
from bot_sdk.games import river, seven_up
from bot_sdk.games.base import Packs, State, Tell
from bot_sdk.games.options import Option, resolve, schema


class RulesetError(SdkError, ValueError):
    """A ruleset that isn't known, or a table it can't seat; `field` names what is wrong."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


class RulesVersionError(RulesetError):
    """Rules that this release doesn't know, though another one does: nothing is wrong with the game."""


@dataclass(frozen=True, slots=True)
class Ruleset:
    """A game's rules: whom it seats, what may be chosen, which phases a seat decides in.

    `version` is raised by whatever makes another game of the same options, packs and actions, or knows more options.
    A game is pinned to it when it is made.
    """

    name: str
    title: str
    version: int
    min_seats: int
    max_seats: int
    phases: tuple[str, ...]
    options_for: Callable[[int], tuple[Option, ...]]
    state: type[State]

    def check_seats(self, seats: int) -> None:
        """Raise `RulesetError` unless the game can be played by `seats`."""
        if not self.min_seats <= seats <= self.max_seats:
            allowed = str(self.min_seats)
            if self.max_seats > self.min_seats:
                allowed += f" to {self.max_seats}"
            raise RulesetError("seats", f"expected {allowed} seats for {self.name}, got {seats}")

    def resolve(self, options: Mapping[str, Any], seats: int) -> dict[str, Any]:
        """Check the options for a table of `seats` and fill in the defaults.

        Raises `RulesetError` for the number of seats, `OptionError` for an option.
        """
        self.check_seats(seats)
        return resolve(self.options_for(seats), options)

    def options_schema(self, seats: int | None = None) -> dict[str, Any]:
        """Describe the options as JSON Schema: for a table of `seats`, or for the smallest table."""
        return schema(self.options_for(seats or self.min_seats))

    def new(self, options: Mapping[str, Any], seats: int, packs: Packs, tell: Tell | None = None) -> State:
        """Start a game; raises like `resolve`."""
        return self.state(self.resolve(options, seats), seats, packs, tell)


RULESETS: Final[dict[str, Ruleset]] = {
    ruleset.name: ruleset
    for ruleset in (
        Ruleset(
            name="seven_up",
            title="Seven Up",
            version=1,
            min_seats=2,
            max_seats=2,
            phases=("beg", "gift", "discard", "play"),
            options_for=lambda _seats: seven_up.OPTIONS,
            state=seven_up.SevenUp,
        ),
        Ruleset(
            name="river",
            title="Up and Down the River",
            version=1,
            min_seats=4,
            max_seats=8,
            phases=("bid", "play"),
            options_for=river.options,
            state=river.River,
        ),
    )
}


def ruleset(name: str) -> Ruleset:
    """Give the ruleset of that name; raises `RulesetError` if there is none."""
    try:
        return RULESETS[name]
    except (KeyError, TypeError):
        raise RulesetError("ruleset", f"expected a ruleset among {', '.join(RULESETS)}, got {quoted(name)}") from None


def pinned(name: str, version: int) -> Ruleset:
    """Give the rules that a game is pinned to; raises `RulesVersionError` if this release knows no such.

    The one place that looks them up: should rules ever change, those of before are to be found here as long as there
    are games and records of theirs.
    """
    known = RULESETS.get(name)
    if known is None or known.version != version:
        expected = ", ".join(f"{each.name} {each.version}" for each in RULESETS.values())
        raise RulesVersionError("rules", f"expected the rules {expected}, got {quoted(name)} {version}")
    return known
