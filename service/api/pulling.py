"""Bots that fetch their calls, so that no server need reach them: the card, a long poll, and the answers."""

from __future__ import annotations

from typing import Any

from flask import Response, request
from marshmallow import Schema, fields, validate

from service.api import conditional, waiting
from service.api.auth import account, bearer
from service.api.conditional import PREFER
from service.api.context import caller, services
from service.api.direct import has_left
from service.api.fields import Digits, Whole
from service.api.resource import Resource
from service.arena.caller import Caller, Scope
from service.arena.minting import token_hash
from service.store.mailbox import Given

blp = Resource("pulling", description="Bots without a URL: they fetch what they are asked, and send what they answer.")

MOST_FETCHED = 64
MOST_ANSWERED = 256
WAIT_S = 20

_CARD = {"api": 1, "name": "lowball", "version": "3", "rulesets": ["river"]}


class CardNew(Schema):
    """What a bot says of itself."""

    card = fields.Dict(
        keys=fields.String(),
        required=True,
        metadata={
            "description": "The bot card of docs/contract.md, as a GET of a URL would answer it.",
            "example": _CARD,
        },
    )


class FetchArgs(Schema):
    """How much to fetch."""

    limit = Digits(1, MOST_FETCHED, load_default=16, metadata={"description": "How many calls at most."})


class PulledCall(Schema):
    """A call as it would have come by HTTP."""

    id = fields.String(required=True, metadata={"description": "What to answer it by: its webhook-id."})
    headers = fields.Dict(
        keys=fields.String(), values=fields.String(), required=True, metadata={"description": "Its signature."}
    )
    body = fields.String(required=True, metadata={"description": "A message of docs/contract.md, byte for byte."})


class PulledAnswer(Schema):
    """An answer as it would have gone by HTTP."""

    id = fields.String(required=True, validate=validate.Length(1, 200))
    status = Whole(100, 599, load_default=200)
    body = fields.String(required=True, metadata={"description": "The reply of docs/contract.md, as text."})


class AnswersNew(Schema):
    """Answers to what was fetched."""

    answers = fields.List(fields.Nested(PulledAnswer), required=True, validate=validate.Length(0, MOST_ANSWERED))


class AnswersTaken(Schema):
    """What became of the answers."""

    taken = fields.List(
        fields.String(), required=True, metadata={"description": "The calls that were still waiting for theirs."}
    )


@blp.put("/v1/bots/<bot:bot_id>/card", who=account(Scope.BOTS))
@blp.arguments(CardNew)
@blp.response(204)
@blp.fails(409, "The bot is called at its URL, or disabled.")
def put_card(body: dict[str, Any], bot_id: str) -> None:
    """Say what a bot is that fetches its calls.

    Sent at each connect. What it says counts from the next passed check on.
    """
    services().pulling.show_card(caller(), bot_id, body["card"])


@blp.get("/v1/bots/<bot:bot_id>/decisions/next", who=account(Scope.BOTS))
@blp.arguments(FetchArgs, location="query")
@blp.response(200, PulledCall(many=True))
@blp.takes(PREFER)
@blp.fails(409, "The bot is called at its URL, or disabled.")
def fetch_calls(query: dict[str, Any], bot_id: str) -> Response:
    """Fetch what a bot is asked.

    Waits for it (20 seconds, or what Prefer says). Each call is given once: whoever loses the answer to this request
    has lost it. A bot that hasn't polled for 5 seconds counts as gone.
    """
    seconds = conditional.patience_s(WAIT_S)
    with waiting.place(seconds, bot_id):
        found = services().pulling.fetch(
            caller(),
            bot_id,
            most=query["limit"],
            seconds=seconds,
            has_left=lambda: has_left(request.environ),
            again=_caller_now,
        )
    return conditional.ready(b"[%b]" % b",".join(found))


def _caller_now() -> Caller | None:
    """Give who asks as he is known by now: his token may have been revoked while he waited."""
    return services().gate.account(token_hash(bearer(request) or ""), caller().address)


@blp.post("/v1/bots/<bot:bot_id>/actions", who=account(Scope.BOTS))
@blp.arguments(AnswersNew)
@blp.response(200, AnswersTaken)
@blp.fails(409, "The bot is called at its URL, or disabled.")
def post_actions(body: dict[str, Any], bot_id: str) -> dict[str, Any]:
    """Send what a bot answers.

    Of several answers to one call the first is taken. A bot that has no time to poll may send an empty list, which
    says that it is there.
    """
    answers = [Given(each["id"], each["status"], each["body"].encode()) for each in body["answers"]]
    return {"taken": services().pulling.answer(caller(), bot_id, answers)}
