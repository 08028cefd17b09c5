"""Who may call what: bearer tokens, and the audience that every operation must name.

An operation without an audience can't be registered (`resource.Resource.route`), so nothing is open by oversight.
"""

from __future__ import annotations

import hmac
import re
from dataclasses import dataclass
from typing import Any

from flask import Request

from service.api.problems import Problem
from service.arena.caller import Caller, Gate, Scope
from service.arena.minting import ACCOUNT_TOKEN, SEAT_TOKEN, token_hash
from service.store.door import Glance

SCHEMES: dict[str, dict[str, Any]] = {
    "account": {
        "type": "http",
        "scheme": "bearer",
        "description": f"The token of an account, `{ACCOUNT_TOKEN}…`, as `POST /v1/accounts` answered it.",
    },
    "seat": {
        "type": "http",
        "scheme": "bearer",
        "description": f"The token of one seat of one game, `{SEAT_TOKEN}…`, as creating or joining the game gave it.",
    },
    "operator": {
        "type": "http",
        "scheme": "bearer",
        "description": "The operator's token, `SLAGVELD_ADMIN_TOKEN`.",
    },
}

_BEARER = re.compile(r"[Bb][Ee][Aa][Rr][Ee][Rr] +([\x21-\x7e]{1,256})")
_TOKEN_NAMES = {"token", "access_token", "api_key", "apikey", "authorization", "bearer"}
_CHALLENGE = {"WWW-Authenticate": 'Bearer realm="slagveld"'}


@dataclass(frozen=True, slots=True, kw_only=True)
class Audience:
    """Those who may call an operation: the schemes of `SCHEMES` that it takes, and nobody in particular or not."""

    schemes: tuple[str, ...]
    anonymous: bool = False
    scope: Scope | None = None

    @property
    def security(self) -> list[dict[str, list[str]]]:
        """The OpenAPI form."""
        return [{}] * self.anonymous + [{scheme: []} for scheme in self.schemes]

    def check(self, caller: Caller) -> None:
        """Raise Problem 401 or 403 unless the caller belongs here."""
        kind = kind_of(caller)
        if kind is None and not self.anonymous:
            raise Problem(401, "send `Authorization: Bearer` with a token", code="token_needed", headers=_CHALLENGE)
        if kind is not None and self.schemes and kind not in self.schemes:
            needed = " or ".join(self.schemes)
            raise Problem(403, f"expected a token of {needed}, got one of {kind}", code="wrong_kind_of_token")
        if kind == "account" and self.scope and self.scope not in caller.scopes:
            raise Problem(403, f"the token lacks the scope {self.scope.value!r}", code="scope_needed")


def public(scope: Scope | None = None) -> Audience:
    """Admit anybody, with or without a token; an account's token needs the scope."""
    return Audience(schemes=("account", "seat", "operator"), anonymous=True, scope=scope)


def account(scope: Scope | None = None) -> Audience:
    """Admit an account whose token has the scope."""
    return Audience(schemes=("account",), scope=scope)


def seat() -> Audience:
    """Admit who holds the token of a seat of the game in the path; the use case checks which seat."""
    return Audience(schemes=("seat",))


def involved(scope: Scope) -> Audience:
    """Admit whoever has a token; the use case checks that the thing is theirs to change."""
    return Audience(schemes=("account", "seat", "operator"), scope=scope)


def organiser(scope: Scope) -> Audience:
    """Admit an account whose token has the scope, and the operator."""
    return Audience(schemes=("account", "operator"), scope=scope)


def operator() -> Audience:
    """Admit the operator alone."""
    return Audience(schemes=("operator",))


def kind_of(caller: Caller) -> str | None:
    """Name the caller's scheme, None for nobody in particular."""
    if caller.is_operator:
        return "operator"
    if caller.game_id is not None:
        return "seat"
    return "account" if caller.account_id is not None else None


def bearer(request: Request) -> str | None:
    """Return the token of a request; raises Problem 401 if there is something else in its place."""
    token = sent_token(request)
    if token is None and "Authorization" in request.headers:
        raise _unauthorized("expected `Authorization: Bearer` and a token")
    return token


def sent_token(request: Request) -> str | None:
    """Return the token of a request, known or not; None if there is none that could be one."""
    match = _BEARER.fullmatch(request.headers.get("Authorization", "").strip())
    return match[1] if match else None


def refuse_token_in_query(request: Request) -> None:
    """Raise Problem 400 if a token stands in the URL, where logs and histories keep it."""
    for name, value in request.args.items(multi=True):
        if name.lower() in _TOKEN_NAMES or value.startswith((ACCOUNT_TOKEN, SEAT_TOKEN)):
            raise Problem(400, "send the token in the Authorization header, never in a URL", code="token_in_url")


def identify(
    request: Request, address: str, gate: Gate, admin_token: str | None, glance: Glance | None = None
) -> Caller:
    """Return the caller; a token that isn't known is refused everywhere, also where none is needed.

    `glance` is what was seen of the request's game already, if anything was.
    """
    token = bearer(request)
    if token is None:
        return Caller(address=address)
    if admin_token is not None and hmac.compare_digest(token.encode(), admin_token.encode()):
        return Caller(address=address, is_operator=True)
    found = None
    if token.startswith(ACCOUNT_TOKEN):
        found = gate.account(token_hash(token), address)
    elif token.startswith(SEAT_TOKEN):
        found = _seat(request, address, gate, token_hash(token), glance)
    if found is None:
        raise _unauthorized("the token isn't known here, or not any more")
    return found


def _seat(request: Request, address: str, gate: Gate, hashed: str, glance: Glance | None) -> Caller | None:
    game_id = (request.view_args or {}).get("game_id")
    if game_id is None:
        raise Problem(403, "the token of a seat works at its game alone", code="wrong_kind_of_token")
    number = gate.seat(game_id, hashed) if glance is None else glance.seat_of(hashed)
    if number is None:
        return None
    return Caller(address=address, game_id=game_id, seat=number, seat_hash=hashed)


def _unauthorized(detail: str) -> Problem:
    return Problem(401, detail, code="bad_token", headers=_CHALLENGE)
