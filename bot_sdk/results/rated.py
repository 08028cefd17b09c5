"""What a rating needs of a game, and what it says of a bot: values, without the arithmetic between them.

They are kept and read by processes that compute no rating, so nothing here needs numpy.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import TypeAlias

import msgspec

from bot_sdk.results.values import Result

Contender: TypeAlias = tuple[str, str | None]
"""Who is rated: a bot's id and the version it had when the game was made."""


class Rated(msgspec.Struct, array_like=True, frozen=True):
    """A rated game, kept for ever: by seat who played and at which place it ended.

    `board` names its board among those of all tournaments (`<tournament id>/<board>`): games of one board share
    their luck. Equal places are ties; retired seats come last. `forfeited` lists seats that were forfeited before
    the first decision: they met nobody.
    """

    board: str
    contenders: tuple[Contender, ...]
    places: tuple[int, ...]
    forfeited: tuple[int, ...] = ()

    def meetings(self) -> Iterator[tuple[Contender, Contender, float]]:
        """Yield each pair of contenders that met, with the first one's points: 1, ½ or 0.

        Nobody meets itself: two seats of one contender say nothing about it.
        """
        for first, second in combinations(self.met, 2):
            if self.contenders[first] != self.contenders[second]:
                ahead, behind = self.places[first] < self.places[second], self.places[first] > self.places[second]
                yield self.contenders[first], self.contenders[second], (1 + ahead - behind) / 2

    @property
    def met(self) -> list[int]:
        """The seats that weren't forfeited."""
        return [seat for seat in range(len(self.contenders)) if seat not in self.forfeited]


def rated_of(tournament_id: str, result: Result) -> Rated:
    """Take from a rated result of a tournament what ratings need."""
    return Rated(
        board=f"{tournament_id}/{result.slot.board}",
        contenders=tuple(zip(result.bots, result.versions, strict=True)),
        places=tuple(result.places or ()),
        forfeited=tuple(result.forfeited),
    )


class Rating(msgspec.Struct, frozen=True, kw_only=True):
    """One contender's rating on the Elo scale, with its 95% interval; provisional after few games."""

    bot_id: str
    version: str | None
    rating: float
    low: float
    high: float
    games: int
    is_provisional: bool
