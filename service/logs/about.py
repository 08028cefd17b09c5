"""What the lines of a thread or greenlet are about, so that none of them has to be told: a request and its ids.

Whoever knows more of one line says so with `extra`, by the same names.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Mapping
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any, Final

IDS: Final = ("request_id", "game_id", "tournament_id", "bot_id")
"""What a line may be about; each has a field of that name."""
_PREFIXES: Final = {"gam_": "game_id", "trn_": "tournament_id", "bot_": "bot_id", "house:": "bot_id"}
_GIVEN: Final = re.compile(r"[A-Za-z0-9-]{8,64}", re.ASCII)
_NOTHING: Final[Mapping[str, str]] = MappingProxyType({})
_about: Final[ContextVar[Mapping[str, str]]] = ContextVar("about", default=_NOTHING)


def ids() -> Mapping[str, str]:
    """Give what lines are about here and now."""
    return _about.get()


def request_id() -> str | None:
    """Give the id of the request that causes what is done here, None if none does."""
    return _about.get().get("request_id")


def name_request(given: str | None) -> str:
    """Give the id of a request: what came with it if that looks right, else a new one."""
    return given if given is not None and _GIVEN.fullmatch(given) else secrets.token_hex(8)


def named(name: Any) -> dict[str, str]:
    """Give the field of a line that an id of the arena's belongs into, with the id; none if it is no such id."""
    if not isinstance(name, str):
        return {}
    return {field: name for prefix, field in _PREFIXES.items() if name.startswith(prefix)}


def begin(request_id: str | None) -> None:
    """Let lines be about what this request causes, and nothing else; with None about nothing in particular."""
    _about.set(_NOTHING if request_id is None else {"request_id": request_id})


def add(more: Mapping[str, str]) -> None:
    """Let lines be about these, too, as far as they are ids that a line may be about."""
    known = {name: value for name, value in more.items() if name in IDS}
    if known:
        _about.set({**_about.get(), **known})
