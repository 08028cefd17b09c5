"""What an app is made of: settings, store and use cases, built in one place and passed in."""

from __future__ import annotations

import functools
import secrets
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from importlib.metadata import version

from redis import RedisError

from service.arena.accounts import Accounts
from service.arena.allowance import Allowance
from service.arena.appearances import Appearances
from service.arena.auditing import Auditing
from service.arena.bots import Bots, UrlGuard, house_bots
from service.arena.caller import Gate
from service.arena.census import Census
from service.arena.erasing import Erasing
from service.arena.exports import Exports
from service.arena.games import Games, Policy
from service.arena.leaderboards import Leaderboards
from service.arena.maintenance import Maintenance
from service.arena.oversight import Oversight
from service.arena.overviews import Overviews
from service.arena.planning import Planning
from service.arena.play import Play
from service.arena.pulling import Pulling
from service.arena.queue import Queue
from service.arena.readiness import Readiness
from service.arena.rounds import Rounds
from service.arena.scoreboard import Scoreboard
from service.arena.tournaments import Tournaments
from service.config import Settings
from service.jobs import Backlogs, DeadLetters, open_broker
from service.metrics.meters import Meters, silent
from service.outbound.guard import Guard, RefusedError
from service.store import census, unfinished
from service.store.door import holder
from service.store.probe import Probe
from service.store.store import Store

CONNECTIONS = 64
"""Connections by which one API process answers requests at most; more requests than that wait for one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """The parts of one process. `arena_key` is what tokens and the ids of retried requests follow from.

    `closing` holds what has to be closed with them; `close` does it.
    """

    settings: Settings
    store: Store
    gate: Gate
    auditing: Auditing
    accounts: Accounts
    bots: Bots
    pulling: Pulling
    games: Games
    play: Play
    tournaments: Tournaments
    scoreboard: Scoreboard
    overviews: Overviews
    rounds: Rounds
    exports: Exports
    planning: Planning
    leaderboards: Leaderboards
    appearances: Appearances
    maintenance: Maintenance
    oversight: Oversight
    erasing: Erasing
    dead_letters: DeadLetters
    readiness: Readiness
    census: Census
    meters: Meters
    arena_key: Callable[[], bytes]
    closing: ExitStack
    version: str = field(default_factory=functools.partial(version, "slagveld"))

    def close(self) -> None:
        """End all connections to store and broker but those of the queue that was given."""
        self.closing.close()


def open_services(
    settings: Settings, queue: Queue, *, clock: Callable[[], int] | None = None, meters: Meters | None = None
) -> Services:
    """Build the services of a process; nothing connects to the store yet."""
    meters = meters or silent()
    closing = ExitStack()
    store = Store.open(
        settings.redis_url, max_connections=CONNECTIONS, key=settings.key, is_patient=False, meters=meters
    )
    closing.callback(store.close)
    probe, counting = Probe.open(settings.redis_url), census.Census.open(settings.redis_url)
    broker, hasty = open_broker(settings), open_broker(settings, is_patient=False)
    for each in (probe, counting, broker.client, hasty.client):
        closing.callback(each.close)
    clock = clock or store.due.now  # the one clock that all processes share, whatever this machine's says
    accounts = Accounts(
        store.accounts,
        is_open=settings.accounts == "open",
        invite_code=settings.invite_code,
        clock=clock,
    )
    guard = Guard(str(network) for network in settings.bot_networks)
    bots = Bots(
        store.bots,
        store.ledger,
        queue,
        guard=url_guard(guard),
        houses=house_bots(),
        max_bots=settings.max_bots,
        clock=clock,
        busy=lambda bot_id: store.unfinished.count(unfinished.bot(bot_id)) > 0,
        allowance=allowance_of(store, settings, guard),
    )
    games = Games(store, queue, _policy(settings), clock=clock, pack_secret=_random_32)
    readiness = Readiness(probe.look, _count_of(DeadLetters(hasty)), now_ms, time.monotonic, settings.sweep_ms)
    tournaments = tournaments_of(settings, store, clock)
    scoreboard = Scoreboard(store, tournaments, clock=clock)
    return Services(
        settings=settings,
        store=store,
        gate=Gate(account=accounts.identify, seat=functools.partial(seat_of, store)),
        auditing=Auditing(store.audit, clock=clock, new_id=functools.partial(secrets.token_hex, 8)),
        accounts=accounts,
        bots=bots,
        pulling=Pulling(bots, store.mailboxes, store.watch),
        games=games,
        play=Play(store, queue, games, meters),
        tournaments=tournaments,
        scoreboard=scoreboard,
        overviews=Overviews(store, tournaments, scoreboard),
        rounds=Rounds(store, tournaments),
        exports=Exports(store, tournaments, scoreboard),
        planning=Planning(store, tournaments),
        leaderboards=Leaderboards(store.ratings, bots),
        appearances=Appearances(store, bots),
        maintenance=Maintenance(store.maintenance, clock=clock),
        oversight=Oversight(store),
        erasing=Erasing(store, clock=clock),
        dead_letters=DeadLetters(broker),
        readiness=readiness,
        census=Census(version("slagveld"), readiness, counting.look, Backlogs(hasty).look, now_ms),
        meters=meters,
        arena_key=functools.cache(lambda: store.secrets.arena_key(_random_32())),
        closing=closing,
    )


def _count_of(letters: DeadLetters) -> Callable[[], int]:
    """Count them, none if the broker can't be asked: what that does to games is `overdue`."""

    def count() -> int:
        try:
            return sum(letters.count().values())
        except RedisError:
            return 0

    return count


def tournaments_of(settings: Settings, store: Store, clock: Callable[[], int]) -> Tournaments:
    """Build the use cases of tournaments, as API and workers have them."""
    return Tournaments(
        store,
        max_tournaments=settings.max_tournaments,
        clock=clock,
        root_secret=_random_32,
        seed=functools.partial(secrets.randbelow, 2**31),
    )


def _policy(settings: Settings) -> Policy:
    return Policy(
        anonymous_games=settings.anonymous_games,
        max_open_games=settings.max_open_games,
        open_seat_ms=settings.open_seat_ms,
    )


def allowance_of(store: Store, settings: Settings, guard: Guard) -> Allowance:
    """Build what keeps the number of checks within bounds, the same for those who ask and for the sweeper."""

    def host_of(url: str) -> str:
        try:
            return guard.check(url).host
        except RefusedError:  # nobody is called there
            return url

    return Allowance(store.challenges, most=settings.max_challenges, host_of=host_of)


def _random_32() -> bytes:
    return secrets.token_bytes(32)


def url_guard(guard: Guard) -> UrlGuard:
    """Let the use cases ask whether a URL may be called, without its name being looked up."""

    def refusal(url: str) -> str | None:
        try:
            guard.check(url)
        except RefusedError as error:
            return str(error)
        return None

    return refusal


def seat_of(store: Store, game_id: str, hashed: str) -> int | None:
    """Find the seat of a game by the SHA-256 of its token."""
    return holder(store.games.tokens(game_id), hashed)


def now_ms() -> int:
    """Return the time in Unix milliseconds, as this machine's own clock has it."""
    return time.time_ns() // 1_000_000
