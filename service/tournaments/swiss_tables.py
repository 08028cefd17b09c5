"""Swiss rounds at tables of more than two seats: cut the ranking into tables, then part those who have met.

The leaders sit at the first table, the next behind them at the second, and so on. Where that would seat
together who have met before, entries change places with others, from tables as near in rank as will do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import TypeAlias

from bot_sdk.results.values import Round
from service.tournaments.history import meetings, seats_taken, sit_outs
from service.tournaments.schedule import Table

_Company: TypeAlias = list[int]  # places in rank
_Way: TypeAlias = tuple[int, tuple[int, ...]]  # its cost, and the seats of the first entries


def seat_tables(ranked: Sequence[str], rounds: Sequence[Round], size: int) -> Round:
    """Return the next round for entries in order of rank, the same for the same ranking and rounds.

    As many tables as can be filled. Those left over sit out, first who has done so least, then the lowest in
    rank; so sit-outs differ by one at most. Pairs that have met are parted as far as a local search gets, the
    more often met the rather; as long as that costs nothing, the higher in rank sit at the higher table. Each
    table's seats go to those who have sat there least.
    """
    byes = sit_outs(rounds)
    from_below = sorted(range(len(ranked)), key=lambda place: (byes[ranked[place]], -place))
    idle = {ranked[place] for place in from_below[: len(ranked) % size]}
    playing = [bot_id for bot_id in ranked if bot_id not in idle]
    parting = _Parting(playing, rounds, size)
    parting.run()
    taken = seats_taken(rounds)
    tables = [_seated([playing[place] for place in sorted(company)], taken) for company in parting.tables]
    return Round(tuple(tables), tuple(bot_id for bot_id in ranked if bot_id in idle))


class _Parting:
    """Descent by swaps: between neighbouring tables first, between farther ones only when no nearer swap helps."""

    def __init__(self, playing: Sequence[str], rounds: Sequence[Round], size: int) -> None:
        n = len(playing)
        self._size = size
        self._cost = [[0] * n for _ in range(n)]  # of a pair at one table: the square of how often they have met
        for (one, other), times in meetings(rounds, {bot_id: place for place, bot_id in enumerate(playing)}).items():
            self._cost[one][other] = self._cost[other][one] = times * times
        self.tables: list[_Company] = [list(range(first, first + size)) for first in range(0, n, size)]

    def run(self) -> None:
        distance = 1
        while distance < len(self.tables):
            distance = 1 if self._pass(distance) else distance + 1

    def _pass(self, distance: int) -> bool:
        """Make all swaps that help between tables so far apart; tell whether there was one."""
        helped = False
        for one in range(len(self.tables) - distance):
            for mine, theirs in product(range(self._size), repeat=2):
                if self._growth(one, mine, one + distance, theirs) < (0, 0):
                    above, below = self.tables[one], self.tables[one + distance]
                    above[mine], below[theirs] = below[theirs], above[mine]
                    helped = True
        return helped

    def _growth(self, one: int, mine: int, other: int, theirs: int) -> tuple[int, int]:
        """Return what a swap adds to the cost of all pairs, and by how many places it puts the lower higher up.

        Among swaps between two tables the latter compares as the squares of the distances from each place to
        the middle of its table do.
        """
        above, below = self.tables[one], self.tables[other]
        down, up = above[mine], below[theirs]
        with_down, with_up = self._cost[down], self._cost[up]
        pairs = sum(with_up[place] - with_down[place] for place in above)
        pairs += sum(with_down[place] - with_up[place] for place in below)
        return pairs - 2 * with_down[up], up - down  # both sums took the two for a pair


def _seated(company: Sequence[str], taken: Mapping[str, Sequence[int]]) -> Table:
    """Deal the seats to those who have sat in them least: at least cost in squares of the lead over one's rarest seat.

    `ways` holds, for each set of seats, as bits, the cheapest way to fill it with the first of the company.
    """
    ways: dict[int, _Way] = {0: (0, ())}
    for bot_id in company:
        counts = [taken[bot_id].count(seat) for seat in range(len(company))]
        least = min(counts)
        ways = _one_more(ways, [(count - least) ** 2 for count in counts])
    (_, seats) = ways[2 ** len(company) - 1]
    return tuple(bot_id for _, bot_id in sorted(zip(seats, company, strict=True)))


def _one_more(ways: Mapping[int, _Way], costs: Sequence[int]) -> dict[int, _Way]:
    """Seat another entry, to whom seats cost this much, in each seat that each of the ways leaves free."""
    longer: dict[int, _Way] = {}
    for filled, (cost, seats) in ways.items():
        for seat, more in enumerate(costs):
            if not filled >> seat & 1:
                way, now = (cost + more, (*seats, seat)), filled | 1 << seat
                longer[now] = min(way, longer.get(now, way))
    return longer
