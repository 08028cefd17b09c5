"""openapi/bot.yaml says what `messages` says, and its examples are messages."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
import yaml

from bot_sdk import messages, openapi
from bot_sdk.games.registry import RULESETS
from service.openapi import rendered_bot

TEXT = (Path(__file__).parents[2] / "openapi" / "bot.yaml").read_text("utf-8")
COMMITTED = yaml.safe_load(TEXT)
POST = COMMITTED["paths"]["/"]["post"]
BODY = POST["requestBody"]["content"]["application/json"]
EXAMPLES = {name: example["value"] for name, example in BODY["examples"].items()}


def test_the_committed_document_says_what_the_messages_say():
    assert rendered_bot() == TEXT, "run `make openapi`"
    assert openapi.document() == COMMITTED


def test_every_message_is_told_apart_by_its_type():
    told_apart = BODY["schema"]["discriminator"]["mapping"]
    assert set(told_apart) == {"decision", "decisions", "challenge", "game_started", "game_ended"}
    assert list(told_apart.values()) == [each["$ref"] for each in BODY["schema"]["oneOf"]]


def test_every_phase_has_an_example():
    expected = {f"{name}_{phase}" for name, rules in RULESETS.items() for phase in rules.phases}
    assert expected <= set(EXAMPLES)


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_are_messages(name):
    message = msgspec.convert(EXAMPLES[name], messages.Request)
    assert msgspec.json.decode(messages.encode(message)) == EXAMPLES[name]
    if isinstance(message, messages.Decision):
        msgspec.convert(message.observation, messages.OBSERVATIONS[message.game.ruleset])


def test_the_options_of_every_table_fit():
    river = COMMITTED["components"]["schemas"]["RiverOptions"]["properties"]
    assert river["start_cards"]["maximum"] == 12  # of 4 seats
    assert river["first_dealer"]["maximum"] == 7  # of 8


def test_how_a_game_can_end_is_listed():
    state = COMMITTED["components"]["schemas"]["GameEnded"]["properties"]["state"]
    assert state == {"enum": ["finished", "void", "aborted", "cancelled"]}


def test_the_headers_of_the_signature_are_described():
    named = {parameter["name"] for parameter in POST["parameters"]}
    named |= {scheme["name"] for scheme in COMMITTED["components"]["securitySchemes"].values()}
    assert named == {"webhook-id", "webhook-timestamp", "webhook-signature"}


def test_the_card_is_described():
    answer = COMMITTED["paths"]["/"]["get"]["responses"]["200"]["content"]["application/json"]
    msgspec.convert(answer["example"], messages.BotCard)
