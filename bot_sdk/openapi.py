"""The bot's side of the contract as an OpenAPI document: what a bot answers to GET and to each message by POST.

Made from `messages`, so that it says what the arena sends; the examples are positions of real games. Writes no file.
"""

from __future__ import annotations

from typing import Any, Final, get_args

import msgspec

from bot_sdk import messages
from bot_sdk.games.record import Status
from bot_sdk.games.registry import RULESETS, Ruleset
from bot_sdk.positions import positions

REQUESTS: Final[tuple[type[msgspec.Struct], ...]] = (
    messages.Decision,
    messages.Decisions,
    messages.Challenge,
    messages.GameStarted,
    messages.GameEnded,
)
REPLIES: Final[tuple[type[msgspec.Struct], ...]] = (
    messages.ActionReply,
    messages.ActionsReply,
    messages.ChallengeReply,
)
OBSERVATIONS: Final[tuple[type[msgspec.Struct], ...]] = (messages.SevenUpObservation, messages.RiverObservation)
VERSION: Final = str(messages.API)
DESCRIPTION: Final = """\
What a bot is: a web server with one URL. It answers GET with its card and takes every message of the arena by POST,
told apart by `type`. docs/contract.md has the whole contract in words: time, outcomes, retirement.

Read messages leniently: later versions may add fields."""

_SIGNATURE: Final = (
    "Standard Webhooks: `v1,` and the base64 HMAC-SHA256 of `<webhook-id>.<webhook-timestamp>.<body>` under the bot's "
    "secret; several with a blank between while a secret is being changed."
)


