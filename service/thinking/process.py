"""One process that thinks, seen from the worker: started when it is first asked, and again when it has ended."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from collections.abc import Sequence
from time import monotonic
from typing import IO, Final

import msgspec

from service.thinking.frames import HEAD, Question, Thought, framed

START_S: Final = 30.0
"""How long a process may take until it is ready: a second on a busy machine."""
CHUNK: Final = 65_536
COMMAND: Final = ("-m", "service.thinking")
"""What Python runs; how to log may follow."""

_read_thought = msgspec.json.Decoder(Thought).decode


class BrokenError(Exception):
    """The process has ended, or didn't answer in time and was ended."""


class NoProcessError(BrokenError):
    """No process could be started."""


class Process:
    """A process of house bots; of one thread, but for `kill`. `command` is what Python runs."""

    def __init__(self, command: Sequence[str] = COMMAND) -> None:
        """Start nothing yet."""
        self._command = [sys.executable, *command]
        self._child: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """The id of the process; None while there is none."""
        return None if self._child is None else self._child.pid

    def ask(self, question: Question) -> Thought:
        """Have one decision thought about; raises BrokenError.

        A process that broke is gone; the next question begins another.
        """
        child = self._child
        if child is None or child.poll() is not None:
            child = self._start()
        try:
            os.write(_fd(child.stdin), framed(msgspec.json.encode(question)))
            return _read_thought(_received(child, question.longest_s))
        except (OSError, msgspec.DecodeError) as error:
            self.end()
            raise BrokenError(str(error)) from error
        except BrokenError:
            self.end()
            raise

    def kill(self) -> None:
        """End the process at once, from any thread; whoever waits for its answer hears that it broke."""
        child = self._child
        if child is not None:
            child.kill()

    def end(self) -> None:
        """Kill the process and see it gone."""
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            child.wait()
            for pipe in (child.stdin, child.stdout):
                if pipe is not None:
                    pipe.close()

    def _start(self) -> subprocess.Popen[bytes]:
        self.end()
        try:
            child = self._child = subprocess.Popen(  # noqa: S603 - our own command
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
            )
            _received(child, START_S)
        except (OSError, BrokenError) as error:
            self.end()
            raise NoProcessError(str(error)) from error
        return child


def _fd(pipe: IO[bytes] | None) -> int:
    assert pipe is not None  # noqa: S101 - it was asked for
    return pipe.fileno()


def _received(child: subprocess.Popen[bytes], seconds: float) -> bytes:
    """Read one body; raises BrokenError after so many seconds, or when the process ends before it."""
    ends, fd, heard = monotonic() + seconds, _fd(child.stdout), b""
    poll = select.poll()  # `select` itself can't watch descriptors over 1,023
    poll.register(fd, select.POLLIN)
    while len(heard) < HEAD or len(heard) < HEAD + int.from_bytes(heard[:HEAD], "big"):
        if not poll.poll(max(0.0, ends - monotonic()) * 1000):
            raise BrokenError(f"expected an answer within {seconds:g} s, got none")
        chunk = os.read(fd, CHUNK)
        if not chunk:
            raise BrokenError(f"the process ended with status {child.wait()}")
        heard += chunk
    return heard[HEAD:]
