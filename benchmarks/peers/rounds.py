"""The side of a peer's process: it waits for the word, plays a round, and tells what that took.

It runs in the peers' own environment and uses the standard library alone.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping


def serve(play: Callable[[int], Mapping[str, float]]) -> None:
    """Play a round of the size that each line of stdin asks for; print what `play` gives, a line of JSON each.

    What the peer's library prints itself goes to stderr.
    """
    told, sys.stdout = sys.stdout, sys.stderr
    print("{}", file=told, flush=True)
    for line in sys.stdin:
        print(json.dumps(dict(play(int(line)))), file=told, flush=True)
