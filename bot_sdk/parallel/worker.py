"""One process that plays, seen from the one that asks it: its pipes, and how long it has been silent."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from contextlib import suppress
from queue import SimpleQueue
from typing import IO, Any, Final, NamedTuple, cast

import msgspec

from bot_sdk.parallel.orders import Mark, Order, Reached, Task, Told

_RUN: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]); "
    "from bot_sdk.parallel.child import main; main(sys.argv[2])"
)
"""The process finds the modules that this one finds, wherever they come from."""
END_S: Final = 5.0
"""How long a process may take to end after its pipe has."""
_decoder: Final = msgspec.json.Decoder(Told)


class Came(NamedTuple):
    """What a worker told; None when it has ended."""

    worker: Worker
    told: Told | None


class Worker:
    """A process, from its start on; what it tells goes to a queue."""

    def __init__(self, order: Order, came: SimpleQueue[Came]) -> None:
        """Start the process and have it load its bots."""
        self.task: Task | None = None
        self.hung_at: Reached | None = None
        """Where it was when it was killed for being silent."""
        self.silent_s = 0.0
        """For how long it hadn't come a step further when it was looked at last."""
        self._mark = Mark.make()
        self._reached = self._mark.read()
        self._process = subprocess.Popen(  # noqa: S603 - this interpreter, and code of our own
            [sys.executable, "-c", _RUN, json.dumps(sys.path), str(self._mark.path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            **_apart(),
        )
        self._asks = cast("IO[bytes]", self._process.stdin)
        self._listener = threading.Thread(target=self._listen, args=(came,), daemon=True)
        self._listener.start()
        self._send(order)

    def play(self, task: Task) -> None:
        """Have a game played."""
        self.task = task
        self.silent_s = 0.0
        self._send(task)

    def silence(self, passed_s: float) -> float:
        """Count that time has passed; give the seconds since the process came a step further.

        While it loads its bots it takes no steps, and may take its time.
        """
        reached = self._mark.read()
        is_still = reached == self._reached and reached.steps > 0
        self.silent_s = self.silent_s + passed_s if is_still else 0.0
        self._reached = reached
        return self.silent_s

    @property
    def reached(self) -> Reached:
        """How far the process has come."""
        return self._mark.read()

    @property
    def how(self) -> str:
        """Say how the process ended, which says nothing any more; one that lives on all the same is killed."""
        try:
            status = self._process.wait(END_S)
        except subprocess.TimeoutExpired:
            self._kill()
            status = self._process.wait()
        return f"with status {status}" if status >= 0 else f"by signal {-status}"

    def kill_hung(self) -> None:
        """End a process that is silent; where the system has the signal for it, it shows where it hangs."""
        if sys.platform == "win32" or self.hung_at is not None:
            self._kill()
        else:
            self._process.send_signal(signal.SIGABRT)
        self.hung_at = self.hung_at or self.reached

    def dismiss(self) -> None:
        """Let the process end by itself: no more games will come."""
        with suppress(OSError):  # it may have ended already
            self._asks.close()

    def close(self, timeout_s: float) -> None:
        """See to it that the process has ended, by killing it if it takes longer."""
        self.dismiss()
        try:
            self._process.wait(timeout_s)
        except subprocess.TimeoutExpired:
            self._kill()
            self._process.wait()
        self._listener.join(END_S)
        self._mark.close()

    def _kill(self) -> None:
        """Kill the process and what the bots in it have started."""
        if sys.platform == "win32":
            self._process.kill()
        elif self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)

    def _send(self, what: Order | Task) -> None:
        with suppress(OSError):  # it may have ended, which the listener hears
            self._asks.write(msgspec.json.encode(what) + b"\n")
            self._asks.flush()

    def _listen(self, came: SimpleQueue[Came]) -> None:
        with cast("IO[bytes]", self._process.stdout) as told:
            for line in told:
                if line.endswith(b"\n"):  # the last may be cut off
                    came.put(Came(self, _decoder.decode(line)))
        came.put(Came(self, None))


def _apart() -> dict[str, Any]:
    """Keep the terminal's Ctrl-C from the process: whoever started it decides what becomes of it."""
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"process_group": 0}
