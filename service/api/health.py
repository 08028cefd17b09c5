"""Whether the API lives, and whether it can do its work."""

from __future__ import annotations

from typing import Any

from marshmallow import Schema, fields

from service.api.auth import public
from service.api.context import services
from service.api.resource import Resource

blp = Resource("health", description="For load balancers and people who wonder.")


class Health(Schema):
    """Fine."""

    status = fields.Constant("ok", required=True, metadata={"type": "string"})
    version = fields.String(required=True)


class Alarm(Schema):
    """Something that needs attention."""

    alarm = fields.String(
        required=True,
        metadata={
            "description": "A word that stays what it is: `memory`, `persistence`, `no_worker`, `overdue`, `clock`, "
            "`archive`, `dead_letters`, `maintenance`, `rules`; there may be others."
        },
    )
    detail = fields.String(required=True, metadata={"description": "What is wrong, in words."})


class Readiness(Health):
    """The arena does its work; whether all is well, the alarms say."""

    alarms = fields.List(
        fields.Nested(Alarm),
        required=True,
        metadata={"description": "What needs attention soon. Empty if all is well."},
    )


@blp.get("/health/live", who=public())
@blp.response(200, Health)
def live() -> dict[str, Any]:
    """Tell that this process answers."""
    return {"version": services().version}


@blp.get("/health/ready", who=public())
@blp.response(200, Readiness)
def ready() -> dict[str, Any]:
    """Tell that the store answers and takes writes, and what needs attention.

    503 if it doesn't. What is shown may be a second old.
    """
    alarms = services().readiness.alarms()
    shown = [{"alarm": word, "detail": detail} for word, detail in alarms.items()]
    return {"version": services().version, "alarms": shown}
