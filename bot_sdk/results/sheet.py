"""The results of a tournament as CSV, a row for each seat of each game, for spreadsheets."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Iterator
from typing import Any, Final

from bot_sdk.events import Outcome
from bot_sdk.results.values import Entry, Result

_OUTCOMES: Final = [outcome.value for outcome in Outcome if outcome is not Outcome.OUR_FAULT]
COLUMNS: Final = (
    *("game_id", "round", "table", "leg", "board", "attempt", "state", "ended_by", "deals"),
    *("seat", "bot_id", "name", "version", "total", "place", "is_retired", "is_forfeited", "exact_bids"),
    *_OUTCOMES,
    *("is_rated", "ended_at"),
)
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


class _Line:
    """What csv writes to: it hands the line back instead of keeping it."""

    def write(self, text: str) -> str:
        return text


def sheet(entries: Iterable[Entry], results: Iterable[Result]) -> Iterator[str]:
    r"""Yield the heading and the rows, each ended by ``\r\n``, in the order of the results.

    The columns named by outcomes count the seat's decisions. Truths are 0 or 1, times ms since 1970; what there
    isn't is empty. Names and versions are strangers' choice: one that a spreadsheet would take for a formula
    begins with a quote.
    """
    names = {entry.bot_id: entry.name for entry in entries}
    writer = csv.writer(_Line())
    yield writer.writerow(COLUMNS)
    for result in results:
        for seat in range(len(result.bots)):
            yield writer.writerow(_row(result, seat, names))


def _row(result: Result, seat: int, names: dict[str, str]) -> list[Any]:
    slot, bot_id = result.slot, result.bots[seat]
    return [
        *(result.game_id, slot.round, slot.table, slot.leg, slot.board, slot.attempt),
        *(result.state.value, result.ended_by, result.deals),
        *(seat, bot_id, _text(names.get(bot_id)), _text(result.versions[seat]), result.totals[seat]),
        *(result.places and result.places[seat], int(result.retired[seat]), int(seat in result.forfeited)),
        result.exact_bids and result.exact_bids[seat],
        *(result.outcomes[seat].get(outcome, 0) for outcome in _OUTCOMES),
        *(int(result.is_rated), result.ended_at),
    ]


def _text(chosen: str | None) -> str | None:
    return f"'{chosen}" if chosen and chosen.startswith(_FORMULA) else chosen
