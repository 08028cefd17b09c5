"""Tournaments: made, entered, started, followed, and their results read."""

from __future__ import annotations

from typing import Any

from marshmallow import Schema, fields, post_load, validate

from bot_sdk.games.registry import RULESETS
from service.api.auth import organiser, public
from service.api.context import caller, services
from service.api.fields import Name, Number, PageArgs, Whole, page_of
from service.api.idempotency import idempotent
from service.api.ids import CONVERTERS
from service.api.orders import LimitsNew, LimitsShown, order_of
from service.api.resource import Resource
from service.arena.caller import Scope
from service.arena.minting import Mint
from service.store.entities import Sprt, TournamentState
from service.tournaments.boards import FIELD, FRESH, ROTATE
from service.tournaments.drawing import MAX_GAMES
from service.tournaments.formats import FORMATS

blp = Resource("tournaments", description="Many games between the same bots, and what they say about them.")

MAX_ROUNDS = 1_000
MAX_SEED = 2**53 - 1
_EXAMPLES = {
    "seven_up": {
        "summary": "Each plays each, twice with seats swapped",
        "value": {"name": "friday", "ruleset": "seven_up", "options": {"target": 7}, "rounds": 10},
    },
    "river": {
        "summary": "Balanced tables of four",
        "value": {"name": "river cup", "ruleset": "river", "table_size": 4, "rounds": 3, "seed": 7},
    },
    "swiss": {
        "summary": "Swiss, by invitation, two bots an account",
        "value": {
            "name": "invitational",
            "ruleset": "seven_up",
            "format": "swiss",
            "rounds": 6,
            "invited": ["bot_aaaaaaaaaaaaaaaaaaaaaaaaaa", "acc_aaaaaaaaaaaaaaaaaaaaaaaaaa"],
            "entries_per_account": 2,
        },
    },
    "match": {
        "summary": "Is the new version 20 Elo stronger? Stop as soon as it is clear",
        "value": {
            "name": "new against old",
            "ruleset": "seven_up",
            "format": "match",
            "deals": "rotate",
            "rounds": 1000,
            "challenger": "bot_aaaaaaaaaaaaaaaaaaaaaaaaaa",
            "sprt": {"elo0": 0, "elo1": 20},
        },
    },
}
_FORMATS = "; ".join(f"`{name}`: {each.about}" for name, each in FORMATS.items())
_DEALS = (
    f"`{FIELD}`: all tables of a round play one board, of which nothing is shown before its last game has ended; "
    f"`{FRESH}`: every table has a board of its own; `{ROTATE}`: a table plays its board once with everybody in every "
    "seat: the least luck, but a bot that remembers can exploit it, so for bots you trust. "
    f"The default is {FIELD}, for gauntlet, ladder and match {FRESH}."
)


class SprtNew(Schema):
    """A sequential test: play pairs until it is clear which of two hypotheses holds."""

    elo0 = Number(-1000, 1000, required=True, metadata={"description": "H0: so many Elo is the challenger stronger."})
    elo1 = Number(-1000, 1000, required=True, metadata={"description": "H1: or so many; more than elo0."})
    alpha = Number(0.0001, 0.5, load_default=0.05, metadata={"description": "The chance of H1 where H0 is true."})
    beta = Number(0.0001, 0.5, load_default=0.05, metadata={"description": "The chance of H0 where H1 is true."})

    @post_load
    def _made(self, values: dict[str, Any], **_: Any) -> Sprt:
        return Sprt(**values)


class FormatSettings(Schema):
    """What may be chosen until the start; which of it there is depends on the format."""

    rounds = Whole(
        1,
        MAX_ROUNDS,
        allow_none=True,
        metadata={
            "description": "By default, in a round robin as many as it takes that each pair can meet, in a gauntlet 1, "
            "in a Swiss tournament as many as a knockout of pairs has, in a match 100. Knockout and ladder have none."
        },
    )
    challenger = fields.String(
        allow_none=True,
        validate=validate.Length(1, 64),
        metadata={"description": "The entry that runs the gauntlet; in a match, whom the test is about."},
    )
    advance = Whole(
        1, 7, allow_none=True, metadata={"description": "Knockout at tables: so many go on, by default half of them."}
    )
    max_games = Whole(
        1, MAX_GAMES, allow_none=True, metadata={"description": "Ladder: so many; by default until it is stopped."}
    )
    sprt = fields.Nested(
        SprtNew, allow_none=True, metadata={"description": "Match with `rotate` deals: stop on evidence."}
    )
    invited = fields.List(
        fields.String(
            validate=validate.Regexp(
                f"^({CONVERTERS['account'].regex}|{CONVERTERS['bot'].regex})$".replace("(?:", "("),
                error="expected the id of a bot or an account, got {input!r}",
            )
        ),
        allow_none=True,
        validate=validate.Length(max=1_000),
        metadata={
            "description": "Ids of bots and accounts: with it, only these may be entered by others than the host."
        },
    )
    entries_per_account = Whole(1, 256, allow_none=True, metadata={"description": "House bots don't count."})


