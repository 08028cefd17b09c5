"""Running tournaments: which games are to be started now, which have to be played again, whether all are played.

Everything follows from schedule, starts and results as they are stored, so any process may go on where another died.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from bot_sdk.bots import PREFIX
from bot_sdk.games.packs import board_secret, commitment
from bot_sdk.results.values import GameState, Result, Round, Slot
from service.arena.minting import short
from service.arena.queue import Queue
from service.arena.seating import bot_seat, house_seat
from service.arena.tournaments import board_of, label_of, schedule
from service.referee.table import BOT
from service.store import due, unfinished
from service.store.entities import Bot, BotState, Game, Seat, Tournament, TournamentState
from service.store.store import Store
from service.store.tournaments import place
from service.tournaments.errors import ImpossibleScheduleError

ATTEMPTS: Final = 3
WINDOW_PER_WORKER: Final = 128
"""How many games of a tournament run at once, for each worker process there is."""


@dataclass(frozen=True, slots=True)
class Pairing:
    """A game to be played: where in the tournament, who at which seat."""

    slot: Slot
    bots: Sequence[str]

    @property
    def game_id(self) -> str:
        """The id of this attempt's game: the same whoever works it out."""
        slot = self.slot
        named = f"{slot.tournament_id}/{slot.round}/{slot.table}/{slot.leg}/{slot.attempt}"
        return "gam_" + short(hashlib.sha256(named.encode()).digest())

    def attempt(self, number: int) -> Pairing:
        """Give another attempt at this place; a rerun plays a board of its own."""
        board = board_of(self.slot.round, self.slot.table, number)
        return Pairing(replace(self.slot, attempt=number, board=board), self.bots)


