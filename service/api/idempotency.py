"""Idempotency-Key on operations that create: the same key and body give the same answer for 24 hours.

Another body under the key is 422, a request still in flight 409. Answers are kept without the secrets in them: those
are cut out where `Mint` made them, and made again for a retry. Only answers of success are kept; after a refusal the
key is free again.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
import secrets
from collections.abc import Callable
from typing import Any

from flask import Response, current_app, request

from service.api import bodies
from service.api.context import caller, services
from service.api.problems import Problem
from service.arena.caller import Caller
from service.arena.minting import Mint
from service.store.idempotency import Answer

HEADER = "Idempotency-Key"
SHORTEST_ANONYMOUS = 16
"""Without an account the key is all that tells a retry from a stranger, so it has to be hard to guess."""

PARAMETER = {
    "description": "The same key and body give the same answer for 24 hours; without one, each call makes anew.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 128},
}
_KEY = re.compile(r"[\x21-\x7e]{1,128}")
_KEPT_HEADERS = ("Location", "ETag", "Cache-Control")
View = Callable[..., Any]


def idempotent(view: View) -> View:
    """Let a creating view be retried; it gets `mint`, from which all it creates takes ids and secrets.

    Stands between `arguments` and `response`.
    """

    @functools.wraps(view)
    def retryable(*args: Any, **kwargs: Any) -> Any:
        key = _key(caller())
        if key is None:
            return view(*args, mint=Mint(services().arena_key(), secrets.token_bytes(32)), **kwargs)
        scope = hashlib.sha256(f"{caller().name}\0{request.method} {request.path}\0{key}".encode()).hexdigest()
        mint = Mint(services().arena_key(), bytes.fromhex(scope))
        return _once(scope, mint, functools.partial(view, *args, mint=mint, **kwargs))

    retryable.is_idempotent = True  # type: ignore[attr-defined]  # a note on a view
    return retryable


def _key(asking: Caller) -> str | None:
    key = request.headers.get(HEADER)
    if key is None:
        return None
    if not _KEY.fullmatch(key):
        raise Problem(422, f"expected 1 to 128 visible ASCII characters as {HEADER}", code="bad_idempotency_key")
    if asking.account_id is None and not asking.is_operator and len(key) < SHORTEST_ANONYMOUS:
        detail = f"expected a random {HEADER} of at least {SHORTEST_ANONYMOUS} characters from a caller without a token"
        raise Problem(422, detail, code="bad_idempotency_key")
    return key


def _once(scope: str, mint: Mint, view: Callable[[], Any]) -> Any:
    kept = services().store.idempotency
    fingerprint = hashlib.sha256(bodies.whole(request)).hexdigest()
    begun = kept.begin(scope, fingerprint, account_id=caller().account_id or "")
    if begun.status == "conflict":
        raise Problem(422, f"that {HEADER} came with another body before", code="idempotency_key_reused")
    if begun.status == "in_flight":
        detail = f"a request with that {HEADER} is in flight"
        raise Problem(409, detail, code="in_flight", headers={"Retry-After": "1"})
    if begun.answer is not None:
        return _replayed(begun.answer, mint)
    try:
        answer: Response = current_app.make_response(view())
        headers = {name: answer.headers[name] for name in _KEPT_HEADERS if name in answer.headers}
        kept.finish(begun, Answer(answer.status_code, headers, without_secrets(answer.get_data(as_text=True), mint)))
    except Exception:  # whatever it was, the key is free again, and the error goes on
        kept.abandon(begun)
        raise
    return answer


def _replayed(kept: Answer, mint: Mint) -> Response:
    body = with_secrets(kept.body, mint)
    answer = current_app.response_class(body, status=kept.status, content_type="application/json")
    answer.headers.update(kept.headers)
    answer.headers["Idempotency-Replayed"] = "true"
    return answer


def without_secrets(body: str, mint: Mint) -> bytes:
    """Cut what the mint has made out of a body: JSON of texts, and of `[prefix, purpose]` where a secret stood."""
    pieces: list[str | list[str]] = [body]
    for secret, prefix, purpose in mint.minted:
        pieces = [part for piece in pieces for part in _cut(piece, secret, [prefix, purpose])]
    return json.dumps(pieces).encode()


def with_secrets(pieces: bytes, mint: Mint) -> str:
    """Undo `without_secrets`, making the same secrets again."""
    return "".join(piece if isinstance(piece, str) else mint.secret(*piece) for piece in json.loads(pieces))


def _cut(piece: str | list[str], secret: str, mark: list[str]) -> list[str | list[str]]:
    if not isinstance(piece, str):
        return [piece]
    first, *rest = piece.split(secret)
    found: list[str | list[str]] = [first]
    for text in rest:
        found += [mark, text]
    return found
