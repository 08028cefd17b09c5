"""What a referee works with: the store, the callers, the hosts of house bots. Made for each run of a worker process."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from time import sleep
from typing import Final, Protocol, TypeVar

from redis import RedisError

from bot_sdk.events import Decided, RetiredBecause
from bot_sdk.results.values import GameState
from service.metrics.meters import Meters, silent
from service.outbound.values import Answer, Call
from service.referee.asking import Asking
from service.referee.leases import Leases
from service.referee.table import Table
from service.referee.verdicts import Verdict
from service.store.alarms import Alarms
from service.store.clock import Clock
from service.store.due import Due
from service.store.entities import Game
from service.store.errors import DamagedError, passes
from service.store.games import GameStore

logger: Final = logging.getLogger(__name__)

RETRY_S: Final = (0.02, 0.05, 0.1, 0.2, 0.5)
TRIES_WHEN_STOPPING: Final = 5

T = TypeVar("T")


class Line(Protocol):
    """What one run asks its bots by; of its thread alone, but for `wake`."""

    def submit(self, call: Call) -> None:
        """Have a call sent, in the next `wait` at the earliest; its answer comes within its budget whatever happens."""

    def wait(self, timeout_s: float) -> list[Answer]:
        """Send and receive; give all answers there are, none if the time is up or somebody calls `wake`."""

    def wake(self) -> None:
        """End a `wait` that is under way, or the next one; from any thread, also after `close`."""

    def close(self) -> None:
        """Drop what is under way."""


class Caller(Protocol):
    """The part of `outbound` that a referee needs."""

    def line(self) -> Line:
        """Open a line for a run."""


class Players(Protocol):
    """Those who sit at the tables, other than people."""

    def refresh(self) -> None:
        """Take nothing for known any more that was read too long ago."""

    def meet(self, table: Table) -> None:
        """Read what must be known of a table's bots; until the next `refresh` only `decide` may ask the store."""

    def is_asked(self, table: Table, seat: int) -> bool:
        """Whether a seat other than a person's is asked by a line; `decide` is for the others."""

    def decide(self, table: Table, seat: int) -> Verdict:
        """Let a house bot decide."""

    def asking(self, table: Table, seat: int) -> Asking:
        """Say how a bot's seat is asked for the decision it owes."""

    def why_out(self, table: Table, seat: int) -> RetiredBecause | None:
        """Say why a bot's seat isn't to be asked any more, None if it is."""

    def gone(self, table: Table, seat: int) -> None:
        """Hear that a bot has asked by the answer of a seat not to be called."""


class Aftermath(Protocol):
    """Who is told what has happened, once it stands in the store."""

    def began(self, table: Table) -> None:
        """Hear that a game is about to ask its first decision."""

    def decided(self, table: Table, decision_id: str, event: Decided, verdict: Verdict) -> None:
        """Hear that a bot's decision stands in the log."""

    @property
    def is_behind(self) -> bool:
        """Whether something is kept back until `flush`."""

    def flush(self) -> None:
        """Let out together what was kept back."""

    def ended(self, meta: Game, state: GameState, table: Table | None) -> None:
        """Hear that a game has ended; after a crash again. There is no table if it can't be replayed."""

    def released(self, meta: Game, state: GameState, table: Table | None) -> None:
        """Hear that a game that has ended is in nobody's hands any more."""


@dataclass(frozen=True, slots=True)
class Referee:
    """The referee of one run in a worker process; `stopping` says that it is time to hand games back."""

    games: GameStore
    due: Due
    clock: Clock
    leases: Leases
    alarms: Alarms
    calls: Caller
    players: Players
    aftermath: Aftermath
    new_id: Callable[[], str]
    stopping: Callable[[], bool]
    meters: Meters = field(default_factory=silent)

    def insist(self, step: Callable[[], T]) -> T:
        """Do a step of the store, again and again while it is away or takes no writes: every step is safe to repeat.

        Raises the store's error only when it is time to stop; what was answered but not committed is then asked again
        by whoever takes the game over. Raises DamagedError for a step that the store will never take.
        """
        tried = 0
        while True:
            try:
                return step()
            except RedisError as error:
                if not passes(error):
                    raise DamagedError(f"the store says {error}") from error
                if self.stopping() and tried >= TRIES_WHEN_STOPPING:
                    raise
                logger.warning("the store doesn't answer, trying again: %s", error)
                sleep(RETRY_S[min(tried, len(RETRY_S) - 1)])
                tried += 1
