"""What was asked for, without what a stranger put into its path."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final

from flask import request

_PARAMETER: Final = re.compile(r"<(?:[^:<>]*:)?([^<>]*)>")


def route() -> str | None:
    """Give the path of the operation that a request is for, with names for its parameters; None if there is none."""
    return None if request.url_rule is None else _template(request.url_rule.rule)


@lru_cache(maxsize=256)
def _template(rule: str) -> str:
    return _PARAMETER.sub(r"{\1}", rule)
