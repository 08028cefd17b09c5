"""Running tournaments: which rounds are to be drawn, which games started or played again, which boards closed now.

Everything follows from entries, rounds, starts and results as they are stored, so any process may go on where another
died.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Protocol

from msgspec.structs import replace

from bot_sdk.bots import PREFIX
from bot_sdk.results.values import Entry, GameState, Result, Round
from service.arena.closing import closable, close
from service.arena.queue import Queue
from service.arena.starting import Attempt, Starting
from service.metrics.meters import Meters, silent
from service.store import due
from service.store.entities import BotState, Game, Tournament, TournamentState
from service.store.errors import DamagedError
from service.store.store import Store
from service.tournaments.boards import Place, places
from service.tournaments.ending import all_played, how_it_ended
from service.tournaments.errors import ImpossibleScheduleError
from service.tournaments.formats import draw
from service.tournaments.pairs import PAIRS_AT_ONCE, Test, test_of
from service.tournaments.situation import Draw, Situation

logger: Final = logging.getLogger(__name__)

ATTEMPTS: Final = 3
WINDOW_PER_WORKER: Final = 128
"""How many games of all tournaments run at once, for each worker process there is."""
SOON_MS: Final = 500
"""When to look again at a tournament that waits for bots to have room."""


class RatedResults(Protocol):
    """Takes results that count for ratings; the same ones again do no harm."""

    def take(self, tournament: Tournament, results: Sequence[Result]) -> None:
        """Keep those that are rated."""


@dataclass(frozen=True)
class Look:
    """What is known of a tournament at one look: all that was stored, and what follows from it."""

    situation: Situation
    following: Draw
    started: dict[str, int]

    @cached_property
    def places(self) -> list[Place]:
        """Every game of the rounds drawn so far."""
        tournament = self.situation.tournament
        return list(places(tournament.id, tournament.deals, self.situation.rounds))

    @cached_property
    def waiting(self) -> list[Attempt]:
        """The games without a result, each at the attempt that was started last."""
        return [
            Attempt(place, self.started.get(place.name, 0))
            for place in self.places
            if place.name not in self.situation.done
        ]

    @property
    def begun(self) -> list[Attempt]:
        """Those of them that were started."""
        return [attempt for attempt in self.waiting if attempt.place.name in self.started]

    @cached_property
    def test(self) -> Test | None:
        """How the test of a match stands, None if it has none."""
        tournament, entries = self.situation.tournament, self.situation.entries
        return None if tournament.sprt is None else test_of(tournament, entries, self.situation.results)

    def counts(self, attempts: Iterable[Attempt]) -> bool:
        """Whether the results of these games count: in a test, those of the pairs judged so far."""
        return self.test is None or all(attempt.place.round <= self.test.judged for attempt in attempts)


class Running:
    """Takes tournaments on, one look at a time; safe to repeat at any point.

    `patience_ms` is when the sweeper looks at a new game if no worker has taken it up.
    """

    def __init__(
        self,
        store: Store,
        queue: Queue,
        ratings: RatedResults,
        *,
        clock: Callable[[], int],
        patience_ms: int,
        meters: Meters | None = None,
    ) -> None:
        """Keep what it works with."""
        self._found = (meters or silent()).found
        self._store = store
        self._queue = queue
        self._ratings = ratings
        self._clock = clock
        self._patience_ms = patience_ms
        self._wanting: dict[str, int] = {}  # tournaments that had more games to start, by when we saw it last

    def advance(self, tournament_id: str, workers: int) -> list[str]:
        """Do what is due for a tournament; give the games that were made and are to be driven."""
        tournament = self._store.tournaments.get(tournament_id)
        if tournament is None or tournament.started_at is None or tournament.state is TournamentState.FINISHED:
            self._leave(tournament_id)
            return []
        try:
            look = self._look(tournament)
        except ImpossibleScheduleError as error:  # entries or settings changed between the check and the start
            self._end(tournament, TournamentState.CANCELLED, f"it couldn't be drawn: {error}")
            return []
        if tournament.state is TournamentState.CANCELLED:
            self._stop(look)
            return []
        self._close_boards(look)
        if look.test is not None and look.test.is_decided:
            self._decide(look)
            return []
        if not look.waiting and look.following.is_last:
            self._finish(look)
            return []
        return self._start(look, WINDOW_PER_WORKER * max(workers, 1))

    # --- reading and drawing ------------------------------------------------------------------------------------------

    def _look(self, tournament: Tournament) -> Look:
        situation = self._situation(tournament)
        if tournament.state is TournamentState.CANCELLED:
            return Look(situation, Draw(is_last=True), self._store.tournaments.started(tournament.id))
        following = draw(situation)
        if following.rounds and tournament.state is TournamentState.PAUSED:
            following = Draw()  # once it goes on
        elif following.rounds:
            self._write(situation, following.rounds)
            situation = self._situation(tournament)
        return Look(situation, following, self._store.tournaments.started(tournament.id))

    def _situation(self, tournament: Tournament) -> Situation:
        store = self._store.tournaments
        rounds = store.rounds(tournament.id)
        return Situation(
            tournament=tournament,
            entries=store.entries(tournament.id),
            rounds={number: rounds[number] for number in _unbroken(rounds)},
            done=frozenset(store.done(tournament.id)),
            read_results=lambda: store.results(tournament.id),
        )

    def _write(self, situation: Situation, drawn: Sequence[Round]) -> None:
        """Write rounds once, the last ones first: the one that follows on those there are tells of them all."""
        first = len(situation.rounds) + 1
        for number in range(first + len(drawn) - 1, first - 1, -1):
            self._store.tournaments.put_round(situation.tournament.id, number, drawn[number - first])
        self._found.add("round_drawn", by=len(drawn))

    # --- closing boards -----------------------------------------------------------------------------------------------

    def _close_boards(self, look: Look) -> None:
        """Close the boards whose last game has ended; those of a test in order, as far as it counts."""
        tournament = look.situation.tournament
        boards = closable(look.places, look.started, look.situation.done)
        for board in boards.keys() - self._store.tournaments.closed(tournament.id):
            if look.counts(boards[board]):
                self._close(look, board, boards[board])

    def _close_all(self, look: Look) -> None:
        """Close every board that was played on, though some of its games will never be."""
        everything = {place.name for place in look.places}
        boards = closable(look.places, look.started, everything)
        for board in boards.keys() - self._store.tournaments.closed(look.situation.tournament.id):
            self._close(look, board, boards[board])

    def _close(self, look: Look, board: str, attempts: Sequence[Attempt]) -> None:
        tournament = look.situation.tournament
        if look.counts(attempts):
            names = {attempt.place.name for attempt in attempts}
            results = self._store.tournaments.results_at(tournament.id, sorted(names))
            self._ratings.take(tournament, [result for result in results if result.slot.board == board])
        close(self._store, self._queue, tournament.id, board, attempts)
        self._found.add("board_closed")

    # --- starting games -----------------------------------------------------------------------------------------------

    def _start(self, look: Look, window: int) -> list[str]:
        """Start what there is room for: tournaments that have more to start than that share the window."""
        tournament = look.situation.tournament
        running, ready = self._sort(look)
        if tournament.state is TournamentState.PAUSED or self._store.maintenance.get() is not None:
            return []
        starting = Starting(self._store, tournament, self._clock() + self._patience_ms, self._clock)
        room = max(1, window // self._sharing(tournament.id)) - running
        made = starting.start(ready, room)
        self._found.add("game_started", by=len(made))
        if len(made) < len(ready) and len(made) >= room:
            self._wanting[tournament.id] = self._clock()
        else:  # it has all it wants, or waits for its bots
            self._wanting.pop(tournament.id, None)
        if starting.is_held_up:
            self._store.due.add(due.tournament(tournament.id), self._store.due.now() + SOON_MS)
        return self._unless_ended(tournament.id, made)

    def _sharing(self, tournament_id: str) -> int:
        """Count the tournaments that want to start games now, this one among them."""
        now = self._clock()
        since = now - 2 * self._patience_ms
        self._wanting = {name: at for name, at in self._wanting.items() if since <= at <= now}
        return len(self._wanting.keys() | {tournament_id})

    def _sort(self, look: Look) -> tuple[int, list[Attempt]]:
        """Count the games that run, and give those to be started, aborted ones at their next attempt."""
        begun = look.begun
        running = 0
        again: dict[str, Attempt | None] = {}
        for attempt, game in zip(begun, self._games(begun), strict=True):
            if game is None:
                again[attempt.place.name] = attempt
            elif isinstance(game, DamagedError):
                said = {"game_id": attempt.game_id, "tournament_id": look.situation.tournament.id}
                logger.error("game %s can't be read, and counts as aborted: %s", attempt.game_id, game, extra=said)
                again[attempt.place.name] = self._after_abort(attempt, None)
            elif game.state in {GameState.ABORTED, GameState.CANCELLED}:
                again[attempt.place.name] = self._after_abort(attempt, game)
            else:
                running += 1
                if game.state.is_end:
                    self._queue.drive(game.id)
        ready = [
            again.get(attempt.place.name, attempt)
            for attempt in _side_by_side(look)
            if attempt.place.name not in look.started or attempt.place.name in again
        ]
        return running, [attempt for attempt in ready if attempt is not None]

    def _games(self, attempts: Iterable[Attempt]) -> list[Game | DamagedError | None]:
        return self._store.games.find([attempt.game_id for attempt in attempts])

    def _after_abort(self, attempt: Attempt, game: Game | None) -> Attempt | None:
        """Give the next attempt; after the last one, write that the game couldn't be played (nor read: None)."""
        if attempt.number + 1 < ATTEMPTS:
            return attempt.following
        seats = len(attempt.place.bots)
        self._store.tournaments.put_result(
            Result(
                game_id=attempt.game_id,
                state=GameState.ABORTED,
                slot=attempt.slot,
                bots=list(attempt.place.bots),
                versions=[seat.version for seat in game.seats] if game else [None] * seats,
                totals=[0] * seats,
                places=None,
                retired=[False] * seats,
                forfeited=[],
                deals=0,
                outcomes=[{} for _ in range(seats)],
                ended_at=(game and game.ended_at) or self._clock(),
            )
        )
        return None

    def _unless_ended(self, tournament_id: str, made: list[str]) -> list[str]:
        """Give the games just made, or cancel them: the tournament may have ended while they were being made.

        Whoever ended it has looked for its games already, and found none of these.
        """
        if not made:
            return []
        now = self._store.tournaments.get(tournament_id)
        if now is not None and not now.state.is_end:
            return made
        for game_id in made:
            self._cancel(game_id)
        return []

    # --- ends ---------------------------------------------------------------------------------------------------------

    def _finish(self, look: Look) -> None:
        came_about = look.following.reason or all_played(len(look.places))
        if look.test is not None:
            came_about = look.test.sentence
        entries = look.situation.entries
        reason = how_it_ended(came_about, entries, look.situation.results, self._states(entries))
        self._have_fitted(look)
        self._end(look.situation.tournament, TournamentState.FINISHED, reason)

    def _states(self, entries: Iterable[Entry]) -> dict[str, BotState | None]:
        """Give the states of the registered bots, None for deleted ones."""
        ids = [entry.bot_id for entry in entries if not entry.bot_id.startswith(PREFIX)]
        found = zip(ids, self._store.bots.get_many(ids), strict=True)
        return {bot_id: bot.state if bot else None for bot_id, bot in found}

    def _decide(self, look: Look) -> None:
        """End a match whose test has crossed a bound; games of pairs after that are cancelled and don't count."""
        if not self._cancel_all(look):
            self._close_all(look)
            self._finish(look)

    def _stop(self, look: Look) -> None:
        """Cancel the games that run; once none does, close all boards and let the tournament leave what is due."""
        if not self._cancel_all(look):
            self._close_all(look)
            self._have_fitted(look)
            self._store.tournaments.settle(look.situation.tournament.id)

    def _have_fitted(self, look: Look) -> None:
        """Have the ratings of its own games computed, if any of them is rated."""
        if any(result.is_rated for result in look.situation.results):
            self._store.due.add(due.fit(look.situation.tournament.id), self._store.due.now())

    def _cancel_all(self, look: Look) -> bool:
        """Cancel what runs; False if nothing does, and no result is to come of what had ended before.

        A board that is closed without that result would never count for ratings.
        """
        stopped = {GameState.ABORTED, GameState.CANCELLED}
        found = self._games(look.begun)
        pending = [game for game in found if isinstance(game, Game) and game.state not in stopped]
        for game in pending:
            self._cancel(game.id)
        return bool(pending)

    def _cancel(self, game_id: str) -> None:
        """Cancel a game unless it has ended; either way have its end seen to."""
        self._store.games.end(game_id, GameState.CANCELLED)
        self._queue.drive(game_id)

    def _end(self, tournament: Tournament, state: TournamentState, reason: str) -> None:
        at = self._clock()

        def ended(old: Tournament) -> Tournament:
            return old if old.state.is_end else replace(old, state=state, ended_at=at, reason=reason)

        self._store.tournaments.change(tournament.id, ended)
        self._store.tournaments.settle(tournament.id)

    def _leave(self, tournament_id: str) -> None:
        """Let a tournament that isn't under way leave what is due, unless it is started at this very moment."""
        self._store.tournaments.settle(tournament_id)
        now = self._store.tournaments.get(tournament_id)
        if now is not None and now.state is TournamentState.RUNNING:
            self._store.due.add(due.tournament(tournament_id), self._store.due.now())


def _unbroken(rounds: Iterable[int]) -> Iterable[int]:
    """Give the numbers of rounds from 1 up to the first that is missing; what follows is half a draw."""
    known = set(rounds)
    number = 1
    while number in known:
        yield number
        number += 1


def _side_by_side(look: Look) -> list[Attempt]:
    """Give the games that may run now: all, but for a test, which looks at few pairs at a time."""
    if look.test is None:
        return look.waiting
    pairs = sorted({attempt.place.round for attempt in look.waiting})[:PAIRS_AT_ONCE]
    return [attempt for attempt in look.waiting if attempt.place.round in pairs]