class Running:
    """Takes tournaments on, one look at a time; safe to repeat at any point.

    `patience_ms` is when the sweeper looks at a new game if no worker has taken it up.
    """

    def __init__(self, store: Store, queue: Queue, *, clock: Callable[[], int], patience_ms: int) -> None:
        """Keep what it works with."""
        self._store = store
        self._queue = queue
        self._clock = clock
        self._patience_ms = patience_ms

    def advance(self, tournament_id: str, workers: int) -> list[str]:
        """Do what is due for a tournament; give the games that were made and are to be driven."""
        tournament = self._store.tournaments.get(tournament_id)
        if tournament is None or tournament.started_at is None or tournament.state is TournamentState.FINISHED:
            self._leave(tournament_id)
            return []
        try:
            pairings = self._waiting(tournament)
        except ImpossibleScheduleError:  # an entry left between the check and the start
            self._end(tournament, TournamentState.CANCELLED)
            return []
        if tournament.state is TournamentState.CANCELLED:
            self._stop(tournament, pairings)
            return []
        if not pairings:
            self._end(tournament, TournamentState.FINISHED)
            return []
        running, ready = self._sort(tournament, pairings)
        if tournament.state is TournamentState.PAUSED:
            return []
        room = WINDOW_PER_WORKER * max(workers, 1) - running
        made = Starting(self._store, tournament, self._clock() + self._patience_ms, self._clock).start(ready, room)
        return self._unless_ended(tournament_id, made)

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

    def _cancel(self, game_id: str) -> None:
        self._store.games.end(game_id, GameState.CANCELLED)
        self._queue.drive(game_id)

    def _leave(self, tournament_id: str) -> None:
        """Let a tournament that isn't under way leave what is due, unless it is started at this very moment."""
        self._store.tournaments.settle(tournament_id)
        now = self._store.tournaments.get(tournament_id)
        if now is not None and now.state is TournamentState.RUNNING:
            self._store.due.add(due.tournament(tournament_id), self._store.due.now())

    def _waiting(self, tournament: Tournament) -> list[Pairing]:
        """List the games without a result, each at the attempt that was started last."""
        store = self._store.tournaments
        done = {place(result.slot) for result in store.results(tournament.id)}
        started = store.started(tournament.id)
        return [
            pairing.attempt(started.get(place(pairing.slot), 0))
            for pairing in self._pairings(tournament)
            if place(pairing.slot) not in done
        ]

    def _pairings(self, tournament: Tournament) -> list[Pairing]:
        return [
            Pairing(Slot(tournament_id=tournament.id, round=number, table=table, board=""), bots)
            for number, each in self._rounds(tournament).items()
            for table, bots in enumerate(each.tables, 1)
        ]

    def _rounds(self, tournament: Tournament) -> dict[int, Round]:
        """Give all rounds, drawn and written once before the first game; the first one last, so it tells of all."""
        store = self._store.tournaments
        rounds = store.rounds(tournament.id)
        if 1 in rounds:
            return rounds
        drawn = schedule(tournament, store.entries(tournament.id))
        for number in range(len(drawn), 0, -1):
            store.put_round(tournament.id, number, drawn[number - 1])
        return store.rounds(tournament.id)

    def _sort(self, tournament: Tournament, pairings: Sequence[Pairing]) -> tuple[int, list[Pairing]]:
        """Count the games that run, and give those to be started, aborted ones at their next attempt."""
        started = self._store.tournaments.started(tournament.id)
        begun = [pairing for pairing in pairings if place(pairing.slot) in started]
        running = 0
        again: dict[str, Pairing | None] = {}
        for pairing, game in zip(begun, self._games(begun), strict=True):
            if game is None:
                again[place(pairing.slot)] = pairing
            elif game.state in {GameState.ABORTED, GameState.CANCELLED}:
                again[place(pairing.slot)] = self._after_abort(pairing, game)
            else:
                running += 1
                if game.state.is_end:
                    self._queue.drive(game.id)
        ready = [
            again.get(place(pairing.slot), pairing)
            for pairing in pairings
            if place(pairing.slot) not in started or place(pairing.slot) in again
        ]
        return running, [pairing for pairing in ready if pairing is not None]

    def _games(self, pairings: Iterable[Pairing]) -> list[Game | None]:
        return self._store.games.get_many([pairing.game_id for pairing in pairings])

    def _after_abort(self, pairing: Pairing, game: Game) -> Pairing | None:
        """Give the next attempt; after the last one, write that the game couldn't be played."""
        if pairing.slot.attempt + 1 < ATTEMPTS:
            return pairing.attempt(pairing.slot.attempt + 1)
        seats = len(game.seats)
        self._store.tournaments.put_result(
            Result(
                game_id=game.id,
                state=GameState.ABORTED,
                slot=pairing.slot,
                bots=list(pairing.bots),
                versions=[seat.version for seat in game.seats],
                totals=[0] * seats,
                places=None,
                retired=[False] * seats,
                forfeited=[],
                deals=0,
                outcomes=[{} for _ in range(seats)],
                ended_at=game.ended_at or self._clock(),
            )
        )
        return None

    def _stop(self, tournament: Tournament, pairings: Sequence[Pairing]) -> None:
        """Cancel the games that run; the tournament leaves what is due once none does."""
        started = self._store.tournaments.started(tournament.id)
        games = self._games(pairing for pairing in pairings if place(pairing.slot) in started)
        running = [game for game in games if game is not None and not game.state.is_end]
        for game in running:
            self._cancel(game.id)
        if not running:
            self._store.tournaments.settle(tournament.id)

    def _end(self, tournament: Tournament, state: TournamentState) -> None:
        at = self._clock()

        def ended(old: Tournament) -> Tournament:
            return old if old.state.is_end else replace(old, state=state, ended_at=at)

        self._store.tournaments.change(tournament.id, ended)
        self._store.tournaments.settle(tournament.id)


