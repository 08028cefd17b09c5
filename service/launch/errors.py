"""What is said when an arena can't be started. Nothing is loaded here, since each command catches it."""

from __future__ import annotations


class StackError(Exception):
    """The arena can't be started; the message says why."""
