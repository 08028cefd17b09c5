"""Looks at games: those under way are replayed, those that have ended must come to their end, packed ones be whole."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from bot_sdk.games.registry import RulesVersionError, pinned
from bot_sdk.results.values import GameState
from service.doctor.suspects import UNREADABLE, Suspect
from service.referee.table import Table
from service.store import due, keys, packed, unfinished
from service.store.catalogue import Thing
from service.store.entities import Game
from service.store.errors import DamagedError
from service.store.inspection import GameSeen, Inspection
from service.store.store import Store
from service.store.stored import as_game

_PLAYED: Final = (GameState.FINISHED, GameState.VOID)
_TRIED: Final = 2


class GameCheck:
    """Looks at games that aren't packed. Subjects are their ids."""

    def __init__(self, store: Inspection, values: Store) -> None:
        """Keep where it looks."""
        self._store = store
        self._values = values

    def look(self, subjects: Sequence[str]) -> Iterator[Suspect]:
        """Tell what is wrong with them; what was aborted or cancelled need not make sense."""
        found: list[Game] = []
        for game_id, seen in zip(subjects, self._store.games(subjects, [due.game(s) for s in subjects]), strict=True):
            game = _read(seen)
            if isinstance(game, DamagedError):
                yield Suspect("game_damaged", game_id, game_id)
            elif game is not None:
                yield from self._look_at(game, seen)
                found.append(game)
        yield from self._uncounted([game for game in found if not game.state.is_end])
        yield from self._homeless(found)

    def _look_at(self, game: Game, seen: GameSeen) -> Iterator[Suspect]:
        if not game.state.is_end and seen.due_at is None:
            yield Suspect("game_not_due", game.id, game.id)
        if not _is_of_known_rules(game):
            if not game.state.is_end:
                yield Suspect("rules_unknown", game.id, game.id)
        elif game.state is GameState.RUNNING:
            yield from self._of_running(game, seen)
        elif game.state in _PLAYED and not (seen.has_secret and self._comes_to_its_end(game.id)):
            yield Suspect("record_lost", game.id, game.id)

    def _of_running(self, game: Game, seen: GameSeen) -> Iterator[Suspect]:
        length, tries = _stall(seen)
        if not seen.has_secret:
            yield Suspect("game_secret_missing", game.id, game.id)
        elif isinstance(seen.length, DamagedError) or not self._can_be_followed(game.id):
            yield Suspect("log_torn", game.id, game.id)
        elif length > seen.length:
            yield Suspect("log_short", game.id, game.id)
        elif tries >= _TRIED and length == seen.length:
            yield Suspect("game_tried", game.id, game.id)

    def _can_be_followed(self, game_id: str) -> bool:
        try:
            loaded = self._values.games.load(game_id)
            if loaded is not None:
                Table.replayed(*loaded)
        except UNREADABLE:
            return False
        return True

    def _comes_to_its_end(self, game_id: str) -> bool:
        """Tell whether the log of a game that has ended leads there; whoever is gone by now is well."""
        try:
            loaded = self._values.games.load(game_id)
            return loaded is None or Table.replayed(*loaded).ending is loaded[0].state
        except UNREADABLE:
            return False

    def _uncounted(self, games: Sequence[Game]) -> Iterator[Suspect]:
        pairs = [(game.id, owner) for game in games for owner in unfinished.owners(game)]
        scores = self._store.scores([(keys.unfinished(owner), game_id) for game_id, owner in pairs])
        for (game_id, owner), score in zip(pairs, scores, strict=True):
            if score is None:
                yield Suspect("counter_missing", f"{game_id} of {owner}", game_id)

    def _homeless(self, games: Sequence[Game]) -> Iterator[Suspect]:
        placed = [(game.id, game.slot.tournament_id) for game in games if game.slot]
        there = self._store.exist([(Thing.TOURNAMENT, tournament_id) for _, tournament_id in placed])
        for (game_id, tournament_id), is_there in zip(placed, there, strict=True):
            if not is_there:
                yield Suspect("game_without_tournament", f"{game_id} of {tournament_id}", game_id)


class PackCheck:
    """Looks at packed games. Subjects are their ids."""

    def __init__(self, store: Inspection) -> None:
        """Keep where it looks."""
        self._store = store

    def look(self, subjects: Sequence[str]) -> Iterator[Suspect]:
        """Tell which are damaged."""
        names = [name for game_id in subjects for name in (keys.game_packed(game_id), keys.game_notes(game_id))]
        values = self._store.values(names)
        for game_id, value, notes in zip(subjects, values[::2], values[1::2], strict=True):
            if isinstance(value, bytes) and not _is_whole(game_id, value, notes):
                yield Suspect("pack_damaged", game_id, game_id)


def _is_whole(game_id: str, value: bytes, notes: bytes | DamagedError | None) -> bool:
    if isinstance(notes, DamagedError):
        return False
    try:
        packed.check(game_id, value, notes)
    except DamagedError:
        return False
    return True


def _is_of_known_rules(game: Game) -> bool:
    try:
        pinned(game.ruleset, game.rules)
    except RulesVersionError:
        return False
    return True


def _read(seen: GameSeen) -> Game | DamagedError | None:
    if isinstance(seen.fields, DamagedError):
        return seen.fields
    try:
        return as_game(seen.fields)
    except DamagedError as error:
        return error


def _stall(seen: GameSeen) -> tuple[int, int]:
    """Give the length that the log had at the last try, and how many there were at that."""
    assert not isinstance(seen.fields, DamagedError)  # noqa: S101 - it was read before
    length, _, rest = seen.fields.get(b"stall", b"").partition(b" ")
    tries = rest.partition(b" ")[0]
    return (int(length), int(tries)) if length.isdigit() and tries.isdigit() else (0, 0)
