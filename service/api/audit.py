"""What the operator did, and what accounts did that concerns their security."""

from __future__ import annotations

from typing import Any

from marshmallow import Schema, fields, validate

from service.api.auth import operator
from service.api.context import services
from service.api.fields import PageArgs, page_of
from service.api.resource import Resource
from service.store.audit import Log

blp = Resource("audit", description="Who did what: acts of the operator, and of accounts where they are of security.")


class AuditLine(Schema):
    """One act."""

    id = fields.String(required=True)
    at = fields.Integer(required=True, attribute="created_at")
    account_id = fields.String(required=True, allow_none=True, metadata={"description": "Null: the operator."})
    operation = fields.String(required=True, metadata={"description": "Its operationId."})
    path = fields.String(required=True)
    address = fields.String(required=True, allow_none=True)
    body = fields.String(
        required=True, allow_none=True, metadata={"description": "JSON as text, without secrets; cut when long."}
    )
    status = fields.Integer(
        required=True, allow_none=True, metadata={"description": "Of the answer; null: nobody saw how it ended."}
    )
    made = fields.String(required=True, allow_none=True, metadata={"description": "The id of what it made."})


class AuditArgs(PageArgs):
    """Which log to read."""

    of = fields.String(load_default=Log.OPERATOR.value, validate=validate.OneOf(list(Log)))


AuditList = page_of(AuditLine, "AuditList")


@blp.get("/v1/admin/audit", who=operator())
@blp.arguments(AuditArgs, location="query")
@blp.response(200, AuditList)
def list_acts(query: dict[str, Any]) -> dict[str, Any]:
    """List what was done, newest first.

    Every call of the operator that may change something has a line, written before it was done. `of=accounts` lists
    instead where accounts made or revoked tokens, gave a bot another secret, or had themselves erased. Each log keeps
    its last 10,000 lines.
    """
    lines, following = services().auditing.lines(Log(query["of"]), limit=query["limit"], cursor=query["cursor"])
    return {"items": lines, "next_cursor": following}
