"""Knockouts: who plays the next round, drawn from the rounds so far and how their tables ended.

Two seats play a classical bracket: seeds 1 and 2 can meet in the final only, byes of the first round go to
the best seeds. More seats play tables, the best of which go on, until one table is left: the final. Who
withdraws never goes on; somebody else does if anybody can, so a knockout always comes to its end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import groupby, pairwise

from bot_sdk.results.values import Round
from service.tournaments.errors import ImpossibleScheduleError
from service.tournaments.schedule import check_entries


def knockout_round(
    entries: Sequence[str],
    rounds: Sequence[Round],
    rankings: Sequence[Sequence[Sequence[str]]],
    *,
    table_size: int,
    advance: int,
    gone: Collection[str],
) -> Round | None:
    """Return the round after `rounds`, or None if the knockout is decided.

    `entries` come in the order of their seeds, best first. `rankings` holds, by round and table, the entries
    of that table best first. The first `advance` who aren't `gone` go on from each table (two seats: 1).

    Two seats: who is left alone at his place in the bracket, because the other side of it is gone, has a
    bye. More: as many tables as bring the field down to one table, but no more than it fills; the best seeds
    have byes so that all are full. If fewer go on than fill one table, the best losers of the round do too,
    by rank at their table, then by seed. With too few left for a table it is decided as it stands.

    Seats are those that each has had least; if that decides nothing, the better seed sits first. Raises
    `ImpossibleScheduleError` for entries that don't fill a table or come twice, or an impossible `advance`.
    """
    check_entries(entries, table_size, None)
    _check_advance(table_size, advance)
    going_on = _going_on(rounds[-1], rankings[-1], advance, gone) if rounds else set(entries).difference(gone)
    field = [bot_id for bot_id in entries if bot_id in going_on]
    if table_size == 2:
        starters = [bot_id for bot_id in entries if bot_id in _taking_part(rounds[0])] if rounds else field
        return _bracket_round(field, _leaves(starters), _seatings(rounds))
    if rounds and _is_final(rounds[-1]):
        return None
    if rounds and len(field) < table_size:
        losers = _best_losers(rankings[-1], entries, going_on.union(gone))
        going_on.update(losers[: table_size - len(field)])
        field = [bot_id for bot_id in entries if bot_id in going_on]
    return _tables_round(field, table_size, advance, _seatings(rounds)) if len(field) >= table_size else None


def tables_by_round(entries: int, *, table_size: int, advance: int) -> list[int]:
    """Return how many tables each round of a knockout has if nobody withdraws.

    Expects `entries` to fill a table. Raises `ImpossibleScheduleError` for an impossible `advance`.
    """
    _check_advance(table_size, advance)
    if table_size == 2:
        half = 1 << (entries - 1).bit_length() >> 1
        return [entries - half, *(half >> later for later in range(1, half.bit_length()))]
    counts = []
    while entries > table_size:
        counts.append(_table_count(entries, table_size, advance))
        entries = max(table_size, entries - counts[-1] * (table_size - advance))
    return [*counts, 1]


def default_advance(table_size: int) -> int:
    """Return how many go on from each table if nothing is said: half of it."""
    return table_size // 2


def _check_advance(table_size: int, advance: int) -> None:
    if not 1 <= advance < table_size:
        most = f"from 1 to {table_size - 1}" if table_size > 2 else "1"
        raise ImpossibleScheduleError(f"expected advance to be {most} at tables of {table_size}, got {advance}")


def _going_on(last: Round, ranking: Sequence[Sequence[str]], advance: int, gone: Collection[str]) -> set[str]:
    """Return who is still in after a round: who had a bye, and of each table the first who aren't gone."""
    left = [[bot_id for bot_id in table if bot_id not in gone] for table in ranking]
    return {bot_id for table in left for bot_id in table[:advance]}.union(last.byes).difference(gone)


