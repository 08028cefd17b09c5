"""How fast the rules are: playouts at random, by codes and by texts, beside OpenSpiel's and RLCard's.

What is counted are players' decisions a second of processor time. A unit of work is a whole game of River at four seats
with eight cards, from the first deal to the last score: 15 rounds, 344 decisions. OpenSpiel's `oh_hell` plays the same
rounds, one game each, and RLCard whole deals of bridge. Dealing belongs to the time of both sides, and so does the
choice of an action: the list of legal ones, or the mask, and one of them by a float of `Random.random`.

Beside `oh_hell` with packs, both sides draw just the cards that a round needs, by `Random.sample`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from random import Random
from typing import Any, Final

from benchmarks.harness import Effort, Line, Row, Skipped, Target, at_least, interleave, ratio_row
from benchmarks.peer import Peer, PeerError
from bot_sdk.games.base import NOBODY, State, drawn
from bot_sdk.games.registry import RULESETS
from bot_sdk.games.river import schedule_of

RIVER: Final = ("river", 4, {"start_cards": 8})
SEVEN_UP: Final[tuple[str, int, dict[str, Any]]] = ("seven_up", 2, {})
GAMES: Final = {"river": 60, "seven_up": 300}
DEALS_OF_BRIDGE: Final = 40
COPIES: Final = 20_000

Table = tuple[str, int, dict[str, Any]]
Play = Callable[[State, Callable[[], float]], int]


def rows(effort: Effort) -> Iterator[Line]:
    """Measure what the rules cost beside others', then what has nothing beside it."""
    codes, texts = rate_of(RIVER, by_codes, effort), rate_of(RIVER, by_texts, effort)
    yield compared(
        "playouts of River by codes ÷ OpenSpiel, packs drawn in Python", codes, OH_HELL_PACKS, at_least(0.8), effort
    )
    yield compared(
        "playouts of River by codes ÷ OpenSpiel, its chance nodes", codes, OH_HELL_CHANCE, at_least(3.5), effort
    )
    yield compared("playouts of River by codes ÷ RLCard's bridge", codes, BRIDGE, at_least(20), effort)
    yield compared("playouts of River by texts ÷ RLCard's bridge", texts, BRIDGE, at_least(3), effort)
    measured = interleave(
        effort.rounds,
        codes,
        rate_of(SEVEN_UP, by_codes, effort),
        texts,
        rate_of(SEVEN_UP, by_texts, effort),
        lambda: copies(effort.count(COPIES)),
    )
    for title, values in zip(REPORTED, measured, strict=True):
        yield Row(title, tuple(values), unit="a CPU-second")


REPORTED: Final = (
    "playouts of River by codes, decisions",
    "playouts of Seven Up by codes, decisions",
    "playouts of River by texts, each observed, decisions",
    "playouts of Seven Up by texts, each observed, decisions",
    "copies of a game of River",
)


class Theirs:
    """A peer and how much it plays in a round."""

    def __init__(self, script: str, package: str, games: int, *arguments: str) -> None:
        """Say which; nothing is started."""
        self._start = (script, package, *arguments)
        self._games = games

    def peer(self) -> Peer:
        """Make its process."""
        return Peer(*self._start)

    def rate(self, peer: Peer, effort: Effort) -> float:
        """Play a round; give its decisions a second of processor time."""
        told = peer.round(effort.count(self._games))
        return told["decisions"] / told["cpu_s"]


OH_HELL_PACKS: Final = Theirs("oh_hell", "pyspiel", 60, "packs")
OH_HELL_CHANCE: Final = Theirs("oh_hell", "pyspiel", 20, "chance")
BRIDGE: Final = Theirs("bridge", "rlcard", DEALS_OF_BRIDGE)


def compared(name: str, ours: Callable[[], float], theirs: Theirs, target: Target, effort: Effort) -> Line:
    """Measure in turns, after a round of each that doesn't count."""
    try:
        with theirs.peer() as peer:
            ours()
            theirs.rate(peer, effort)
            our_rate, their_rate = interleave(effort.rounds, ours, lambda: theirs.rate(peer, effort))
    except PeerError as error:
        return Skipped(name, str(error))
    return ratio_row(name, our_rate, their_rate, target, unit="a CPU-second")


def rate_of(table: Table, play: Play, effort: Effort) -> Callable[[], float]:
    """Give what plays a round of whole games and gives its decisions a second of processor time."""
    games = effort.count(GAMES[table[0]])
    rng = Random(1)

    def rate() -> float:
        began = time.process_time()
        decisions = sum(play(begun(table, rng), rng.random) for _ in range(games))
        return decisions / (time.process_time() - began)

    return rate


def begun(table: Table, rng: Random) -> State:
    """Start a game whose packs hold just the cards that may be needed, drawn when they are dealt."""
    name, seats, options = table
    rules = RULESETS[name]
    resolved = rules.resolve(options, seats)
    if name == "river":
        needed = [seats * cards + 1 for cards in schedule_of(resolved)]
        return rules.state(resolved, seats, lambda deal: rng.sample(range(52), needed[deal]))
    return rules.state(resolved, seats, lambda _: rng.sample(range(52), 52))


def by_codes(state: State, random: Callable[[], float]) -> int:
    """Play to the end by codes; give the number of decisions."""
    decisions = 0
    while (seat := state.actor) != NOBODY:
        state.step(seat, drawn(state.legal, random))
        decisions += 1
    return decisions


def by_texts(state: State, random: Callable[[], float]) -> int:
    """Play to the end by texts, as a bot would that looks at every observation; give the number of decisions."""
    decisions = 0
    while actors := state.actors():
        seat = actors[0]
        state.observe(seat)
        legal = state.legal_actions(seat)
        state.apply(seat, legal[int(random() * len(legal))])
        decisions += 1
    return decisions


def copies(number: int) -> float:
    """Copy a game in its eighth trick; give the copies a second of processor time."""
    state, rng = begun(RIVER, Random(1)), Random(2)
    while len(state.leaders) < 8:
        state.step(state.actor, drawn(state.legal, rng.random))
    began = time.process_time()
    for _ in range(number):
        state.copy()
    return number / (time.process_time() - began)
