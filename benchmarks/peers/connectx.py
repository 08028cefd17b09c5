"""Plays connectx by kaggle-environments against an agent at a URL, one environment for all games."""

from __future__ import annotations

import sys
import time

import kaggle_environments

from benchmarks.peers.rounds import serve


def main(url: str) -> None:
    """Play as many games as each round asks for, both agents at the URL."""
    environment = kaggle_environments.make("connectx")

    def play(games: int) -> dict[str, float]:
        decisions = 0
        began = time.perf_counter()
        for _ in range(games):
            steps = environment.run([url, url])
            statuses = {seat["status"] for seat in steps[-1]}
            if statuses != {"DONE"}:
                raise RuntimeError(f"expected a game that ends well, got {statuses}")
            decisions += len(steps) - 1  # the first is the empty board, each other one agent's move
        return {"decisions": decisions, "wall_s": time.perf_counter() - began}

    serve(play)


if __name__ == "__main__":
    main(*sys.argv[1:])
