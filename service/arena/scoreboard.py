"""What is shown of a tournament: how far it is, its rounds, standings, games and records. It changes nothing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from time import monotonic
from typing import Any, Final, overload

import msgspec

from bot_sdk.games import record
from bot_sdk.games.packs import board_secret, commitment
from bot_sdk.results.standings import method, standings
from bot_sdk.results.values import GameState, Result, Round, Slot
from service.arena import views
from service.arena.errors import NotFoundError
from service.arena.tournaments import Tournaments, board_of, label_of
from service.referee.table import Table
from service.store import due, keys
from service.store.entities import Tournament, TournamentState
from service.store.store import Store
from service.store.tournaments import place

TABLES_PER_BOARD: Final = 1
"""With `fresh` deals every table has a board of its own."""


class Scoreboard:
    """Reads tournaments."""

    def __init__(self, store: Store, tournaments: Tournaments) -> None:
        """Keep what it works with."""
        self._store = store
        self._tournaments = tournaments

    def summary(self, tournament: Tournament) -> dict[str, Any]:
        """Show a tournament as lists do."""
        return msgspec.to_builtins(tournament) | {"tables_per_board": TABLES_PER_BOARD}  # type: ignore[no-any-return]  # a dict

    def view(self, tournament_id: str) -> dict[str, Any]:
        """Show a tournament; raises NotFoundError."""
        tournament = self._tournaments.get(tournament_id)
        return {
            **self.summary(tournament),
            "secret": self._secret(tournament),
            "entries": len(self._store.tournaments.entries(tournament_id)),
            "progress": self.progress(tournament),
        }

    def _secret(self, tournament: Tournament) -> str | None:
        """Give the root secret in hex once nothing is played any more: a cancelled tournament's games end after it."""
        over = tournament.state is TournamentState.FINISHED
        if tournament.state is TournamentState.CANCELLED:
            over = self._store.due.at(due.tournament(tournament.id)) is None
        return self._store.tournaments.secret(tournament.id).hex() if over else None

    def progress(self, tournament: Tournament) -> dict[str, int]:
        """Count the games of a tournament: all that are scheduled, those with a result, those that run."""
        store = self._store.tournaments
        games = sum(len(each.tables) for each in store.rounds(tournament.id).values())
        finished = store.count_results(tournament.id)
        begun = 0 if tournament.state.is_end else len(store.started(tournament.id))
        return {"games": games, "finished": finished, "running": max(0, begun - finished)}

    def follow(self, tournament_id: str, seen: int, seconds: float = 0) -> tuple[int, dict[str, Any], bool]:
        """Tell how far a tournament is once its count of changes isn't `seen`, or `seconds` have passed.

        Gives that count, state and progress, and whether more may come. Raises NotFoundError.
        """
        store, watch, until = self._store.tournaments, self._store.watch, monotonic() + seconds
        while True:
            left = until - monotonic()
            count = store.pulse(tournament_id)
            tournament = self._tournaments.get(tournament_id)
            if count != seen or left <= 0 or tournament.state.is_end or watch.is_closed:
                shown = {"state": tournament.state.value, **self.progress(tournament)}
                return count, shown, not tournament.state.is_end
            news = keys.tournament_news(tournament_id)
            watch.wait(news, seen, lambda: store.pulse(tournament_id), left)

    def standings(self, tournament_id: str) -> dict[str, Any]:
        """Compute the standings from the results so far, and say how; raises NotFoundError."""
        tournament = self._tournaments.get(tournament_id)
        store = self._store.tournaments
        results, entries = store.results(tournament_id), store.entries(tournament_id)
        rows = standings(
            entries,
            results,
            tournament.ruleset,
            seed=tournament.seed,
            format=tournament.format,
            deals=tournament.deals,
            rounds=store.rounds(tournament_id),
        )
        return {
            "items": msgspec.to_builtins(rows),
            "next_cursor": None,
            "results": len(results),
            "is_final": tournament.state.is_end,
            "method": msgspec.to_builtins(method(tournament.ruleset, tournament.format)),
        }

    def rounds(self, tournament_id: str) -> Sequence[dict[str, Any]]:
        """Show the rounds drawn so far: tables with boards, commitments and results, and who sits out.

        What a round's tables show is worked out when it is read: there may be many. Raises NotFoundError.
        """
        self._tournaments.get(tournament_id)
        return _Rounds(self._store.tournaments.rounds(tournament_id), _Boards(self._store, tournament_id))

    def games(
        self, tournament_id: str, *, limit: int, cursor: str | None, state: GameState | None
    ) -> tuple[list[dict[str, Any]], str | None]:
        """Show the games made so far, newest first, and the next cursor; raises NotFoundError, BadCursorError."""
        self._tournaments.get(tournament_id)
        found, following = self._store.games.list_for_tournament(tournament_id, limit=limit, cursor=cursor, state=state)
        return [views.summary(game) for game in found], following

    def records(self, tournament_id: str) -> Iterator[bytes]:
        """Give the record of each game that has a result, in order of round and table; raises NotFoundError at once."""
        if self._store.tournaments.get(tournament_id) is None:
            raise NotFoundError("there is no such tournament")
        return self._records(tournament_id)

    def _records(self, tournament_id: str) -> Iterator[bytes]:
        for result in self._store.tournaments.results(tournament_id):
            loaded = self._store.games.load(result.game_id)
            if loaded is not None and loaded[0].state.is_end:
                yield record.encode(Table.replayed(*loaded).record(loaded[0].state.value))  # type: ignore[arg-type]  # an end


class _Rounds(Sequence[dict[str, Any]]):
    """The rounds of a tournament as they are shown, each made when it is asked for."""

    def __init__(self, rounds: dict[int, Round], boards: _Boards) -> None:
        self._rounds = list(rounds.items())
        self._boards = boards

    def __len__(self) -> int:
        return len(self._rounds)

    @overload
    def __getitem__(self, at: int) -> dict[str, Any]: ...

    @overload
    def __getitem__(self, at: slice) -> list[dict[str, Any]]: ...

    def __getitem__(self, at: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        if isinstance(at, slice):
            return [self._shown(*each) for each in self._rounds[at]]
        return self._shown(*self._rounds[at])

    def _shown(self, number: int, drawn: Round) -> dict[str, Any]:
        tables = [self._boards.shown(number, *each) for each in enumerate(drawn.tables, 1)]
        return {"round": number, "byes": drawn.byes, "tables": tables}


class _Boards:
    """What may be told of the boards of one tournament now."""

    def __init__(self, store: Store, tournament_id: str) -> None:
        self._id = tournament_id
        self._secret = store.tournaments.secret(tournament_id)
        self._started = store.tournaments.started(tournament_id)
        self._results = {place(result.slot): result for result in store.tournaments.results(tournament_id)}

    def shown(self, number: int, table: int, bots: Sequence[str]) -> dict[str, Any]:
        """Show a table: the board's secret stays one until the game has its result."""
        at = place(Slot(tournament_id=self._id, round=number, table=table, board=""))
        board = board_of(number, table, self._started.get(at, 0))
        secret, result = board_secret(self._secret, board), self._results.get(at)
        return {
            "table": table,
            "bots": bots,
            "board": board,
            "commitment": commitment(secret, label_of(self._id, board)),
            "secret": secret.hex() if result else None,
            **_result_shown(result),
        }


def _result_shown(result: Result | None) -> dict[str, Any]:
    return {
        "game_id": result.game_id if result else None,
        "state": result.state.value if result else None,
        "totals": result.totals if result else None,
        "places": result.places if result else None,
    }
