"""Ratings: which results they are made from, when they are due, and what becomes of a fit.

A rating belongs to a bot in one version. What is kept of a game names both and never changes; so renames, withdrawals,
suspensions and new versions leave ratings as they are.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Final

import msgspec

from bot_sdk.games.registry import RULESETS
from bot_sdk.results.rated import Rating, rated_of
from bot_sdk.results.values import Result
from service.arena.counting import counted
from service.arena.queue import Queue
from service.logs.about import named
from service.store import due
from service.store.entities import Tournament
from service.store.leaderboard import Fitted, Kept, Leaderboard, Line, Row, Told
from service.store.store import Store

logger: Final = logging.getLogger(__name__)

LEASE_MS: Final = 30_000
"""How long a worker that went silent in a fit keeps others from it. A fit takes a few seconds; should one take longer
than this, another begins beside it, and of the two the one that is published later changes nothing."""
AFTER_FAILURE_MS: Final = 60_000
BROKEN: Final = "broken"
"""Who has the lease after a fit that broke."""
MOST_LINES: Final = 400
"""Of a history. A longer one is thinned in its older half, so it always reaches back to the beginning."""


class FitError(Exception):
    """A fit broke or took too long; nothing has changed."""


Fit = Callable[[Sequence[bytes]], Fitted | None]
"""Fits rated games, as the store keeps them; None if it was told to stop. Raises FitError."""


class Ratings:
    """The use cases of the workers. A ruleset is fitted every `every_ms` at most; `new_id` names who fits."""

    def __init__(
        self,
        store: Store,
        queue: Queue,
        fit: Fit,
        *,
        clock: Callable[[], int],
        new_id: Callable[[], str],
        every_ms: int,
    ) -> None:
        """Keep what they work with."""
        self._store = store
        self._queue = queue
        self._fit = fit
        self._clock = clock
        self._new_id = new_id
        self._every_ms = every_ms

    def take(self, tournament: Tournament, results: Iterable[Result]) -> None:
        """Note those results of a closed board that are rated; each game counts once, however often it comes."""
        rated = _rated(tournament, results)
        if not rated:
            return
        entries = self._store.tournaments.entries(tournament.id)
        taking_part = {bot_id for kept in rated.values() for bot_id, _ in kept.game.contenders}
        names = {entry.bot_id: entry.name for entry in entries if entry.bot_id in taking_part}
        self._store.ratings.add(tournament.ruleset, rated, names)

    def ask(self) -> None:
        """Have those rulesets fitted that are due: there are new results, and the last fit is long enough ago."""
        store = self._store.ratings
        for ruleset in RULESETS:
            if store.is_stale(ruleset) and not store.is_leased(ruleset) and store.pause(ruleset, self._every_ms):
                self._queue.fit(ruleset)

    def refit(self, ruleset: str) -> bool:
        """Compute a ruleset's ratings anew; False if nothing is new, another does so now, or the fit didn't end well.

        Once a fit broke, the next waits for a while.
        """
        return self._alone(ruleset, lambda: self._store.ratings.is_stale(ruleset) and self._refit(ruleset))

    def _alone(self, name: str, work: Callable[[], bool]) -> bool:
        """Do a fit while nobody else does the one of this name."""
        store, token = self._store.ratings, self._new_id()
        if not store.lease(name, token, LEASE_MS):
            return False
        try:
            return work()
        except FitError as error:
            said = "the ratings of %s stay as they are for now: %s"
            logger.error(said, name, error, extra=named(name))  # noqa: TRY400 (it says all)
            store.release(name, token)
            store.lease(name, BROKEN, AFTER_FAILURE_MS)
            return False
        finally:
            store.release(name, token)

    def fit_tournament(self, tournament_id: str) -> bool:
        """Compute what the games of an ended tournament say of its entries by themselves; False as `refit`."""
        tournament = self._store.tournaments.get(tournament_id)
        if tournament is None:
            self._store.due.drop(due.fit(tournament_id))
            return False
        return self._alone(tournament_id, lambda: self._fit_tournament(tournament))

    def _fit_tournament(self, tournament: Tournament) -> bool:
        rated = _rated(tournament, counted(self._store, tournament).results)
        fitted = self._fit([msgspec.json.encode(game) for _, game in sorted(rated.items())])
        if fitted is None:
            return False
        rows = [Rating(**{name: getattr(row, name) for name in Rating.__struct_fields__}) for row in fitted.rows]
        self._store.ratings.put_of_tournament(tournament.id, rows)
        self._store.due.drop(due.fit(tournament.id))
        return True

    def _refit(self, ruleset: str) -> bool:
        last = self._store.ratings.leaderboard(ruleset)
        games = self._store.ratings.games(ruleset)
        fitted = self._fit(games)
        if fitted is None:
            return False
        number = last.number + 1 if last else 1
        board = Leaderboard(number=number, computed_at=self._clock(), results=len(games), rows=fitted.rows)
        changed = _changed(board.rows, last.rows if last else [])
        histories = self._store.ratings.histories(ruleset, list(changed))
        told = {
            bot_id: Told(
                history=_longer(histories.get(bot_id, []), changed.get(bot_id, []), board.computed_at),
                opponents=opponents,
            )
            for bot_id, opponents in fitted.opponents.items()
        }
        return self._store.ratings.publish(ruleset, board, told)


def _rated(tournament: Tournament, results: Iterable[Result]) -> dict[str, Kept]:
    return {
        result.game_id: Kept(result.ended_at, rated_of(tournament.id, result)) for result in results if result.is_rated
    }


def _changed(rows: Iterable[Row], before: Iterable[Row]) -> dict[str, list[Row]]:
    """Give the rows by bot whose games have changed, those that played last at the end."""
    games = {(row.bot_id, row.version): row.games for row in before}
    changed: dict[str, list[Row]] = {}
    for row in sorted(rows, key=lambda row: row.last_at):
        if games.get((row.bot_id, row.version)) != row.games:
            changed.setdefault(row.bot_id, []).append(row)
    return changed


def _longer(history: list[Line], rows: Sequence[Row], at: int) -> list[Line] | None:
    """Add a line for each row; None if there is none to add."""
    if not rows:
        return None
    lines = [*history, *(Line(at, row.version, row.rating, row.low, row.high, row.games) for row in rows)]
    half = MOST_LINES // 2
    return [*lines[:-half:2], *lines[-half:]] if len(lines) > MOST_LINES else lines
