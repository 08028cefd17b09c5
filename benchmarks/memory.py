"""What a game takes in the store: while it runs, when it has ended on a board that is open, and once it is packed.

Games of each ruleset and size by its own options, played at random; they come into the store, to their end and into
their packed form as the games of a tournament do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from redis import Redis

from benchmarks.harness import Effort, Line, Row
from benchmarks.packed import NOW, Played, game_id, played_at
from bot_sdk.results.values import GameState
from service.launch.valkey import EmbeddedValkey
from service.referee.aftermath import result_of
from service.store.connection import connect
from service.store.store import Store

GAMES: Final = 200
PLAYED: Final = 10
"""So many different ones are played at a table."""
TABLES: Final = (("seven_up", 2), ("river", 4), ("river", 8))


def rows(effort: Effort) -> Iterator[Line]:
    """Measure each table on a store of its own."""
    count = effort.count(GAMES, 20)
    for name, seats in TABLES:
        plays = [played_at(number, name, seats) for number in range(effort.count(PLAYED, 2))]
        rounds = [_round(plays, count) for _ in range(effort.rounds)]
        table = f"{name}, {seats} seats"
        decisions = tuple(float(sum(len(game.play.log) for game in plays)) / len(plays) for _ in rounds)
        yield Row(f"{table}: decisions of a game", decisions, unit="decisions")
        running, ended, packed = zip(*rounds, strict=True)
        yield Row(f"{table}: a game that is half played", running, unit="bytes")
        yield Row(f"{table}: one that has ended and isn't packed", ended, unit="bytes")
        yield Row(f"{table}: one that is packed, its result and places in lists included", packed, unit="bytes")


def _round(plays: list[Played], count: int) -> tuple[float, float, float]:
    """Give the memory for each game of `count` at three moments of its life."""
    with TemporaryDirectory(prefix="memory") as folder, EmbeddedValkey(Path(folder)) as server:
        client, store = connect(server.url), Store.open(server.url)
        for step in (_begin, _end, _pack):  # what a store has anyway is there before
            _each(step, store, plays, range(-20, 0))
        before = _used(client)
        grown = []
        for step in (_begin, _end, _pack):
            _each(step, store, plays, range(count))
            grown.append((_used(client) - before) / count)
        store.close()
        client.close()
    running, ended, packed = grown
    return running, ended, packed


def _used(client: Redis) -> int:
    return int(client.info("memory")["used_memory"])


def _each(step: Callable[[Store, Played, int], None], store: Store, plays: list[Played], numbers: range) -> None:
    for number in numbers:
        step(store, plays[number % len(plays)], number)


def _begin(store: Store, game: Played, number: int) -> None:
    """Have it made, taken by a worker and half played."""
    meta, log = game.meta(number), game.play.log
    if meta.slot is None:
        raise ValueError("expected a game of a tournament")
    store.tournaments.claim(meta.slot.tournament_id, meta.slot)
    store.games.create(meta, secret=game.secret, due_at=NOW)
    store.games.acquire(meta.id, "0123456789abcdef", 3_600_000)
    store.games.commit(meta.id, log[: len(log) // 2], expected=0, lease="0123456789abcdef")


def _end(store: Store, game: Played, number: int) -> None:
    log, half = game.play.log, len(game.play.log) // 2
    told = store.games.commit(game_id(number), log[half:], expected=half, lease=None, ending=GameState.FINISHED)
    if told.status != "committed":
        raise RuntimeError(f"expected a game that ends, got {told}")
    store.games.release(game_id(number), "0123456789abcdef")
    store.tournaments.put_result(result_of(game.meta(number), GameState.FINISHED, game.play, told.at, is_rated=True))


def _pack(store: Store, game: Played, number: int) -> None:
    store.games.pack(game_id(number))
    store.games.settle(game.meta(number))
