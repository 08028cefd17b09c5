"""Dealing the cards that a seat doesn't see, among those who can hold them: `Hidden`.

A seat that has shown a void can't be dealt that suit, so some deals are impossible and dealing card by card would make
the others unequally likely. Here each possible deal is equally likely: how many ways there are to go on is counted
before anything is dealt.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import comb
from random import Random
from typing import TypeAlias

from bot_sdk.cards import SUIT_MASKS, cards_in, mask_of
from bot_sdk.errors import SdkError

Counts: TypeAlias = tuple[int, ...]
"""How many cards there are of each suit, C D H S."""


class Unexplained(SdkError, ValueError):  # noqa: N818 - says what is wrong with it
    """What a seat is shown that no deal explains: it comes from no game."""


@dataclass(frozen=True, slots=True)
class _Bound:
    """Seats that can't hold the same suits: their cards are dealt together and then cut among them."""

    hands: tuple[int, ...]
    suits: tuple[int, ...]
    """The suits they can hold."""
    need: int


class Hidden:
    """The hidden cards and the hands they are in; not for several threads.

    Counted are the ways to serve the seats with voids, group by group, by how many cards of each suit are left: those
    without voids get what remains, which can be done in the same number of ways whatever it is.
    """

    def __init__(self, cards: int, hands: Sequence[tuple[int, int]]) -> None:
        """Take the hidden cards, and of each hand its size and the cards it can't hold; all sets are masks.

        There may be more cards than the hands hold. Raises `Unexplained` if the hands can't be dealt.
        """
        self._cards = cards
        self._sizes = [size for size, _ in hands]
        self._suits = [list(cards_in(cards & suit)) for suit in SUIT_MASKS]
        self._bound, self._free = _grouped(cards, hands)
        self._splits: dict[tuple[int, Counts], tuple[list[Counts], list[int]]] = {}
        if cards.bit_count() < sum(self._sizes) or not self._ways(0, self._counts()):
            sizes = ", ".join(map(str, self._sizes))
            raise Unexplained(f"expected cards for hands of {sizes}, got {cards.bit_count()} and voids that forbid it")

    def draw(self, rng: Random) -> list[int]:
        """Deal once: the hands as masks, in the order they were given in."""
        dealt = [0] * len(self._sizes)
        cards = self._cards
        if self._bound:
            for group, mask in self._draw_bound(rng):
                self._cut(rng, mask, group.hands, dealt)
                cards ^= mask
        self._cut(rng, cards, self._free, dealt)
        return dealt

    def _draw_bound(self, rng: Random) -> Iterator[tuple[_Bound, int]]:
        """Draw the cards of each group."""
        left = [rng.sample(cards, len(cards)) for cards in self._suits]
        counts = self._counts()
        for at, group in enumerate(self._bound[:-1]):
            after, running = self._splits_of(at, counts)
            counts = rng.choices(after, cum_weights=running)[0]
            yield (
                group,
                mask_of(left[suit].pop() for suit in group.suits for _ in range(len(left[suit]) - counts[suit])),
            )
        last = self._bound[-1]
        yield last, mask_of(rng.sample([card for suit in last.suits for card in left[suit]], last.need))

    def _cut(self, rng: Random, cards: int, hands: Sequence[int], dealt: list[int]) -> None:
        """Deal some of these cards to these hands, each as many as it holds."""
        drawn = rng.sample(list(cards_in(cards)), sum(self._sizes[hand] for hand in hands))
        for hand in hands:
            dealt[hand] = mask_of(drawn[: self._sizes[hand]])
            del drawn[: self._sizes[hand]]

    def _counts(self) -> Counts:
        return tuple(map(len, self._suits))

    def _ways(self, at: int, counts: Counts) -> int:
        """Count the ways to serve the groups from `at` on with so many cards of each suit."""
        if at == len(self._bound):
            return 1
        group = self._bound[at]
        if at == len(self._bound) - 1:
            return comb(sum(counts[suit] for suit in group.suits), group.need)
        _, running = self._splits_of(at, counts)
        return running[-1] if running else 0

    def _splits_of(self, at: int, counts: Counts) -> tuple[list[Counts], list[int]]:
        """List what a group may leave of each suit, with the running sum of the ways to do so and to go on."""
        known = self._splits.get((at, counts))
        if known is None:
            splits = list(_splits(counts, self._bound[at].suits, self._bound[at].need))
            weights = [ways * self._ways(at + 1, after) for after, ways in splits]
            known = self._splits[at, counts] = [after for after, _ in splits], list(accumulate(weights))
        return known


def _grouped(cards: int, hands: Sequence[tuple[int, int]]) -> tuple[list[_Bound], list[int]]:
    """Put together the hands that can hold the same suits: those that can't hold all, and those that can."""
    groups: dict[tuple[int, ...], list[int]] = {}
    there = [suit for suit in range(4) if cards & SUIT_MASKS[suit]]
    for at, (_, barred) in enumerate(hands):
        suits = tuple(suit for suit in there if not barred & SUIT_MASKS[suit])
        groups.setdefault(suits, []).append(at)
    free = groups.pop(tuple(there), [])
    return [_Bound(tuple(of), suits, sum(hands[at][0] for at in of)) for suits, of in groups.items()], free


def _splits(counts: Counts, suits: tuple[int, ...], need: int) -> Iterator[tuple[Counts, int]]:
    """Yield what can be left when `need` cards of these suits are taken, and in how many ways that can be done."""
    if not suits:
        if not need:
            yield counts, 1
        return
    suit, others = suits[0], suits[1:]
    for taken in range(min(need, counts[suit]) + 1):
        ways = comb(counts[suit], taken)
        left = (*counts[:suit], counts[suit] - taken, *counts[suit + 1 :])
        for after, more in _splits(left, others, need - taken):
            yield after, ways * more
