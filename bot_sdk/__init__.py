"""Everything a bot author installs: the rules, the bot contract, a host, offline matches, the client.

What most authors need comes from here: `Bot`, `Decision`, `play`, `Arena`. Each is loaded when it is first asked for,
so that importing this package, which every part of it does, costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from bot_sdk.bot import Bot, Decision
    from bot_sdk.client import Arena
    from bot_sdk.local import play

__all__ = ["Arena", "Bot", "Decision", "play"]

_HOMES: Final = {
    "Arena": "bot_sdk.client",
    "Bot": "bot_sdk.bot",
    "Decision": "bot_sdk.bot",
    "play": "bot_sdk.local",
}

if not TYPE_CHECKING:  # a type checker would take every name for one of ours

    def __getattr__(name: str) -> object:
        """Load one of the names of `__all__`."""
        if name not in _HOMES:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(_HOMES[name]), name)

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
