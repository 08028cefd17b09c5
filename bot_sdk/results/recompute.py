"""Whether an export says what follows from it: everything computed is computed again and compared.

Floats of standings are compared to 1e-9: they are sums of exact values but for the quantiles of intervals, whose last
digits are the machine's mathematical library's. Ratings are kept to a hundredth and compared to two, so that a digit
rounded the other way is no difference. All else is compared exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import isclose
from typing import Any, Final

import msgspec

from bot_sdk.errors import SdkError
from bot_sdk.results.export import Export
from bot_sdk.results.rated import Rating, rated_of
from bot_sdk.results.standings import Standing, standings

_TOLERANCES: Final = {"standing": 1e-9, "rating": 0.02}


class StatisticsMissingError(SdkError):
    """Ratings are to be recomputed, but what they are computed with isn't installed."""


class Difference(msgspec.Struct, frozen=True):
    """Where an export says something else than follows from it.

    `kind` is `standing` or `rating`; `version` is None but for ratings. `column` is that of a row, with a dot
    before what is inside, as in `mean.low`; `row` stands for a row that only one of both has, `position` for where a
    standing stands among all, from 1: within a place that was drawn by lot. `expected` was recomputed, `got` stands in
    the export.
    """

    kind: str
    bot_id: str
    version: str | None
    column: str
    expected: Any
    got: Any


def differences(export: Export) -> list[Difference]:
    """Recompute the standings of an export, and its ratings if it has any; return what differs, row by row.

    Raises StatisticsMissingError if there are ratings and the extra `statistics` isn't installed.
    """
    tournament = export.tournament
    ranked = standings(
        export.entries,
        export.results,
        tournament.ruleset,
        seed=tournament.seed,
        format=tournament.format,
        deals=tournament.deals,
        rounds=export.rounds,
    )
    fitted = _fitted(export) if export.ratings else []
    return [
        *_compared("standing", ranked, export.standings),
        *_moved(ranked, export.standings),
        *_compared("rating", fitted, export.ratings),
    ]


def _fitted(export: Export) -> list[Rating]:
    try:
        from bot_sdk.results.ratings import fit  # noqa: PLC0415 - the base install does without numpy
    except ImportError as error:
        told = f"ratings can't be recomputed without {error.name}: pip install 'slagveld[statistics]'"
        raise StatisticsMissingError(told) from None
    return fit(rated_of(export.tournament.id, result) for result in export.results if result.is_rated)


def _compared(
    kind: str, expected: Sequence[Standing] | Sequence[Rating], got: Sequence[Standing] | Sequence[Rating]
) -> Iterator[Difference]:
    left, right = _by_bot(expected), _by_bot(got)
    for key in [*left, *(key for key in right if key not in left)]:
        if key not in left or key not in right:
            yield Difference(kind, *key, "row", left.get(key), right.get(key))
            continue
        mine, theirs = dict(_flat(left[key])), dict(_flat(right[key]))
        for column in [*mine, *(column for column in theirs if column not in mine)]:
            if not _agree(mine.get(column), theirs.get(column), _TOLERANCES[kind]):
                yield Difference(kind, *key, column, mine.get(column), theirs.get(column))


def _moved(expected: Sequence[Standing], got: Sequence[Standing]) -> Iterator[Difference]:
    """Tell who stands elsewhere, if all are there. Ratings aren't asked: their last digits may order equal ones."""
    positions = {row.bot_id: position for position, row in enumerate(got, 1)}
    if {row.bot_id for row in expected} != set(positions):
        return
    for position, row in enumerate(expected, 1):
        if positions[row.bot_id] != position:
            yield Difference("standing", row.bot_id, None, "position", position, positions[row.bot_id])


def _by_bot(rows: Sequence[Standing] | Sequence[Rating]) -> Mapping[tuple[str, str | None], dict[str, Any]]:
    return {(row.bot_id, row.version if isinstance(row, Rating) else None): msgspec.to_builtins(row) for row in rows}


def _flat(row: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in row.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _agree(expected: Any, got: Any, tolerance: float) -> bool:
    if isinstance(expected, float) and isinstance(got, float):
        return isclose(expected, got, rel_tol=1e-9, abs_tol=tolerance)
    return type(expected) is type(got) and bool(expected == got)
