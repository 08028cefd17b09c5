"""Round robins in rounds of disjoint tables: all who sit in a round play side by side, the rest sit out in turn.

That is what a board needs which every table of a round plays. Company is searched for, by numbers before
any bot has one; no formula is known for most fields. Seats are dealt afterwards (see `seating`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise
from random import Random
from typing import TypeAlias

from bot_sdk.results.lots import lot
from bot_sdk.results.values import Round
from service.tournaments.schedule import check_entries
from service.tournaments.seating import Seats, seated

_Company: TypeAlias = list[int]

_STEPS_EACH = 300  # swaps tried for each seat of the schedule
_STEPS = 100_000  # and at most: half a second for 64 entries at tables of 8, and less for smaller tables
_RESTLESS = 0.3  # chance, at first, that a swap stays though it costs `_UNIT`
_TURNING = 0.2  # share of the steps that change who sits out
_UNIT = 1000  # the weight of a pair whose count is one off the mean
_IDLE = -1


def disjoint_rounds(entries: Sequence[str], *, table_size: int, rounds: int | None, seed: int) -> list[Round]:
    """Return rounds that each seat as many entries as fill tables; the same for the same entries and seed.

    After any number of rounds, games per entry differ by one at most, and so do the counts of an entry by
    seat. Over the whole schedule pairs meet as evenly as a bounded search gets: nearly always a pair's count
    is within two of every other's, for large fields with tables of 7 or 8 within four.

    `rounds` None means one cycle, `rounds_per_disjoint_cycle` of them. The seed draws the entries' numbers
    in the schedule. With two seats `round_robin` has rounds that are disjoint, and level without a search.
    Raises `ImpossibleScheduleError` as it does.
    """
    check_entries(entries, table_size, rounds)
    order = sorted(entries, key=lambda bot_id: lot(seed, bot_id))
    count = rounds_per_disjoint_cycle(len(order), table_size) if rounds is None else rounds
    return [
        Round(
            tuple(tuple(order[number] for number in table) for table in tables),
            tuple(order[number] for number in idle),
        )
        for tables, idle in _plan(len(order), table_size, count)
    ]


def rounds_per_disjoint_cycle(entries: int, table_size: int) -> int:
    """Return the fewest rounds of disjoint tables in which every pair can meet, as far as counting tells."""
    pairs_a_round = entries // table_size * table_size * (table_size - 1)
    return -(-entries * (entries - 1) // pairs_a_round)


@lru_cache(maxsize=64)
def _plan(n: int, size: int, rounds: int) -> tuple[tuple[list[Seats], list[int]], ...]:
    """Return the tables of each round by seat, and who sits out, as numbers below `n`."""
    # Random.random alone is promised to give the same numbers in every version of Python.
    rng = Random(f"disjoint/{n}/{size}/{rounds}")
    search = _Search(n, size, rounds, rng)
    search.run()
    width = n // size
    seats = seated([table for tables in search.tables for table in tables], rng)
    return tuple((seats[at * width : (at + 1) * width], search.idle(at)) for at in range(rounds))


class _Search:
    """Swap entries between the tables of a round, or the rounds in which they sit out, until pairs are level.

    A swap that makes things a little worse may stay, ever more seldom: that leads out of dead ends.
    """

    def __init__(self, n: int, size: int, rounds: int, rng: Random) -> None:
        self._n = n
        self._size = size
        self._rounds = rounds
        self._width = n // size
        self._out = n % size
        self._random = rng.random
        self._met = [[0] * n for _ in range(n)]
        self._turns = self._draw_turns()
        self._weights = _weights(n * (n - 1) // 2, rounds * self._width * size * (size - 1) // 2, rounds)
        self._more = [after - before for before, after in pairwise(self._weights)]  # what one more meeting adds
        self._less = [0, *(-added for added in self._more)]  # and one less, by the count so far
        self._at = [[_IDLE] * n for _ in range(rounds)]  # by round and entry: the table
        self.tables = [self._draw_tables(number) for number in range(rounds)]

    def idle(self, number: int) -> list[int]:
        """Return who sits out a round."""
        return self._turns[number * self._out : (number + 1) * self._out]

    def run(self) -> None:
        """Search until the pairs are as level as arithmetic allows, or the steps are used up."""
        excess = self._excess()
        turning = 0.0 if not self._out else 1.0 if self._width == 1 else _TURNING
        seats = self._rounds * self._width * self._size
        steps = 0 if self._n == self._size else min(_STEPS, _STEPS_EACH * seats)  # one table for all leaves no choice
        for step in range(steps):
            if not excess:
                break
            slack = _UNIT if self._random() < _RESTLESS * (1 - step / steps) else 0
            excess += self._swap_turns(slack) if self._random() < turning else self._swap_tables(slack)

    def _excess(self) -> int:
        """Return how far the pairs are from as level as arithmetic allows, 0 if they are."""
        met = [times for entry, row in enumerate(self._met) for times in row[:entry]]
        each, more = divmod(sum(met), len(met))
        least = (len(met) - more) * self._weights[each] + more * self._weights[each + 1]
        return sum(self._weights[times] for times in met) - least

    def _draw_turns(self) -> list[int]:
        """Return in which order entries sit out: each once in every n turns, nobody twice in a round.

        The turns go on beyond the last round, to a multiple of n: who stands there needn't sit out.
        """
        turns: list[int] = []
        while len(turns) < self._rounds * self._out:
            same_round = turns[len(turns) - len(turns) % self._out :]
            turns += sorted(self._shuffled(range(self._n)), key=lambda entry: entry in same_round)
        return turns

    def _draw_tables(self, number: int) -> list[_Company]:
        idle = self.idle(number)
        playing = self._shuffled([entry for entry in range(self._n) if entry not in idle])
        tables = [playing[at * self._size : (at + 1) * self._size] for at in range(self._width)]
        for at, company in enumerate(tables):
            for count, entry in enumerate(company):
                self._at[number][entry] = at
                self._meet(entry, company[:count], 1)
        return tables

    def _shuffled(self, entries: Iterable[int]) -> list[int]:
        return [entry for _, entry in sorted((self._random(), entry) for entry in entries)]

    def _swap_tables(self, slack: int) -> int:
        """Swap two entries between tables of a round unless it costs more than `slack`; return what it cost."""
        number, one, a, b = (self._below(end) for end in (self._rounds, self._width, self._size, self._size))
        other = (one + 1 + self._below(self._width - 1)) % self._width
        first, second = self.tables[number][one], self.tables[number][other]
        here, there = first[a], second[b]
        cost = self._cost(first, here, there) + self._cost(second, there, here)
        if cost > slack:
            return 0
        self._replace(number, one, here, there)
        self._replace(number, other, there, here)
        return cost

    def _swap_turns(self, slack: int) -> int:
        """Let two entries swap the rounds in which they sit out, unless it costs more than `slack`."""
        mine = self._below(self._rounds * self._out)
        yours = mine - mine % self._n + self._below(self._n)
        here, there = self._turns[mine], self._turns[yours]
        first, second = self._company(mine, there), self._company(yours, here)
        if mine // self._out == yours // self._out or first is None or second is None:
            return 0
        # Whom both meet, one before and the other after the swap, they meet as often as before.
        cost = self._cost(first, there, here, second) + self._cost(second, here, there, first)
        if cost > slack:
            return 0
        self._sit_out(mine, there)
        self._sit_out(yours, here)
        return cost

    def _company(self, turn: int, entry: int) -> _Company | None:
        """Return with whom an entry sits in the round of a turn: nobody after the last, None if it is out itself."""
        number = turn // self._out
        if number >= self._rounds:
            return []
        at = self._at[number][entry]
        return None if at == _IDLE else self.tables[number][at]

    def _sit_out(self, turn: int, entry: int) -> None:
        """Give a turn to an entry, and the entry's seat in that round to who had the turn."""
        number = turn // self._out
        if number < self._rounds:
            self._replace(number, self._at[number][entry], entry, self._turns[turn])
            self._at[number][entry] = _IDLE
        self._turns[turn] = entry

    def _below(self, end: int) -> int:
        return int(self._random() * end)

    def _cost(self, company: _Company, leaving: int, coming: int, spared: Sequence[int] = ()) -> int:
        """Return by how much the excess would grow if one entry took another's place at a table."""
        more, less, joined, left = self._more, self._less, self._met[coming], self._met[leaving]
        growth = 0
        for entry in company:
            if entry != leaving and entry not in spared:
                growth += more[joined[entry]] + less[left[entry]]
        return growth

    def _replace(self, number: int, at: int, leaving: int, coming: int) -> None:
        company = self.tables[number][at]
        company.remove(leaving)
        self._meet(leaving, company, -1)
        self._meet(coming, company, 1)
        company.append(coming)
        self._at[number][coming] = at

    def _meet(self, entry: int, others: _Company, times: int) -> None:
        row = self._met[entry]
        for other in others:
            row[other] += times
            self._met[other][entry] += times


def _weights(pairs: int, meetings: int, rounds: int) -> list[int]:
    """Return what a pair adds to what is to be small, by how often it meets: up to once more than there are rounds.

    That is the fourth power of the distance from the mean. With the square, a few pairs would be left that
    meet far too often or hardly ever.
    """
    return [_UNIT * (times * pairs - meetings) ** 4 // pairs**4 for times in range(rounds + 2)]
