"""What is shown of a tournament as a whole: how far it is, how its test stands, standings. It changes nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import msgspec

from bot_sdk.results.attendance import legs_of
from bot_sdk.results.crosstable import crosstable
from bot_sdk.results.standings import Standing, method, standings
from bot_sdk.results.values import Round
from service.arena.counting import Counted, counted, judged
from service.arena.tournaments import Tournaments
from service.store import due, keys
from service.store.entities import Tournament, TournamentState
from service.store.store import Store
from service.tournaments.boards import FIELD
from service.tournaments.formats import count_games

TELLING: Final = 5
"""So many games since the last start tell of a tournament's pace."""


@dataclass(frozen=True, slots=True)
class _Standing:
    """How far a tournament was when there had been `count` changes."""

    count: int
    shown: dict[str, Any]
    is_final: bool


class Scoreboard:
    """Reads tournaments."""

    def __init__(self, store: Store, tournaments: Tournaments, *, clock: Callable[[], int]) -> None:
        """Keep what it works with."""
        self._store = store
        self._tournaments = tournaments
        self._clock = clock

    def summary(self, tournament: Tournament) -> dict[str, Any]:
        """Show a tournament as lists do."""
        return msgspec.to_builtins(tournament)  # type: ignore[no-any-return]  # a dict

    def view(self, tournament_id: str) -> dict[str, Any]:
        """Show a tournament; raises NotFoundError."""
        tournament = self._tournaments.get(tournament_id)
        entries = len(self._store.tournaments.entries(tournament_id))
        return {
            **self.summary(tournament),
            "secret": self._secret(tournament),
            "entries": entries,
            "tables_per_board": _tables_per_board(tournament, entries),
            "progress": self.progress(tournament),
            "test": self._test(tournament),
        }

    def _secret(self, tournament: Tournament) -> str | None:
        """Give the root secret in hex once all is over."""
        return self._store.tournaments.secret(tournament.id).hex() if self._is_over(tournament) else None

    def _is_over(self, tournament: Tournament) -> bool:
        """Tell whether nothing can follow any more: a cancelled tournament's games end, and its boards close, later."""
        if tournament.state is TournamentState.CANCELLED:
            return self._store.due.at(due.tournament(tournament.id)) is None
        return tournament.state is TournamentState.FINISHED

    # --- progress -----------------------------------------------------------------------------------------------------

    def progress(self, tournament: Tournament) -> dict[str, int | None]:
        """Count the games of a tournament: drawn, planned in all, with a result, running; and the seconds left."""
        store = self._store.tournaments
        games = _games_in(tournament, store.rounds(tournament.id))
        finished = store.count_results(tournament.id)
        begun = 0 if tournament.state.is_end else store.count_started(tournament.id)
        planned = self._planned(tournament, games)
        return {
            "games": games,
            "planned": planned,
            "finished": finished,
            "running": max(0, begun - finished),
            "seconds_left": self._seconds_left(tournament, planned, finished),
        }

    def _planned(self, tournament: Tournament, games: int) -> int | None:
        """Tell how many games there will be, or have been; None for a ladder without an end."""
        entries = len(self._store.tournaments.entries(tournament.id))
        if tournament.state.is_end or entries < tournament.table_size:
            return games
        if tournament.format == "ladder" and tournament.max_games is None:
            return None
        return max(games, count_games(tournament, entries))

    def _seconds_left(self, tournament: Tournament, planned: int | None, finished: int) -> int | None:
        """Reckon by the pace since the last start; None while a few games tell little of that."""
        since, played = tournament.resumed_at, finished - tournament.finished_before
        if tournament.state is not TournamentState.RUNNING or planned is None or since is None or played < TELLING:
            return None
        pace = max(0, self._clock() - since) / played
        return round(max(0, planned - finished) * pace / 1_000)

    def follow(
        self, tournament_id: str, seen: int, seconds: float = 0, *, is_new: bool = True
    ) -> tuple[int, dict[str, Any], bool]:
        """Tell how far a tournament is once its count of changes is past `seen`, or `seconds` have passed.

        Gives that count, state and progress, and whether more may come. One who isn't new, but asks again and again,
        may be told what others were told since the last news. Raises NotFoundError.
        """

        def is_time(standing: _Standing) -> bool:
            return standing.count > seen or standing.is_final

        news = keys.tournament_news(tournament_id)
        found = self._store.watch.follow(news, self._standing, tournament_id, is_time, seconds, is_new=is_new)
        return found.count, found.shown, not found.is_final

    def _standing(self, tournament_id: str) -> _Standing:
        count = self._store.tournaments.pulse(tournament_id)
        tournament = self._tournaments.get(tournament_id)
        shown = {"state": tournament.state.value, "reason": tournament.reason, **self.progress(tournament)}
        return _Standing(count, shown, tournament.state.is_end)

    # --- results ------------------------------------------------------------------------------------------------------

    def standings(self, tournament_id: str) -> dict[str, Any]:
        """Compute the standings from the results that count so far, and say how; raises NotFoundError."""
        tournament = self._tournaments.get(tournament_id)
        is_final = self._is_over(tournament)  # asked first: what comes in meanwhile may be in, but never lacking
        found = counted(self._store, tournament)
        return {
            "items": msgspec.to_builtins(ranked(tournament, found)),
            "next_cursor": None,
            "results": len(found.results),
            "is_final": is_final,
            "method": msgspec.to_builtins(method(tournament.ruleset, tournament.format)),
        }

    def crosstable(self, tournament_id: str) -> dict[str, Any]:
        """Show what each entry made of each other one by the results that count so far; raises NotFoundError."""
        tournament = self._tournaments.get(tournament_id)
        found = counted(self._store, tournament)
        rows = crosstable(found.entries, found.results, tournament.ruleset, **_course(tournament, found))
        return {"items": msgspec.to_builtins(rows), "next_cursor": None, "results": len(found.results)}

    def _test(self, tournament: Tournament) -> dict[str, Any] | None:
        if tournament.sprt is None or tournament.started_at is None:
            return None
        _, test = judged(self._store, tournament)
        return None if test is None else test.shown


def ranked(tournament: Tournament, found: Counted) -> list[Standing]:
    """Rank the entries by what counts."""
    return standings(found.entries, found.results, tournament.ruleset, **_course(tournament, found))


def _course(tournament: Tournament, found: Counted) -> dict[str, Any]:
    return {
        "seed": tournament.seed,
        "format": tournament.format,
        "deals": tournament.deals,
        "rounds": found.rounds,
    }


def _tables_per_board(tournament: Tournament, entries: int) -> int:
    tables = entries // tournament.table_size
    return tables if tournament.deals == FIELD and tables > 1 else 1


def _games_in(tournament: Tournament, rounds: dict[int, Round]) -> int:
    return legs_of(tournament.table_size, tournament.deals) * sum(len(each.tables) for each in rounds.values())
