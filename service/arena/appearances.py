"""What everybody may see of how a bot did lately: its last games, how it answered in them, how quickly.

Only of games that everybody may read: nothing of one whose board is open is counted, or even listed.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

from bot_sdk.events import Outcome
from bot_sdk.games.registry import RULESETS
from service.arena import reading
from service.arena.bots import Bots
from service.arena.caller import Caller
from service.referee.appearing import EDGES
from service.store.appearances import Appearance
from service.store.store import Store


class Appearances:
    """Reads what was noted of bots at the ends of their games."""

    def __init__(self, store: Store, bots: Bots) -> None:
        """Keep what it reads from."""
        self._store = store
        self._bots = bots

    def statistics(self, caller: Caller, bot_id: str) -> list[dict[str, Any]]:
        """Sum up a bot's last games by ruleset; raises NotFoundError if the caller may not see the bot."""
        self._bots.get(caller, bot_id)
        by_ruleset: defaultdict[str, list[Appearance]] = defaultdict(list)
        for each in self._store.appearances.all_of(bot_id):
            by_ruleset[each.ruleset].append(each)
        return [_summed(ruleset, by_ruleset[ruleset]) for ruleset in RULESETS if by_ruleset[ruleset]]

    def games(
        self, caller: Caller, bot_id: str, *, limit: int, cursor: str | None
    ) -> tuple[list[dict[str, Any]], str | None]:
        """Show a bot's last games, newest first, and the next cursor; those that have left the store are left out.

        Raises NotFoundError if the caller may not see the bot, and BadCursorError.
        """
        self._bots.get(caller, bot_id)
        found, following = self._store.appearances.page(bot_id, limit=limit, cursor=cursor)
        games = self._store.games.get_many([each.game_id for each in found])
        there = [(each, game) for each, game in zip(found, games, strict=True) if game is not None]
        summaries = reading.summaries(self._store.tournaments, [game for _, game in there])
        shown = [
            {
                **summary,
                "own_seats": each.seats,
                "totals": each.totals,
                "places": each.places,
                "retired": each.is_retired,
                "outcomes": each.outcomes,
            }
            for (each, _), summary in zip(there, summaries, strict=True)
            if summary["readable"]
        ]
        return shown, following


def _summed(ruleset: str, games: Sequence[Appearance]) -> dict[str, Any]:
    """Sum up games, one or more, newest first."""
    outcomes: Counter[str] = Counter()
    times: Counter[int] = Counter()
    for each in games:
        outcomes.update(each.outcomes)
        times.update(dict(each.times))
    return {
        "ruleset": ruleset,
        "games": len(games),
        "since": games[-1].at,
        "until": games[0].at,
        "decisions": outcomes.total(),
        "outcomes": {outcome.value: outcomes[outcome] for outcome in Outcome if outcomes[outcome]},
        "retired": sum(each.is_retired for each in games),
        "times": _classes(times),
    }


def _classes(times: Counter[int]) -> list[dict[str, Any]]:
    """Give all classes from the first to the last that has any, so that a gap is seen as one."""
    if not times:
        return []
    bounds = (0.0, *EDGES, None)
    return [
        {"from_ms": bounds[number], "to_ms": bounds[number + 1], "decisions": times[number]}
        for number in range(min(times), max(times) + 1)
    ]
