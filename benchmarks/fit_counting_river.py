"""Fits the table by which ``house:counting`` and ``house:search`` bid in Up and Down the River, and writes it.

    python benchmarks/fit_counting_river.py [SEATS ...]

Bots that play as `counting_river` does play rounds against each other. A part of their bids is drawn from those next to
the best, so that what isn't bid is known, too. A logistic regression with three ends (more tricks than bid, fewer, as
many) tells what hands and bids lead to; with these odds they bid the next time. The first time they bid as
``house:greedy`` does. Takes about a minute for each number of seats.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

import msgspec
import numpy as np
from numpy.typing import NDArray

from bot_sdk.bots import bids_river, greedy_river
from bot_sdk.bots.bids_river import Bidder, Fitted, Misses, Weights, bid_facts, hand_facts, ranks_in
from bot_sdk.bots.counting_river import lead
from bot_sdk.bots.search_river import played_out
from bot_sdk.bots.strength import FIRST_TRUMP, NUMBERS, RANKS
from bot_sdk.bots.view_river import Turn
from bot_sdk.games.river import most_cards

TABLE = Path(bids_river.__file__).with_name(bids_river.FILE)
ROUNDS = 3
SAMPLES = 16_000
"""Hands for each number of cards and each time of fitting."""
ASIDE = 0.3
"""How often a bid is drawn instead of chosen."""
RIDGE = 1.0
STEPS = 12
DIGITS = 2

Floats = NDArray[np.float64]
Bids = Callable[[Bidder, int | None], int]
"""Chooses a bid, other than the one that is barred."""


def main() -> None:
    """Fit for each number of seats that is given, or for all; others stay as they are in the table."""
    table: Fitted = bids_river.fitted() if TABLE.exists() else {}
    for seats in [int(given) for given in sys.argv[1:]] or range(4, 9):
        table[seats] = {cards: fit(seats, cards) for cards in range(1, most_cards(seats) + 1)}
        write(table)


def write(table: Fitted) -> None:
    """Write the table, a line for each number of seats and cards."""
    lines = [
        f'"{seats}": {{\n' + ",\n".join(f'"{cards}": {_json(misses)}' for cards, misses in sorted(rows.items())) + "\n}"
        for seats, rows in sorted(table.items())
    ]
    TABLE.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def _json(misses: Misses) -> str:
    return msgspec.json.encode(misses).decode()


def fit(seats: int, cards: int) -> Misses:
    """Play and fit in turn, `ROUNDS` times."""
    misses: Misses | None = None
    for number in range(ROUNDS):
        facts, ends, exact = rounds(seats, cards, misses, Random(f"fit {seats} {cards} {number}"))
        over, under = regress(facts, ends)
        misses = Misses(_weights(over, facts.shape[1]), _weights(under, facts.shape[1]))
        print(f"{seats} seats, {cards} cards, time {number}: {exact:.3f} of the chosen bids exact", file=sys.stderr)
    assert misses is not None
    return misses


def _weights(column: Floats, width: int) -> Weights:
    rounded = [round(value, DIGITS) + 0.0 for value in column.tolist()]
    of_cards = 2 * RANKS
    of_bid = width - len(bid_facts(Bidder(4, 1, 0, 0, 0.0), 0))
    return Weights(rounded[:of_cards], rounded[of_cards:of_bid], rounded[of_bid:])


def rounds(seats: int, cards: int, misses: Misses | None, rng: Random) -> tuple[Floats, NDArray[np.int64], float]:
    """Play rounds; give the facts of each bid, its end (0 exact, 1 over, 2 under), and the share of exact bids.

    That share is of those bids that were chosen, not drawn.
    """
    rows, ends = [], []
    chosen = exact = 0
    for _ in range(SAMPLES // seats):
        hands = dealt(seats, cards, rng)
        bids: list[int] = []
        asides, facts = [], []
        for place, hand in enumerate(hands):
            bidder = Bidder(seats, cards, hand, place, sum(bids))
            barred = cards - sum(bids) if place == seats - 1 else None
            legal = [bid for bid in range(cards + 1) if bid != barred]
            bid = best(bidder, legal, misses)
            asides.append(rng.random() < ASIDE)
            if asides[-1]:
                bid = rng.choice([each for each in legal if abs(each - bid) <= 2])
            bids.append(bid)
            facts.append(row(bidder, bid))
        wants = bids[0] != 0
        card = lead(hands[0], sum(hands[1:]), wants)
        won = played_out(hands, [0] * seats, bids, Turn.to_lead(0, seats), card)
        for own, bid, aside, fact in zip(won, bids, asides, facts, strict=True):
            rows.append(fact)
            ends.append(0 if own == bid else 1 if own > bid else 2)
            chosen += not aside
            exact += not aside and own == bid
    return np.array(rows), np.array(ends), exact / chosen


def dealt(seats: int, cards: int, rng: Random) -> list[int]:
    """Deal by strength, a trump turned, from eldest on."""
    turned = rng.randrange(FIRST_TRUMP, len(NUMBERS) + 1)
    pack = rng.sample([number for number in NUMBERS if number != turned], seats * cards)
    return [sum(1 << number - 1 for number in pack[at::seats]) for at in range(seats)]


def row(bidder: Bidder, bid: int) -> list[float]:
    """Put together what a bid is judged by."""
    cards = [0.0] * (2 * RANKS)
    for at in ranks_in(bidder.hand):
        cards[at] += 1.0
    return cards + hand_facts(bidder) + bid_facts(bidder, bid)


def best(bidder: Bidder, legal: list[int], misses: Misses | None) -> int:
    """Bid by the odds, or before there are any as ``house:greedy`` does."""
    if misses is None:
        weights = (*greedy_river.SIDE[bidder.seats], *greedy_river.TRUMP[bidder.seats])
        hoped = sum(weights[at] for at in ranks_in(bidder.hand))
        return min(legal, key=lambda bid: abs(bid - hoped))
    odds = dict(zip(legal, bids_river.chances(bidder, legal, misses), strict=True))
    return max(legal, key=lambda bid: odds[bid][2])


def regress(facts: Floats, ends: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Fit the log odds of either miss by Newton's steps, held together by a ridge."""
    width = facts.shape[1]
    weights = np.zeros(2 * width)
    goals = np.stack([ends == 1, ends == 2], axis=1).astype(np.float64)
    for _ in range(STEPS):
        logits = np.stack([facts @ weights[:width], facts @ weights[width:]], axis=1).clip(-30, 30)
        raised = np.exp(logits)
        likely = raised / (1 + raised.sum(axis=1, keepdims=True))
        gradient = (facts.T @ (goals - likely)).T.ravel() - RIDGE * weights
        hessian = np.empty((2 * width, 2 * width))
        for one in range(2):
            for other in range(2):
                curve = likely[:, one] * ((one == other) - likely[:, other])
                hessian[one * width : (one + 1) * width, other * width : (other + 1) * width] = facts.T @ (
                    facts * curve[:, np.newaxis]
                )
        step = np.linalg.solve(hessian + RIDGE * np.eye(2 * width), gradient)
        weights += step
        if np.abs(step).max() < 1e-4:
            break
    return weights[:width], weights[width:]


if __name__ == "__main__":
    main()