def document() -> dict[str, Any]:
    """Build the document; the same each time."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "A Slagveld bot",
            "version": VERSION,
            "description": DESCRIPTION,
            "license": {"name": "MIT", "identifier": "MIT"},
            "contact": {"name": "Slagveld"},
        },
        "servers": [
            {
                "url": "{bot}",
                "description": "The URL that the bot is registered under.",
                "variables": {"bot": {"default": "http://127.0.0.1:9000"}},
            }
        ],
        "paths": {"/": {"get": _card(), "post": _message()}},
        "components": {
            "schemas": _schemas(),
            "securitySchemes": {
                "signature": {
                    "type": "apiKey",
                    "in": "header",
                    "name": "webhook-signature",
                    "description": _SIGNATURE,
                }
            },
        },
    }


def _card() -> dict[str, Any]:
    card = messages.BotCard(name="lowball", version="3", author="Ada", rulesets=["seven_up", "river"], max_batch=64)
    return {
        "operationId": "getCard",
        "summary": "Say what this bot is",
        "description": "Read at each check of the bot, not before each game.",
        "security": [],
        "responses": {
            "200": {
                "description": "The bot card.",
                "content": {"application/json": {"schema": _ref(messages.BotCard), "example": _plain(card)}},
            },
            "4XX": {"description": "Anything else fails the check."},
        },
    }


def _message() -> dict[str, Any]:
    return {
        "operationId": "takeMessage",
        "summary": "Take a message, and answer a decision",
        "description": (
            "`decision` is answered by an ActionReply, `decisions` by an ActionsReply, `challenge` by a "
            "ChallengeReply; to `game_started` and `game_ended` any 2xx will do."
        ),
        "security": [{"signature": []}],
        "parameters": [
            _header("webhook-id", "Names the message; a retry has the same.", "msg_gam_7q2m.1.35"),
            _header("webhook-timestamp", "When it was signed, in Unix seconds.", "1700000000"),
        ],
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {
                    "schema": {
                        "oneOf": [_ref(each) for each in REQUESTS],
                        "discriminator": {
                            "propertyName": "type",
                            "mapping": {_tag(each): _ref(each)["$ref"] for each in REQUESTS},
                        },
                    },
                    "examples": _examples(),
                }
            },
        },
        "responses": {
            "200": {
                "description": "The reply: at most 64 KiB, and 1 KiB more per decision of a batch.",
                "content": {
                    "application/json": {
                        "schema": {"anyOf": [*(_ref(each) for each in REPLIES), {"type": "object"}]},
                        "examples": _replies(),
                    }
                },
            },
            "401": {"description": "The signature isn't one of this bot's secret."},
            "410": {"description": "Asks not to be called: suspends the bot until a check that its owner asks for."},
            "4XX": {"description": "Anything but 200 is the outcome `bad_status`: the fallback is played."},
        },
    }


def _schemas() -> dict[str, Any]:
    types = [*REQUESTS, *REPLIES, messages.BotCard, *OBSERVATIONS]
    _, found = msgspec.json.schema_components(types, ref_template="#/components/schemas/{name}")
    decision = found["Decision"]["properties"]
    decision["observation"] = {"oneOf": [_ref(each) for each in OBSERVATIONS]}
    decision["phase"] = {"enum": sorted({phase for each in RULESETS.values() for phase in each.phases})}
    decision["legal_actions"]["minItems"] = 1
    game = found["GameInfo"]["properties"]
    game["ruleset"] = {"enum": list(RULESETS)}
    for name, rules in RULESETS.items():
        found[_options_name(name)] = _options_of_any_table(rules)
    game["options"] = {"anyOf": [{"$ref": f"#/components/schemas/{_options_name(name)}"} for name in RULESETS]}
    found["GameEnded"]["properties"]["state"] = {"enum": list(get_args(Status))}
    found["ActionReply"]["properties"]["note"]["description"] = f"At most {messages.MAX_NOTE_BYTES} bytes of UTF-8."
    return dict(found)


def _options_of_any_table(rules: Ruleset) -> dict[str, Any]:
    """Describe options as a message may hold them: each limit is that of the table which allows most."""
    described = rules.options_schema()
    for seats in range(rules.min_seats, rules.max_seats + 1):
        for name, option in rules.options_schema(seats)["properties"].items():
            if "maximum" in option:
                widest = described["properties"][name]
                widest["maximum"] = max(widest["maximum"], option["maximum"])
    return described


def _examples() -> dict[str, Any]:
    """Show a decision of every phase, and one of each other message."""
    decisions = {
        f"{name}_{phase}": positions(name, phase, 1, "openapi")[0]
        for name, rules in RULESETS.items()
        for phase in rules.phases
    }
    game = decisions["river_bid"].game
    others: dict[str, Any] = {
        "decisions": messages.Decisions(
            budget_ms=messages.BUDGET_MS, decisions=[decisions["seven_up_play"], decisions["river_play"]]
        ),
        "challenge": messages.Challenge(challenge="uY3nqV0c", bot_id="bot_aaaaaaaaaaaaaaaaaaaaaaaaaa"),
        "game_started": messages.GameStarted(game=game, seat=0),
        "game_ended": messages.GameEnded(
            game=game,
            seat=0,
            state="finished",
            totals=[41 - 7 * seat for seat in range(len(game.seats))],
            places=[seat + 1 for seat in range(len(game.seats))],
            outcomes={"late": 1, "ok": 85},
            record_url=f"https://arena.example/v1/games/{game.id}/record",
        ),
    }
    return {name: {"value": _plain(message)} for name, message in {**decisions, **others}.items()}


def _replies() -> dict[str, Any]:
    asked = positions("river", "bid", 1, "openapi")[0]
    reply = messages.ActionReply(decision_id=asked.decision_id, action=asked.legal_actions[0], note="short of trumps")
    proved = messages.ChallengeReply(challenge="uY3nqV0c", proof="0" * 64)
    replies = {"action": reply, "actions": messages.ActionsReply([reply]), "challenge": proved}
    return {name: {"value": _plain(each)} for name, each in replies.items()} | {"news": {"value": {}}}


def _header(name: str, description: str, example: str) -> dict[str, Any]:
    return {
        "name": name,
        "in": "header",
        "required": True,
        "description": description,
        "schema": {"type": "string"},
        "example": example,
    }


def _ref(message: type[msgspec.Struct]) -> dict[str, str]:
    return {"$ref": f"#/components/schemas/{message.__name__}"}


def _tag(message: type[msgspec.Struct]) -> str:
    return str(message.__struct_config__.tag)


def _plain(message: msgspec.Struct) -> Any:
    return msgspec.json.decode(messages.encode(message))


def _options_name(ruleset: str) -> str:
    return "".join(word.capitalize() for word in ruleset.split("_")) + "Options"
