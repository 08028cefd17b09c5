"""Retention: what ended long ago leaves the store, once it is in the archive and on the disk.

Games outside tournaments go one by one, those of a tournament with all of it. What ratings are made from stays, and so
do accounts and bots. A crash at any point may leave a record in the archive twice, never none.
"""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator, Sequence
from datetime import UTC, datetime
from typing import Final

import msgspec

from bot_sdk.errors import SdkError
from service.arena.errors import ArenaError
from service.arena.exports import Exports, record_line
from service.logs.about import named
from service.store import due, listing
from service.store.archive import Archive, ArchiveError, BusyError
from service.store.entities import Game, Tournament
from service.store.errors import StoreError, passes
from service.store.store import Store

logger: Final = logging.getLogger(__name__)

ALARM: Final = "archive"
ALARM_MS: Final = 900_000
LOCK_MS: Final = 600_000
"""How long others stay away when a process in the middle of it went silent; it holds the lock between passes, too."""
DAY_MS: Final = 86_400_000
KEPT_BACK_MS: Final = DAY_MS
"""How long what can't be read is left alone: a tournament may have to be read whole to find that out."""
UNREADABLE: Final = (
    SdkError, StoreError, ArenaError, msgspec.MsgspecError, LookupError, TypeError, ValueError,
)  # fmt: skip
"""What reading something raises that these rules, or these programs, didn't write. It must not hold up all the rest."""


class KeptBackError(Exception):
    """Something old can't be read or hasn't ended after all, so it stays."""


