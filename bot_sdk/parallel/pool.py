"""Hands the games of a match out to processes and takes them in, in their order.

A bot that takes its process down is treated as in the arena: what it owed is `late` if it was killed for being silent,
`unreachable` if it died, and the rest of the game is played. The game is begun again for that, with the same packs and
with what is known of that decision. A first death is forgiven, since the machine may have caused it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from typing import Final, Self

from bot_sdk.errors import SdkError
from bot_sdk.events import Outcome
from bot_sdk.games import record
from bot_sdk.games.packs import offline_secret
from bot_sdk.games.record import SeatShown
from bot_sdk.local import Match, MatchError, Played, place
from bot_sdk.parallel.orders import NOWHERE, Done, Order, Reached, Ready, Refused, Task, Verdict, verdict_key
from bot_sdk.parallel.worker import Came, Worker

GRACE_S: Final = 2.0
"""How much longer than its budget a bot may be silent before its process is killed."""
POLL_S: Final = 0.25
CLOSE_S: Final = 2.0
"""How long processes get to end by themselves."""

Tell = Callable[[str], None]
"""Is told in a sentence what happened to a process."""


class LostError(SdkError):
    """Processes die over a match, and no bot's decision is to blame."""


@contextmanager
def opened(
    match: Match,
    bots: Sequence[str],
    *,
    seats: int,
    seed: str,
    jobs: int,
    debug_seat: int | None = None,
    tell: Tell = lambda _text: None,
) -> Iterator[Pool]:
    """Start `jobs` processes that have loaded the bots; none is left behind.

    `bots` are FILE:bot, house:NAME or URLs, and sit down in turn at `seats`. Raises `RulesetError` or `OptionError` for
    a table that can't be, `FairnessError` for a seed that is no text, `MatchError` with the reason for bots that can't
    be loaded, `LostError` if loading them ends a process.
    """
    if not 0 < len(bots) <= seats:
        raise MatchError(f"expected 1 to {seats} players for {seats} seats, got {len(bots)}")
    if debug_seat is not None and not 0 <= debug_seat < seats:
        raise MatchError(f"expected a seat from 0 to {seats - 1} to look into, got {debug_seat}")
    options = match.ruleset.resolve(match.options, seats)
    offline_secret(seed, 0)
    order = Order(
        ruleset=match.ruleset.name,
        options=options,
        budget_ms=match.budget_ms,
        first_budget_ms=match.first_budget_ms,
        max_faults=match.max_faults,
        bots=list(bots),
        seats=seats,
        seed=seed,
        debug_seat=debug_seat,
    )
    with Pool(order, jobs, tell) as pool:
        yield pool


