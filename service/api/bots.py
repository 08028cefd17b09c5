"""Bots: registering them, checking them, and their owners' view of how they do."""

from __future__ import annotations

from typing import Any, ClassVar

from marshmallow import Schema, ValidationError, fields, post_load, validate, validates_schema

from bot_sdk.games.registry import RULESETS
from service.api.auth import account, public
from service.api.context import caller, services
from service.api.fields import Name, PageArgs, Text, page_of
from service.api.idempotency import idempotent
from service.api.paging import page
from service.api.resource import Resource
from service.arena.bots import AVAILABILITY, OLD_SECRET_MS, BotFilter, is_house
from service.arena.caller import Caller, Scope
from service.arena.minting import Mint
from service.store.entities import PULL, AskedBy, Bot, BotState, Check, Transport, transport_of

blp = Resource("bots", description="Programs that play, each behind a URL of its owner's, or fetching its calls.")

_SECRET = "What its messages are signed with: `whsec_` and base64 of 24 to 64 bytes."  # noqa: S105 (a description)
_OWNER = "The owner's to see."


class Rulesets(fields.List[str]):
    """Names of the games that a bot plays, each once."""

    def __init__(self, **kwargs: Any) -> None:
        item = fields.String(validate=validate.OneOf(list(RULESETS)))
        super().__init__(item, validate=[validate.Length(1, len(RULESETS)), _no_doubles], **kwargs)


def _no_doubles(names: list[str]) -> None:
    if len(set(names)) < len(names):
        raise ValidationError("expected each ruleset once")


class Url(fields.String):
    """Where a bot is called; null for one that fetches its calls."""

    def _serialize(self, value: Any, attr: str | None, obj: Any, **kwargs: Any) -> Any:
        url: Any = super()._serialize(value, attr, obj, **kwargs)
        return None if url is not None and transport_of(url) is Transport.PULL else url


class _Reached(Schema):
    """How a bot is reached. What is loaded has a `url`, which is `PULL` for the transport `pull`."""

    _needs_url: ClassVar[bool]

    transport = fields.String(
        validate=validate.OneOf(list(Transport)),
        metadata={"description": "`push`, the default: the arena calls the URL. `pull`: the bot fetches its calls."},
    )

    @validates_schema
    def _agree(self, data: dict[str, Any], **_: Any) -> None:
        is_pull, has_url = data.get("transport") == Transport.PULL, "url" in data
        if is_pull and has_url:
            raise ValidationError("expected no URL with the transport pull", "url")
        if not (is_pull or has_url) and (self._needs_url or "transport" in data):
            raise ValidationError("expected a URL, or the transport pull", "url")

    @post_load
    def _place(self, data: dict[str, Any], **_: Any) -> dict[str, Any]:
        return data | {"url": PULL} if data.pop("transport", None) == Transport.PULL else data


class BotChange(_Reached):
    """What to change of a bot."""

    _needs_url = False

    name = Name()
    url = Text(8, 500, metadata={"description": "Answers GET with the bot's card and POST with its decisions."})
    rulesets = Rulesets()
    availability = fields.String(
        validate=validate.OneOf(AVAILABILITY),
        metadata={"description": "Who may seat it: anyone, tournaments and its owner, or its owner alone."},
    )
    state = fields.String(validate=validate.OneOf(["active", "paused"]))


class BotNew(_Reached):
    """A new bot, with a URL unless its transport is `pull`."""

    _needs_url = True

    name = Name(required=True)
    url = Text(8, 500, metadata={"description": "Answers GET with the card, POST with decisions."})
    rulesets = Rulesets(required=True)
    availability = fields.String(load_default="public", validate=validate.OneOf(AVAILABILITY))
    secret = Text(30, 100, metadata={"description": f"{_SECRET} Made by the arena if it isn't given."})


class SecretNew(Schema):
    """A new secret."""

    secret = Text(30, 100, metadata={"description": f"{_SECRET} Made by the arena if it isn't given."})


class SecretMade(Schema):
    """What the arena made."""

    secret = fields.String(allow_none=True, required=True, metadata={"description": "Shown once; null if given."})
    previous_valid_ms = fields.Integer(required=True)


class SuspensionView(Schema):
    """Why a bot is suspended, and how the arena's checks of it go."""

    since = fields.Integer(required=True)
    games = fields.List(fields.String(), required=True, metadata={"description": "Those that show why."})
    checks = fields.Integer(required=True, metadata={"description": "How many the arena has made since."})
    good = fields.Integer(required=True, metadata={"description": "How many of them were good since the last bad one."})


