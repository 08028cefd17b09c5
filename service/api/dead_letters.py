"""Jobs that the workers gave up."""

from __future__ import annotations

from typing import Any

from marshmallow import Schema, fields

from service.api.auth import operator
from service.api.context import services
from service.api.fields import PageArgs, page_of
from service.api.paging import page
from service.api.problems import Problem
from service.api.resource import Resource

blp = Resource("dead letters", description="Jobs that failed so often that the workers gave them up.")


class DeadLetter(Schema):
    """A job that was given up."""

    id = fields.String(required=True)
    job = fields.String(required=True)
    args = fields.List(fields.Raw(), required=True, metadata={"description": "Ids only."})
    queue = fields.String(required=True)
    at = fields.Integer(required=True)
    error = fields.String(required=True, allow_none=True, metadata={"description": "The last line of its traceback."})
    retries = fields.Integer(required=True)


DeadLetterList = page_of(DeadLetter, "DeadLetterList")


@blp.get("/v1/admin/dead-letters", who=operator())
@blp.arguments(PageArgs, location="query")
@blp.response(200, DeadLetterList)
def list_dead_letters(query: dict[str, Any]) -> dict[str, Any]:
    """List the jobs that were given up, the last one first.

    They are kept for a week, the newest 1,000 of a queue are listed. A job is but a hint: what games, tournaments and
    checks wait for, the sweeper has found and sent again long since.
    """
    letters = services().dead_letters
    shown = page(letters.found(), query)
    return {**shown, "items": letters.read(shown["items"])}


@blp.post("/v1/admin/dead-letters/<letter:letter_id>/replay", who=operator())
@blp.response(204)
def replay_dead_letter(letter_id: str) -> None:
    """Send a job again.

    Asked again within a day it is no error, and the job isn't sent twice.
    """
    if not services().dead_letters.replay(letter_id):
        raise _unknown()


@blp.delete("/v1/admin/dead-letters/<letter:letter_id>", who=operator())
@blp.response(204)
def delete_dead_letter(letter_id: str) -> None:
    """Forget a job that was given up."""
    if not services().dead_letters.delete(letter_id):
        raise _unknown()


def _unknown() -> Problem:
    return Problem(404, "there is no such dead letter")
