"""What the operator of the arena alone may do."""

from __future__ import annotations

from typing import Any

from marshmallow import Schema, fields, validate

from service.api.auth import operator
from service.api.bots import BotView, bot_view
from service.api.context import caller, services
from service.api.fields import Text
from service.api.resource import Resource
from service.store.entities import BotState

blp = Resource("admin", description="What the operator of the arena alone may do.")


class BotStateNew(Schema):
    """What is to become of a bot."""

    state = fields.String(
        required=True,
        validate=validate.OneOf(["disabled", "pending"]),
        metadata={"description": "`disabled` retires its seats at once; `pending` again lets it be checked."},
    )
    reason = Text(1, 500, load_default="disabled by the operator", metadata={"description": "Shown to its owner."})


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