class BotView(Schema):
    """A bot as its owner or somebody else sees it."""

    id = fields.String(required=True)
    kind = fields.String(required=True, validate=validate.OneOf(["bot", "house"]))
    name = fields.String(required=True)
    account_id = fields.String(required=True, allow_none=True)
    rulesets = fields.List(fields.String(), required=True)
    availability = fields.String(required=True)
    state = fields.String(required=True, validate=validate.OneOf(list(BotState)))
    version = fields.String(required=True, allow_none=True, metadata={"description": "From its card."})
    max_batch = fields.Integer(required=True)
    max_games = fields.Integer(required=True)
    created_at = fields.Integer(required=True)
    activated_at = fields.Integer(required=True, allow_none=True)
    transport = fields.String(validate=validate.OneOf(list(Transport)), metadata={"description": _OWNER})
    url = Url(allow_none=True, metadata={"description": f"{_OWNER} Null if its transport is `pull`."})
    new_transport = fields.String(
        allow_none=True,
        validate=validate.OneOf([*Transport, None]),
        metadata={"description": f"{_OWNER} That of what replaces the URL once checked; null if nothing does."},
    )
    new_url = Url(allow_none=True, metadata={"description": f"{_OWNER} Replaces the URL once checked."})
    reason = fields.String(allow_none=True, metadata={"description": f"{_OWNER} Why it is in this state."})
    suspension = fields.Nested(SuspensionView, allow_none=True, metadata={"description": _OWNER})


class BotMade(BotView):
    """A new bot."""

    secret = fields.String(metadata={"description": "Shown this once, and only if the arena made it."})


class BotArgs(PageArgs):
    """Which bots to list."""

    kind = fields.String(load_default="bot", validate=validate.OneOf(["bot", "house"]))
    owner = fields.String(validate=validate.OneOf(["me"]))
    ruleset = fields.String(validate=validate.OneOf(list(RULESETS)))
    state = fields.String(validate=validate.OneOf(list(BotState)))


class Step(Schema):
    """One thing that was tried."""

    name = fields.String(required=True)
    ok = fields.Boolean(required=True)
    detail = fields.String(allow_none=True)
    ms = fields.Float(allow_none=True)
    warning = fields.Boolean(metadata={"description": "Whether it costs the bot time or safety though it is ok."})
    fault = fields.String(allow_none=True, metadata={"description": "A word of docs/faq.md for what is wrong."})
    where = fields.String(allow_none=True, metadata={"description": "The field of the answer that is wrong."})
    advice = fields.String(allow_none=True, metadata={"description": "What to do."})


class CheckView(Schema):
    """A challenge and conformance check of a bot."""

    id = fields.String(required=True)
    bot_id = fields.String(required=True)
    state = fields.String(required=True, validate=validate.OneOf(["queued", "running", "passed", "failed"]))
    url = Url(required=True, allow_none=True)
    asked_by = fields.String(
        required=True,
        validate=validate.OneOf(list(AskedBy)),
        metadata={"description": "The owner, or the arena, which looks after suspended bots."},
    )
    created_at = fields.Integer(required=True)
    ended_at = fields.Integer(required=True, allow_none=True)
    steps = fields.List(fields.Nested(Step), required=True)


class LedgerLine(Schema):
    """One decision that the bot was asked for."""

    decision_id = fields.String(required=True)
    game_id = fields.String(required=True)
    at = fields.Integer(required=True)
    outcome = fields.String(required=True)
    ms = fields.Float(required=True)
    action = fields.String(required=True, allow_none=True)
    error = fields.String(required=True, allow_none=True)
    status = fields.Integer(required=True, allow_none=True)
    head = fields.String(required=True, allow_none=True, metadata={"description": "The first bytes of its answer."})


BotList = page_of(BotView, "BotList")
CheckList = page_of(CheckView, "CheckList")
Ledger = page_of(LedgerLine, "Ledger")


@blp.post("/v1/bots", who=account(Scope.BOTS))
@blp.arguments(BotNew)
@idempotent
@blp.response(201, BotMade)
def create_bot(body: dict[str, Any], *, mint: Mint) -> tuple[dict[str, Any], int, dict[str, str]]:
    """Register a bot.

    It is pending until a check passes (`POST /v1/bots/{bot_id}/checks`). The answer holds its secret, once, if the
    arena made it.
    """
    secret = body.pop("secret", None)
    bot, made = services().bots.create(caller(), body, secret, mint)
    shown = bot_view(bot, caller()) | ({"secret": made} if made else {})
    return shown, 201, {"Location": f"/v1/bots/{bot.id}"}


@blp.get("/v1/bots", who=public())
@blp.arguments(BotArgs, location="query")
@blp.response(200, BotList)
def list_bots(query: dict[str, Any]) -> dict[str, Any]:
    """List bots, newest first.

    `kind=house` lists the arena's own instead; `owner=me` those of the token's account. A filtered page may hold
    fewer than `limit` although more follow.
    """
    if query["kind"] == "house":
        return page([bot_view(bot, caller()) for bot in services().bots.houses()], query)
    state = BotState(query["state"]) if "state" in query else None
    wanted = BotFilter(mine="owner" in query, ruleset=query.get("ruleset"), state=state)
    bots, following = services().bots.list_all(caller(), wanted, limit=query["limit"], cursor=query["cursor"])
    return {"items": [bot_view(bot, caller()) for bot in bots], "next_cursor": following}


