"""What an app is made of: settings, store and use cases, built in one place and passed in."""

from __future__ import annotations

import functools
import hmac
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

from service.arena.accounts import Accounts
from service.arena.bots import Bots, UrlGuard, house_bots
from service.arena.caller import Gate
from service.arena.exports import Exports
from service.arena.games import Games, Policy
from service.arena.leaderboards import Leaderboards
from service.arena.planning import Planning
from service.arena.play import Play
from service.arena.queue import Queue
from service.arena.rounds import Rounds
from service.arena.scoreboard import Scoreboard
from service.arena.tournaments import Tournaments
from service.config import Settings
from service.outbound.guard import Guard, RefusedError
from service.store import unfinished
from service.store.store import Store

VERSION = "0.1.0"
CONNECTIONS = 64
"""Connections to the store that one API process uses at most; more requests than that wait for one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """The parts of one process. `arena_key` is what tokens and the ids of retried requests follow from."""

    settings: Settings
    store: Store
    gate: Gate
    accounts: Accounts
    bots: Bots
    games: Games
    play: Play
    tournaments: Tournaments
    scoreboard: Scoreboard
    rounds: Rounds
    exports: Exports
    planning: Planning
    leaderboards: Leaderboards
    arena_key: Callable[[], bytes]
    version: str = VERSION


def open_services(settings: Settings, queue: Queue, *, clock: Callable[[], int] | None = None) -> Services:
    """Build the services of a process; nothing connects to the store yet."""
    store = Store.open(settings.redis_url, max_connections=CONNECTIONS, key=settings.key)
    clock = clock or store.due.now  # the one clock that all processes share, whatever this machine's says
    accounts = Accounts(
        store.accounts,
        is_open=settings.accounts == "open",
        invite_code=settings.invite_code,
        clock=clock,
    )
    bots = Bots(
        store.bots,
        store.ledger,
        queue,
        guard=url_guard(Guard(str(network) for network in settings.bot_networks)),
        houses=house_bots(),
        max_bots=settings.max_bots,
        clock=clock,
        busy=lambda bot_id: store.unfinished.count(unfinished.bot(bot_id)) > 0,
    )
    games = Games(store, queue, _policy(settings), clock=clock, pack_secret=_random_32)
    tournaments = Tournaments(
        store,
        max_tournaments=settings.max_tournaments,
        clock=clock,
        root_secret=_random_32,
        seed=functools.partial(secrets.randbelow, 2**31),
    )
    scoreboard = Scoreboard(store, tournaments, clock=clock)
    return Services(
        settings=settings,
        store=store,
        gate=Gate(account=accounts.identify, seat=functools.partial(seat_of, store)),
        accounts=accounts,
        bots=bots,
        games=games,
        play=Play(store, queue, games),
        tournaments=tournaments,
        scoreboard=scoreboard,
        rounds=Rounds(store, tournaments),
        exports=Exports(store, tournaments, scoreboard),
        planning=Planning(store, tournaments),
        leaderboards=Leaderboards(store.ratings, bots),
        arena_key=functools.cache(lambda: store.secrets.arena_key(_random_32())),
    )


def _policy(settings: Settings) -> Policy:
    return Policy(
        anonymous_games=settings.anonymous_games,
        max_open_games=settings.max_open_games,
        open_seat_ms=settings.open_seat_ms,
    )


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
    for number, known in store.games.tokens(game_id).items():
        if hmac.compare_digest(known, hashed):
            return number
    return None


def now_ms() -> int:
    """Return the time in Unix milliseconds, as this machine's own clock has it."""
    return time.time_ns() // 1_000_000
