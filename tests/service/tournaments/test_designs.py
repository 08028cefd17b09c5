"""Base blocks: counted from the developed tables themselves, not from differences as the search does."""

from __future__ import annotations

from collections import Counter
from itertools import combinations, pairwise, permutations, product
from time import process_time

import pytest

from service.tournaments.designs import Block, base_blocks

FIELDS = [*range(5, 14), 16, 21, 31, 40, 64]
SIZES = [4, 5, 6, 7, 8]
CASES = [(n, size, count) for size in SIZES for n in FIELDS if n >= size for count in (1, 2, 4)]


@pytest.fixture(scope="module")
def designs() -> dict[tuple[int, int, int], tuple[Block, ...]]:
    return {case: base_blocks(*case) for case in CASES}


def developed(n: int, blocks: tuple[Block, ...]) -> list[Block]:
    return [tuple((number + turn) % n for number in block) for block in blocks for turn in range(n)]


def pair_spread(n: int, blocks: tuple[Block, ...]) -> int:
    met = Counter(frozenset(pair) for table in developed(n, blocks) for pair in combinations(table, 2))
    counts = [met[frozenset(pair)] for pair in combinations(range(n), 2)]
    return max(counts) - min(counts)


def optimum(n: int, size: int, count: int) -> int:
    """Return the least spread that the number of meetings allows: none only if each pair can have the same."""
    meetings = count * n * size * (size - 1) // 2
    return 1 if meetings % (n * (n - 1) // 2) else 0


def reached_from_zero(n: int, blocks: tuple[Block, ...]) -> set[int]:
    seen, fresh = {0}, {0}
    tables = [set(table) for table in developed(n, blocks)]
    while fresh:
        fresh = set().union(*(table for table in tables if table & fresh)) - seen
        seen |= fresh
    return seen


def test_pairs_meet_as_evenly_as_arithmetic_allows_nearly_always(designs):
    excess = Counter(pair_spread(case[0], blocks) - optimum(*case) for case, blocks in designs.items())
    assert set(excess) <= {0, 1, 2}
    assert excess[0] >= 0.85 * len(CASES)


@pytest.mark.soak
def test_every_field_to_64_is_level_connected_and_quick():
    excess = Counter()
    for n, size, count in product(range(5, 65), SIZES, (1, 2, 4)):
        if size > n:
            continue
        base_blocks.cache_clear()
        before = process_time()
        blocks = base_blocks(n, size, count)
        assert process_time() - before < 1
        assert reached_from_zero(n, blocks) == set(range(n))
        excess[pair_spread(n, blocks) - optimum(n, size, count)] += 1
    assert set(excess) <= {0, 1, 2}
    assert excess[0] >= 0.85 * excess.total()


@pytest.mark.parametrize("size", SIZES)
def test_tables_connect_all_entries(size):
    for n in range(size, 65, 7):
        assert reached_from_zero(n, base_blocks(n, size, 1)) == set(range(n))


def test_blocks_hold_distinct_numbers_within_the_field(designs):
    for (n, size, count), blocks in designs.items():
        assert len(blocks) == count
        assert all(len(block) == len(set(block)) == size and set(block) <= set(range(n)) for block in blocks)


def test_perfect_difference_sets_are_found():
    for n, size in [(13, 4), (21, 5), (31, 6)]:
        assert pair_spread(n, base_blocks(n, size, 1)) == 0


def test_a_full_table_changes_neighbours_as_much_as_one_order_allows():
    (seats,) = base_blocks(4, 4, 1)
    steps = [(after - before) % 4 for before, after in pairwise([*seats, seats[0]])]
    assert max(Counter(steps).values()) <= 2


@pytest.mark.parametrize(("n", "size", "count", "spread"), [(8, 8, 7, 0), (13, 4, 4, 1), (64, 4, 6, 1), (33, 8, 8, 2)])
def test_neighbours_are_levelled_over_all_blocks(n, size, count, spread):
    after = Counter(
        pair for table in developed(n, base_blocks(n, size, count)) for pair in pairwise([*table, table[0]])
    )
    counts = [after[pair] for pair in permutations(range(n), 2)]
    assert max(counts) - min(counts) <= spread


def test_the_same_design_comes_out_each_time():
    found = base_blocks(17, 5, 3)
    base_blocks.cache_clear()
    assert base_blocks(17, 5, 3) == found


@pytest.mark.parametrize(("n", "size", "count"), [(64, 8, 1), (64, 8, 2), (65, 8, 1), (64, 4, 6), (8, 4, 100)])
def test_a_design_takes_less_than_a_second(n, size, count):
    base_blocks.cache_clear()
    before = process_time()
    base_blocks(n, size, count)
    assert process_time() - before < 1
