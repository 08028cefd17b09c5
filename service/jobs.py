"""The queues between the API and the workers: their names, what may be sent, and who sends it.

A job carries ids only, may run twice, and may be lost: the store knows which games are due (`arena.sweep`).
"""

from __future__ import annotations

import logging
from typing import Any, Final

from dramatiq import Message
from dramatiq.brokers.redis import RedisBroker
from redis import RedisError

from service.config import Settings
from service.store.connection import connect

INTERACTIVE: Final = "interactive"
"""Games with people in them."""
CHECKS: Final = "checks"
"""Checks of bots: each may take as long as a strange bot likes, up to its budgets, so nobody else waits behind them."""
FITS: Final = "fits"
"""Fits of ratings, each seconds long, that shards of games, minutes long, aren't to hold up."""
TOURNAMENT: Final = "tournament"
"""Everything else."""

DRIVE: Final = "drive"
DRIVE_SHARD: Final = "drive_shard"
CHECK_BOT: Final = "check_bot"
FIT: Final = "fit"
FIT_TOURNAMENT: Final = "fit_tournament"

QUEUES: Final = {DRIVE: INTERACTIVE, DRIVE_SHARD: TOURNAMENT, CHECK_BOT: CHECKS, FIT: FITS, FIT_TOURNAMENT: FITS}
"""The queue each job goes by."""

logger: Final = logging.getLogger(__name__)


def open_broker(settings: Settings) -> RedisBroker:
    """Build the broker that every process of ours uses; it connects at its first message."""
    return RedisBroker(  # type: ignore[no-untyped-call]  # its library is untyped
        client=connect(settings.broker_url),
        heartbeat_timeout=settings.heartbeat_ms,
        maintenance_chance=100_000,
    )


class BrokerQueue:
    """The use cases' Queue over a broker."""

    def __init__(self, broker: RedisBroker) -> None:
        """Send by this broker."""
        self._broker = broker

    def check(self, check_id: str) -> None:
        """Have a conformance check of a bot run; without a broker the sweeper finds it later."""
        self._hint(CHECK_BOT, check_id)

    def drive(self, game_id: str) -> None:
        """Have a game driven now; without a broker the sweeper finds it later."""
        self._hint(DRIVE, game_id)

    def drive_shard(self, game_ids: list[str]) -> None:
        """Have games without people driven side by side, as `drive`."""
        self._hint(DRIVE_SHARD, game_ids)

    def fit_tournament(self, tournament_id: str) -> None:
        """Have the ratings of a tournament's own games computed; `due` holds it until that is done."""
        self._hint(FIT_TOURNAMENT, tournament_id)

    def fit(self, ruleset: str) -> None:
        """Have ratings computed anew; without a broker the sweeper asks again later."""
        self._hint(FIT, ruleset)

    def _hint(self, job: str, *args: Any) -> None:
        try:
            self._send(job, *args)
        except RedisError as error:
            logger.warning("%s isn't sent: %s", job, error)

    def _send(self, job: str, *args: Any) -> None:
        self._broker.enqueue(Message(queue_name=QUEUES[job], actor_name=job, args=args, kwargs={}, options={}))
