"""What a tournament leaves behind, as values: entries, rounds, and the result of each game."""

from __future__ import annotations

from enum import StrEnum

import msgspec


class GameState(StrEnum):
    """`OPEN` waits for seats or a manual start; everything after `RUNNING` is an end."""

    OPEN = "open"
    RUNNING = "running"
    FINISHED = "finished"
    VOID = "void"
    ABORTED = "aborted"
    CANCELLED = "cancelled"

    @property
    def is_end(self) -> bool:
        """Whether nothing can happen any more."""
        return self not in {GameState.OPEN, GameState.RUNNING}


class Slot(msgspec.Struct, frozen=True, kw_only=True):
    """A game's place in its tournament; rounds and tables count from 1, legs and `attempt` (reruns) from 0.

    `is_shared` says that other games are played on the same board: nothing of it is shown before the last of
    them has ended.
    """

    tournament_id: str
    round: int
    table: int
    leg: int = 0
    attempt: int = 0
    board: str
    is_shared: bool = False


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A bot in a tournament."""

    bot_id: str
    name: str
    account_id: str | None
    entropy: str = ""
    entered_at: int
    withdrawn_at: int | None = None


class Round(msgspec.Struct, frozen=True):
    """The tables of one round, each with its entries by seat, and the entries that sit it out."""

    tables: tuple[tuple[str, ...], ...]
    byes: tuple[str, ...] = ()


class Result(msgspec.Struct, frozen=True, kw_only=True):
    """How one tournament game ended: written once by (round, table, leg), read by standings for ever.

    Lists are by seat. `versions` are those the bots had when the game was made, None where that isn't known: results
    written before there were ratings don't say. `outcomes[seat]` counts that seat's
    decisions by outcome; `deals` counts the deals played. `is_rated` says whether it counts for ratings, as far as
    that follows from the game itself.
    """

    game_id: str
    state: GameState
    slot: Slot
    bots: list[str]
    versions: list[str | None] = []
    totals: list[int]
    places: list[int] | None
    retired: list[bool]
    forfeited: list[int]
    deals: int
    outcomes: list[dict[str, int]]
    exact_bids: list[int] | None = None
    ended_by: str | None = None
    ended_at: int
    is_rated: bool = False

    def __post_init__(self) -> None:
        """Give every seat a version."""
        if not self.versions:
            msgspec.structs.force_setattr(self, "versions", [None] * len(self.bots))
