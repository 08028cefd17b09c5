"""The legs of a table: one board played as often as there are seats, each entry once in each seat."""

from __future__ import annotations

from collections.abc import Sequence

from service.tournaments.errors import ImpossibleScheduleError

# Who sits where in leg 0. The steps from a number to the next, round the table, are as different as can be:
# a step that comes twice makes somebody act right before the same other one in two legs.
_ORDERS = {
    len(order): order
    for order in (
        (0, 1),
        (0, 1, 3, 2),
        (0, 1, 2, 4, 3),
        (0, 1, 4, 3, 5, 2),
        (0, 1, 2, 4, 3, 6, 5),
        (0, 1, 3, 6, 2, 7, 5, 4),
    )
}


def legs(table: Sequence[str]) -> list[tuple[str, ...]]:
    """Return who sits where in each leg, by leg and seat: leg l has entry (order[s] + l) mod k in seat s.

    With an even number of seats each entry acts right before each other one in one leg, before one of them
    in two; with an odd one, for which there is no such order, in none to two legs. Raises
    `ImpossibleScheduleError` for a number of seats that no ruleset has.
    """
    size = len(table)
    if size not in _ORDERS:
        raise ImpossibleScheduleError(f"expected a table of 2 or 4 to 8 entries, got {size}")
    return [tuple(table[(number + leg) % size] for number in _ORDERS[size]) for leg in range(size)]
