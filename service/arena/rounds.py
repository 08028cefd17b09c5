"""The rounds, boards and games of a tournament as they are shown: nothing of a board before its last game has ended."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar, overload

from bot_sdk.games.packs import board_secret, commitment
from bot_sdk.results.values import GameState, Result, Round
from service.arena.reading import summaries
from service.arena.starting import Attempt
from service.arena.tournaments import Tournaments
from service.store.entities import Tournament
from service.store.store import Store
from service.store.tournaments import place as name_of
from service.tournaments.boards import Place, label_of, places

T = TypeVar("T")


class Rounds:
    """Reads what was drawn and played."""

    def __init__(self, store: Store, tournaments: Tournaments) -> None:
        """Keep what it works with."""
        self._store = store
        self._tournaments = tournaments

    def rounds(self, tournament_id: str) -> Sequence[dict[str, Any]]:
        """Show the rounds drawn so far: tables with boards, games and results, and who sits out.

        Raises NotFoundError.
        """
        told = self._boards(tournament_id)
        return _Pages(list(self._store.tournaments.rounds(tournament_id).items()), told.rounds)

    def boards(self, tournament_id: str) -> Sequence[dict[str, Any]]:
        """Show the boards of the rounds drawn so far, in order, those of reruns too; raises NotFoundError."""
        told = self._boards(tournament_id)
        return _Pages(told.all_of(self._store.tournaments.rounds(tournament_id)), told.boards)

    def part(self, tournament_id: str, numbers: Sequence[int]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
        """Show these rounds and their boards, as `rounds` and `boards` do, reading nothing of the others.

        Rounds that aren't drawn are left out. Raises NotFoundError.
        """
        tournament, store = self._tournaments.get(tournament_id), self._store.tournaments
        drawn = store.rounds_at(tournament_id, numbers)
        names = [place.name for place in places(tournament_id, tournament.deals, drawn)]
        told = _Boards(tournament, self._store, started=store.started_at(tournament_id, names))
        boards = told.all_of(drawn)
        told.closed = store.closed_of(tournament_id, [board.name for board in boards])
        return told.rounds(list(drawn.items())), told.boards(boards)

    def _boards(self, tournament_id: str) -> _Boards:
        tournament, store = self._tournaments.get(tournament_id), self._store.tournaments
        started = store.started(tournament_id)
        return _Boards(tournament, self._store, started=started, closed=store.closed(tournament_id))

    def games(
        self, tournament_id: str, *, limit: int, cursor: str | None, state: GameState | None
    ) -> tuple[list[dict[str, Any]], str | None]:
        """Show the games made so far, newest first, and the next cursor; raises NotFoundError, BadCursorError."""
        self._tournaments.get(tournament_id)
        found, following = self._store.games.list_for_tournament(tournament_id, limit=limit, cursor=cursor, state=state)
        return summaries(self._store.tournaments, found), following


class _Pages(Sequence[dict[str, Any]], Generic[T]):
    """Things that are shown when they are asked for: there may be many, and a reader sees a page of them."""

    def __init__(self, things: Sequence[T], show: Callable[[Sequence[T]], list[dict[str, Any]]]) -> None:
        self._things = things
        self._show = show

    def __len__(self) -> int:
        return len(self._things)

    @overload
    def __getitem__(self, at: int) -> dict[str, Any]: ...

    @overload
    def __getitem__(self, at: slice) -> list[dict[str, Any]]: ...

    def __getitem__(self, at: int | slice) -> dict[str, Any] | list[dict[str, Any]]:
        if isinstance(at, slice):
            return self._show(self._things[at])
        return self._show([self._things[at]])[0]


class _Board(NamedTuple):
    """A board: its round, and the games that were made on it."""

    name: str
    round: int
    games: list[str]


class _Boards:
    """What may be told of the boards of one tournament now; `closed` is empty until it is known which are."""

    def __init__(
        self, tournament: Tournament, store: Store, *, started: Mapping[str, int], closed: Collection[str] = ()
    ) -> None:
        self._tournament = tournament
        self._store = store.tournaments
        self._secret = self._store.secret(tournament.id)
        self._started = started
        self.closed = closed

    def rounds(self, numbered: Sequence[tuple[int, Round]]) -> list[dict[str, Any]]:
        """Show some rounds."""
        by_table: dict[tuple[int, int], list[Place]] = defaultdict(list)
        for place in places(self._tournament.id, self._tournament.deals, dict(numbered)):
            by_table[place.round, place.table].append(place)
        names = [place.name for legs in by_table.values() for place in legs]
        results = {name_of(found.slot): found for found in self._store.results_at(self._tournament.id, names)}
        return [
            {
                "round": number,
                "byes": drawn.byes,
                "tables": [
                    {
                        "table": table,
                        "bots": bots,
                        "games": [self._game(leg, results.get(leg.name)) for leg in by_table[number, table]],
                    }
                    for table, bots in enumerate(drawn.tables, 1)
                ],
            }
            for number, drawn in numbered
        ]

    def _game(self, place: Place, result: Result | None) -> dict[str, Any]:
        """Show a game of the schedule at its last attempt: its result only if that may be read."""
        number = self._started.get(place.name)
        slot = place.slot(number or 0)
        shown = result if result and (not slot.is_shared or slot.board in self.closed) else None
        return {
            "leg": place.leg,
            "bots": place.bots,
            "board": slot.board,
            "game_id": None if number is None else Attempt(place, number).game_id,
            "state": result.state.value if result else None,
            "totals": shown.totals if shown else None,
            "places": shown.places if shown else None,
            "ended_by": shown.ended_by if shown else None,
        }

    def all_of(self, rounds: Mapping[int, Round]) -> list[_Board]:
        """Give each board of these rounds once, in order."""
        found: dict[str, _Board] = {}
        for place in places(self._tournament.id, self._tournament.deals, rounds):
            last = self._started.get(place.name, -1)
            for number in range(max(last, 0) + 1):
                name = place.slot(number).board
                board = found.setdefault(name, _Board(name, place.round, []))
                if number <= last:
                    board.games.append(Attempt(place, number).game_id)
        return list(found.values())

    def boards(self, boards: Sequence[_Board]) -> list[dict[str, Any]]:
        """Show some boards."""
        return [self._board(*board) for board in boards]

    def _board(self, board: str, number: int, games: list[str]) -> dict[str, Any]:
        label, secret = label_of(self._tournament.id, board), board_secret(self._secret, board)
        is_closed = board in self.closed
        return {
            "board": board,
            "round": number,
            "label": label,
            "commitment": commitment(secret, label),
            "is_closed": is_closed,
            "secret": secret.hex() if is_closed else None,
            "games": games,
        }
