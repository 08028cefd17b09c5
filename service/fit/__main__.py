"""``python -m service.fit``: rated games come in by stdin, a JSON array; ratings go out by stdout."""

from __future__ import annotations

import os
import signal
import sys
from typing import Final

import msgspec

from service.fit.fitted import fitted
from service.store.leaderboard import Kept

NICENESS: Final = 10
"""Games go first."""


def main(longest_s: int) -> None:
    """Fit what comes in. After `longest_s` the process ends, whatever became of the worker that started it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C in the terminal is for the worker
    signal.alarm(longest_s)
    os.nice(NICENESS)
    games = msgspec.json.decode(sys.stdin.buffer.read(), type=list[Kept])
    sys.stdout.buffer.write(msgspec.json.encode(fitted(games)))


if __name__ == "__main__":
    main(int(sys.argv[1]))
