"""A worker process: a Dramatiq worker for each queue, leases, sweeper and calls to bots, started and stopped as one."""

from __future__ import annotations

import functools
import gc
import logging
import resource
import secrets
import sys
import threading
import time
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Final

import dramatiq
from dramatiq.brokers.redis import RedisBroker
from dramatiq.worker import Worker
from redis import RedisError

from service.arena.checking import run_alone
from service.arena.checks import Checks, OurFaultError
from service.arena.erasing import Erasing
from service.arena.exports import Exports
from service.arena.health import Health
from service.arena.ratings import Ratings
from service.arena.retention import DAY_MS, Retention
from service.arena.running import Running
from service.arena.scoreboard import Scoreboard
from service.arena.sweep import Sweep
from service.config import Settings
from service.fit.process import FitProcess
from service.jobs import (
    CHECK_BOT,
    CHECKS,
    DRIVE,
    DRIVE_SHARD,
    ERASE,
    FIT,
    FIT_TOURNAMENT,
    FITS,
    INTERACTIVE,
    QUEUES,
    SERVED,
    TOURNAMENT,
    BrokerQueue,
    Caused,
    open_broker,
)
from service.metrics.meters import Meters, silent
from service.outbound.calls import Calls
from service.outbound.guard import Guard
from service.referee.aftermath import Aftermath
from service.referee.leases import Leases
from service.referee.players import Players
from service.referee.referee import Referee
from service.referee.roster import Roster
from service.referee.thinking import Callers
from service.services import allowance_of, tournaments_of
from service.store import due
from service.store.archive import Archive
from service.store.clock import Agreed
from service.store.store import Store
from service.thinking.process import COMMAND, Process
from service.thinking.thinkers import Thinkers
from service.worker.retaining import Retaining
from service.worker.serving import Serving
from service.worker.sweeping import Sweeping

logger: Final = logging.getLogger(__name__)

CHECK_THREADS: Final = 8
ROOM_S: Final = 2.0
"""How long a job waits for room before its games go back into the queue."""
IDLE_MS: Final = 40
"""How often an idle worker looks for games: Dramatiq's own second would be felt at every move of a person."""
SWEPT_MS: Final = 100
"""How often one looks for shards, which the sweeper sends once a second."""
UNHURRIED_MS: Final = 1_000
SERVING: Final = {
    INTERACTIVE: (1, IDLE_MS),
    CHECKS: (CHECK_THREADS, UNHURRIED_MS),
    FITS: (1, UNHURRIED_MS),
    TOURNAMENT: (1, SWEPT_MS),
}
"""How many threads serve a queue, and how often they look into an empty one. A job of games hands them in and is done;
while one waits for room, those that follow are for other processes."""
SHARE_S: Final = 0.15
"""How long a worker among others pauses after a shard while few are left: longer than that, so that each looks."""
JOB_MS: Final = 3_600_000
ERASE_S: Final = 5.0
"""How long one job erases; others of its queue come between."""
STOP_MS: Final = 8_000
SWEEP_STOP_S: Final = 1.0
SERVE_STOP_S: Final = 6.0
RETAIN_STOP_S: Final = 2.0
THINKERS_STOP_S: Final = 1.0
CONNECTIONS: Final = 64
DESCRIPTORS: Final = 8_192
"""So many a worker may have open if the system lets it: a shell's usual 1,024 are fewer than its connections may be."""
SWITCH_S: Final = 0.0005
"""How long a busy thread may keep the interpreter from one that watches a bot's deadline."""


GC_THRESHOLDS: Final = (50_000, 20, 20)
"""When garbage is looked for: games hold many objects that live long, and hardly any of those refer to each other in a
circle. By Python's own thresholds it took a tenth of the processor time."""


