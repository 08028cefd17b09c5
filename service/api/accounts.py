"""Accounts and the tokens they are used by."""

from __future__ import annotations

from typing import Any

from marshmallow import Schema, fields, validate

from service.api.auth import account, public
from service.api.context import caller, services
from service.api.fields import Name, PageArgs, Text, page_of
from service.api.idempotency import idempotent
from service.api.paging import page
from service.api.resource import Resource
from service.arena.caller import ALL_SCOPES, Scope
from service.arena.minting import Mint
from service.store.accounts import Token
from service.store.entities import Account

blp = Resource("accounts", description="Who owns bots, games and tournaments, and the tokens to say so.")


class AccountNew(Schema):
    """A new account."""

    name = Name(required=True)
    invite_code = Text(1, 200, metadata={"description": "Where accounts are by invitation."})


class AccountView(Schema):
    """An account, as its owner sees it."""

    id = fields.String(required=True)
    name = fields.String(required=True)
    created_at = fields.Integer(required=True, metadata={"description": "Unix milliseconds, as all times here."})


class AccountMade(AccountView):
    """A new account with its first token."""

    token = fields.String(required=True, metadata={"description": "Shown this once."})


class TokenNew(Schema):
    """A further token."""

    name = Name(load_default="token")
    scopes = fields.List(
        fields.String(validate=validate.OneOf([scope.value for scope in ALL_SCOPES])),
        validate=validate.Length(max=len(ALL_SCOPES)),
        metadata={"description": "What it may change; by default all that the token which asks may."},
    )


class TokenView(Schema):
    """A token without the token."""

    id = fields.String(required=True)
    name = fields.String(required=True)
    scopes = fields.List(fields.String(), required=True)
    created_at = fields.Integer(required=True)


class TokenMade(TokenView):
    """A new token."""

    token = fields.String(required=True, metadata={"description": "Shown this once."})


TokenList = page_of(TokenView, "TokenList")


@blp.post("/v1/accounts", who=public())
@blp.arguments(AccountNew)
@idempotent
@blp.response(201, AccountMade)
def create_account(body: dict[str, Any], *, mint: Mint) -> dict[str, Any]:
    """Make an account.

    The answer holds its first token, once. Anyone may where accounts are open; else an invite code is needed.
    """
    made, token = services().accounts.create(caller(), body["name"], body.get("invite_code"), mint)
    return {"id": made.id, "name": made.name, "created_at": made.created_at, "token": token}


@blp.get("/v1/accounts/me", who=account())
@blp.response(200, AccountView)
def show_me() -> Account:
    """Show the account of the token."""
    return services().accounts.get(caller().account)


@blp.delete("/v1/accounts/me", who=account(Scope.ACCOUNT), audited=True)
@blp.response(204)
def erase_me() -> None:
    """Have the account of the token erased, for ever.

    Its tokens are refused at once. Within seconds, or minutes in a large arena, its bots are deleted, which retires
    them where they play, and what it called things becomes `erased` wherever it is shown: itself, its bots, its
    tournaments, its people at tables. Games, results and ratings stay under that name, and records can be verified.
    Tournaments of its own that haven't been started, or are paused, are cancelled.
    """
    services().erasing.ask(caller().account)


@blp.get("/v1/accounts/me/tokens", who=account(Scope.ACCOUNT))
@blp.arguments(PageArgs, location="query")
@blp.response(200, TokenList)
def list_tokens(query: dict[str, Any]) -> dict[str, Any]:
    """List the account's tokens, oldest first."""
    return page(services().accounts.tokens(caller()), query)


@blp.post("/v1/accounts/me/tokens", who=account(Scope.ACCOUNT), audited=True)
@blp.arguments(TokenNew)
@idempotent
@blp.response(201, TokenMade)
def create_token(body: dict[str, Any], *, mint: Mint) -> dict[str, Any]:
    """Make a further token."""
    token, secret = services().accounts.add_token(caller(), body["name"], body.get("scopes"), mint)
    return {**_shown(token), "token": secret}


@blp.delete("/v1/accounts/me/tokens/<token:token_id>", who=account(Scope.ACCOUNT), audited=True)
@blp.response(204)
@blp.fails(409, "It is the last one.")
def revoke_token(token_id: str) -> None:
    """Revoke a token at once."""
    services().accounts.revoke_token(caller(), token_id)


def _shown(token: Token) -> dict[str, Any]:
    return {"id": token.id, "name": token.name, "scopes": token.scopes, "created_at": token.created_at}
