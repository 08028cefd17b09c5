"""Who sits where at tables whose company is settled: seats are shared out evenly, then neighbours are mixed.

Tables are numbered in the order in which they are played. An entry's games are cut into stints of as many
as a table has seats; in each stint it sits once in each seat. So however many of the tables have been
played, its counts by seat differ by one at most. Such a seating always exists: it is a colouring of the
edges between tables and stints, a bipartite graph in which nobody has more edges than there are colours
(König), and colours can be swapped along any chain of two of them without hurting it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from random import Random
from typing import TypeAlias

Seats: TypeAlias = tuple[int, ...]
_Stint: TypeAlias = tuple[int, int]  # an entry, and which of its stints

_TOUCHED = 20_000  # tables looked at while neighbours are mixed, at most: about 0.15 s
_TOUCHED_EACH = 500
_NOBODY = -1


def seated(tables: Sequence[Sequence[int]], rng: Random) -> list[Seats]:
    """Return each table's entries by seat; the same for the same tables and state of `rng`.

    All tables are of one size and hold different entries. Over any first part of the tables an entry's
    counts by seat differ by one at most; who acts right after whom is levelled as far as a bounded search
    gets.
    """
    seating = _Seating(tables)
    seating.mix(rng)
    return [tuple(seats) for seats in seating.seats]


class _Seating:
    def __init__(self, tables: Sequence[Sequence[int]]) -> None:
        self._size = len(tables[0])
        self.seats = [[_NOBODY] * self._size for _ in tables]
        self._stints: list[dict[int, _Stint]] = []
        self._where: dict[_Stint, list[int]] = {}  # by stint and seat: the table
        self._after: Counter[tuple[int, int]] = Counter()
        games: Counter[int] = Counter()
        for table, company in enumerate(tables):
            self._stints.append({entry: (entry, games[entry] // self._size) for entry in company})
            games.update(company)
            for entry in company:
                self._sit(table, entry)
        for seats in self.seats:
            self._after.update(_neighbours(seats))

    def _sit(self, table: int, entry: int) -> None:
        """Give an entry a seat free at the table and in its stint; if none is both, swap along a chain."""
        seats = self.seats[table]
        where = self._where.setdefault(self._stints[table][entry], [_NOBODY] * self._size)
        free = [seat for seat in range(self._size) if seats[seat] == _NOBODY]
        seat = next((seat for seat in free if where[seat] == _NOBODY), free[0])
        if where[seat] != _NOBODY:
            self._flip(self._chain(where[seat], seat, other := where.index(_NOBODY)), seat, other)
        seats[seat], where[seat] = entry, table

    def _chain(self, table: int, one: int, other: int) -> list[int]:
        """Return the tables at which two seats must be swapped if they are at this one."""
        found, pending = {table}, [table]
        while pending:
            table = pending.pop()
            for seat, partner in ((one, other), (other, one)):
                entry = self.seats[table][seat]
                if entry == _NOBODY:
                    continue
                beyond = self._where[self._stints[table][entry]][partner]
                if beyond != _NOBODY and beyond not in found:
                    found.add(beyond)
                    pending.append(beyond)
        return sorted(found)

    def _flip(self, tables: Sequence[int], one: int, other: int) -> None:
        stints: set[_Stint] = set()
        for table in tables:
            seats = self.seats[table]
            seats[one], seats[other] = seats[other], seats[one]
            stints.update(self._stints[table][seats[seat]] for seat in (one, other) if seats[seat] != _NOBODY)
        for stint in stints:
            where = self._where[stint]
            where[one], where[other] = where[other], where[one]

    def mix(self, rng: Random) -> None:
        """Swap chains at random and keep what doesn't make the neighbours less level."""
        touched, enough = 0, min(_TOUCHED, _TOUCHED_EACH * len(self.seats))
        while touched < enough:
            table, one = int(rng.random() * len(self.seats)), int(rng.random() * self._size)
            other = (one + 1 + int(rng.random() * (self._size - 1))) % self._size
            chain = self._chain(table, one, other)
            touched += len(chain)
            if self._move(chain, one, other) > 0:
                self._move(chain, one, other)

    def _move(self, chain: Sequence[int], one: int, other: int) -> int:
        """Swap along a chain and return the growth of the sum of squares of the neighbour counts."""
        growth = 0
        for table in chain:
            for pair in _neighbours(self.seats[table]):
                self._after[pair] -= 1
                growth -= 2 * self._after[pair] + 1
        self._flip(chain, one, other)
        for table in chain:
            for pair in _neighbours(self.seats[table]):
                growth += 2 * self._after[pair] + 1
                self._after[pair] += 1
        return growth


def _neighbours(seats: Sequence[int]) -> list[tuple[int, int]]:
    return list(zip(seats, [*seats[1:], seats[0]], strict=True))
