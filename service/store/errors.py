"""What the store raises beside redis-py's own errors of the network."""

from __future__ import annotations


class StoreError(Exception):
    """The base of them all."""


class NotFoundError(StoreError):
    """Nothing is kept under that id."""


class BadCursorError(StoreError):
    """A cursor of a list that this list never gave."""


class FullError(StoreError):
    """There are as many as may be: nothing was kept."""


class LastError(StoreError):
    """It is the last one, which has to stay."""


class ContendedError(StoreError):
    """A value changed under our hands so often that we gave up; trying again later is right."""


class DamagedError(StoreError):
    """What is kept can't be read: nothing here wrote it so."""
