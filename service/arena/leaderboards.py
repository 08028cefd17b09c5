"""What is shown of ratings: leaderboards, how a bot's rating came to be, whom it met. It changes nothing.

Names are today's, for those who may see the bot. A bot that its reader may not see, since it was made private, stands
by the name under which it took part last, which tournaments show to everybody as well. A deleted bot isn't listed,
though the games it played go on counting for the others.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import Any, Final, NamedTuple

import msgspec

from bot_sdk.games.registry import RULESETS
from service.arena.bots import Bots, is_visible
from service.arena.caller import Caller
from service.arena.errors import NotFoundError
from service.store.leaderboard import Row
from service.store.ratings import RatingStore

METHOD: Final = {
    "rating": "Bradley-Terry fitted to all rated games of the ruleset, on Elo's scale, house:random at 1000",
    "interval": "95%, of the distance from the average of the field, by leaving out each board in turn",
    "rated": "tournament games by the default options that were finished, no two bots of one account at the table",
    "rank": "by rating, ties share a rank; a provisional rating, from fewer than 10 games, has none",
}


class _Known(NamedTuple):
    """What a reader may know of a bot: its name and, unless it is hidden from him, its state."""

    name: str | None
    state: str | None
    is_deleted: bool = False


class Leaderboards:
    """Reads ratings."""

    def __init__(self, store: RatingStore, bots: Bots) -> None:
        """Keep what it reads from."""
        self._store = store
        self._bots = bots

    def leaderboard(self, caller: Caller, ruleset: str, *, all_versions: bool) -> dict[str, Any]:
        """Show the ratings by the last fit, best first, provisional ones at the end; raises NotFoundError.

        An item for each bot, of the version that played last, or for each version.
        """
        _check(ruleset)
        board = self._store.leaderboard(ruleset)
        rows = board.rows if board else []
        known = self._known(caller, ruleset, {row.bot_id for row in rows})
        listed = [row for row in (rows if all_versions else newest(rows)) if not known[row.bot_id].is_deleted]
        return {
            "items": [
                {
                    "rank": rank,
                    "name": known[row.bot_id].name,
                    "state": known[row.bot_id].state,
                    **msgspec.structs.asdict(row),
                }
                for rank, row in ranked(listed)
            ],
            "computed_at": board.computed_at if board else None,
            "results": board.results if board else 0,
            "method": METHOD,
        }

    def ratings(self, caller: Caller, bot_id: str) -> list[dict[str, Any]]:
        """Show a bot's ratings in each ruleset it is rated in; raises NotFoundError if the caller may not see it.

        Its versions begin with the one that played last, the history with the first fit.
        """
        self._bots.get(caller, bot_id)
        shown = []
        for ruleset in RULESETS:
            board = self._store.leaderboard(ruleset)
            rows = [row for row in board.rows if row.bot_id == bot_id] if board else []
            if board and rows:
                versions = sorted(rows, key=lambda row: row.last_at, reverse=True)
                history = [msgspec.structs.asdict(line) for line in self._store.history(ruleset, bot_id)]
                shown.append(
                    {
                        "ruleset": ruleset,
                        "computed_at": board.computed_at,
                        "versions": [msgspec.structs.asdict(row) for row in versions],
                        "history": history,
                    }
                )
        return shown

    def opponents(self, caller: Caller, bot_id: str, ruleset: str | None = None) -> list[dict[str, Any]]:
        """Show whom a bot met in rated games, and what came of it, those it met most first.

        Raises NotFoundError for a bot that the caller may not see, or a ruleset that isn't there.
        """
        self._bots.get(caller, bot_id)
        shown = []
        for each in RULESETS if ruleset is None else [_check(ruleset)]:
            met = sorted(self._store.opponents(each, bot_id), key=lambda opponent: (-opponent.games, opponent.bot_id))
            known = self._known(caller, each, {opponent.bot_id for opponent in met})
            shown += [
                {
                    "ruleset": each,
                    "name": known[opponent.bot_id].name,
                    "mean": opponent.points / opponent.games,
                    **msgspec.structs.asdict(opponent),
                }
                for opponent in met
            ]
        return shown

    def _known(self, caller: Caller, ruleset: str, bot_ids: Iterable[str]) -> dict[str, _Known]:
        """Tell what the caller may know of bots; see the module."""
        wanted = list(bot_ids)
        bots = self._bots.find(wanted)
        hidden = [bot_id for bot_id in wanted if bot_id not in bots or not is_visible(bots[bot_id], caller)]
        names = self._store.names(ruleset, hidden)
        known = {bot.id: _Known(bot.name, bot.state.value) for bot in bots.values()}
        return known | {bot_id: _Known(names.get(bot_id), None, bot_id not in bots) for bot_id in hidden}


def newest(rows: Iterable[Row]) -> list[Row]:
    """Give the row of each bot's version that played last."""
    found: dict[str, Row] = {}
    for row in rows:
        if row.bot_id not in found or row.last_at > found[row.bot_id].last_at:
            found[row.bot_id] = row
    return list(found.values())


def ranked(rows: Iterable[Row]) -> Iterator[tuple[int | None, Row]]:
    """Give rows best first, each with its rank (1, 1, 3); provisional ones come after the others and have none."""
    ordered = sorted(rows, key=lambda row: (row.is_provisional, -row.rating, row.bot_id, row.version or ""))
    above = 0
    for (is_provisional, _), level in groupby(ordered, key=lambda row: (row.is_provisional, row.rating)):
        tied = list(level)
        yield from ((None if is_provisional else above + 1, row) for row in tied)
        above += len(tied)


def _check(ruleset: str) -> str:
    if ruleset not in RULESETS:
        raise NotFoundError("there is no such ruleset")
    return ruleset