def _best_losers(ranking: Sequence[Sequence[str]], entries: Sequence[str], others: Collection[str]) -> list[str]:
    """Return who is out after a round, except some others: by rank at the table, then by seed."""
    ranks = {bot_id: rank for table in ranking for rank, bot_id in enumerate(table)}
    return sorted((bot_id for bot_id in entries if bot_id in ranks and bot_id not in others), key=ranks.__getitem__)


def _taking_part(round_: Round) -> set[str]:
    return {bot_id for company in (round_.byes, *round_.tables) for bot_id in company}


def _is_final(round_: Round) -> bool:
    return len(round_.tables) == 1 and not round_.byes


def _leaves(starters: Sequence[str]) -> dict[str, int]:
    """Return the leaf of the bracket at which each starts: two meet where the binary forms part, read from behind.

    Whole brackets grow from smaller ones: beside each seed comes the one that makes the sum constant.
    """
    seeds = [0]
    while len(seeds) < len(starters):
        seeds = [each for seed in seeds for each in (seed, 2 * len(seeds) - 1 - seed)]
    return {starters[seed]: leaf for leaf, seed in enumerate(seeds) if seed < len(starters)}


def _bracket_round(field: Sequence[str], leaves: Mapping[str, int], sat: Counter[tuple[str, int]]) -> Round | None:
    """Return the first round in which any two who are left can meet.

    That need not be the next of the whole bracket: if all are gone whom these could meet in it, it is left out.
    """
    if len(field) < 2:
        return None
    across = sorted(field, key=leaves.__getitem__)
    level = min((leaves[one] ^ leaves[other]).bit_length() for one, other in pairwise(across))
    nodes = [list(node) for _, node in groupby(across, key=lambda bot_id: leaves[bot_id] >> level)]
    pairs = [sorted(node, key=lambda bot_id: (sat[bot_id, 0], field.index(bot_id))) for node in nodes]
    return Round(
        tuple(tuple(pair) for pair in pairs if len(pair) == 2),
        tuple(alone for alone, *others in pairs if not others),
    )


def _tables_round(field: Sequence[str], table_size: int, advance: int, sat: Counter[tuple[str, int]]) -> Round:
    """Return full tables, over which the seeds are spread to and fro, and byes for the best seeds."""
    count = _table_count(len(field), table_size, advance)
    byes = len(field) - count * table_size
    tables: list[list[str]] = [[] for _ in range(count)]
    for dealt, bot_id in enumerate(field[byes:]):
        way, at = divmod(dealt, count)
        tables[at if way % 2 == 0 else -1 - at].append(bot_id)
    return Round(tuple(_seated(company, sat) for company in tables), tuple(field[:byes]))


def _table_count(entries: int, table_size: int, advance: int) -> int:
    """Return as many tables as it takes to come down to one table, at least 1, at most as many as are full."""
    needed = -(-(entries - table_size) // (table_size - advance))
    return max(1, min(entries // table_size, needed))


def _seatings(rounds: Sequence[Round]) -> Counter[tuple[str, int]]:
    """Count how often each entry sat in each seat."""
    return Counter((bot_id, seat) for round_ in rounds for table in round_.tables for seat, bot_id in enumerate(table))


def _seated(company: Sequence[str], sat: Counter[tuple[str, int]]) -> tuple[str, ...]:
    """Return who sits where, such that the sum of how often each has sat there already is least.

    Seat by seat, of all ways to fill the seats so far with the same entries (bits of a mask) the cheapest is
    kept.
    """
    ways: dict[int, tuple[int, tuple[int, ...]]] = {0: (0, ())}
    for seat in range(len(company)):
        costs = [(1 << at, at, sat[bot_id, seat]) for at, bot_id in enumerate(company)]
        longer: dict[int, tuple[int, tuple[int, ...]]] = {}
        for mask, (spent, order) in ways.items():
            for bit, at, cost in costs:
                if not mask & bit and (mask | bit not in longer or spent + cost < longer[mask | bit][0]):
                    longer[mask | bit] = (spent + cost, (*order, at))
        ways = longer
    ((_, order),) = ways.values()
    return tuple(company[at] for at in order)
