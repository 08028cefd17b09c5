"""Where the time of a decision goes: ``python -m benchmarks.profiled [RULESET [MAX_BATCH [GAMES]]]``.

A worker runs in this process, the thread that drives its tournaments under cProfile, and a whole tournament is played
against trivial bots in another. Printed is each room's own processor time for a decision, functions written in C
counted for the room that calls them. The profiler makes functions dearer than they are, most of all small ones: the
shares are a guide, the sum isn't the price; that is what ``python -m benchmarks worker`` measures. Python 3.11 only,
whose cProfile watches a single thread.
"""

from __future__ import annotations

import cProfile
import pstats
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any, Final, TypeAlias

from benchmarks.ground import BotServer, Ground
from service.config import Settings
from service.worker.process import WorkerProcess

ROOT: Final = Path(__file__).parents[1]
DRIVING: Final = "tournaments"
"""The name of the thread that drives the games of tournaments."""
_Function: TypeAlias = tuple[str, int, str]
"""As pstats has it: file, line, name; of a function written in C the file is ``~``."""


def main(ruleset: str = "river", max_batch: str = "1", games: str = "16") -> None:
    """Play and print."""
    if sys.version_info >= (3, 12):
        sys.exit("expected Python 3.11: later ones' cProfile watches all threads at once")
    with BotServer() as bots, Ground(bots, workers=0, max_batch=int(max_batch)) as ground:
        profile = cProfile.Profile(time.thread_time)
        run_under(profile)
        worker = WorkerProcess(Settings.from_env(ground.environment))
        worker.start()
        try:
            decisions = ground.play(ruleset, int(games)).decisions
        finally:
            worker.stop()
    spent = by_room(profile)
    if not spent:
        sys.exit(f"expected a thread named {DRIVING!r} that drives the games of tournaments, there was none")
    total = sum(spent.values())
    for room, seconds in spent.most_common():
        print(f"{room:28} {seconds / decisions * 1e6:8.1f} µs {seconds / total:6.1%}")
    print(f"{'a decision':28} {total / decisions * 1e6:8.1f} µs")


def run_under(profile: cProfile.Profile) -> None:
    """Have the thread that drives tournaments run under a profile once it is started."""

    def first_event(*_: object) -> None:
        sys.setprofile(None)
        if threading.current_thread().name == DRIVING:
            profile.enable()

    threading.setprofile(first_event)


def by_room(profile: cProfile.Profile) -> Counter[str]:
    """Give the seconds of each room."""
    stats: dict[_Function, Any] = pstats.Stats(profile).stats  # type: ignore[attr-defined]  # its stub leaves it out
    spent: Counter[str] = Counter()
    for function, (_, _, own_s, _, callers) in stats.items():
        if function[0] != "~":
            spent[room_of(function[0])] += own_s
        else:
            for caller, (_, _, called_s, _) in callers.items():
                spent[room_of(caller[0])] += called_s
    return spent


def room_of(file: str) -> str:
    """Name the room that a file is of: two names deep in what is ours, a library's own name elsewhere."""
    path = Path(file)
    if path.is_relative_to(ROOT):
        return "/".join(path.relative_to(ROOT).parts[:2]).removesuffix(".py")
    parts = path.parts
    if "site-packages" in parts:
        return parts[parts.index("site-packages") + 1].removesuffix(".py")
    return "Python itself"


if __name__ == "__main__":
    main(*sys.argv[1:])
