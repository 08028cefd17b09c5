"""Whether an export says what follows from it: everything computed is computed again and compared.

Floats are compared to 1e-9: they are sums of exact values but for the quantiles of intervals, whose last digits
are the machine's mathematical library's. All else is compared exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import isclose
from typing import Any, Final

import msgspec

from bot_sdk.results.export import Export
from bot_sdk.results.standings import standings

_TOLERANCE: Final = 1e-9


class Difference(msgspec.Struct, frozen=True):
    """Where an export says something else than follows from it.

    `column` is that of a row, with a dot before what is inside, as in `mean.low`; `row` stands for a row that
    only one of both has. `expected` was recomputed, `got` stands in the export.
    """

    kind: str
    bot_id: str
    column: str
    expected: Any
    got: Any


def differences(export: Export) -> list[Difference]:
    """Recompute the standings of an export; return what differs, in the order of the rows."""
    tournament = export.tournament
    rows = standings(
        export.entries,
        export.results,
        tournament.ruleset,
        seed=tournament.seed,
        format=tournament.format,
        deals=tournament.deals,
        rounds=export.rounds,
    )
    expected = {row.bot_id: msgspec.to_builtins(row) for row in rows}
    got = {row.bot_id: msgspec.to_builtins(row) for row in export.standings}
    return list(_compared("standing", expected, got))


def _compared(
    kind: str, expected: Mapping[str, dict[str, Any]], got: Mapping[str, dict[str, Any]]
) -> Iterator[Difference]:
    for bot_id in [*expected, *(bot_id for bot_id in got if bot_id not in expected)]:
        if bot_id not in expected or bot_id not in got:
            yield Difference(kind, bot_id, "row", expected.get(bot_id), got.get(bot_id))
            continue
        left, right = dict(_flat(expected[bot_id])), dict(_flat(got[bot_id]))
        for column in [*left, *(column for column in right if column not in left)]:
            if not _agree(left.get(column), right.get(column)):
                yield Difference(kind, bot_id, column, left.get(column), right.get(column))


def _flat(row: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for key, value in row.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _agree(expected: Any, got: Any) -> bool:
    if isinstance(expected, float) and isinstance(got, float):
        return isclose(expected, got, rel_tol=_TOLERANCE, abs_tol=_TOLERANCE)
    return type(expected) is type(got) and bool(expected == got)
