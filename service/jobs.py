"""The queues between the API and the workers: their names, what may be sent, and who sends it.

A job carries ids only, may run twice, and may be lost: the store knows which games are due (`arena.sweep`). One that
failed again and again becomes a dead letter, kept for a week; mostly the sweeper has had its work done by then.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, cast
from uuid import uuid4

from dramatiq import Message, Middleware
from dramatiq.broker import MessageProxy
from dramatiq.brokers.redis import RedisBroker
from redis import RedisError

from service.config import Settings
from service.logs import about
from service.store import due
from service.store.connection import connect
from service.store.lua import Args, Scripts
from service.store.probe import PATIENCE_S

INTERACTIVE: Final = "interactive"
"""Games with people in them."""
CHECKS: Final = "checks"
"""Checks of bots: each may take as long as a strange bot likes, up to its budgets, so nobody else waits behind them."""
FITS: Final = "fits"
"""Fits of ratings and erasures, each seconds long, that shards of games, minutes long, aren't to hold up."""
TOURNAMENT: Final = "tournament"
"""Everything else."""

DRIVE: Final = "drive"
DRIVE_SHARD: Final = "drive_shard"
CHECK_BOT: Final = "check_bot"
FIT: Final = "fit"
FIT_TOURNAMENT: Final = "fit_tournament"
ERASE: Final = "erase"

QUEUES: Final = {
    DRIVE: INTERACTIVE,
    DRIVE_SHARD: TOURNAMENT,
    CHECK_BOT: CHECKS,
    FIT: FITS,
    FIT_TOURNAMENT: FITS,
    ERASE: FITS,
}
"""The queue each job goes by."""

CAUSED_BY: Final = "request_id"
"""The option of a job that names the request behind it."""
SERVED: Final = {due.PEOPLE: (INTERACTIVE, CHECKS), due.TOURNAMENTS: (TOURNAMENT, FITS)}
"""What a worker may be told to take on, and the queues that this makes it serve."""

MOST_LETTERS: Final = 1_000
"""Of a queue, the newest ones: more than that nobody looks through."""
LONGEST_ERROR: Final = 300
MARK_MS: Final = 24 * 3_600_000
"""How long it is known of a letter that it was sent again."""

logger: Final = logging.getLogger(__name__)


