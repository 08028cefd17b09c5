"""Ids in paths. One that can't be an id is answered 404 by routing and never reaches the store."""

from __future__ import annotations

from typing import Any, ClassVar

from flask import Flask
from werkzeug.routing import BaseConverter

from service.arena.minting import ID_LENGTH

_TAIL = rf"[a-z2-7]{{{ID_LENGTH}}}"


class _Pattern(BaseConverter):
    part_isolating = True
    example: ClassVar[str] = ""


def _converter(pattern: str, example: str) -> type[_Pattern]:
    return type("Converter", (_Pattern,), {"regex": pattern, "example": example})


CONVERTERS: dict[str, type[_Pattern]] = {
    "account": _converter(f"acc_{_TAIL}", "acc_" + "a" * ID_LENGTH),
    "token": _converter(f"tok_{_TAIL}", "tok_" + "a" * ID_LENGTH),
    "bot": _converter(rf"(?:bot_{_TAIL}|house:[a-z0-9_-]{{1,32}})", "bot_" + "a" * ID_LENGTH),
    "check": _converter(f"chk_{_TAIL}", "chk_" + "a" * ID_LENGTH),
    "game": _converter(f"gam_{_TAIL}", "gam_" + "a" * ID_LENGTH),
    "tournament": _converter(f"trn_{_TAIL}", "trn_" + "a" * ID_LENGTH),
    "letter": _converter("[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", "00000000-0000-4000-8000-000000000000"),
    "ruleset": _converter("[a-z][a-z0-9_]{0,31}", "river"),
    "seat": _converter("[0-7]", "0"),
}
"""What a rule may say, as in `/v1/bots/<bot:bot_id>`; a seat comes to its view as text."""


def parameter(converter: BaseConverter) -> dict[str, Any]:
    """Describe a path parameter in OpenAPI."""
    pattern = converter.regex.replace("(?:", "(")
    return {"type": "string", "pattern": f"^{pattern}$", "example": converter.example}  # type: ignore[attr-defined]  # all of ours have one


def register(app: Flask) -> None:
    """Let the rules of this app use the converters."""
    app.url_map.converters.update(CONVERTERS)