class TournamentNew(LimitsNew, FormatSettings):
    """A new tournament."""

    name = Name(required=True)
    ruleset = fields.String(required=True, validate=validate.Length(1, 32), metadata={"enum": list(RULESETS)})
    options = fields.Dict(
        keys=fields.String(),
        load_default=dict,
        metadata={"description": "As `GET /v1/rulesets/{name}` describes them; only default options are rated."},
    )
    format = fields.String(
        load_default="round_robin",
        validate=validate.OneOf(list(FORMATS), error="expected one of {choices}, got {input!r}"),
        metadata={"description": _FORMATS},
    )
    deals = fields.String(
        load_default=None,
        allow_none=True,
        validate=validate.OneOf([FIELD, FRESH, ROTATE], error="expected one of {choices}, got {input!r}"),
        metadata={"description": _DEALS},
    )
    table_size = Whole(
        2, 8, load_default=None, allow_none=True, metadata={"description": "The fewest the game seats by default."}
    )
    seed = Whole(
        0, MAX_SEED, load_default=None, allow_none=True, metadata={"description": "For the draw; drawn by default."}
    )


class TournamentChange(FormatSettings):
    """What to change of a tournament: its name at any time, the rest until its start."""

    name = Name()


class TournamentStateNew(Schema):
    """Where to steer a tournament."""

    state = fields.String(required=True, validate=validate.OneOf(["running", "paused", "cancelled", "finished"]))


class Progress(Schema):
    """How far a tournament is."""

    games = fields.Integer(required=True, metadata={"description": "Drawn so far; 0 before the first draw."})
    planned = fields.Integer(
        required=True, allow_none=True, metadata={"description": "In all, as far as is known; null: no end is set."}
    )
    finished = fields.Integer(required=True, metadata={"description": "With a result."})
    running = fields.Integer(required=True)
    seconds_left = fields.Integer(
        required=True, allow_none=True, metadata={"description": "At the pace since it was started or resumed."}
    )


class TestView(Schema):
    """How the sequential test of a match stands, over its complete pairs in order."""

    challenger = fields.String(required=True)
    opponent = fields.String(required=True)
    pairs = fields.Integer(required=True, metadata={"description": "Judged so far."})
    llr = fields.Float(required=True, metadata={"description": "Log-likelihood ratio of H1 to H0."})
    lower = fields.Float(required=True, metadata={"description": "H0 is taken once `llr` is below."})
    upper = fields.Float(required=True, metadata={"description": "H1 is taken once `llr` is above."})
    verdict = fields.String(required=True, allow_none=True, validate=validate.OneOf(["H0", "H1"]))


class TournamentSummary(Schema):
    """A tournament as lists show it."""

    id = fields.String(required=True)
    name = fields.String(required=True)
    owner = fields.String(required=True, allow_none=True, metadata={"description": "An account's id."})
    state = fields.String(required=True, validate=validate.OneOf(list(TournamentState)))
    ruleset = fields.String(required=True)
    options = fields.Dict(required=True)
    format = fields.String(required=True)
    deals = fields.String(required=True)
    table_size = fields.Integer(required=True)
    rounds = fields.Integer(required=True, allow_none=True)
    challenger = fields.String(required=True, allow_none=True)
    advance = fields.Integer(required=True, allow_none=True)
    max_games = fields.Integer(required=True, allow_none=True)
    sprt = fields.Nested(SprtNew, required=True, allow_none=True)
    invited = fields.List(fields.String(), required=True, allow_none=True)
    entries_per_account = fields.Integer(required=True, allow_none=True)
    seed = fields.Integer(required=True)
    limits = fields.Nested(LimitsShown, required=True)
    root = fields.String(
        required=True, metadata={"description": "Commitment to the secret that all packs follow from (docs/deals.md)."}
    )
    reason = fields.String(required=True, allow_none=True, metadata={"description": "How it came to its end."})
    created_at = fields.Integer(required=True)
    started_at = fields.Integer(required=True, allow_none=True)
    ended_at = fields.Integer(required=True, allow_none=True)


class TournamentView(TournamentSummary):
    """A tournament."""

    secret = fields.String(required=True, allow_none=True, metadata={"description": "Of the root, once all is over."})
    entries = fields.Integer(required=True, metadata={"description": "How many bots take part."})
    tables_per_board = fields.Integer(
        required=True, metadata={"description": "How many tables of a round play the same board, with these entries."}
    )
    progress = fields.Nested(Progress, required=True)
    test = fields.Nested(TestView, required=True, allow_none=True)


