"""What the fit makes of rated games: a row for each bot and version, and whom each bot met."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Final

import msgspec

from bot_sdk.results.comparison import opponents
from bot_sdk.results.rated import Contender, Rating
from bot_sdk.results.ratings import fit
from service.store.leaderboard import Fitted, Kept, Row

DIGITS: Final = 2
"""Of a rating, after the point: what differs by rounding only is to tie."""


def fitted(kept: Sequence[Kept]) -> Fitted:
    """Fit all rated games of a ruleset; games in any order give the same."""
    games = [each.game for each in kept]
    last = _last_played(kept)
    rows = [_row(rating, last[rating.bot_id, rating.version]) for rating in fit(games)]
    return Fitted(rows=rows, opponents=opponents(games))


def _row(rating: Rating, last_at: int) -> Row:
    rounded = {name: round(getattr(rating, name), DIGITS) for name in ("rating", "low", "high")}
    return Row(**msgspec.structs.asdict(rating) | rounded, last_at=last_at)


def _last_played(kept: Sequence[Kept]) -> dict[Contender, int]:
    """Tell when the last game of each contender ended that it didn't forfeit."""
    last: dict[Contender, int] = defaultdict(int)
    for each in kept:
        for seat in each.game.met:
            contender = each.game.contenders[seat]
            last[contender] = max(last[contender], each.ended_at)
    return last
