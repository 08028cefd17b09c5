"""The store as one thing: all its parts over one client."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from service.metrics.meters import Meters, silent
from service.store.accounts import AccountStore
from service.store.alarms import Alarms
from service.store.appearances import AppearanceStore
from service.store.audit import AuditStore
from service.store.bots import BotStore
from service.store.challenges import Challenges
from service.store.clock import Clock
from service.store.connection import connect
from service.store.due import Due
from service.store.erasures import ErasureStore
from service.store.form import FormStore
from service.store.games import GameStore
from service.store.idempotency import Idempotency
from service.store.ledger import Ledger
from service.store.mailbox import Mailboxes, Office
from service.store.maintenance import MaintenanceStore
from service.store.moves import Moves
from service.store.ratings import RatingStore
from service.store.retention import RetentionStore
from service.store.secrets import Secrets
from service.store.tournaments import TournamentStore
from service.store.unfinished import Unfinished, games_ended
from service.store.watch import Watch

if TYPE_CHECKING:
    from redis import Redis


class Store:
    """Everything the arena keeps. Make one per process, after any fork, and close it."""

    def __init__(
        self, redis: Redis, *, key: bytes | None = None, waiting: Redis | None = None, meters: Meters | None = None
    ) -> None:
        """Put it together. `waiting` is the client by which one waits for the store to say something."""
        self._redis = redis
        self._waiting = waiting or redis
        self.accounts = AccountStore(redis)
        self.appearances = AppearanceStore(redis)
        self.audit = AuditStore(redis)
        self.alarms = Alarms(redis)
        self.bots = BotStore(redis)
        self.challenges = Challenges(redis)
        self.clock = Clock(redis)
        self.due = Due(redis)
        self.erasures = ErasureStore(redis)
        self.form = FormStore(redis)
        self.games = GameStore(redis, meters=meters)
        self.idempotency = Idempotency(redis)
        self.ledger = Ledger(redis)
        self.mailboxes = Mailboxes(redis)
        self.moves = Moves(redis, self.games, self.clock)
        self.maintenance = MaintenanceStore(redis)
        self.ratings = RatingStore(redis)
        self.retention = RetentionStore(redis)
        self.secrets = Secrets(redis, given=key)
        self.tournaments = TournamentStore(redis)
        self.unfinished = Unfinished(redis, games_ended(redis))
        self.unfinished_tournaments = Unfinished(redis, self.tournaments.have_ended)
        self.watch = Watch(redis)

    @classmethod
    def open(
        cls,
        url: str,
        *,
        max_connections: int = 32,
        key: bytes | None = None,
        is_patient: bool = True,
        meters: Meters | None = None,
    ) -> Self:
        """Give the store at `url`; it connects at its first use. `key` is the arena key, if it is given.

        One that isn't patient gives up sooner on a server that stands still (`connect`).
        """
        meters = meters or silent()
        timed = meters.round_trips.note if meters.is_on else None
        redis = connect(url, max_connections=max_connections, is_patient=is_patient, timed=timed)
        waiting = connect(url, max_connections=2, is_patient=is_patient) if meters.is_on else None
        return cls(redis, key=key, waiting=waiting, meters=meters)

    def office(self, name: str) -> Office:
        """Give the end of all mailboxes by which this process calls bots, under a name that no other has."""
        return Office(self._redis, name, waiting=self._waiting)

    def close(self) -> None:
        """End the subscription and all connections."""
        self.watch.close()
        self._redis.close()
        self._waiting.close()
