"""Names of the queues and actors, and how the API hands work to them without importing any actor."""

from __future__ import annotations

from dramatiq import Message
from dramatiq.brokers.redis import RedisBroker

from service.config import Settings
from service.store.connection import connect

INTERACTIVE = "interactive"
"""What somebody waits for: games with people in them, checks of bots."""
TOURNAMENT = "tournament"
"""Everything else."""

CHECK_BOT = "check_bot"
"""Actor of INTERACTIVE: (check id)."""


def open_broker(settings: Settings) -> RedisBroker:
    """Build the broker that every process of ours uses; it connects at its first message."""
    return RedisBroker(  # type: ignore[no-untyped-call]
        client=connect(settings.broker_url),
        heartbeat_timeout=settings.heartbeat_ms,
        maintenance_chance=100_000,
    )


class BrokerQueue:
    """The use cases' Queue over a broker."""

    def __init__(self, broker: RedisBroker) -> None:
        self._broker = broker

    def check(self, check_id: str) -> None:
        """Have a conformance check of a bot run."""
        self._send(INTERACTIVE, CHECK_BOT, check_id)

    def _send(self, queue: str, actor: str, *args: str) -> None:
        self._broker.enqueue(Message(queue_name=queue, actor_name=actor, args=args, kwargs={}, options={}))
