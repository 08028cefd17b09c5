"""What the operator of the arena alone may do."""

from __future__ import annotations

from typing import Any

from marshmallow import Schema, ValidationError, fields, validate, validates_schema

from service.api.accounts import AccountView
from service.api.auth import operator
from service.api.bots import BotView, bot_view
from service.api.context import caller, services
from service.api.fields import Flag, Name, PageArgs, Text, page_of
from service.api.resource import Resource
from service.arena.oversight import AccountFilter
from service.store.entities import Account, AccountState, BotState
from service.store.maintenance import Maintenance

blp = Resource("admin", description="What the operator of the arena alone may do.")


class BotStateNew(Schema):
    """What is to become of a bot."""

    state = fields.String(
        required=True,
        validate=validate.OneOf(["disabled", "pending"]),
        metadata={"description": "`disabled` retires its seats at once; `pending` again lets it be checked."},
    )
    reason = Text(1, 500, load_default="disabled by the operator", metadata={"description": "Shown to its owner."})


class AccountStateNew(Schema):
    """What is to become of an account."""

    state = fields.String(
        required=True,
        validate=validate.OneOf(["disabled", "active"]),
        metadata={"description": "`disabled` refuses its tokens and retires its bots at once."},
    )
    reason = Text(1, 500, load_default="disabled by the operator", metadata={"description": "Shown to its owner."})


class AccountSeen(AccountView):
    """An account, as the operator sees it."""

    state = fields.String(required=True, validate=validate.OneOf(list(AccountState)))
    reason = fields.String(required=True, allow_none=True)


class AccountArgs(PageArgs):
    """Which accounts to list."""

    state = fields.String(validate=validate.OneOf(list(AccountState)))
    name = Name(metadata={"description": "Part of the name, in capitals or not."})


AccountList = page_of(AccountSeen, "AccountList")


class MaintenanceNew(Schema):
    """Whether new games are to begin."""

    on = Flag(required=True)
    reason = Text(1, 500, metadata={"description": "Shown to everybody; needed to turn it on."})

    @validates_schema
    def _says_why(self, values: dict[str, Any], **_: Any) -> None:
        if values.get("on") and "reason" not in values:
            raise ValidationError("expected a reason", "reason")


class MaintenanceView(Schema):
    """Whether new games begin."""

    on = fields.Boolean(required=True)
    reason = fields.String(required=True, allow_none=True)
    since = fields.Integer(required=True, allow_none=True)


@blp.put("/v1/admin/bots/<bot:bot_id>/state", who=operator())
@blp.arguments(BotStateNew)
@blp.response(200, BotView)
@blp.fails(409, "It can't be disabled, or isn't.")
def set_bot_state(body: dict[str, Any], bot_id: str) -> dict[str, Any]:
    """Disable a bot, or let a disabled one be checked again.

    Where a disabled bot plays it is retired, where it is entered its waiting games are forfeited. Doing it again is no
    error.
    """
    bot = services().bots.judge(caller(), bot_id, BotState(body["state"]), body["reason"])
    return bot_view(bot, caller())


@blp.get("/v1/admin/accounts", who=operator())
@blp.arguments(AccountArgs, location="query")
@blp.response(200, AccountList)
def list_accounts(query: dict[str, Any]) -> dict[str, Any]:
    """List accounts, newest first.

    A filtered page may hold fewer than `limit` although more follow.
    """
    state = AccountState(query["state"]) if "state" in query else None
    wanted = AccountFilter(state=state, name=query.get("name"))
    found, following = services().oversight.accounts(wanted, limit=query["limit"], cursor=query["cursor"])
    return {"items": found, "next_cursor": following}


@blp.get("/v1/admin/accounts/<account:account_id>", who=operator())
@blp.response(200, AccountSeen)
def show_account(account_id: str) -> Account:
    """Show an account."""
    return services().oversight.get(account_id)


@blp.put("/v1/admin/accounts/<account:account_id>/state", who=operator())
@blp.arguments(AccountStateNew)
@blp.response(200, AccountSeen)
@blp.fails(409, "It was erased.")
def set_account_state(body: dict[str, Any], account_id: str) -> Account:
    """Disable an account with all its bots, or enable it.

    Disabled, its tokens are answered 403 `account_disabled`, its bots retire where they play and forfeit where they
    are entered; what it hosts goes on. Enabled, the bots that were disabled with it wait for a check; one that was
    disabled by itself stays so. Doing it again is no error.
    """
    return services().oversight.set_state(account_id, AccountState(body["state"]), body["reason"])


@blp.delete("/v1/admin/accounts/<account:account_id>", who=operator())
@blp.response(204)
def erase_account(account_id: str) -> None:
    """Have an account erased, for ever, as its owner may by `DELETE /v1/accounts/me`.

    It is `erasing` until nothing of it is left, then `erased`. Doing it again is no error.
    """
    services().erasing.ask(account_id)


@blp.get("/v1/admin/maintenance", who=operator())
@blp.response(200, MaintenanceView)
def show_maintenance() -> dict[str, Any]:
    """Tell whether new games begin."""
    return _maintenance_view(services().maintenance.get())


@blp.put("/v1/admin/maintenance", who=operator())
@blp.arguments(MaintenanceNew)
@blp.response(200, MaintenanceView)
def set_maintenance(body: dict[str, Any]) -> dict[str, Any]:
    """Let no new games begin, or let them begin again.

    While it is on, creating a game, starting one, and joining one that starts by itself is answered 503 `maintenance`
    with the reason, and tournaments start none of theirs. Games that run go on to their end. It holds for all processes
    and survives restarts.
    """
    if body["on"]:
        return _maintenance_view(services().maintenance.begin(body["reason"]))
    services().maintenance.end()
    return _maintenance_view(None)


def _maintenance_view(mode: Maintenance | None) -> dict[str, Any]:
    if mode is None:
        return {"on": False, "reason": None, "since": None}
    return {"on": True, "reason": mode.reason, "since": mode.since}