def open_broker(settings: Settings, *, is_patient: bool = True) -> RedisBroker:
    """Build the broker that every process of ours uses; it connects at its first message.

    One that isn't patient gives up as soon as a probe of the store does, for who only looks.
    """
    soon: dict[str, Any] = {"pool_timeout_s": PATIENCE_S, "socket_timeout_s": PATIENCE_S, "retries": 0}
    return RedisBroker(  # type: ignore[no-untyped-call]  # its library is untyped
        client=connect(settings.broker_url, **({} if is_patient else soon)),
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

    def count_shards(self) -> int:
        """Tell how many shards no worker has fetched."""
        return int(self._broker.client.llen(f"{self._broker.namespace}:{TOURNAMENT}"))

    def fit_tournament(self, tournament_id: str) -> None:
        """Have the ratings of a tournament's own games computed; `due` holds it until that is done."""
        self._hint(FIT_TOURNAMENT, tournament_id)

    def fit(self, ruleset: str) -> None:
        """Have ratings computed anew; without a broker the sweeper asks again later."""
        self._hint(FIT, ruleset)

    def erase(self, account_id: str) -> None:
        """Have an account erased as far as one job gets; `due` holds it until that is done."""
        self._hint(ERASE, account_id)

    def _hint(self, job: str, *args: Any) -> None:
        try:
            self._send(job, *args)
        except RedisError as error:
            logger.warning("%s isn't sent: %s", job, error)

    def _send(self, job: str, *args: Any) -> None:
        caused_by = about.request_id()
        options = {} if caused_by is None else {CAUSED_BY: caused_by}
        self._broker.enqueue(Message(queue_name=QUEUES[job], actor_name=job, args=args, kwargs={}, options=options))


class Caused(Middleware):
    """Has the lines of a job name what it is about, and the request that caused it, if one did."""

    def before_process_message(self, _: Any, message: MessageProxy) -> None:
        """Begin a job."""
        given = message.options.get(CAUSED_BY)
        about.begin(given if isinstance(given, str) else None)
        for name in message.args:
            about.add(about.named(name))

    def after_process_message(self, *_: Any, **__: Any) -> None:
        """End it; what the thread does next has another cause."""
        about.begin(None)

    after_skip_message = after_process_message


class Backlogs:
    """What waits in the queues of a broker."""

    def __init__(self, broker: RedisBroker) -> None:
        """Say whose queues; it connects at its first look."""
        self._redis, self._namespace = broker.client, broker.namespace
        self._queues = sorted(set(QUEUES.values()))

    def look(self) -> dict[str, Backlog]:
        """Look at each queue; raises what redis-py raises."""
        with self._redis.pipeline(transaction=False) as pipe:
            for queue in self._queues:
                pipe.llen(f"{self._namespace}:{queue}")
                pipe.lindex(f"{self._namespace}:{queue}", 0)
                pipe.zcard(f"{self._namespace}:{queue}.XQ")
            told = pipe.execute()
        return {
            queue: Backlog(told[3 * n], self._sent_at(queue, told[3 * n + 1]), told[3 * n + 2])
            for n, queue in enumerate(self._queues)
        }

    def _sent_at(self, queue: str, message_id: bytes | None) -> int | None:
        if message_id is None:
            return None
        text = cast("bytes | None", self._redis.hget(f"{self._namespace}:{queue}.msgs", message_id.decode()))
        return None if text is None else int(Message.decode(text).message_timestamp)


class LetterAt(NamedTuple):
    """Where a dead letter is, in order of its death: when (Unix ms), its id, its queue."""

    at: int
    id: str
    queue: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadLetter:
    """A job given up: ids as `args`, the last line of what it failed with, how often it was tried anew."""

    id: str
    job: str
    args: list[Any]
    queue: str
    at: int
    error: str | None
    retries: int


class Backlog(NamedTuple):
    """Of one queue: the jobs that nobody has fetched, when the next of them was sent (Unix ms), those given up."""

    jobs: int
    next_sent_at: int | None
    dead: int


class DeadLetters:
    """The jobs that a broker gave up."""

    def __init__(self, broker: RedisBroker) -> None:
        """Look after those of this broker's queues."""
        self._redis = broker.client
        self._scripts = Scripts(broker.client)
        self._namespace = broker.namespace
        self._queues = sorted(set(QUEUES.values()))

    def found(self) -> list[LetterAt]:
        """Tell where they are, the last dead first; of each queue the newest 1,000."""
        with self._redis.pipeline(transaction=False) as pipe:
            for queue in self._queues:
                pipe.zrange(self._dead(queue), 0, MOST_LETTERS - 1, desc=True, withscores=True)
            found = zip(self._queues, pipe.execute(), strict=True)
        return sorted(
            (LetterAt(int(at), name.decode(), queue) for queue, each in found for name, at in each), reverse=True
        )

    def count(self) -> dict[str, int]:
        """Tell how many there are by queue, for those queues that have any."""
        with self._redis.pipeline(transaction=False) as pipe:
            for queue in self._queues:
                pipe.zcard(self._dead(queue))
            found = zip(self._queues, pipe.execute(), strict=True)
        return {queue: count for queue, count in found if count}

    def read(self, letters: Sequence[LetterAt]) -> list[DeadLetter]:
        """Give those letters, without such as have been sent again or deleted meanwhile."""
        with self._redis.pipeline(transaction=False) as pipe:
            for letter in letters:
                pipe.hget(f"{self._dead(letter.queue)}.msgs", letter.id)
            texts = pipe.execute()
        return [_shown(letter, text) for letter, text in zip(letters, texts, strict=True) if text is not None]

    def replay(self, letter_id: str) -> bool:
        """Send a letter again, with all its tries before it; once only, however often it is asked. False if unknown."""
        queue, text = self._find(letter_id)
        if queue is None or text is None:
            return bool(self._redis.exists(self._mark(letter_id)))
        new_id = str(uuid4())
        old = Message.decode(text)
        # Its own queue's name: what died as a retry bears that of the queue of those that wait for their time.
        new: Message[Any] = Message(queue, old.actor_name, old.args, old.kwargs, options={"redis_message_id": new_id})
        names = [self._dead(queue), f"{self._dead(queue)}.msgs", self._queue(queue), f"{self._queue(queue)}.msgs"]
        args: Args = [letter_id, text, new_id, new.encode(), MARK_MS]
        return bool(self._scripts.run("replay", [*names, self._mark(letter_id)], args))

    def delete(self, letter_id: str) -> bool:
        """Forget a letter; False if there is none."""
        queue, _ = self._find(letter_id)
        if queue is None:
            return False
        with self._redis.pipeline(transaction=True) as pipe:
            pipe.zrem(self._dead(queue), letter_id)
            pipe.hdel(f"{self._dead(queue)}.msgs", letter_id)
            pipe.execute()
        return True

    def _find(self, letter_id: str) -> tuple[str | None, bytes | None]:
        with self._redis.pipeline(transaction=False) as pipe:
            for queue in self._queues:
                pipe.hget(f"{self._dead(queue)}.msgs", letter_id)
            texts = pipe.execute()
        return next(((queue, text) for queue, text in zip(self._queues, texts, strict=True) if text), (None, None))

    def _queue(self, queue: str) -> str:
        """Name a queue as Dramatiq does; beside it are its texts (`.msgs`) and its dead letters (`.XQ`)."""
        return f"{self._namespace}:{queue}"

    def _dead(self, queue: str) -> str:
        return f"{self._queue(queue)}.XQ"

    def _mark(self, letter_id: str) -> str:
        return f"{self._namespace}:replayed:{letter_id}"


def _shown(letter: LetterAt, text: bytes) -> DeadLetter:
    message = Message.decode(text)
    lines = str(message.options.get("traceback", "")).split("\n")
    said = [line.strip() for line in lines if line.strip()]
    return DeadLetter(
        id=letter.id,
        job=message.actor_name,
        args=list(message.args),
        queue=letter.queue,
        at=letter.at,
        error=said[-1][:LONGEST_ERROR] if said else None,
        retries=int(message.options.get("retries", 0)),
    )
