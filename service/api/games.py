"""Games: made, listed, shown, steered. What one seat sees and does is in `seats`, what happens in `events`."""

from __future__ import annotations

from typing import Any

from flask import Response
from marshmallow import Schema, fields, validate

from bot_sdk.results.values import GameState
from service.api import conditional, waiting
from service.api.auth import involved, public
from service.api.conditional import ETAG, IF_NONE_MATCH, PREFER
from service.api.context import caller, services
from service.api.fields import PageArgs, page_of
from service.api.idempotency import idempotent
from service.api.orders import EXAMPLES, GameNew, LimitsShown, order_of
from service.api.resource import Resource
from service.arena.caller import Scope
from service.arena.minting import Mint

blp = Resource("games", description="One play from the first deal to the result: made, followed, steered.")


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
    ended_at = fields.Integer(
        required=True, allow_none=True, metadata={"description": "Null before the end, and while it isn't `readable`."}
    )
    readable = fields.Boolean(
        required=True,
        metadata={
            "description": "False while other games are played on its board: then it shows who plays and its state."
        },
    )
    tournament_id = fields.String(required=True, allow_none=True)
    round = fields.Integer(required=True, allow_none=True)
    table = fields.Integer(required=True, allow_none=True)
    leg = fields.Integer(required=True, allow_none=True)
    board = fields.String(required=True, allow_none=True)


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
    totals = fields.List(
        fields.Integer(),
        required=True,
        allow_none=True,
        metadata={"description": "By seat; null while the game isn't `readable`."},
    )
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


GameList = page_of(GameSummary, "GameList")


@blp.post("/v1/games", who=public(Scope.GAMES))
@blp.arguments(GameNew, examples=EXAMPLES)
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

    With If-None-Match and `Prefer: wait=20` the answer waits until there is something new. While other games of a
    tournament are played on its board, a game shows who plays and its state; the last of them to end uncovers it.
    """
    seconds = conditional.patience_s()
    with waiting.place(seconds):
        look = services().play.look(game_id, conditional.is_known, seconds)
    return conditional.shown(look)


@blp.put("/v1/games/<game:game_id>/state", who=involved(Scope.GAMES))
@blp.arguments(StateNew)
@blp.response(200, GameView)
@blp.fails(409, "It can't get into that state from the one it is in.")
def set_game_state(body: dict[str, Any], game_id: str) -> Response:
    """Start or cancel a game.

    Who made it may, and the operator; whoever holds a seat may until it runs, and after that if nobody else's seat is
    in it. Doing it again is no error.
    """
    services().games.set_state(caller(), game_id, GameState(body["state"]))
    return conditional.ready(services().play.look(game_id, lambda _: False).body)