class Retention:
    """One process's part in it, `token` its name. `clock` is the store's; what ended `keep_ms` ago goes."""

    def __init__(
        self,
        store: Store,
        archive: Archive,
        exports: Exports,
        *,
        clock: Callable[[], int],
        token: str,
        keep_ms: int,
    ) -> None:
        """Keep what it works with."""
        self._store = store
        self._archive = archive
        self._exports = exports
        self._clock = clock
        self._token = token
        self._keep_ms = keep_ms
        self._steps: Generator[None] | None = None
        self._kept_back: dict[str, int] = {}  # by the time until which it is

    def step(self) -> bool:
        """Go on by a bounded part of a pass over all that is old; True if there is more to do now.

        If the archive can't take it, nothing leaves and an alarm is raised.
        """
        if not self._store.retention.lock(self._token, LOCK_MS):
            self._break_off()
            return False
        self._steps = self._steps or self._pass()
        try:
            next(self._steps)
        except StopIteration:
            self._steps = None
        except BusyError:
            self._break_off()
        except ArchiveError as error:
            logger.error("nothing leaves the store, since the archive can't take it: %s", error)  # noqa: TRY400 (it says all)
            self.leave()  # perhaps another process has a better disk
            self._store.alarms.note(ALARM, f"games can't be archived: {error}", until=self._clock() + ALARM_MS)
        except BaseException:  # whatever ends this step, the lock goes
            self._break_off()
            raise
        return self._steps is not None

    def leave(self) -> None:
        """Let another process do it at once: this one ends."""
        self._break_off()
        self._store.retention.unlock(self._token)

    def _break_off(self) -> None:
        if self._steps is not None:
            self._steps.close()
            self._steps = None

    def _pass(self) -> Generator[None]:
        now = self._clock()
        before = now - self._keep_ms
        self._kept_back = {name: until for name, until in self._kept_back.items() if now < until}
        for members in self._store.retention.tournaments(before):
            for tournament in self._old_tournaments(members, before):
                yield from self._let_go(tournament)
            yield
        for members in self._store.retention.games(before):
            self._expire(self._old_games(members, before))
            yield
        self._tell()

    def _tell(self) -> None:
        """Raise an alarm for what was kept back, or end the one there was: the archive takes what it is given."""
        if self._kept_back:
            detail = f"{len(self._kept_back)} old games or tournaments stay, since they can't be read"
            self._store.alarms.note(ALARM, detail, until=self._clock() + ALARM_MS)
        else:
            self._store.alarms.clear(ALARM)

    # --- games outside tournaments ------------------------------------------------------------------------------------

    def _old_games(self, members: Sequence[str], before: int) -> list[Game]:
        """Give the games of these members that may go, and take off the list what stands for nothing."""
        names = [listing.name_of(member) for member in members]
        games = self._store.games.get_many(names)
        exist = self._store.retention.exist(names)
        are_due = self._store.retention.are_due([due.game(name) for name in names])
        stale: list[str] = []
        old: list[Game] = []
        for member, name, game, exists, is_due in zip(members, names, games, exist, are_due, strict=True):
            if name in self._kept_back:
                continue
            if game is None:
                if exists:
                    self._keep_back(name)
                elif not is_due:
                    stale.append(member)
            elif listing.member(game.created_at, game.id) != member:
                stale.append(member)
            elif not is_due and _has_ended(game, before) and not self._has_tournament(game):
                old.append(game)
        self._store.retention.drop_members(stale)
        return old

    def _has_tournament(self, game: Game) -> bool:
        try:
            return game.slot is not None and self._tournament(game.slot.tournament_id) is not None
        except KeptBackError:
            return True

    def _expire(self, games: Sequence[Game]) -> None:
        """Archive games, then let them go."""
        archived: list[Game] = []
        days: defaultdict[str, list[bytes]] = defaultdict(list)
        for game in games:
            try:
                written = self._record(game)
            except KeptBackError:
                continue
            archived.append(game)
            if written:
                days[_day(game)] += written
        if days:
            with self._archive.locked():
                for day, lines in days.items():
                    self._archive.append(day, lines)
        if archived:
            self._store.retention.drop_games(archived)

    def _record(self, game: Game) -> list[bytes]:
        """Give a game's record; one that ended before it began has none. Raises KeptBackError."""
        if game.started_at is None:
            return []
        try:
            loaded = self._store.games.load(game.id)
            if loaded is not None:
                return [record_line(*loaded)]
        except UNREADABLE as error:
            self._keep_back(game.id)
            raise KeptBackError from error
        if self._store.retention.exist([game.id]) == [True]:  # its secret is gone
            self._keep_back(game.id)
        raise KeptBackError

    def _keep_back(self, name: str) -> None:
        if name not in self._kept_back:
            self._kept_back[name] = self._clock() + KEPT_BACK_MS
            logger.error("%s stays in the store: it can't be read, or hasn't ended after all", name, extra=named(name))

    # --- tournaments --------------------------------------------------------------------------------------------------

    def _old_tournaments(self, members: Sequence[str], before: int) -> Iterator[Tournament]:
        """Give the tournaments of these members that may go, and take off the list what stands for nothing."""
        for member in members:
            name = listing.name_of(member)
            if name in self._kept_back or any(self._store.retention.are_due([due.tournament(name), due.fit(name)])):
                continue
            try:
                tournament = self._tournament(name)
            except KeptBackError:
                continue
            if tournament is None or listing.member(tournament.created_at, tournament.id) != member:
                self._store.retention.drop_members([member])
            elif _has_ended(tournament, before):
                yield tournament

    def _tournament(self, tournament_id: str) -> Tournament | None:
        """Give a tournament; raises KeptBackError."""
        try:
            return self._store.tournaments.get(tournament_id)
        except UNREADABLE as error:
            self._keep_back(tournament_id)
            raise KeptBackError from error

    def _let_go(self, tournament: Tournament) -> Generator[None]:
        """Archive a tournament and take it down, unless something of it can't be read: then all of it stays."""
        try:
            if not self._store.retention.is_archived(tournament.id):
                yield from self._archive_whole(tournament)
            yield from self._take_down(tournament)
        except KeptBackError:
            self._keep_back(tournament.id)
        except ArchiveError:
            raise
        except Exception as error:  # such as what the store says of a damaged key, and will say again
            if passes(error):
                raise
            said = {"tournament_id": tournament.id}
            logger.exception("tournament %s can't be archived", tournament.id, extra=said)
            self._keep_back(tournament.id)

    def _archive_whole(self, tournament: Tournament) -> Generator[None]:
        archive = self._archive
        with (
            archive.locked(),
            archive.draft(tournament.id, "records") as records,
            archive.draft(tournament.id, "export") as export,
        ):
            for games in self._games_of(tournament):
                for game in games:
                    records.add(self._record(game))
                yield
            export.add(self._export(tournament))
            records.keep()
            export.keep()
        self._store.retention.note_archived(tournament.id)

    def _export(self, tournament: Tournament) -> list[bytes]:
        try:
            return list(self._exports.lines(tournament.id))
        except UNREADABLE as error:
            raise KeptBackError from error

    def _take_down(self, tournament: Tournament) -> Generator[None]:
        for games in self._games_of(tournament):
            self._store.retention.drop_games(games)
            yield
        self._store.retention.drop_tournament(tournament)

    def _games_of(self, tournament: Tournament) -> Iterator[list[Game]]:
        """Give all games of a tournament in pages; raises KeptBackError for one that can't be read or hasn't ended."""
        for members in self._store.retention.games_of(tournament.id, self._clock()):
            names = [listing.name_of(member) for member in members]
            games = self._store.games.get_many(names)
            found = [game for game in games if game is not None]
            if len(found) < sum(self._store.retention.exist(names)) or not all(game.state.is_end for game in found):
                raise KeptBackError
            yield [game for game in found if listing.member(game.created_at, game.id) in members]


def _has_ended(thing: Game | Tournament, before: int) -> bool:
    return thing.state.is_end and thing.ended_at is not None and thing.ended_at < before


def _day(game: Game) -> str:
    return datetime.fromtimestamp((game.ended_at or game.created_at) / 1000, UTC).date().isoformat()
