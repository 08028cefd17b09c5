"""A bot's ledger as its owner reads it: the latest decisions by outcome, counted, and followed as they come in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Final

from bot_sdk.answers import LedgerLine
from bot_sdk.client import Arena, ArenaError
from bot_sdk.following import PASSING, PATIENCE_S

PAUSE_S: Final = 1.0
"""How long to wait before the ledger is looked at again."""
STRAGGLING_MS: Final = 5_000
"""A decision may be written down after one that was made later; it is looked for as far back as this."""


class Ledger:
    """The ledger of one bot; what it has given it doesn't give again."""

    def __init__(
        self, arena: Arena, bot_id: str, *, sleep: Callable[[float], None], clock: Callable[[], float]
    ) -> None:
        """Aim at a ledger; `clock` is in seconds and never goes back."""
        self._arena = arena
        self._bot_id = bot_id
        self._sleep = sleep
        self._clock = clock
        self._given: dict[str, int] = {}
        """When each decision was made that a later look might find again."""
        self._newest = 0

    def latest(self, count: int, outcomes: Collection[str] = ()) -> list[LedgerLine]:
        """Give the last `count` decisions with one of the outcomes, any if none are named; oldest first."""
        found: list[LedgerLine] = []
        for line in self._note(self._arena.decisions(self._bot_id)):
            if len(found) < count and _is_of(line, outcomes):
                found.append(line)
            if len(found) == count and line.at < self._newest - STRAGGLING_MS:
                break  # what is younger is noted, though it isn't shown: to those who follow it is no news
        return found[::-1]

    def follow(self, outcomes: Collection[str] = (), *, patience_s: float = PATIENCE_S) -> Iterator[LedgerLine]:
        """Give further decisions as they are written down, without an end.

        The arena may be away for `patience_s`; after that `ArenaError` is raised, and at once for a refusal.
        """
        alive = self._clock()
        while True:
            self._sleep(PAUSE_S)
            try:
                new = self._new()
                alive = self._clock()
            except ArenaError as error:
                if error.status not in PASSING or self._clock() - alive > patience_s:
                    raise
                continue
            yield from (line for line in new if _is_of(line, outcomes))

    def _new(self) -> list[LedgerLine]:
        """Give what was written down since the last look, oldest first."""
        since, known = self._newest - STRAGGLING_MS, self._given.copy()
        recent: list[LedgerLine] = []
        for line in self._note(self._arena.decisions(self._bot_id)):
            if line.at < since:
                break
            recent.append(line)
        self._given = {name: at for name, at in self._given.items() if at >= self._newest - STRAGGLING_MS}
        return [line for line in reversed(recent) if known.get(line.decision_id) != line.at]

    def _note(self, lines: Iterable[LedgerLine]) -> Iterator[LedgerLine]:
        for line in lines:
            self._newest = max(self._newest, line.at)
            self._given[line.decision_id] = line.at
            yield line


def _is_of(line: LedgerLine, outcomes: Collection[str]) -> bool:
    return not outcomes or line.outcome in outcomes


def counted(lines: Iterable[LedgerLine]) -> dict[str, int]:
    """Count decisions by outcome, the most frequent first."""
    return dict(Counter(line.outcome for line in lines).most_common())
