"""The queues between the API and the workers: their names, what may be sent, and who sends it.

A job carries ids only, may run twice, and may be lost: the store knows what is due (`arena.sweep`).
"""

from __future__ import annotations

from typing import Any, Final

import redis
from dramatiq import Message
from dramatiq.brokers.redis import RedisBroker

from service.config import Settings

INTERACTIVE: Final = "interactive"
TOURNAMENT: Final = "tournament"

DRIVE: Final = "drive"
DRIVE_SHARD: Final = "drive_shard"
CHECK: Final = "check"

QUEUES: Final = {DRIVE: INTERACTIVE, DRIVE_SHARD: TOURNAMENT, CHECK: INTERACTIVE}
"""The queue each job goes by."""


def broker_for(settings: Settings) -> RedisBroker:
    """Make the broker; it connects at its first use."""
    client = redis.Redis.from_url(settings.broker_url, socket_timeout=10, socket_connect_timeout=3)
    broker = RedisBroker(client=client, heartbeat_timeout=settings.heartbeat_ms, maintenance_chance=100_000)
    for queue in sorted(set(QUEUES.values())):
        broker.declare_queue(queue)
    return broker


class Jobs:
    """Sends jobs: the `Queue` of the use cases. A queue that is away loses nothing but time, so it is no error."""

    def __init__(self, broker: RedisBroker) -> None:
        """Send by this broker."""
        self._broker = broker

    def check(self, check_id: str) -> None:
        """Have a conformance check of a bot run."""
        self._send(CHECK, check_id)

    def drive(self, game_id: str) -> None:
        """Have a game driven now."""
        self._send(DRIVE, game_id)

    def drive_shard(self, game_ids: list[str]) -> None:
        """Have tournament games driven side by side."""
        self._send(DRIVE_SHARD, game_ids)

    def _send(self, job: str, *args: Any) -> None:
        message: Message[None] = Message(
            queue_name=QUEUES[job], actor_name=job, args=args, kwargs={}, options={}
        )
        self._broker.enqueue(message)