class Pool:
    """Processes that play the games of one match; what `opened` gives."""

    def __init__(self, order: Order, jobs: int, tell: Tell, *, clock: Callable[[], float] = time.monotonic) -> None:
        """Plan `jobs` processes; nothing is started yet."""
        self.players: list[SeatShown] = []
        """The bots, as records show them."""
        self._order = order
        self._jobs = jobs
        self._tell = tell
        self._clock = clock
        self._looked = clock()
        self._came: SimpleQueue[Came] = SimpleQueue()
        self._workers: list[Worker] = []
        self._waiting: Iterator[int] = iter(())
        self._done: dict[int, Done] = {}
        self._deaths: set[int] = set()

    def __enter__(self) -> Self:
        try:
            self._load()
        except BaseException:  # Ctrl-C too: no process may be left over
            self._close(0.0)
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._close(0.0 if kind else CLOSE_S)

    def play(self, games: int) -> Iterator[Played]:
        """Play games 0 to `games` - 1 of the match, once; the same ones come in the same order by any number of jobs.

        Raises `LostError` when a game ends its process twice where no bot is asked, `MatchError` if a bot that was
        loaded before can't be again.
        """
        self._waiting = iter(range(games))
        for worker in self._workers:
            self._give(worker)
        for number in range(games):
            while number not in self._done:
                self._step()
            yield self._played(self._done.pop(number))

    def _load(self) -> None:
        """Start the processes and wait until all have their bots."""
        for _ in range(self._jobs):
            self._start()
        ready = 0
        while ready < self._jobs:
            for worker, told in self._arrived():
                if told is None:
                    raise LostError(f"a process ended {worker.how} while it loaded the bots")
                ready += self._take(worker, told)

    def _step(self) -> None:
        """Take what comes next, and look now and then whether anything does."""
        for worker, told in self._arrived():
            if told is None:
                self._replace(worker)
            else:
                self._take(worker, told)
        passed = self._clock() - self._looked
        if passed >= POLL_S:
            self._looked += passed
            for worker in self._workers:
                # a machine that slept has let nobody play
                self._look(worker, min(passed, 2 * POLL_S))

    def _arrived(self) -> list[Came]:
        """Give what comes next, or nothing after a while, so that Ctrl-C is heard on all systems."""
        try:
            return [self._came.get(timeout=POLL_S)]
        except Empty:
            return []

    def _take(self, worker: Worker, told: Ready | Refused | Done) -> bool:
        """Take what a worker told; give whether it has become ready."""
        if isinstance(told, Refused):
            raise MatchError(told.error)
        if isinstance(told, Ready):
            self.players = told.players
            return True
        self._done[told.number] = told
        worker.task = None
        if worker.hung_at is None:
            self._give(worker)
        return False

    def _look(self, worker: Worker, passed: float) -> None:
        silent_s = worker.silence(passed)
        budget_ms = self._order.budget_ms if worker.reached.number > 0 else self._order.first_budget_ms
        if worker.task is not None and silent_s > budget_ms / 1000 + GRACE_S:
            worker.kill_hung()

    def _replace(self, worker: Worker) -> None:
        """Have a new process go on where one has ended."""
        task = self._again(worker.task, worker) if worker.task is not None else self._next()
        worker.close(0.0)
        self._workers.remove(worker)
        if task is not None:
            self._start().play(task)

    def _again(self, task: Task, worker: Worker) -> Task:
        """Say how to go on with a game that ended its process."""
        at = worker.hung_at or worker.reached
        did = "was killed, being silent," if worker.hung_at else f"ended {worker.how}"
        if at.seat != NOWHERE and (worker.hung_at or task.number in self._deaths):
            outcome = Outcome.LATE if worker.hung_at else Outcome.UNREACHABLE
            self._tell(f"{self._name(task, at.seat)} is {outcome}: its process {did} in {self._where(task, at)}")
            verdict = Verdict(outcome, 1000 * worker.silent_s)
            return Task(task.number, {**task.verdicts, verdict_key(at.seat, at.number): verdict})
        where = self._where(task, at)
        if task.number in self._deaths:
            raise LostError(f"a process {did} twice in {where}")
        self._deaths.add(task.number)
        self._tell(f"a process {did} in {where}: the game is begun again")
        return task

    def _where(self, task: Task, at: Reached) -> str:
        spot = place(task.number, self._order.seats)
        game = f"{offline_secret(self._order.seed, spot.board)[1]}.{spot.leg}"
        return f"game {game}" if at.seat == NOWHERE else f"decision {game}.{at.seat}.{at.number}"

    def _name(self, task: Task, seat: int) -> str:
        player = place(task.number, self._order.seats).players[seat]
        return self.players[player % len(self.players)].name

    def _start(self) -> Worker:
        worker = Worker(self._order, self._came)
        self._workers.append(worker)
        return worker

    def _give(self, worker: Worker) -> None:
        """Give a worker the next game, or let it go if there is none."""
        task = self._next()
        if task is None:
            worker.dismiss()
        else:
            worker.play(task)

    def _next(self) -> Task | None:
        number = next(self._waiting, None)
        return None if number is None else Task(number)

    def _played(self, done: Done) -> Played:
        made = record.read(bytes(done.record))
        at = place(done.number, self._order.seats)
        return Played(at.board, at.leg, at.players, made, done.answers)

    def _close(self, timeout_s: float) -> None:
        for worker in self._workers:
            worker.dismiss()
        until = self._clock() + timeout_s
        for worker in self._workers:
            worker.close(max(0.0, until - self._clock()))
