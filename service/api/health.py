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

    status = fields.Constant("ok", required=True)
    version = fields.String(required=True)


@blp.get("/health/live", who=public())
@blp.response(200, Health)
def live() -> dict[str, Any]:
    """Tell that this process answers."""
    return {"version": services().version}


@blp.get("/health/ready", who=public())
@blp.response(200, Health)
def ready() -> dict[str, Any]:
    """Tell that the store answers too.

    503 while it doesn't.
    """
    services().store.is_ready()
    return {"version": services().version}
