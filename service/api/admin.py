"""What the operator of the arena alone may do."""

from __future__ import annotations

from typing import Any

from marshmallow import Schema, ValidationError, fields, validate, validates_schema

from service.api.auth import operator
from service.api.bots import BotView, bot_view
from service.api.context import caller, services
from service.api.fields import Flag, Text
from service.api.resource import Resource
from service.store.entities import BotState
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

    While it is on, creating, starting and completing a game is answered 503 `maintenance` with the reason, and
    tournaments start none of theirs. Games that run go on to their end. It holds for all processes and survives
    restarts.
    """
    if body["on"]:
        return _maintenance_view(services().maintenance.begin(body["reason"]))
    services().maintenance.end()
    return _maintenance_view(None)


def _maintenance_view(mode: Maintenance | None) -> dict[str, Any]:
    if mode is None:
        return {"on": False, "reason": None, "since": None}
    return {"on": True, "reason": mode.reason, "since": mode.since}