class PlanView(Schema):
    """What a tournament would come to, if it were started with the entries it has now."""

    can_start = fields.Boolean(required=True)
    why_not = fields.String(required=True, allow_none=True)
    games = fields.Integer(required=True, allow_none=True)
    games_per_entry = fields.Float(required=True, allow_none=True, metadata={"description": "On average."})
    rounds = fields.Integer(required=True, allow_none=True)
    boards = fields.Integer(required=True, allow_none=True)
    decisions = fields.Integer(required=True, allow_none=True, metadata={"description": "About so many."})
    seconds = fields.Integer(required=True, allow_none=True, metadata={"description": "About so long."})
    assumes = fields.List(
        fields.String(), required=True, metadata={"description": "What decisions and seconds rest on."}
    )
    warnings = fields.List(
        fields.String(), required=True, metadata={"description": "Entries that would forfeit their games."}
    )


class TournamentArgs(PageArgs):
    """Which tournaments to list."""

    state = fields.String(validate=validate.OneOf(list(TournamentState)))
    owner = fields.String(
        validate=validate.OneOf(["me"]), metadata={"description": "`me`: those that the token's account made."}
    )


TournamentList = page_of(TournamentSummary, "TournamentList")


@blp.post("/v1/tournaments", who=organiser(Scope.TOURNAMENTS))
@blp.arguments(TournamentNew, examples=_EXAMPLES)
@idempotent
@blp.response(201, TournamentView)
@blp.fails(409, "The account has as many unfinished tournaments as it may have.")
def create_tournament(body: dict[str, Any], *, mint: Mint) -> tuple[dict[str, Any], int, dict[str, str]]:
    """Make a tournament.

    It is open for entries until it is started. The answer holds the commitment to the secret of all its packs.
    """
    made = services().tournaments.create(caller(), order_of(body), mint)
    return services().scoreboard.view(made.id), 201, {"Location": f"/v1/tournaments/{made.id}"}


@blp.get("/v1/tournaments", who=public())
@blp.arguments(TournamentArgs, location="query")
@blp.response(200, TournamentList)
def list_tournaments(query: dict[str, Any]) -> dict[str, Any]:
    """List tournaments, newest first.

    A filtered page may hold fewer than `limit` although more follow.
    """
    state = TournamentState(query["state"]) if "state" in query else None
    found, following = services().tournaments.list_all(
        caller(), limit=query["limit"], cursor=query["cursor"], state=state, mine="owner" in query
    )
    return {"items": [services().scoreboard.summary(each) for each in found], "next_cursor": following}


@blp.get("/v1/tournaments/<tournament:tournament_id>", who=public())
@blp.response(200, TournamentView)
def show_tournament(tournament_id: str) -> dict[str, Any]:
    """Show a tournament and how far it is."""
    return services().scoreboard.view(tournament_id)


@blp.patch("/v1/tournaments/<tournament:tournament_id>", who=organiser(Scope.TOURNAMENTS))
@blp.arguments(TournamentChange)
@blp.response(200, TournamentView)
@blp.fails(409, "It has begun: all but its name is fixed.")
def change_tournament(body: dict[str, Any], tournament_id: str) -> dict[str, Any]:
    """Change a tournament's name or, until its start, what of its format, invitations and entries can be chosen."""
    services().tournaments.change(caller(), tournament_id, body)
    return services().scoreboard.view(tournament_id)


@blp.put("/v1/tournaments/<tournament:tournament_id>/state", who=organiser(Scope.TOURNAMENTS))
@blp.arguments(TournamentStateNew)
@blp.response(200, TournamentView)
@blp.fails(409, "It can't get into that state from the one it is in, or has too few entries.")
def set_tournament_state(body: dict[str, Any], tournament_id: str) -> dict[str, Any]:
    """Start, pause, go on with or cancel a tournament; a ladder can be finished.

    Paused, no game begins and those that run are finished. Cancelled, games that run end as cancelled; results stay.
    A ladder that is to finish draws no more games. Doing it again is no error.
    """
    services().tournaments.set_state(caller(), tournament_id, TournamentState(body["state"]))
    return services().scoreboard.view(tournament_id)


@blp.get("/v1/tournaments/<tournament:tournament_id>/plan", who=public())
@blp.response(200, PlanView)
def show_tournament_plan(tournament_id: str) -> dict[str, Any]:
    """Show what it would come to with the entries it has: games, decisions, how long; and whether it can start.

    A dry run: it changes nothing.
    """
    return services().planning.plan(tournament_id)
