"""Looks at tournaments: whether they go on, whether results have their games, whether closed boards can be read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import msgspec

from bot_sdk.results.values import Result
from service.arena.closing import closable
from service.arena.starting import Attempt
from service.doctor.suspects import UNREADABLE, Suspect
from service.store import due, keys
from service.store.catalogue import Thing
from service.store.entities import Tournament
from service.store.inspection import Inspection
from service.store.store import Store
from service.tournaments.boards import Place, places

_result: Final = msgspec.json.Decoder(Result).decode


class TournamentCheck:
    """Looks at tournaments. Subjects are their ids."""

    def __init__(self, store: Inspection, values: Store) -> None:
        """Keep where it looks."""
        self._store = store
        self._values = values

    def look(self, subjects: Sequence[str]) -> Iterator[Suspect]:
        """Tell what is wrong with them."""
        for tournament_id in subjects:
            try:
                tournament = self._values.tournaments.get(tournament_id)
                if tournament is not None:
                    yield from self._look_at(tournament)
            except UNREADABLE:
                yield Suspect("tournament_damaged", tournament_id, tournament_id)

    def _look_at(self, tournament: Tournament) -> Iterator[Suspect]:
        named = tournament.id
        (due_at,) = self._store.due([due.tournament(named)])
        has_secret, is_leaving = self._store.there([keys.tournament_secret(named), keys.tournament_archived(named)])
        is_under_way = tournament.started_at is not None and not tournament.state.is_end
        if not has_secret:
            yield Suspect("tournament_secret_missing", named, named)
        if is_under_way and due_at is None:
            yield Suspect("tournament_not_due", named, named)
        if not is_leaving:
            yield from self._results_without_games(named)
        if is_under_way:
            yield from self._missing_games(tournament)
        elif due_at is None and tournament.state.is_end and not is_leaving:
            yield from (
                Suspect("board_open", f"{named}/{board}", named) for board in open_boards(self._values, tournament)
            )

    def _results_without_games(self, tournament_id: str) -> Iterator[Suspect]:
        for page in self._store.fields(keys.tournament_results(tournament_id)):
            games = [(name, _result(value).game_id) for name, value in page]
            there = self._store.exist([(Thing.GAME, game_id) for _, game_id in games], in_part=True)
            for (name, game_id), is_there in zip(games, there, strict=True):
                if not is_there:
                    where = f"{tournament_id} {name}: {game_id}"
                    yield Suspect("result_without_game", where, tournament_id)

    def _missing_games(self, tournament: Tournament) -> Iterator[Suspect]:
        started = self._values.tournaments.started(tournament.id)
        done = self._values.tournaments.done(tournament.id)
        waiting = [
            Attempt(place, started[place.name]).game_id
            for place in _places(self._values, tournament)
            if place.name in started and place.name not in done
        ]
        there = self._store.exist([(Thing.GAME, game_id) for game_id in waiting], in_part=True)
        for game_id, is_there in zip(waiting, there, strict=True):
            if not is_there:
                yield Suspect("game_missing", f"{game_id} of {tournament.id}", tournament.id)


def open_boards(values: Store, tournament: Tournament) -> Mapping[str, list[Attempt]]:
    """Give the boards of an ended tournament that were played on and never closed, with what was played on each."""
    every = list(_places(values, tournament))
    started = values.tournaments.started(tournament.id)
    closed = values.tournaments.closed(tournament.id)
    played = closable(every, started, {place.name for place in every})
    return {board: attempts for board, attempts in played.items() if board not in closed}


def _places(values: Store, tournament: Tournament) -> Iterator[Place]:
    return places(tournament.id, tournament.deals, values.tournaments.rounds(tournament.id))
