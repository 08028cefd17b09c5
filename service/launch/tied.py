"""Ties a child process to its parent, so that nothing of ours outlives a parent that was killed (Linux)."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1


def tie() -> Callable[[], None] | None:
    """Give the `preexec_fn` by which a child is told to stop (SIGTERM) when its parent dies.

    None where that can't work: elsewhere than on Linux, and outside the main thread, because the kernel watches the
    thread that started the child.
    """
    if sys.platform != "linux" or threading.current_thread() is not threading.main_thread():
        return None
    libc, parent = ctypes.CDLL(None), os.getpid()

    def in_child() -> None:
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:  # it died before we asked
            os._exit(1)

    return in_child
