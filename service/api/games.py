"""Games: made, listed, followed, steered; what one seat sees and does is in `seats`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from flask import Response, current_app
from marshmallow import Schema, ValidationError, fields, validate, validates_schema

from bot_sdk.games import record
from bot_sdk.games.registry import RULESETS
from service.api import conditional, stream
from service.api.auth import involved, public
from service.api.context import caller, services
from service.api.fields import MAX_PAGE, Digits, Name, PageArgs, Whole, page_of
from service.api.idempotency import idempotent
from service.api.resource import Resource
from service.arena.caller import Scope
from service.arena.minting import Mint
from service.store.entities import GameState, Limits

blp = Resource("games", description="One play from the first deal to the result: made, followed, steered.")

BUDGET_MS = (50, 30_000)
HUMAN_BUDGET_MS = (5_000, 604_800_000)
MAX_FAULTS = (1, 100)
MOST_EVENTS = 10**9
_DEFAULT = Limits()
_EXAMPLES = {
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
    options = fields.Dict(
        keys=fields.String(),
        load_default=dict,
        metadata={"description": "As `GET /v1/rulesets/{name}` describes them; each has a default."},
    )
    seats = fields.List(fields.Nested(SeatNew), required=True, validate=validate.Length(1, 8))
    start = fields.String(
        load_default="auto",
        validate=validate.OneOf(["auto", "manual"]),
        metadata={"description": "When no seat is open, or when `PUT …/state` says so: time to give entropy."},
    )


class StateNew(Schema):
    """Where to steer a game."""

    state = fields.String(required=True, validate=validate.OneOf(["running", "cancelled"]))


class SeatShown(Schema):
    """A player."""

    kind = fields.String(required=True, validate=validate.OneOf(["bot", "house", "human", "open"]))
    name = fields.String(required=True)
    bot_id = fields.String(required=True, allow_none=True)
    version = fields.String(required=True, allow_none=True)


class SeatPlaying(SeatShown):
    """A player, and whether he still plays."""

    retired = fields.String(
        required=True, allow_none=True, metadata={"description": "Why it retired: `faults`, `left` or `disabled`."}
    )


class SeatMade(SeatPlaying):
    """A player of a new game."""

    token = fields.String(metadata={"description": "Of a human seat, shown this once: whoever has it plays the seat."})


class GameSummary(Schema):
    """A game as lists show it."""

    id = fields.String(required=True)
    ruleset = fields.String(required=True)
    state = fields.String(required=True, validate=validate.OneOf(list(GameState)))
    seats = fields.List(fields.Nested(SeatShown), required=True)
    created_at = fields.Integer(required=True)
    started_at = fields.Integer(required=True, allow_none=True)
    ended_at = fields.Integer(required=True, allow_none=True)
    tournament_id = fields.String(required=True, allow_none=True)
    round = fields.Integer(required=True, allow_none=True)
    table = fields.Integer(required=True, allow_none=True)
    leg = fields.Integer(required=True, allow_none=True)
    board = fields.String(required=True, allow_none=True)


class LimitsShown(Schema):
    """What a game allows its seats, in milliseconds and faults."""

    budget_ms = fields.Integer(required=True)
    first_budget_ms = fields.Integer(required=True)
    human_budget_ms = fields.Integer(required=True)
    max_faults = fields.Integer(required=True)


class Standing(Schema):
    """How a game stands, as far as the reader may know."""

    version = fields.Integer(
        required=True, metadata={"description": "Counts what this reader has been able to see; never falls."}
    )
    phase = fields.String(
        required=True, allow_none=True, metadata={"description": "Null before the start, `over` after the end."}
    )
    turn = fields.List(
        fields.Integer(),
        required=True,
        metadata={"description": "The seats that owe a decision, as far as the reader may know."},
    )
    observation = fields.Dict(
        required=True,
        allow_none=True,
        metadata={"description": "All that the reader may know of the deal (docs/contract.md); null before the start."},
    )
    totals = fields.List(fields.Integer(), required=True)
    places = fields.List(fields.Integer(), required=True, allow_none=True)
    ended_by = fields.String(required=True, allow_none=True)


class GameView(GameSummary, Standing):
    """A game as everybody may see it."""

    seats = fields.List(fields.Nested(SeatPlaying), required=True)
    options = fields.Dict(required=True)
    limits = fields.Nested(LimitsShown, required=True)
    start = fields.String(required=True)
    label = fields.String(required=True, metadata={"description": "What the commitment is tied to (docs/deals.md)."})
    commitment = fields.String(
        required=True, metadata={"description": "Fixes the packs before anybody plays; the record reveals the secret."}
    )


class GameMade(GameView):
    """A new game, with the tokens of its people."""

    seats = fields.List(fields.Nested(SeatMade), required=True)


class GameArgs(PageArgs):
    """Which games to list."""

    state = fields.String(validate=validate.OneOf(list(GameState)))
    owner = fields.String(
        validate=validate.OneOf(["me"]), metadata={"description": "`me`: those that the token's account made."}
    )


class EventArgs(Schema):
    """Which events to list."""

    after = Digits(0, MOST_EVENTS, load_default=0, metadata={"description": "The `id` of the last event known."})
    cursor = Digits(0, MOST_EVENTS, load_default=0, metadata={"description": "`next_cursor`: the same as `after`."})
    limit = Digits(1, MAX_PAGE, load_default=MAX_PAGE)


class EventList(Schema):
    """Public events in order."""

    items = fields.List(
        fields.Dict(), required=True, metadata={"description": "Each with `id` and `event` (docs/contract.md)."}
    )
    next_cursor = fields.String(
        required=True, allow_none=True, metadata={"description": "Null once all there are now were listed."}
    )
    is_last = fields.Boolean(required=True, metadata={"description": "Whether nothing can follow these."})


GameList = page_of(GameSummary, "GameList")

PREFER = {
    "name": "Prefer",
    "in": "header",
    "description": "`wait=20`: how many seconds to wait for news, 60 at most.",
    "schema": {"type": "string", "example": "wait=20"},
}
IF_NONE_MATCH = {
    "name": "If-None-Match",
    "in": "header",
    "description": "The ETag of the last answer: 304 if there is nothing new, after the wait that Prefer asks for.",
    "schema": {"type": "string"},
}
ETAG = {"ETag": {"schema": {"type": "string"}, "description": "Names what this reader can see now."}}


def order_of(body: dict[str, Any]) -> dict[str, Any]:
    """Gather what a body says of limits under one name, as the use cases take it."""
    limits = {name: body[name] for name in LimitsNew().fields}
    return {name: value for name, value in body.items() if name not in limits} | {"limits": limits}


@blp.post("/v1/games", who=public(Scope.GAMES))
@blp.arguments(GameNew, examples=_EXAMPLES)
@idempotent
@blp.response(201, GameMade)
@blp.fails(409, "A bot or the account has as many unfinished games as it may have.")
def create_game(body: dict[str, Any], *, mint: Mint) -> tuple[dict[str, Any], int, dict[str, str]]:
    """Make a game.

    It begins at once unless a seat is open or the start is manual; such a game ends as cancelled if it hasn't begun
    after a while. The answer holds the commitment to its packs, and once the token of each human seat. Games of
    people and house bots need no account where the arena allows that.
    """
    made = services().games.create(caller(), order_of(body), mint)
    shown = services().play.look(made.game.id, lambda _: False).view
    for number, token in made.tokens.items():
        shown["seats"][number]["token"] = token
    return shown, 201, {"Location": f"/v1/games/{made.game.id}"}


@blp.get("/v1/games", who=public())
@blp.arguments(GameArgs, location="query")
@blp.response(200, GameList)
def list_games(query: dict[str, Any]) -> dict[str, Any]:
    """List games, newest first.

    A filtered page may hold fewer than `limit` although more follow.
    """
    state = GameState(query["state"]) if "state" in query else None
    games, following = services().games.list_all(
        caller(), limit=query["limit"], cursor=query["cursor"], state=state, mine="owner" in query
    )
    return {"items": games, "next_cursor": following}


@blp.get("/v1/games/<game:game_id>", who=public())
@blp.response(200, GameView, headers=ETAG)
@blp.may_answer(304, "Nothing new.")
@blp.takes(IF_NONE_MATCH, PREFER)
def show_game(game_id: str) -> Any:
    """Show a game as everybody may see it.

    With If-None-Match and `Prefer: wait=20` the answer waits until there is something new.
    """
    look = services().play.look(game_id, conditional.is_known, conditional.patience_s())
    if conditional.is_known(look.tag):
        return conditional.unchanged(look.tag)
    return look.view, 200, conditional.headers(look.tag)


@blp.put("/v1/games/<game:game_id>/state", who=involved(Scope.GAMES))
@blp.arguments(StateNew)
@blp.response(200, GameView)
@blp.fails(409, "It can't get into that state from the one it is in.")
def set_game_state(body: dict[str, Any], game_id: str) -> dict[str, Any]:
    """Start or cancel a game.

    Who made it may, and the operator; whoever holds a seat may until it runs, and after that if nobody else's seat is
    in it. Doing it again is no error.
    """
    services().games.set_state(caller(), game_id, GameState(body["state"]))
    return services().play.look(game_id, lambda _: False).view


@blp.get("/v1/games/<game:game_id>/events", who=public())
@blp.arguments(EventArgs, location="query")
@blp.response(200, EventList)
@blp.takes(PREFER)
def list_events(query: dict[str, Any], game_id: str) -> dict[str, Any]:
    """List what has happened in public, in order.

    A sealed bid is no event until all bids are revealed, a discard never. With `Prefer: wait=20` the answer waits
    until there is an event after `after`.
    """
    after = max(query["after"], query["cursor"])
    events, more = services().play.follow(game_id, after, conditional.patience_s())
    items = events[: query["limit"]]
    rest = len(items) < len(events)
    return {
        "items": items,
        "next_cursor": str(items[-1]["id"]) if rest else None,
        "is_last": not more and not rest,
    }


@blp.get("/v1/games/<game:game_id>/stream", who=public())
@blp.response(200, **stream.DOCUMENTED)
@blp.may_answer(204, "The last event was seen already; nothing will follow.")
@blp.takes(stream.LAST_EVENT_ID)
def stream_game(game_id: str) -> Response:
    """Stream what happens in public.

    Server-sent events, each an event of `GET …/events` under its id. The stream ends after the last one.
    """
    play = services().play

    def read(seen: int, seconds: float) -> tuple[list[stream.Message], bool]:
        events, more = play.follow(game_id, seen, seconds)
        return [(event["id"], event) for event in events], more

    return stream.answer(read)


@blp.get("/v1/games/<game:game_id>/record", who=public())
@blp.response(200, schema={"type": "object"}, description="A record of format 1 (docs/record.md).")
@blp.fails(409, "The game hasn't ended, or it ended before it began.")
def show_record(game_id: str) -> Response:
    """Give the record of a game that has ended.

    All of it: packs, every action and what was played for whom, and the secret that the packs were made from.
    """
    written = record.encode(services().play.record(game_id))
    return current_app.response_class(written, content_type="application/json", headers={"Cache-Control": "no-cache"})
