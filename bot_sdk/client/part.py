"""What every part of the client works with."""

from __future__ import annotations

from collections.abc import Callable

from bot_sdk.transport import Transport


class Part:
    """Some of the operations of `Arena`, which is made with a session, a pause and a clock."""

    _session: Transport
    _sleep: Callable[[float], None]
    _clock: Callable[[], float]
