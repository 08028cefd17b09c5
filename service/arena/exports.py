"""What a tournament can be taken away as: all records, its results as CSV, or everything as JSON Lines.

Only what counts and may be read is in it; see `counting`.
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
from msgspec.structs import replace

from bot_sdk.games import record
from bot_sdk.results import export
from bot_sdk.results.export import Export, Exported
from bot_sdk.results.sheet import sheet
from bot_sdk.results.values import Entry
from service.arena.counting import counted
from service.arena.scoreboard import Scoreboard, ranked
from service.arena.tournaments import Tournaments
from service.referee.table import Table
from service.store.entities import Game, Tournament
from service.store.store import Store
from service.store.stored import Log


class Exports:
    """Writes tournaments down, as they stand; each raises NotFoundError at once."""

    def __init__(self, store: Store, tournaments: Tournaments, scoreboard: Scoreboard) -> None:
        """Keep what it works with."""
        self._store = store
        self._tournaments = tournaments
        self._scoreboard = scoreboard

    def records(self, tournament_id: str) -> Iterator[bytes]:
        """Give the record of each game, a line each, by round, table and leg."""
        return self._records(self._tournaments.get(tournament_id))

    def _records(self, tournament: Tournament) -> Iterator[bytes]:
        for result in counted(self._store, tournament).results:
            loaded = self._store.games.load(result.game_id)
            if loaded is not None and loaded[0].state.is_end:
                yield record_line(*loaded)

    def sheet(self, tournament_id: str) -> Iterator[bytes]:
        """Give the results as CSV."""
        tournament = self._tournaments.get(tournament_id)
        found = counted(self._store, tournament)
        return (line.encode() for line in sheet(found.entries, found.results))

    def lines(self, tournament_id: str) -> Iterator[bytes]:
        """Give everything that standings and ratings follow from, and what follows, as JSON Lines."""
        tournament = self._tournaments.get(tournament_id)
        shown = self._scoreboard.view(tournament_id)
        known = {name: shown[name] for name in Exported.__struct_fields__}
        found = counted(self._store, tournament)
        return export.write(
            Export(
                tournament=msgspec.convert(known, Exported),
                entries=_shown(tournament, found.entries),
                rounds=found.rounds,
                results=found.results,
                standings=ranked(tournament, found),
                ratings=self._store.ratings.of_tournament(tournament_id),
            )
        )


def record_line(game: Game, log: Log, secret: bytes) -> bytes:
    """Give the record of a game that has ended, as a line; raises what a log raises that these rules didn't make."""
    written = record.encode(Table.replayed(game, log, secret).record(game.state.value))  # type: ignore[arg-type]  # an end
    return written.rstrip(b"\n") + b"\n"


def _shown(tournament: Tournament, entries: list[Entry]) -> list[Entry]:
    """Give entries without their entropy until the start: who gives his last mustn't know that of the others."""
    return entries if tournament.started_at is not None else [replace(entry, entropy="") for entry in entries]
