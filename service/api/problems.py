"""Every error the API answers: RFC 9457 `application/problem+json` with a `code` that stays what it is.

Views raise what the use cases raise, or `Problem`; this module alone turns errors into answers.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from http import HTTPStatus
from itertools import islice
from typing import Any

from flask import Flask, Response, current_app, request
from redis import RedisError
from werkzeug.exceptions import HTTPException

from bot_sdk.games.registry import RulesVersionError
from service.api import wire
from service.api.routes import route
from service.api.wire import CODES, PROBLEM_JSON, TITLES
from service.arena import errors
from service.store.errors import BadCursorError, ContendedError, passes

RETRY_AFTER_S = 2
"""What a client is told to wait when the store is away."""

MOST_ERRORS = 50
LONGEST_TEXT = 300
"""Fields named in one answer, and characters about each: some quote what was sent, and an answer is no echo."""
STATUS: dict[type[errors.ArenaError], int] = {
    errors.NotFoundError: 404,
    errors.ForbiddenError: 403,
    errors.ConflictError: 409,
    errors.InvalidError: 422,
    errors.TooManyError: 429,
    errors.UnavailableError: 503,
}

log = logging.getLogger(__name__)


class Problem(Exception):  # noqa: N818 (the word of RFC 9457)
    """An error that only HTTP knows: `errors` by dotted field, `members` beside the detail."""

    def __init__(
        self,
        status: int,
        detail: str,
        *,
        code: str | None = None,
        errors: Mapping[str, Sequence[str]] | None = None,
        headers: Mapping[str, str] | None = None,
        **members: Any,
    ) -> None:
        super().__init__(detail)
        self.status = status
        self.detail = detail
        self.code = code or CODES[status]
        self.errors = errors
        self.headers = dict(headers or {})
        self.members = members

    def response(self) -> Response:
        """Build the answer."""
        body = wire.problem(self.status, self.detail[:LONGEST_TEXT], self.code)
        if self.errors:
            body["errors"] = {
                name[:LONGEST_TEXT]: [reason[:LONGEST_TEXT] for reason in reasons]
                for name, reasons in islice(self.errors.items(), MOST_ERRORS)
            }
        answer = current_app.response_class(
            current_app.json.dumps(body | self.members), status=self.status, content_type=PROBLEM_JSON
        )
        answer.headers.update(self.headers)
        return answer


def register(app: Flask) -> None:
    """Answer every error of the app as a problem."""
    app.register_error_handler(Problem, Problem.response)
    app.register_error_handler(errors.ArenaError, _refused)
    app.register_error_handler(HTTPException, http_error)
    app.register_error_handler(BadCursorError, _bad_cursor)
    app.register_error_handler(ContendedError, _away)
    app.register_error_handler(RulesVersionError, _of_another_release)
    app.register_error_handler(RedisError, _store_failed)
    app.register_error_handler(Exception, _bug)


def http_error(error: HTTPException) -> Response:
    """Answer what Flask, werkzeug, webargs and flask-limiter raise."""
    if isinstance(error.response, Response):
        return error.response
    status = error.code if error.code in TITLES else int(HTTPStatus.BAD_REQUEST)
    messages = getattr(error, "data", {}).get("messages")
    if messages is not None:
        return validation_failed(messages).response()
    headers = {k: v for k, v in error.get_headers(request.environ) if k in {"Allow", "Retry-After"}}
    return Problem(status, _detail_of(status, error), headers=headers).response()


def validation_failed(messages: Any) -> Problem:
    """Build the 422 of a schema's messages, as marshmallow nests them."""
    found = dict(_flat(messages))
    first, reasons = next(iter(found.items()))
    return Problem(422, f"{first}: {reasons[0]}" if first else reasons[0], errors=found)


def _detail_of(status: int, error: HTTPException) -> str:
    if status == HTTPStatus.NOT_FOUND:
        return "there is nothing at this path"
    if status == HTTPStatus.METHOD_NOT_ALLOWED:
        return f"{request.method} is not possible here"
    return (error.description or TITLES[status]).strip().rstrip(".")


def _refused(error: errors.ArenaError) -> Response:
    headers = {"Retry-After": str(error.retry_after)} if isinstance(error, errors.UnavailableError) else None
    status = next((STATUS[kind] for kind in type(error).__mro__ if kind in STATUS), 400)
    problem = Problem(status, error.detail, code=error.code, errors=error.errors, headers=headers, **error.members)
    return problem.response()


def _bad_cursor(error: BadCursorError) -> Response:
    return Problem(422, f"cursor: {error}", errors={"cursor": [str(error)]}).response()


def _store_failed(error: RedisError) -> Response:
    return _away(error) if passes(error) else _bug(error)


def _away(error: Exception) -> Response:
    log.warning("the store is away: %s: %.200s", type(error).__name__, error)
    wait = {"Retry-After": str(RETRY_AFTER_S)}
    return Problem(503, "the store is away, try again", code="store_away", headers=wait).response()


def _of_another_release(error: RulesVersionError) -> Response:
    log.warning("%s %s failed: %s", request.method, request.path, error)
    wait = {"Retry-After": str(RETRY_AFTER_S)}
    return Problem(
        503, "that game is of rules that this release doesn't know", code="rules_unknown", headers=wait
    ).response()


def _bug(error: Exception) -> Response:
    log.error("%s %s failed", request.method, route() or "nowhere", exc_info=error)
    return Problem(500, "something broke here, and it isn't your fault").response()


def _flat(messages: Any, path: str = "") -> Iterator[tuple[str, list[str]]]:
    """Walk nested messages: `{"json": {"seats": {0: {"kind": ["..."]}}}}` gives `seats.0.kind`."""
    if isinstance(messages, Mapping):
        for key, inner in messages.items():
            step = "" if key in {"_schema", "json", "query"} and not path else str(key)
            yield from _flat(inner, ".".join(part for part in (path, step) if part and part != "_schema"))
    else:
        listed = messages if isinstance(messages, list) else [messages]
        yield path, [_house_style(str(message)) for message in listed]


def _house_style(message: str) -> str:
    return (message[:1].lower() + message[1:]).rstrip(".")
