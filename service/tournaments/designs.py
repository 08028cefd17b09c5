"""Balanced tables by cyclic development: which numbers sit together, before any bot has a number.

A *base block* is a set of k numbers mod n, one to a seat. Developing it gives n tables, the block with 0, 1, … n - 1
added to every number (mod n): each number sits in each seat exactly once, whatever the block is. Two numbers at
distance d share a table as often as d occurs among the block's differences. So the whole search is for blocks
whose differences are level.
"""

from __future__ import annotations

from functools import lru_cache
from math import gcd
from random import Random
from typing import TypeAlias, TypeVar

Block: TypeAlias = tuple[int, ...]
_T = TypeVar("_T")

_STEPS = 6_000  # of repair at up to 64 numbers: under 0.3 s each, and 90% of the designs come out level
_SHUFFLES = 200  # of seats tried for each block
_RESTLESS = 0.1  # share of the steps that put a number anywhere, to leave a dead end
_DEEP = 0.3  # share of the steps that take two numbers out of a block instead of one


@lru_cache(maxsize=256)
def base_blocks(n: int, size: int, count: int) -> tuple[Block, ...]:
    """Return `count` base blocks of `size` numbers mod `n`, by seat; the same for the same arguments.

    Every pair of numbers shares as many tables as every other, or one more where that doesn't divide; about
    one design in ten misses that by one or two (some can't reach it). The tables always connect all
    numbers, and who sits next to whom is levelled too, as far as the pairs leave a choice.
    Expects 2 <= `size` <= `n`.
    """
    # Random.random alone is promised to give the same numbers in every version of Python.
    rng = Random(f"{n}/{size}/{count}")
    blocks = _Search(n, size, count, rng).run()
    return _seated(n, blocks, rng)


class _Search:
    """Min-conflicts repair: take a number out of a block, put in the one whose differences are rarest so far."""

    def __init__(self, n: int, size: int, count: int, rng: Random) -> None:
        self._n = n
        self._size = size
        self._rng = rng
        self._seen = [0] * n  # by difference, how often it occurs; difference 0 stays 0
        self._blocks: list[list[int]] = [[] for _ in range(count)]
        self._optimum = 1 if count * size * (size - 1) % (n - 1) else 0

    def run(self) -> tuple[Block, ...]:
        for block in self._blocks:
            self._fill(block)
        best, kept = self._badness(), self._snapshot()
        for _ in range(_STEPS * 64 // max(64, self._n)):
            if best[:2] <= (False, self._optimum):
                break
            self._repair(self._pick(self._blocks))
            if (now := self._badness()) < best:
                best, kept = now, self._snapshot()
        return kept

    def _badness(self) -> tuple[bool, int, int]:
        """Order designs: connected ones first, then by the spread of the pair counts, then by their squares."""
        seen = self._seen[1:]
        apart = gcd(self._n, *(d for d, times in enumerate(self._seen) if times)) != 1
        return apart, max(seen) - min(seen), sum(times * times for times in seen)

    def _snapshot(self) -> tuple[Block, ...]:
        return tuple(tuple(block) for block in self._blocks)

    def _repair(self, block: list[int]) -> None:
        for _ in range(2 if self._rng.random() < _DEEP else 1):
            taken = block.pop(int(self._rng.random() * len(block)))
            self._count(block, taken, -1)
        if self._rng.random() < _RESTLESS:
            self._put(block, self._pick([number for number in range(self._n) if number not in block]))
        self._fill(block)

    def _fill(self, block: list[int]) -> None:
        while len(block) < self._size:
            self._put(block, self._pick(self._rarest(block)))

    def _put(self, block: list[int], number: int) -> None:
        self._count(block, number, 1)
        block.append(number)

    def _count(self, block: list[int], number: int, times: int) -> None:
        for other in block:
            difference = (number - other) % self._n
            self._seen[difference] += times
            self._seen[-difference] += times

    def _rarest(self, block: list[int]) -> list[int]:
        """Return the numbers outside the block whose differences to it have been seen least.

        All n sums at once: the counts, turned by each number of the block, are added up column by column.
        """
        n = self._n
        if not block:
            return [0]  # any number would do: a block and block + 1 develop into the same tables
        twice = self._seen * 2
        sums = [sum(column) for column in zip(*(twice[n - b : 2 * n - b] for b in block), strict=True)]
        outside = [number for number in range(n) if number not in block]
        least = min(sums[number] for number in outside)
        return [number for number in outside if sums[number] == least]

    def _pick(self, choices: list[_T]) -> _T:
        return choices[int(self._rng.random() * len(choices))]


def _seated(n: int, blocks: tuple[Block, ...], rng: Random) -> tuple[Block, ...]:
    """Give the numbers of each block their seats, so that the steps from seat to next seat are level.

    A bot's neighbours act right before and right after it, which is worth something in any card game.
    """
    steps = [0] * n
    seated = []
    for block in blocks:
        tries = (_shuffled(block, rng) for _ in range(_SHUFFLES))
        chosen = min(tries, key=lambda seats: _crowding(seats, steps))
        for step in _steps(chosen, n):
            steps[step] += 1
        seated.append(chosen)
    return tuple(seated)


def _shuffled(block: Block, rng: Random) -> Block:
    keyed = sorted((rng.random(), number) for number in block)
    return tuple(number for _, number in keyed)


def _steps(seats: Block, n: int) -> list[int]:
    return [(after - before) % n for before, after in zip(seats, seats[1:] + seats[:1], strict=True)]


def _crowding(seats: Block, steps: list[int]) -> int:
    """Return the growth of the sum of squares of the step counts if these seats were taken."""
    added: dict[int, int] = {}
    for step in _steps(seats, len(steps)):
        added[step] = added.get(step, 0) + 1
    return sum((steps[step] + more) ** 2 - steps[step] ** 2 for step, more in added.items())
