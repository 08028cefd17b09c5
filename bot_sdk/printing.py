"""How what a bot is asked and answers is shown: a line for each decision, whole bodies if asked for.

Lines are printable ASCII, whatever strangers and exceptions put into them. Nothing here holds up an answer.
"""

from __future__ import annotations

import contextlib
import queue
import re
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any, Final, Self

from bot_sdk.hosting import Reply, Served

WAITING: Final = 10_000
"""How many lines may wait for a terminal that stands still; what comes then is left out."""
_PATIENCE_S: Final = 2.0


def decision_line(served: Served) -> str:
    """Show one decision: ruleset and phase, the time it took, what was chosen, what was legal, its id."""
    asked = served.decision
    kind = f"{asked.game.ruleset} {asked.phase}"
    legal = " ".join(_short(action) for action in asked.legal_actions)
    if served.error is not None:
        what = f"failed with {served.error}; legal: {legal}"
    elif not served.legal:
        what = f"chose {served.action!r}, expected one of {' '.join(asked.legal_actions)}"
    else:
        what = f"chose {_short(str(served.action)):<5} of {legal}"
    return printable(f"{kind:<16} {served.ms:7.1f} ms  {what}  ({asked.decision_id})")


def decision_json(served: Served) -> dict[str, Any]:
    """Give one decision for programs: `action` is null where the bot failed, `error` where it didn't."""
    asked = served.decision
    return {
        "decision_id": asked.decision_id,
        "ruleset": asked.game.ruleset,
        "phase": asked.phase,
        "legal_actions": asked.legal_actions,
        "action": served.action,
        "error": served.error,
        "ms": round(served.ms, 3),
    }


def exchange_lines(body: bytes, reply: Reply) -> str:
    """Show a message and its reply, each whole in a line."""
    asked, answered = body.decode(errors="replace"), reply.body.decode(errors="replace")
    return f"{printable(f'< {asked}')}\n{printable(f'> {reply.status.value} {answered}')}"


def exchange_json(body: bytes, reply: Reply) -> dict[str, Any]:
    """Give a message and its reply for programs: the bodies as texts, since a stranger's needn't be JSON."""
    return {
        "message": body.decode(errors="replace"),
        "status": reply.status.value,
        "reply": reply.body.decode(errors="replace"),
    }


def printable(text: str) -> str:
    """Escape all but printable ASCII, as JSON and Python do: no line break, nothing that steers a terminal."""
    in_ascii = text.encode("ascii", "backslashreplace").decode()
    return re.sub(r"[^ -~]", lambda found: f"\\x{ord(found[0]):02x}", in_ascii)


def _short(action: str) -> str:
    return action.rpartition(":")[2]


class Printer:
    """Writes lines in a thread of its own, so that a terminal that stands still makes no answer late."""

    def __init__(self, write: Callable[[bytes], object]) -> None:
        """Write by `write`, which may block for as long as it likes."""
        self._write = write
        self._lines: queue.Queue[str | None] = queue.Queue(WAITING)
        self._left_out = 0
        self._counting = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="printer", daemon=True)

    def __enter__(self) -> Self:
        """Begin to write."""
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        """Write what waits, for two seconds at most."""
        with contextlib.suppress(queue.Full):  # nobody reads what it writes
            self._lines.put(None, timeout=_PATIENCE_S)
        self._thread.join(_PATIENCE_S)

    def print(self, line: str) -> None:
        """Have a line written soon; never waits."""
        try:
            self._lines.put_nowait(line)
        except queue.Full:
            with self._counting:
                self._left_out += 1

    def _run(self) -> None:
        with contextlib.suppress(OSError):  # who reads has gone: the bot plays on
            while (line := self._lines.get()) is not None:
                self._write(f"{line}\n".encode())
                with self._counting:
                    left_out, self._left_out = self._left_out, 0
                if left_out:
                    self._write(b"%d lines left out: they came faster than they were written\n" % left_out)
