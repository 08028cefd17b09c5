"""Plays bridge by RLCard's environment, every action drawn at random."""

from __future__ import annotations

import time
from random import Random

import rlcard

from benchmarks.peers.rounds import serve


def main() -> None:
    """Play as many games as each round asks for."""
    environment = rlcard.make("bridge")
    random = Random(1).random

    def play(games: int) -> dict[str, float]:
        decisions = 0
        began = time.process_time()
        for _ in range(games):
            state, _ = environment.reset()
            while not environment.is_over():
                legal = state["raw_legal_actions"]
                state, _ = environment.step(legal[int(random() * len(legal))])
                decisions += 1
            environment.get_payoffs()
        return {"decisions": decisions, "cpu_s": time.process_time() - began}

    serve(play)


if __name__ == "__main__":
    main()
