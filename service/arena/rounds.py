"""The rounds, boards and games of a tournament as they are shown: nothing of a board before its last game has ended."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any, overload

from bot_sdk.games.packs import board_secret, commitment
from bot_sdk.results.values import GameState, Round
from service.arena.reading import summaries
from service.arena.starting import Attempt
from service.arena.tournaments import Tournaments
from service.store.entities import Tournament
from service.store.store import Store
from service.tournaments.boards import Place, label_of, places


class Rounds:
    """Reads what was drawn and played."""

    def __init__(self, store: Store, tournaments: Tournaments) -> None:
        """Keep what it works with."""
        self._store = store
        self._tournaments = tournaments

    def rounds(self, tournament_id: str) -> Sequence[dict[str, Any]]:
        """Show the rounds drawn so far: tables with boards, games and results, and who sits out.

        What a round's tables show is worked out when it is read: there may be many. Raises NotFoundError.
        """
        tournament = self._tournaments.get(tournament_id)
        return _Rounds(tournament, self._store)

    def boards(self, tournament_id: str) -> Sequence[dict[str, Any]]:
        """Show the boards of the rounds drawn so far, in order, those of reruns too; raises NotFoundError."""
        tournament = self._tournaments.get(tournament_id)
        boards = _Boards(tournament, self._store)
        drawn = places(tournament.id, tournament.deals, self._store.tournaments.rounds(tournament_id))
        return boards.listed(drawn)

    def games(
        self, tournament_id: str, *, limit: int, cursor: str | None, state: GameState | None
    ) -> tuple[list[dict[str, Any]], str | None]:
        """Show the games made so far, newest first, and the next cursor; raises NotFoundError, BadCursorError."""
        self._tournaments.get(tournament_id)
        found, following = self._store.games.list_for_tournament(tournament_id, limit=limit, cursor=cursor, state=state)
        return summaries(self._store.tournaments, found), following


class _Rounds(Sequence[dict[str, Any]]):
    """The rounds of a tournament as they are shown, each made when it is asked for."""

    def __init__(self, tournament: Tournament, store: Store) -> None:
        self._tournament = tournament
        self._rounds = list(store.tournaments.rounds(tournament.id).items())
        self._boards = _Boards(tournament, store)

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
        by_table: dict[int, list[Place]] = defaultdict(list)
        for place in places(self._tournament.id, self._tournament.deals, {number: drawn}):
            by_table[place.table].append(place)
        return {
            "round": number,
            "byes": drawn.byes,
            "tables": [
                {"table": table, "bots": drawn.tables[table - 1], "games": [self._boards.game(leg) for leg in legs]}
                for table, legs in by_table.items()
            ],
        }


class _Boards:
    """What may be told of the boards of one tournament now."""

    def __init__(self, tournament: Tournament, store: Store) -> None:
        self._id = tournament.id
        self._secret = store.tournaments.secret(tournament.id)
        self._started = store.tournaments.started(tournament.id)
        self._closed = store.tournaments.closed(tournament.id)
        self._results = {
            f"{result.slot.round}.{result.slot.table}.{result.slot.leg}": result
            for result in store.tournaments.results(tournament.id)
        }

    def game(self, place: Place) -> dict[str, Any]:
        """Show a game of the schedule at its last attempt: its result only if that may be read."""
        number = self._started.get(place.name)
        slot, result = place.slot(number or 0), self._results.get(place.name)
        shown = result if result and (not slot.is_shared or slot.board in self._closed) else None
        return {
            "leg": place.leg,
            "bots": place.bots,
            "board": slot.board,
            "game_id": None if number is None else Attempt(place, number).game_id,
            "state": result.state.value if result else None,
            "totals": shown.totals if shown else None,
            "places": shown.places if shown else None,
        }

    def listed(self, drawn: Iterator[Place]) -> list[dict[str, Any]]:
        """Show each board once, in order, with the games that were made on it."""
        games: dict[str, list[str]] = {}
        rounds: dict[str, int] = {}
        for place in drawn:
            last = self._started.get(place.name, -1)
            for number in range(max(last, 0) + 1):
                board = place.slot(number).board
                rounds[board] = place.round
                made = games.setdefault(board, [])
                if number <= last:
                    made.append(Attempt(place, number).game_id)
        return [self._board(board, rounds[board], made) for board, made in games.items()]

    def _board(self, board: str, number: int, games: list[str]) -> dict[str, Any]:
        label, secret = label_of(self._id, board), board_secret(self._secret, board)
        is_closed = board in self._closed
        return {
            "board": board,
            "round": number,
            "label": label,
            "commitment": commitment(secret, label),
            "is_closed": is_closed,
            "secret": secret.hex() if is_closed else None,
            "games": games,
        }