class WorkerProcess:
    """All that one worker process runs. Build it in the process itself, after any fork."""

    def __init__(
        self, settings: Settings, takes: Collection[str] = tuple(SERVED), meters: Meters | None = None
    ) -> None:
        """Connect the parts; nothing runs before `start`. It `takes` on those keys of `SERVED`, and always sweeps."""
        self._settings = settings
        self._takes = frozenset(takes)
        self._meters = meters or silent()
        self._stopping = threading.Event()
        self._store = Store.open(settings.redis_url, max_connections=CONNECTIONS, key=settings.key, meters=self._meters)
        self._arena_key = functools.cache(lambda: self._store.secrets.arena_key(secrets.token_bytes(32)))
        networks = [str(network) for network in settings.bot_networks]
        guard = Guard(networks)
        self._calls = Calls(
            guard,
            slots=settings.calls,
            now=Agreed(self._store.clock),
            office=self._store.office(secrets.token_hex(8)),
        )
        self._thinkers = Thinkers(
            settings.thinkers, process=lambda: Process((*COMMAND, settings.logs, settings.log_level))
        )
        self._leases = Leases(
            self._store.games, self._store.due, lease_ms=settings.lease_ms, renew_s=settings.renew_ms / 1000
        )
        self._brokers = [open_broker(settings)]
        self._queue = BrokerQueue(self._brokers[0])
        self._checks = Checks(
            self._store,
            self._calls,
            clock=self._store.due.now,
            challenge=lambda: secrets.token_urlsafe(24),
            meters=self._meters,
        )
        self._erasing = Erasing(self._store, clock=self._store.due.now)
        self._ratings = Ratings(
            self._store,
            self._queue,
            FitProcess(self._stopping.is_set),
            clock=self._store.due.now,
            new_id=lambda: secrets.token_hex(8),
            every_ms=settings.ratings_ms,
        )
        self._sweep = Sweep(
            self._store,
            self._queue,
            Running(
                self._store,
                self._queue,
                self._ratings,
                clock=self._store.due.now,
                patience_ms=settings.lease_ms,
                meters=self._meters,
            ),
            self._ratings,
            Health(
                self._store,
                self._queue,
                allowance_of(self._store, settings, guard),
                clock=self._store.due.now,
                pause_ms=settings.health_ms,
            ),
            token=secrets.token_hex(8),
            every_ms=settings.sweep_ms,
            patience_ms=settings.lease_ms,
            open_seat_ms=settings.open_seat_ms,
            only="" if self._takes == SERVED.keys() else "".join(self._takes),
            meters=self._meters,
        )
        self._sweeper = Sweeping(self._sweep, self._store.form, self._stopping, settings.sweep_ms / 1000)
        self._people = Serving("people", self._referee, self._stopping, self._drive_each)
        self._tournaments = Serving("tournaments", self._referee, self._stopping, self._queue.drive_shard)
        self._retainer = Retaining(self._retention(), self._stopping) if settings.archive else None
        self._workers = [self._server(queue) for taken in SERVED if taken in self._takes for queue in SERVED[taken]]
        self._meters.look_at(self._look)

    def _look(self) -> None:
        """Set what is measured by looking."""
        self._meters.calls_waiting.set(self._calls.waiting)
        for serving in (self._people, self._tournaments):
            self._meters.driven.set(serving.current.games, serving.name)

    def _server(self, queue: str) -> Worker:
        """Make the Dramatiq worker that serves a queue."""
        threads, idle_ms = SERVING[queue]
        worker = Worker(self._broker(), queues={queue}, worker_threads=threads, worker_timeout=idle_ms)
        if queue == TOURNAMENT:
            worker.queue_prefetch = 1  # what one has fetched and not begun no other can take
        return worker

    def _broker(self) -> RedisBroker:
        """Make a broker that knows the jobs; each Dramatiq worker has its own, since it adds itself to it."""
        broker = open_broker(self._settings)
        self._brokers.append(broker)
        broker.add_middleware(Caused(), before=type(broker.middleware[0]))  # the others' lines are within
        work: dict[str, Callable[..., None]] = {
            DRIVE: self.drive,
            DRIVE_SHARD: self.drive_shard,
            CHECK_BOT: self.check_bot,
            FIT: self.fit,
            FIT_TOURNAMENT: self.fit_tournament,
            ERASE: self.erase,
        }
        for name, function in work.items():
            dramatiq.actor(actor_name=name, queue_name=QUEUES[name], broker=broker, max_retries=20, time_limit=JOB_MS)(
                function
            )
        return broker

    # --- jobs ---------------------------------------------------------------------------------------------------------

    def drive(self, game_id: str) -> None:
        """Have a game with people driven; the job is done at once, so that nobody waits behind a slow bot's game."""
        if self._stopping.is_set():
            self._queue.drive(game_id)  # our run hears of nothing any more: to another process
        else:
            self._people.current.hand_in(game_id)

    def drive_shard(self, game_ids: list[str]) -> None:
        """Have games driven side by side with all others of tournaments, once there is room."""
        if self._stopping.is_set() or not self._tournaments.current.hand_in_all(game_ids, wait_s=ROOM_S):
            self._queue.drive_shard(game_ids)
        elif self._is_to_share():
            self._stopping.wait(SHARE_S)

    def _is_to_share(self) -> bool:
        """Whether other workers might find nothing left: the sweeper sends two shards for each."""
        workers = self._sweep.workers
        return workers > 1 and self._queue.count_shards() <= 2 * workers

    def _drive_each(self, game_ids: list[str]) -> None:
        for game_id in game_ids:
            self._queue.drive(game_id)

    def check_bot(self, check_id: str) -> None:
        """Run a bot's check."""
        try:
            run_alone(self._store, check_id, secrets.token_hex(8), self._checks.run)
        except OurFaultError as error:  # by the sweeper alone, or each time that it fails there would be more of it
            logger.warning("%s; it is run again", error)

    def fit(self, ruleset: str) -> None:
        """Compute the ratings of a ruleset anew."""
        self._ratings.refit(ruleset)

    def fit_tournament(self, tournament_id: str) -> None:
        """Compute the ratings of a tournament's own games."""
        self._ratings.fit_tournament(tournament_id)

    def erase(self, account_id: str) -> None:
        """Erase an account, as far as a few seconds get."""
        ends = time.monotonic() + ERASE_S
        self._erasing.run(account_id, lambda: self._stopping.is_set() or time.monotonic() > ends)

    def _referee(self) -> Referee:
        roster = Roster(self._store.bots, self._store.due.now)
        return Referee(
            games=self._store.games,
            due=self._store.due,
            clock=self._store.clock,
            leases=self._leases,
            alarms=self._store.alarms,
            calls=Callers(self._calls, self._thinkers),
            players=Players(roster, self._arena_key),
            aftermath=Aftermath(
                self._store,
                self._calls,
                roster,
                self._settings.public_url,
                trusts_accounts=self._settings.trust_accounts,
            ),
            new_id=lambda: secrets.token_hex(8),
            stopping=self._stopping.is_set,
            meters=self._meters,
        )

    def _retention(self) -> Retention:
        tournaments = tournaments_of(self._settings, self._store, self._store.due.now)
        return Retention(
            self._store,
            Archive(Path(self._settings.archive)),
            Exports(self._store, tournaments, Scoreboard(self._store, tournaments, clock=self._store.due.now)),
            clock=self._store.due.now,
            token=secrets.token_hex(8),
            keep_ms=self._settings.keep_days * DAY_MS,
        )

    # --- life ---------------------------------------------------------------------------------------------------------

    def start(self) -> None:
        """Start everything."""
        sys.setswitchinterval(SWITCH_S)
        gc.freeze()
        gc.set_threshold(*GC_THRESHOLDS)
        _take_descriptors()
        self._leases.start()
        self._sweeper.start()
        if due.PEOPLE in self._takes:
            self._people.start()
        if due.TOURNAMENTS in self._takes:
            self._tournaments.start()
        if self._retainer is not None:
            self._retainer.start()
        for worker in self._workers:
            worker.start()

    def stop(self) -> None:
        """Finish the decisions under way, hand the games back, and end; within about ten seconds."""
        self._stopping.set()
        # Side by side: a queue that is still served while the other one's last job ends would take back its own games.
        stops = [threading.Thread(target=_stop, args=(worker,)) for worker in self._workers]
        for stop in stops:
            stop.start()
        for stop in stops:
            stop.join()
        threads: tuple[tuple[threading.Thread | None, float], ...] = (
            (self._people, SERVE_STOP_S),
            (self._tournaments, SERVE_STOP_S),
            (self._sweeper, SWEEP_STOP_S),
            (self._retainer, RETAIN_STOP_S),
        )
        for thread, patience_s in threads:
            if thread is not None and thread.is_alive():
                thread.join(patience_s)
        self._leases.stop()
        self._thinkers.close(THINKERS_STOP_S)
        self._calls.close(1.0)
        for broker in self._brokers:
            broker.client.close()
        self._store.close()

    def run(self, until: Callable[[], object]) -> None:
        """Start, wait until `until` returns, stop."""
        self.start()
        try:
            until()
        finally:
            self.stop()


def _take_descriptors() -> None:
    least, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = DESCRIPTORS if most == resource.RLIM_INFINITY else min(DESCRIPTORS, most)
    if least != resource.RLIM_INFINITY and least < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))


def _stop(worker: Worker) -> None:
    try:
        worker.stop(timeout=STOP_MS)
    except RedisError as error:
        logger.warning("jobs fetched but not begun wait until they are missed: %s", error)
