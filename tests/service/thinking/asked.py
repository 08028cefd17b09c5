"""A pool that is asked and waited for, and what there is to ask."""

from __future__ import annotations

import queue
from pathlib import Path
from typing import Any

from bot_sdk import messages
from bot_sdk.positions import positions
from service.thinking.frames import Thought
from service.thinking.thinkers import Job, Thinkers

DECISIONS = positions("river", "play", 3, "think")
KEY = "5e" * 32


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that is dead and not yet reaped doesn't."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class Asked:
    """A pool, and the thoughts that have come out of it, each with the name it was asked under."""

    def __init__(self, size: int, **options: Any) -> None:
        self.pool = Thinkers(size, **options)
        self.heard: queue.SimpleQueue[tuple[str, Thought]] = queue.SimpleQueue()

    def put(
        self, name: str = "", *, owner: str = "run", bot: str = "house:greedy", at: int = 0, budget_s: float = 1.0
    ) -> None:
        body = messages.encode(DECISIONS[at])
        self.pool.put(owner, Job(bot, KEY, body, budget_s, lambda thought, _ms: self.heard.put((name, thought))))

    def hear(self) -> tuple[str, Thought]:
        """Wait for the next thought."""
        return self.heard.get(timeout=60)

    def ask(self, **options: Any) -> Thought:
        self.put(**options)
        return self.hear()[1]

    @property
    def pid(self) -> int:
        """The one process there is."""
        (pid,) = self.pool.pids()
        return pid
