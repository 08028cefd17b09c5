"""Plays the rounds of River by OpenSpiel's `oh_hell`, driven from Python, every action drawn at random.

The argument says how cards are dealt: ``packs`` draws a pack in Python and applies it as chance actions, ``chance``
asks each chance node for its outcomes and draws one by its probability.
"""

from __future__ import annotations

import sys
import time
from random import Random
from typing import Any

import pyspiel

from benchmarks.peers.rounds import serve

SEATS = 4
SCHEDULE = (8, 7, 6, 5, 4, 3, 2, 1, 2, 3, 4, 5, 6, 7, 8)


def deal_packs(state: Any, dealer: int, cards: int, rng: Random) -> None:
    """Apply the number of tricks, the dealer and a drawn pack; the last card is turned."""
    apply = state.apply_action
    apply(cards)
    apply(dealer)
    for card in rng.sample(range(52), SEATS * cards + 1):
        apply(card)


def deal_by_chance(state: Any, dealer: int, cards: int, rng: Random) -> None:
    """Draw the outcome of every chance node: the dealer is one of them."""
    del dealer, cards
    while state.is_chance_node():
        outcomes, chances = zip(*state.chance_outcomes(), strict=True)
        state.apply_action(rng.choices(outcomes, chances)[0])


def main(how: str) -> None:
    """Play as many games of River as each round asks for."""
    games = {cards: pyspiel.load_game(f"oh_hell(players={SEATS},num_tricks_fixed={cards})") for cards in set(SCHEDULE)}
    deal = {"packs": deal_packs, "chance": deal_by_chance}[how]
    rng = Random(1)
    random = rng.random

    def play(rounds: int) -> dict[str, float]:
        decisions = 0
        began = time.process_time()
        for _ in range(rounds):
            for number, cards in enumerate(SCHEDULE):
                state = games[cards].new_initial_state()
                deal(state, number % SEATS, cards, rng)
                while not state.is_terminal():
                    legal = state.legal_actions()
                    state.apply_action(legal[int(random() * len(legal))])
                    decisions += 1
                state.returns()
        return {"decisions": decisions, "cpu_s": time.process_time() - began}

    serve(play)


if __name__ == "__main__":
    main(*sys.argv[1:])