@blp.get("/v1/bots/<bot:bot_id>", who=public())
@blp.response(200, BotView)
def show_bot(bot_id: str) -> dict[str, Any]:
    """Show a bot."""
    return bot_view(services().bots.get(caller(), bot_id), caller())


@blp.patch("/v1/bots/<bot:bot_id>", who=account(Scope.BOTS))
@blp.arguments(BotChange)
@blp.response(200, BotView)
@blp.fails(409, "It can't get into that state from the one it is in.")
def change_bot(body: dict[str, Any], bot_id: str) -> dict[str, Any]:
    """Change, pause or resume a bot.

    A new URL or transport takes the place of the old one when a check of it passes. A further ruleset makes the bot
    pending.
    """
    return bot_view(services().bots.change(caller(), bot_id, body), caller())


@blp.delete("/v1/bots/<bot:bot_id>", who=account(Scope.BOTS))
@blp.response(204)
@blp.fails(409, "It still plays.")
def delete_bot(bot_id: str) -> None:
    """Forget a bot.

    Records of its games keep its name.
    """
    services().bots.delete(caller(), bot_id)


@blp.post("/v1/bots/<bot:bot_id>/checks", who=account(Scope.BOTS))
@idempotent
@blp.response(202, CheckView)
def create_check(bot_id: str, *, mint: Mint) -> tuple[Check, int, dict[str, str]]:
    """Have a bot checked.

    A worker challenges it to prove that it holds its secret, then asks for decisions in every phase of its rulesets.
    A pass activates it. Follow Location to see how it goes. How many checks there may be in a day is limited for each
    host and for each account.
    """
    check = services().bots.check(caller(), bot_id, mint)
    return check, 202, {"Location": f"/v1/bots/{bot_id}/checks/{check.id}"}


@blp.get("/v1/bots/<bot:bot_id>/checks", who=account())
@blp.arguments(PageArgs, location="query")
@blp.response(200, CheckList)
def list_checks(query: dict[str, Any], bot_id: str) -> dict[str, Any]:
    """List the latest checks of a bot, newest first, those that the arena asked for among them."""
    checks, following = services().bots.checks(caller(), bot_id, limit=query["limit"], cursor=query["cursor"])
    return {"items": checks, "next_cursor": following}


@blp.get("/v1/bots/<bot:bot_id>/checks/<check:check_id>", who=account())
@blp.response(200, CheckView)
def show_check(bot_id: str, check_id: str) -> Check:
    """Show how a check went, step by step."""
    return services().bots.get_check(caller(), bot_id, check_id)


@blp.post("/v1/bots/<bot:bot_id>/secret", who=account(Scope.BOTS), audited=True)
@blp.arguments(SecretNew)
@idempotent
@blp.response(201, SecretMade)
def rotate_secret(body: dict[str, Any], bot_id: str, *, mint: Mint) -> dict[str, Any]:
    """Give a bot a new secret.

    Messages are signed with both for 24 hours, so that the bot can change over without a gap.
    """
    made = services().bots.rotate_secret(caller(), bot_id, body.get("secret"), mint)
    return {"secret": made, "previous_valid_ms": OLD_SECRET_MS}


@blp.get("/v1/bots/<bot:bot_id>/decisions", who=account())
@blp.arguments(PageArgs, location="query")
@blp.response(200, Ledger)
def list_decisions(query: dict[str, Any], bot_id: str) -> dict[str, Any]:
    """List a bot's latest decisions, newest first.

    The owner's ledger: how each went, how long it took, and the head of what the bot answered.
    """
    lines, following = services().bots.decisions(caller(), bot_id, limit=query["limit"], cursor=query["cursor"])
    return {"items": lines, "next_cursor": following}


def bot_view(bot: Bot, asking: Caller) -> dict[str, Any]:
    """Show a bot to somebody: its URL and the reason of its state are for its owner and the operator."""
    shown: dict[str, Any] = {
        "id": bot.id,
        "kind": "house" if is_house(bot) else "bot",
        "name": bot.name,
        "account_id": bot.account_id or None,
        "rulesets": bot.rulesets,
        "availability": bot.availability,
        "state": bot.state.value,
        "version": bot.version,
        "max_batch": bot.max_batch,
        "max_games": bot.max_games,
        "created_at": bot.created_at,
        "activated_at": bot.activated_at,
    }
    if asking.owns(bot.account_id) or asking.is_operator:
        shown |= {
            "transport": transport_of(bot.url).value,
            "url": bot.url,
            "new_transport": transport_of(bot.new_url).value if bot.new_url else None,
            "new_url": bot.new_url,
            "reason": bot.reason,
            "suspension": bot.suspension,
        }
    return shown
