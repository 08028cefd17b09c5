"""All there is to see of a tournament but its schedule, worked out at once from one reading of its results.

It shows what `scoreboard` shows, by what counts as `counting` has it: nothing of an open board is in it.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from msgspec import msgpack

from bot_sdk.bots import PREFIX
from bot_sdk.events import Outcome
from bot_sdk.results.attendance import legs_of
from bot_sdk.results.crosstable import CrosstableRow, cells, in_order_of
from bot_sdk.results.standings import Method, Standing, method
from bot_sdk.results.values import Entry, GameState, Result, Round
from service.arena.bots import is_visible
from service.arena.caller import Caller
from service.arena.counting import counted
from service.arena.scoreboard import Scoreboard, ranked
from service.arena.tournaments import Tournaments
from service.store.store import Store
from service.tournaments.ending import ABSENT
from service.tournaments.pairs import course_of

LATEST: Final = 50
"""So many games are told of in which something went wrong."""
FAULTS: Final = frozenset(outcome.value for outcome in Outcome if outcome.is_fault)
_ANYBODY: Final = Caller(address="")
_READ_ROW = msgpack.Decoder(CrosstableRow)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Overview:
    """A tournament at one moment; each is equal to itself alone.

    `view` is as `Scoreboard.view` gives it. `absent` says of entries that can't play now why, in a clause, until all is
    over; of one that isn't everybody's to see it says nothing. `course` has the log-likelihood ratio of a test after
    each pair. `wrong` are the latest games in which a seat had faults, retired or forfeited, or that came to nothing,
    newest first; there are `wrong_in_all`. Of the rounds drawn there are `drawn`, the biggest with `games_per_round`
    games. The crosstable is packed, by row: a big one is big.
    """

    view: dict[str, Any]
    entries: list[Entry]
    absent: dict[str, str]
    standings: list[Standing]
    method: Method
    results: int
    course: list[float]
    wrong: list[Result]
    wrong_in_all: int
    drawn: int
    games_per_round: int
    rows: list[bytes]

    def against(self, at: int) -> CrosstableRow:
        """Give the row of the crosstable of the bot at that index of the standings."""
        return _READ_ROW.decode(zlib.decompress(self.rows[at]))


class Overviews:
    """Reads tournaments; it changes nothing."""

    def __init__(self, store: Store, tournaments: Tournaments, scoreboard: Scoreboard) -> None:
        """Keep what it works with."""
        self._store = store
        self._tournaments = tournaments
        self._scoreboard = scoreboard

    def pulse(self, tournament_id: str) -> int:
        """Give a number that grows with every change of a tournament, or of what was played in it."""
        return self._store.tournaments.pulse(tournament_id)

    def overview(self, tournament_id: str) -> Overview:
        """Work it out; raises NotFoundError. A big tournament takes a second: keep it while nothing changes."""
        view = self._scoreboard.view(tournament_id)
        tournament = self._tournaments.get(tournament_id)
        found = counted(self._store, tournament)
        drawn = self._store.tournaments.rounds(tournament_id)
        rows = ranked(tournament, found)
        wrong = [result for result in found.results if went_wrong(result)]
        met = in_order_of(rows, cells(found.results, tournament.ruleset))
        return Overview(
            view=view,
            entries=found.entries,
            absent={} if tournament.state.is_end else self._absent(found.entries),
            standings=rows,
            method=method(tournament.ruleset, tournament.format),
            results=len(found.results),
            course=course_of(tournament, found.entries, found.results),
            wrong=sorted(wrong, key=lambda result: result.ended_at, reverse=True)[:LATEST],
            wrong_in_all=len(wrong),
            drawn=len(drawn),
            games_per_round=legs_of(tournament.table_size, tournament.deals) * _most_tables(drawn.values()),
            rows=[zlib.compress(msgpack.encode(row), 1) for row in met],
        )

    def _absent(self, entries: Sequence[Entry]) -> dict[str, str]:
        ids = [entry.bot_id for entry in entries if not entry.bot_id.startswith(PREFIX)]
        bots = self._store.bots.get_many(ids)
        found = [
            (bot_id, bot) for bot_id, bot in zip(ids, bots, strict=True) if bot is None or is_visible(bot, _ANYBODY)
        ]
        states = {bot_id: None if bot is None else bot.state for bot_id, bot in found}
        return {bot_id: ABSENT[state] for bot_id, state in states.items() if state in ABSENT}


def went_wrong(result: Result) -> bool:
    """Tell whether a seat had faults, retired or forfeited, or the game came to nothing."""
    if result.forfeited or any(result.retired) or result.state in {GameState.VOID, GameState.ABORTED}:
        return True
    return any(not FAULTS.isdisjoint(counts) for counts in result.outcomes)


def _most_tables(rounds: Iterable[Round]) -> int:
    return max((len(each.tables) for each in rounds), default=0)
