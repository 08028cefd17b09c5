"""How a game is ordered: who sits where, and within what limits. Tournaments order theirs alike."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from marshmallow import Schema, ValidationError, fields, validate, validates_schema

from bot_sdk.games.registry import RULESETS
from service.api.fields import Name, Options, Whole
from service.store.entities import Limits

BUDGET_MS = (50, 30_000)
HUMAN_BUDGET_MS = (5_000, 604_800_000)
MAX_FAULTS = (1, 100)
_DEFAULT = Limits()
EXAMPLES = {
    "against_the_house": {
        "summary": "Play Seven Up against a house bot",
        "value": {
            "ruleset": "seven_up",
            "seats": [{"kind": "human", "name": "ann"}, {"kind": "house", "name": "greedy"}],
        },
    },
    "with_friends": {
        "summary": "Keep two seats of River free, and begin when all have given their entropy",
        "value": {
            "ruleset": "river",
            "options": {"start_cards": 5, "bidding": "simultaneous"},
            "seats": [
                {"kind": "human", "name": "ann"},
                {"kind": "open"},
                {"kind": "open"},
                {"kind": "house", "name": "greedy"},
            ],
            "start": "manual",
        },
    },
    "bots": {
        "summary": "Let two bots play",
        "value": {
            "ruleset": "seven_up",
            "options": {"target": 11},
            "seats": [
                {"kind": "bot", "bot_id": "bot_aaaaaaaaaaaaaaaaaaaaaaaaaa"},
                {"kind": "house", "name": "random"},
            ],
            "budget_ms": 500,
        },
    },
}


class SeatNew(Schema):
    """Who is to sit there."""

    kind = fields.String(
        required=True,
        validate=validate.OneOf(["bot", "house", "human", "open"]),
        metadata={
            "description": "A registered bot, a house bot, a person (the answer holds a token), or whoever joins."
        },
    )
    bot_id = fields.String(validate=validate.Length(1, 64), metadata={"description": "Of a `bot`."})
    name = Name(metadata={"description": "Of a `house` bot, such as `greedy`, or of a `human`."})

    @validates_schema
    def _fits_its_kind(self, seat: Mapping[str, Any], **_: Any) -> None:
        needed = {"bot": "bot_id", "house": "name"}.get(seat["kind"])
        allowed = {needed, "kind"} | ({"name"} if seat["kind"] == "human" else set())
        if needed and needed not in seat:
            raise ValidationError(f"expected the {needed} of a {seat['kind']} seat", needed)
        for extra in set(seat) - allowed:
            raise ValidationError(f"a seat of kind {seat['kind']} has no {extra}", extra)


class LimitsNew(Schema):
    """What a game allows its seats."""

    budget_ms = Whole(
        *BUDGET_MS, load_default=_DEFAULT.budget_ms, metadata={"description": "For each decision of a bot."}
    )
    first_budget_ms = Whole(
        *BUDGET_MS, load_default=_DEFAULT.first_budget_ms, metadata={"description": "For a bot's first decision."}
    )
    human_budget_ms = Whole(
        *HUMAN_BUDGET_MS, load_default=_DEFAULT.human_budget_ms, metadata={"description": "For a person's decision."}
    )
    max_faults = Whole(
        *MAX_FAULTS, load_default=_DEFAULT.max_faults, metadata={"description": "So many retire a seat."}
    )


class GameNew(LimitsNew):
    """A new game."""

    ruleset = fields.String(required=True, validate=validate.Length(1, 32), metadata={"enum": list(RULESETS)})
    options = Options("As `GET /v1/rulesets/{name}` describes them; each has a default.")
    seats = fields.List(fields.Nested(SeatNew), required=True, validate=validate.Length(1, 8))
    start = fields.String(
        load_default="auto",
        validate=validate.OneOf(["auto", "manual"]),
        metadata={"description": "When no seat is open, or when `PUT …/state` says so: time to give entropy."},
    )


class LimitsShown(Schema):
    """What a game allows its seats, in milliseconds and faults."""

    budget_ms = fields.Integer(required=True)
    first_budget_ms = fields.Integer(required=True)
    human_budget_ms = fields.Integer(required=True)
    max_faults = fields.Integer(required=True)


def order_of(body: dict[str, Any]) -> dict[str, Any]:
    """Gather what a body says of limits under one name, as the use cases take it."""
    limits = {name: body[name] for name in LimitsNew().fields}
    return {name: value for name, value in body.items() if name not in limits} | {"limits": limits}
