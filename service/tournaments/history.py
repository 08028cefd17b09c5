"""What former rounds leave behind for the next: who has met whom, sat out, and in which seats."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from itertools import combinations

from bot_sdk.results.lots import lot
from bot_sdk.results.values import Round


def meetings(rounds: Sequence[Round], places: Mapping[str, int]) -> Counter[tuple[int, int]]:
    """Count the tables that two entries have shared, by their places, the lower first.

    Entries without a place are left out.
    """
    met: Counter[tuple[int, int]] = Counter()
    for round_ in rounds:
        for table in round_.tables:
            met.update(combinations(sorted(places[bot_id] for bot_id in table if bot_id in places), 2))
    return met


def sit_outs(rounds: Sequence[Round]) -> Counter[str]:
    """Count the rounds that each entry has sat out."""
    return Counter(bot_id for round_ in rounds for bot_id in round_.byes)


def seats_taken(rounds: Sequence[Round]) -> defaultdict[str, list[int]]:
    """Return the seats each entry has sat in, in the order of its tables."""
    taken: defaultdict[str, list[int]] = defaultdict(list)
    for round_ in rounds:
        for table in round_.tables:
            for seat, bot_id in enumerate(table):
                taken[bot_id].append(seat)
    return taken


def seat_pair(pair: tuple[str, str], taken: Mapping[str, Sequence[int]], seed: int) -> tuple[str, str]:
    """Return two entries by seat, from the seats each has taken.

    Seat 0 is for who has sat there less, set against seat 1; then for who didn't when they last sat in
    different seats; then for the lower lot.
    """

    def claim(bot_id: str) -> tuple[int, list[int], bytes]:
        seats = taken[bot_id]
        return seats.count(0) - seats.count(1), [-seat for seat in reversed(seats)], lot(seed, bot_id)

    first, second = sorted(pair, key=claim)
    return first, second
