"""Which games are played on which board. How packs follow from a board's name: docs/deals.md."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from bot_sdk.results.values import Round, Slot
from service.tournaments.legs import legs

FIELD: Final = "field"
FRESH: Final = "fresh"
ROTATE: Final = "rotate"


@dataclass(frozen=True, slots=True)
class Place:
    """A game of the schedule, whatever attempts it takes: where it stands, who sits at which seat, and its deals.

    `deals` are those of its round: one with a single table has nothing to share and plays `fresh`.
    """

    tournament_id: str
    round: int
    table: int
    leg: int
    bots: tuple[str, ...]
    deals: str

    @property
    def name(self) -> str:
        """What schedule, starts and results know it by: round, table and leg."""
        return f"{self.round}.{self.table}.{self.leg}"

    def slot(self, attempt: int) -> Slot:
        """Give the slot of an attempt: a rerun has a board of its own, but for `rotate`, whose legs share theirs."""
        board = f"{self.round}.{self.table}"
        is_shared = self.deals == ROTATE or (self.deals == FIELD and attempt == 0)
        if not is_shared and attempt:
            board += f"~{attempt}"
        return Slot(
            tournament_id=self.tournament_id,
            round=self.round,
            table=self.table,
            leg=self.leg,
            attempt=attempt,
            board=str(self.round) if is_shared and self.deals == FIELD else board,
            is_shared=is_shared,
        )


def places(tournament_id: str, deals: str, rounds: Mapping[int, Round]) -> Iterator[Place]:
    """Give every game of these rounds, in order of round, table and leg."""
    for number, each in rounds.items():
        played = FRESH if deals == FIELD and len(each.tables) == 1 else deals
        for table, bots in enumerate(each.tables, 1):
            for leg, seated in enumerate(legs(bots) if played == ROTATE else [bots]):
                yield Place(tournament_id, number, table, leg, tuple(seated), played)


def label_of(tournament_id: str, board: str) -> str:
    """Give the label under which a board's packs are committed to."""
    return f"{tournament_id}/{board}"