class Starting:
    """Starts games of one tournament as far as bots and workers have room; made anew for each look."""

    def __init__(self, store: Store, tournament: Tournament, due_at: int, clock: Callable[[], int]) -> None:
        """Read entries, bots and how much they play already."""
        self._store = store
        self._tournament = tournament
        self._due_at = due_at
        self._clock = clock
        self._root_secret = store.tournaments.secret(tournament.id)
        self._entries = {entry.bot_id: entry for entry in store.tournaments.entries(tournament.id)}
        ids = [bot_id for bot_id in self._entries if not bot_id.startswith(PREFIX)]
        self._bots = {bot.id: bot for bot in store.bots.get_many(ids) if bot is not None}
        self._playing = {bot_id: self._counted(bot_id) for bot_id in self._bots}
        self._pruned: set[str] = set()

    def start(self, ready: Iterable[Pairing], room: int) -> list[str]:
        """Make at most `room` games; give their ids."""
        made: list[str] = []
        for pairing in ready:
            if len(made) >= room:
                break
            if self._has_room(pairing) and self._reserve(pairing) and self._make(pairing):
                made.append(pairing.game_id)
        return made

    def _active(self, bot_id: str) -> Bot | None:
        """Give a registered bot that still plays here, None for one that forfeits."""
        bot = self._bots.get(bot_id)
        is_in = self._entries[bot_id].withdrawn_at is None
        return bot if bot is not None and bot.state is BotState.ACTIVE and is_in else None

    def _limited(self, pairing: Pairing) -> list[Bot]:
        found = [self._active(bot_id) for bot_id in pairing.bots if not bot_id.startswith(PREFIX)]
        return [bot for bot in found if bot is not None]

    def _counted(self, bot_id: str) -> set[str]:
        return set(self._store.unfinished.games(unfinished.bot(bot_id)))

    def _has_room(self, pairing: Pairing) -> bool:
        return all(self._has_place(bot, pairing.game_id) for bot in self._limited(pairing))

    def _has_place(self, bot: Bot, game_id: str) -> bool:
        """Tell whether a bot may play one more; before it is thought full, what has ended is counted no longer."""
        if self._is_full(bot, game_id) and bot.id not in self._pruned:
            self._pruned.add(bot.id)
            if self._store.unfinished.prune(unfinished.bot(bot.id)):
                self._playing[bot.id] = self._counted(bot.id)
        return not self._is_full(bot, game_id)

    def _is_full(self, bot: Bot, game_id: str) -> bool:
        return len(self._playing[bot.id] - {game_id}) >= bot.max_games

    def _reserve(self, pairing: Pairing) -> bool:
        reserved: list[str] = []
        for bot in self._limited(pairing):
            if not self._store.unfinished.reserve(unfinished.bot(bot.id), pairing.game_id, bot.max_games):
                for name in reserved:
                    self._store.unfinished.drop(name, pairing.game_id)
                self._playing[bot.id] = self._counted(bot.id)
                return False
            reserved.append(unfinished.bot(bot.id))
            self._playing[bot.id].add(pairing.game_id)
        return True

    def _make(self, pairing: Pairing) -> bool:
        store, slot = self._store, pairing.slot
        if not store.tournaments.claim(self._tournament.id, slot):
            return False
        secret = board_secret(self._root_secret, slot.board)
        if store.games.create(self._game(pairing, secret), secret=secret, due_at=self._due_at):
            return True
        self._leave_to_its_maker(pairing)
        return False

    def _leave_to_its_maker(self, pairing: Pairing) -> None:
        """Take back what was counted for a game that another sweeper has made, should it have ended by now."""
        made = self._store.games.get(pairing.game_id)
        if made is not None and made.state.is_end:
            self._store.games.settle(made)

    def _game(self, pairing: Pairing, secret: bytes) -> Game:
        tournament = self._tournament
        label = label_of(tournament.id, pairing.slot.board)
        return Game(
            id=pairing.game_id,
            ruleset=tournament.ruleset,
            options=tournament.options,
            seats=[self._seat(bot_id) for bot_id in pairing.bots],
            limits=tournament.limits,
            label=label,
            commitment=commitment(secret, label),
            entropy=[entry.entropy for entry in self._entries.values()],
            forfeited=[seat for seat, bot_id in enumerate(pairing.bots) if self._forfeits(bot_id)],
            slot=pairing.slot,
            state=GameState.RUNNING,
            created_at=self._clock(),
        )

    def _forfeits(self, bot_id: str) -> bool:
        if bot_id.startswith(PREFIX):
            return self._entries[bot_id].withdrawn_at is not None
        return self._active(bot_id) is None

    def _seat(self, bot_id: str) -> Seat:
        if bot_id.startswith(PREFIX):
            return house_seat(bot_id.removeprefix(PREFIX))
        bot = self._bots.get(bot_id)
        entry = self._entries[bot_id]
        return bot_seat(bot) if bot else Seat(kind=BOT, name=entry.name, bot_id=bot_id, account_id=entry.account_id)
