"""Around every view that changes something for the operator, or of an account's security: a line in the audit log.

The line is written before the view runs; without it nothing is done. How it ended is added when the answer is known.
"""

from __future__ import annotations

import json
import logging
from typing import Any, Final

from flask import Flask, Response, g, request
from redis.exceptions import RedisError

from service.api import bodies
from service.api.context import caller, services
from service.api.problems import Problem

READS: Final = {"GET", "HEAD", "OPTIONS"}
SECRET_FIELDS: Final = {"secret", "token", "invite_code", "entropy"}
LONGEST_BODY: Final = 2_000
"""Characters of a body that are kept."""

log = logging.getLogger(__name__)


def begin(operation: str, *, of_accounts: bool) -> None:
    """Write down what the request is about to do, if it is the operator's, or an account's and `of_accounts`."""
    asking = caller()
    if request.method in READS or not (asking.is_operator or (of_accounts and asking.account_id)):
        return
    g.audited = services().auditing.begin(asking, operation, request.path, _body())


def register(app: Flask) -> None:
    """Have what was begun ended with the status of its answer, whatever that is."""
    app.after_request(_end)


def _end(answer: Response) -> Response:
    line = g.pop("audited", None)
    if line is not None:
        try:
            services().auditing.end(line, answer.status_code, _made(answer))
        except RedisError as error:
            log.warning("how %s ended (%d) isn't in the audit log: %s", line.id, answer.status_code, error)
    return answer


def _body() -> str | None:
    try:
        shown = bodies.read_object(request)
    except Problem:  # the view will say so, and do nothing
        return None
    return json.dumps(without_secrets(shown), ensure_ascii=False)[:LONGEST_BODY] if shown else None


def without_secrets(value: Any) -> Any:
    """Give JSON with a mark in the place of every secret."""
    if isinstance(value, dict):
        return {name: "***" if name in SECRET_FIELDS else without_secrets(inner) for name, inner in value.items()}
    return [without_secrets(inner) for inner in value] if isinstance(value, list) else value


def _made(answer: Response) -> str | None:
    """Give the id of what a creation has made."""
    if answer.status_code not in {201, 202}:
        return None
    shown = answer.get_json(silent=True)
    made = shown.get("id") if isinstance(shown, dict) else None
    return made if isinstance(made, str) else None
