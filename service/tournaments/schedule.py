"""Who meets whom, and in which seats: schedules as pure functions of the entries, the settings and a seed.

Nothing here knows results, boards or the clock. A round is a list of tables; whether its tables run one
after another or side by side is for others to say.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from bot_sdk.results.lots import lot
from bot_sdk.results.values import Round
from service.tournaments.designs import base_blocks
from service.tournaments.errors import ImpossibleScheduleError

Table: TypeAlias = tuple[str, ...]
"""The entries seated together, by seat."""


def round_robin(entries: Sequence[str], *, table_size: int, rounds: int | None, seed: int) -> list[Round]:
    """Return the rounds of a round robin, the same for the same entries (in any order) and seed.

    Two seats: Berger rounds, each entry at one table or, if their number is odd, in turn without. One cycle
    lets each pair meet once; further rounds begin the next cycle, with the seats swapped in every other
    one. How often an entry sits in either seat differs by at most one after a whole cycle, by none after
    two, by two at most in between.

    More seats: a round is the cyclic development of one base block (see `designs`): as many tables as
    entries, at which each entry sits once in each seat, so it plays `rounds` x `table_size` games, `rounds`
    in each seat. All rounds are balanced together: pairs meet equally often, or nearly, over the whole
    schedule.

    `rounds` None means one cycle, `rounds_per_cycle` of them. The seed draws the entries' numbers in the
    schedule. Raises `ImpossibleScheduleError` for entries that don't fill a table or that come twice, and
    for less than one round.
    """
    check_entries(entries, table_size, rounds)
    order = sorted(entries, key=lambda bot_id: lot(seed, bot_id))
    count = rounds_per_cycle(len(order), table_size) if rounds is None else rounds
    if table_size == 2:
        return [_berger_round(order, number) for number in range(count)]
    return [_developed(order, block) for block in base_blocks(len(order), table_size, count)]


def rounds_per_cycle(entries: int, table_size: int) -> int:
    """Return the fewest rounds of a round robin in which every pair can meet."""
    if table_size == 2:
        return entries - 1 + entries % 2
    meetings = table_size * (table_size - 1)  # an entry meets so many others in a round
    return -(-(entries - 1) // meetings)


def berger_pairs(players: int, number: int) -> list[tuple[int, int]]:
    """Return round `number` (from 0) of the Berger table for an even number of players, numbered from 0.

    The pairs stand in the order of the FIDE Handbook, C.05 annex 1; the first of a pair has white, here
    seat 0.
    """
    others = players - 1
    pivot = number * (players // 2) % others
    last = (pivot, others) if number % 2 == 0 else (others, pivot)
    return [last, *(((pivot + d) % others, (pivot - d) % others) for d in range(1, players // 2))]


def _berger_round(order: Sequence[str], number: int) -> Round:
    players = len(order) + len(order) % 2
    cycle, number = divmod(number, players - 1)
    pairs = berger_pairs(players, number)
    if cycle % 2:
        pairs = [(second, first) for first, second in pairs]
    met = [pair for pair in pairs if max(pair) < len(order)]
    byes = [order[min(pair)] for pair in pairs if max(pair) == len(order)]
    return Round(tuple((order[first], order[second]) for first, second in met), tuple(byes))


def _developed(order: Sequence[str], block: Sequence[int]) -> Round:
    n = len(order)
    return Round(tuple(tuple(order[(number + turn) % n] for number in block) for turn in range(n)))


def check_entries(entries: Sequence[str], table_size: int, rounds: int | None) -> None:
    """Raise `ImpossibleScheduleError` for entries that don't fill a table or come twice, or less than one round."""
    if table_size < 2:
        raise ImpossibleScheduleError(f"expected a table of at least 2 seats, got {table_size}")
    if len(entries) < table_size:
        raise ImpossibleScheduleError(
            f"expected at least {table_size} entries for tables of {table_size}, got {len(entries)}"
        )
    if len(set(entries)) < len(entries):
        twice = sorted(bot_id for bot_id in set(entries) if entries.count(bot_id) > 1)
        raise ImpossibleScheduleError(f"expected each entry once, got {twice[0]!r} {entries.count(twice[0])} times")
    if rounds is not None and rounds < 1:
        raise ImpossibleScheduleError(f"expected at least 1 round, got {rounds}")
