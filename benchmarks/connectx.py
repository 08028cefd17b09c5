"""How many decisions a second a tournament makes, beside kaggle-environments: wall time, one request each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from benchmarks.ground import BotServer, Ground
from benchmarks.harness import Effort, Line, Row, Skipped, at_least, interleave, ratio_row
from benchmarks.peer import Peer, PeerError

NAME: Final = "tournament, River of four ÷ kaggle-environments, connectx: decisions a second"
GAMES: Final = 32
THEIR_GAMES: Final = 10


def rows(effort: Effort) -> Iterator[Line]:
    """Measure the rate of both, if there is the peer."""
    with BotServer() as bots:
        try:
            with Peer("connectx", "kaggle_environments", bots.url) as peer, Ground(bots) as ground:
                yield from compared(peer, ground, effort)
        except PeerError as error:
            yield Skipped(NAME, str(error))


def compared(peer: Peer, ground: Ground, effort: Effort) -> Iterator[Row]:
    """Measure in turns, after a round of each that doesn't count."""

    def ours() -> float:
        played = ground.play("river", effort.count(GAMES))
        return played.decisions / played.wall_s

    def theirs() -> float:
        told = peer.round(effort.count(THEIR_GAMES))
        return told["decisions"] / told["wall_s"]

    ours()
    theirs()
    our_rate, their_rate = interleave(effort.rounds, ours, theirs)
    yield ratio_row(NAME, our_rate, their_rate, at_least(8), unit="a second")
