"""The sweeper: looks at what is due and has it attended to. What a queue lost or a dead worker left is found here."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from math import ceil
from typing import Final

from bot_sdk.results.values import GameState
from service.arena.checking import look_at_check
from service.arena.health import Health
from service.arena.queue import Queue, has_people
from service.arena.ratings import Ratings
from service.arena.running import Running
from service.metrics.meters import Meters, silent
from service.store import due
from service.store.clock import Moment
from service.store.entities import Game
from service.store.store import Store

logger: Final = logging.getLogger(__name__)

AT_ONCE: Final = 1_000
ORPHAN_MS: Final = 60_000
LARGEST_SHARD: Final = 64


class Sweep:
    """One process's sweeper, `token` its name; of all processes one sweeps at a time.

    `patience_ms` is how long a job may take to reach a worker before the sweeper sends it again.
    """

    def __init__(
        self,
        store: Store,
        queue: Queue,
        running: Running,
        ratings: Ratings,
        health: Health,
        *,
        token: str,
        every_ms: int,
        patience_ms: int,
        open_seat_ms: int,
        only: str = "",
        meters: Meters | None = None,
    ) -> None:
        """Keep what it works with; `only` is all that its process takes on, if that isn't everything."""
        self._meters = meters or silent()
        self._found = self._meters.found
        self._store = store
        self._queue = queue
        self._running = running
        self._ratings = ratings
        self._health = health
        self._token = token
        self._every_ms = every_ms
        self._patience_ms = patience_ms
        self._open_seat_ms = open_seat_ms
        self._only = only
        self._turn = 0
        self.workers = 1
        """How many worker processes took on games of tournaments at the last sweep."""

    def once(self) -> None:
        """Sweep, unless another process does so now."""
        if self._store.clock.mend():  # else the lock itself might be held for an hour
            logger.warning("the store's clock has jumped: all that is due is looked at")
            self._found.add("clock_jump")
        self.workers = workers = self._store.due.present(self._token, self._every_ms * 5, self._only)
        if not self._may_sweep():
            return
        moment = self._store.clock.read()
        now = moment.now
        names = [name.split(":", 1) for name, _ in self._store.due.peek(now, AT_ONCE)]
        for tournament_id in self._in_turn(ident for kind, ident in names if kind == "tournament"):
            self._look_at_tournament(tournament_id, workers, now)
            if not self._may_sweep():
                logger.warning("this sweep took so long that another process sweeps by now")
                return
        self._look_at_fits([ident for kind, ident in names if kind == "fit"], now)
        self._look_at_erasures([ident for kind, ident in names if kind == "erase"], now)
        self._look_at_games([ident for kind, ident in names if kind == "game"], workers, moment)
        self._look_at_health([ident for kind, ident in names if kind == "health"], now)
        self._look_at_checks([ident for kind, ident in names if kind == "check"], now)
        self._ratings.ask()
        self._meters.sweeps.add()

    def _in_turn(self, tournament_ids: Iterable[str]) -> list[str]:
        """Begin with another one each time: who looks first finds the bots' free places."""
        ordered = sorted(tournament_ids)
        self._turn += 1
        first = self._turn % max(len(ordered), 1)
        return ordered[first:] + ordered[:first]

    def _may_sweep(self) -> bool:
        """Take or keep the lock; False while another process has it."""
        return self._store.due.lock(self._token, self._every_ms * 5)

    def leave(self) -> None:
        """Let another process sweep at once: this one ends."""
        self._store.due.unlock(self._token)

    def _look_at_tournament(self, tournament_id: str, workers: int, now: int) -> None:
        self._store.due.move({due.tournament(tournament_id): now + self._patience_ms})
        self._found.add("tournament")
        try:
            started = self._running.advance(tournament_id, workers)
        except Exception:  # one tournament that breaks must not hold up the others
            said = {"tournament_id": tournament_id}
            logger.exception("tournament %s can't go on now; it is looked at again", tournament_id, extra=said)
            self._found.add("tournament_broke")
            return
        self._send_shards(started, workers)

    def _look_at_fits(self, tournament_ids: list[str], now: int) -> None:
        self._store.due.move({due.fit(tournament_id): now + self._patience_ms for tournament_id in tournament_ids})
        self._found.add("fit", by=len(tournament_ids))
        for tournament_id in tournament_ids:
            self._queue.fit_tournament(tournament_id)

    def _look_at_erasures(self, account_ids: list[str], now: int) -> None:
        self._store.due.move({due.erasure(account_id): now + self._patience_ms for account_id in account_ids})
        self._found.add("erasure", by=len(account_ids))
        for account_id in account_ids:
            self._queue.erase(account_id)

    def _look_at_health(self, bot_ids: list[str], now: int) -> None:
        self._store.due.move({due.health(bot_id): now + self._patience_ms for bot_id in bot_ids})
        self._found.add("health", by=len(bot_ids))
        for bot_id in bot_ids:
            try:
                self._health.look(bot_id)
            except Exception:  # one bot whose look breaks must not hold up the others
                said = {"bot_id": bot_id}
                logger.exception("the health of %s can't be looked at now; it is looked at again", bot_id, extra=said)

    def _look_at_checks(self, check_ids: list[str], now: int) -> None:
        self._found.add("check", by=len(check_ids))
        for check_id in check_ids:
            try:
                look_at_check(self._store, self._queue, check_id, now, self._patience_ms)
            except Exception:  # nor must one check
                logger.exception("check %s can't be looked at now; it is looked at again", check_id)
                self._store.due.move({due.check(check_id): now + self._patience_ms})

    def _look_at_games(self, game_ids: list[str], workers: int, moment: Moment) -> None:
        now = moment.now
        games = self._store.games.get_many(game_ids)
        leased = self._store.games.leased(game_ids)
        ready: list[str] = []
        alone: list[str] = []
        again: dict[str, int] = {}
        for game_id, game, is_leased in zip(game_ids, games, leased, strict=True):
            name = due.game(game_id)
            if game is None:
                self._drop_orphan(game_id, now)
            elif game.state is GameState.OPEN:
                self._look_at_open(game, moment)
            elif is_leased:
                self._found.add("game_held")
                again[name] = now + self._patience_ms
            else:
                again[name] = now + self._patience_ms
                if game.state is GameState.RUNNING and not has_people(game):
                    ready.append(game_id)
                else:
                    alone.append(game_id)
        self._found.add("game_of_people", by=len(alone))
        self._found.add("game_unheld", by=len(ready))
        self._store.due.move(again)  # before a worker hears of them: what it sets is to stand
        for game_id in alone:
            self._queue.drive(game_id)
        self._send_shards(ready, workers)

    def _look_at_open(self, game: Game, moment: Moment) -> None:
        expires = moment.adjusted(game.created_at) + self._open_seat_ms
        if moment.now < expires:
            self._store.due.move({due.game(game.id): expires})
        elif self._store.games.end(game.id, GameState.CANCELLED):
            self._found.add("open_game_expired")
            self._queue.drive(game.id)

    def _drop_orphan(self, game_id: str, now: int) -> None:
        """Drop an entry whose game never came to be; a game just being created gets its time."""
        if self._store.due.drop_older(due.game(game_id), now - ORPHAN_MS):
            self._found.add("orphan")

    def _send_shards(self, game_ids: list[str], workers: int) -> None:
        for shard in shards(game_ids, workers):
            self._queue.drive_shard(shard)


def shards(game_ids: list[str], workers: int) -> Iterator[list[str]]:
    """Cut games into shards so that every worker has two to do, of 64 games at most."""
    size = min(LARGEST_SHARD, ceil(len(game_ids) / (2 * max(workers, 1))))
    for start in range(0, len(game_ids), size or 1):
        yield game_ids[start : start + size]
