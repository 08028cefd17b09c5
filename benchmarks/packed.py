"""What a finished game takes in the store: the bytes of its packed form, the memory of all that is there for it.

Games of River with four seats and eight cards, whose bots play at random and take about 1, 5, 30 and 200 ms each; they
come into the store and to their end as the games of a tournament do.
"""

from __future__ import annotations

import random
import statistics
import time
from collections.abc import Callable, Iterator
from math import log
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from msgspec.structs import replace
from redis import Redis

from benchmarks.harness import Effort, Line, Row, at_most
from bot_sdk.events import Decided, Outcome, quantised
from bot_sdk.games.game import Game as Play
from bot_sdk.games.packs import board_secret, commitment, committed
from bot_sdk.games.registry import ruleset
from bot_sdk.results.values import GameState, Slot
from service.arena.minting import Mint
from service.launch.valkey import EmbeddedValkey
from service.referee.aftermath import result_of
from service.store import keys, packed
from service.store.connection import connect
from service.store.entities import Game, Seat
from service.store.store import Store

GAMES: Final = 1_000
"""So many come into the store in each round."""
PLAYED: Final = 50
"""So many different ones are played."""
SPEEDS_MS: Final = (1, 5, 30, 200)
SPREAD: Final = 0.5
DECISIONS: Final = 344
NAMES: Final = ("lowball", "Deep River", "counter-v2", "mixed bag")
NOW: Final = 1_764_484_822_123


def rows(effort: Effort) -> Iterator[Line]:
    """Measure sizes, memory, and the time of packing and reading."""
    count = effort.count(GAMES, 20)
    plays = [played(number) for number in range(effort.count(PLAYED, 2))]
    sizes = [_sizes(plays, first) for first in range(effort.rounds)]
    name = f"River of 4 × 8 cards, {DECISIONS} decisions: a packed game without notes, median"
    yield Row(name, tuple(map(statistics.median, sizes)), at_most(1_000), unit="bytes")
    with TemporaryDirectory(prefix="packed") as folder, EmbeddedValkey(Path(folder)) as server:
        with_client = connect(server.url)
        store = Store.open(server.url)
        _put(store, plays, range(-20, 0))  # what a store has anyway is there before
        memory = [_memory(with_client, store, plays, range(n * count, (n + 1) * count)) for n in range(effort.rounds)]
        own = [_own(with_client, game_id(n)) for n in range(count)]
        store.close()
        with_client.close()
    name = "memory of the store for each such game of a tournament, its places in lists and its result included"
    yield Row(name, tuple(memory), at_most(2_500), unit="bytes")
    yield Row("of that the keys of the game alone, median", (statistics.median(own),), unit="bytes")
    yield from _times(plays, effort.rounds)


class Played:
    """One game that was played out, and the secret of its packs."""

    def __init__(self, play: Play, secret: bytes, label: str) -> None:
        """Keep them."""
        self.play, self.secret, self.label = play, secret, label
        self._names = [NAMES[seat % len(NAMES)] for seat in range(play.seats)]

    def meta(self, number: int) -> Game:
        """Give the game as a tournament makes it, under the id of that number."""
        slot = Slot(tournament_id=_id("trn_", 0), round=number + 100, table=1, board=f"{number + 100}.1")
        seats = [
            Seat(
                kind="bot",
                name=name,
                bot_id=_id("bot_", n),
                version="1.2",
                account_id=_id("acc_", n),
                url=f"https://bots.example/{name}",
            )
            for n, name in enumerate(self._names)
        ]
        return Game(
            id=game_id(number), ruleset=self.play.ruleset.name, options=self.play.state.options, seats=seats,
            label=self.label, commitment=commitment(self.secret, self.label), entropy=[""] * len(seats), slot=slot,
            state=GameState.RUNNING, created_at=NOW + 1_000 * number,
        )  # fmt: skip


def played(number: int) -> Played:
    """Play a game of River with four seats at random."""
    game = played_at(number, "river", 4, {"start_cards": 8})
    assert len(game.play.log) == DECISIONS
    return game


def played_at(number: int, name: str, seats: int, options: dict[str, Any] | None = None) -> Played:
    """Play a game of a ruleset at random."""
    rng = random.Random(number)
    secret, label = board_secret(bytes(32), str(number)), f"{_id('trn_', 0)}/{number + 100}.1"
    play = Play(ruleset(name), options or {}, seats, committed(secret, label, [""] * seats))
    while not play.is_over:
        seat = rng.choice(play.owed())
        ms = quantised(rng.lognormvariate(log(SPEEDS_MS[seat % len(SPEEDS_MS)]), SPREAD))
        play.apply(Decided(seat, rng.choice(play.state.legal_actions(seat)), Outcome.OK, ms))
    return Played(play, secret, label)


def game_id(number: int) -> str:
    """Give the id of a game of ours."""
    return _id("gam_", number)


def _id(prefix: str, number: int) -> str:
    return Mint(bytes(32), str(number).encode()).id(prefix)


def _ended(game: Played, number: int) -> Game:
    at = NOW + 1_000 * number
    return replace(game.meta(number), state=GameState.FINISHED, started_at=at + 2, ended_at=at + 23_456 + number % 997)


def _sizes(plays: list[Played], first: int) -> list[int]:
    ended = [(_ended(game, first * len(plays) + n), game) for n, game in enumerate(plays)]
    return [len(packed.pack(meta, game.play.log, game.secret).value) for meta, game in ended]


def _put(store: Store, plays: list[Played], numbers: range) -> None:
    """Have games come into the store and to their end, in the steps of a tournament and of its worker."""
    for number in numbers:
        game = plays[number % len(plays)]
        meta = game.meta(number)
        assert meta.slot is not None
        store.tournaments.claim(meta.slot.tournament_id, meta.slot)
        store.games.create(meta, secret=game.secret, due_at=NOW)
        told = store.games.commit(meta.id, game.play.log, expected=0, lease=None, ending=GameState.FINISHED)
        assert told.status == "committed"
        store.tournaments.put_result(result_of(meta, GameState.FINISHED, game.play, told.at, is_rated=True))
        assert store.games.pack(meta.id)
        store.games.settle(meta)


def _memory(client: Redis, store: Store, plays: list[Played], numbers: range) -> float:
    before = client.info("memory")["used_memory"]
    _put(store, plays, numbers)
    return float(client.info("memory")["used_memory"] - before) / len(numbers)


def _own(client: Redis, name: str) -> int:
    return sum(client.memory_usage(key) or 0 for key in keys.of_game(name))


def _times(plays: list[Played], rounds: int) -> Iterator[Line]:
    metas = [_ended(game, n) for n, game in enumerate(plays)]
    values = [packed.pack(meta, game.play.log, game.secret).value for meta, game in zip(metas, plays, strict=True)]

    def each(do: Callable[[int], object]) -> tuple[float, ...]:
        return tuple(_us(do, len(plays)) for _ in range(rounds))

    yield Row(
        "packing a game: CPU", each(lambda n: packed.pack(metas[n], plays[n].play.log, plays[n].secret)), unit="µs"
    )
    yield Row("unpacking a game: CPU", each(lambda n: packed.unpack(metas[n].id, values[n], None)), unit="µs")
    yield Row(
        "reading a packed game for a list: CPU", each(lambda n: packed.game_of(metas[n].id, values[n])), unit="µs"
    )


def _us(do: Callable[[int], object], times: int) -> float:
    before = time.process_time_ns()
    for n in range(times):
        do(n)
    return (time.process_time_ns() - before) / 1_000 / times
