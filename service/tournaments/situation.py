"""How a tournament stands, which is all that its next rounds follow from."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from bot_sdk.results.lots import lot
from bot_sdk.results.values import Entry, Result, Round
from service.store.entities import Tournament
from service.tournaments.boards import places


@dataclass(frozen=True)
class Situation:
    """A tournament as it stands: all entries, withdrawn ones too, the rounds drawn, the results that count."""

    tournament: Tournament
    entries: Sequence[Entry]
    rounds: Mapping[int, Round]
    done: frozenset[str]
    """The places (see `boards.Place.name`) that have a result."""
    read_results: Callable[[], Sequence[Result]]

    @cached_property
    def results(self) -> Sequence[Result]:
        """The results, read when they are needed first."""
        return self.read_results()

    @property
    def everybody(self) -> list[str]:
        """All entries by lot: the order of seeding."""
        return sorted((entry.bot_id for entry in self.entries), key=lambda bot_id: lot(self.tournament.seed, bot_id))

    @property
    def gone(self) -> set[str]:
        """The entries that have withdrawn."""
        return {entry.bot_id for entry in self.entries if entry.withdrawn_at is not None}

    @property
    def remaining(self) -> list[str]:
        """The entries that haven't, in order of seeding."""
        return [bot_id for bot_id in self.everybody if bot_id not in self.gone]

    @property
    def is_round_over(self) -> bool:
        """Whether every game drawn so far has a result."""
        drawn = places(self.tournament.id, self.tournament.deals, self.rounds)
        return all(place.name in self.done for place in drawn)


@dataclass(frozen=True, slots=True)
class Draw:
    """Rounds to be added to those there are; nothing follows the last ones, and `reason` says why if it is odd."""

    rounds: Sequence[Round] = ()
    is_last: bool = False
    reason: str | None = None
