"""The examples of the documents are run: what they show is what the code does."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from base64 import b64decode
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from bot_sdk.cards import NAMES
from bot_sdk.events import Retired, RetiredBecause
from bot_sdk.games import record
from bot_sdk.games.game import Game
from bot_sdk.games.packs import commitment, committed
from bot_sdk.games.registry import RULESETS
from bot_sdk.messages import (
    OBSERVATIONS,
    ActionReply,
    ActionsReply,
    BotCard,
    Challenge,
    ChallengeReply,
    Decision,
    Decisions,
    GameEnded,
    GameStarted,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

DOCS = Path(__file__).parents[2] / "docs"
VECTORS = (bytes(32), "game:42", ["alice", "bob"])
SECRET = "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


def blocks(document: str, language: str) -> list[str]:
    text = (DOCS / document).read_text(encoding="utf-8")
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def examples() -> list[dict[str, Any]]:
    return [json.loads(block) for block in blocks("contract.md", "json")]


def decisions() -> list[dict[str, Any]]:
    """Every decision in the contract, those of the batch and those shown in part alike."""
    shown = [inner for example in examples() for inner in example.get("decisions", [example])]
    return [example for example in shown if "observation" in example]


def decision(decision_id: str) -> dict[str, Any]:
    return next(example for example in decisions() if example["decision_id"] == decision_id)


def assert_shown(state: Any, decision_id: str) -> None:
    example = decision(decision_id)
    seat = example["seat"]
    assert seat in state.actors()
    assert example["phase"] == state.phase
    assert example["observation"] == state.observe(seat)
    assert example["legal_actions"] == state.legal_actions(seat)


def test_every_message_of_the_contract_is_what_both_sides_exchange():
    requests = Decision | Decisions | Challenge | GameStarted | GameEnded
    whole = [example for example in examples() if "type" in example]
    for example in whole:
        message = msgspec.convert(example, requests, strict=True)
        assert msgspec.to_builtins(message) == example
    assert {example["type"] for example in whole} == {
        "decision",
        "decisions",
        "challenge",
        "game_started",
        "game_ended",
    }


def test_every_reply_of_the_contract_is_one_that_the_arena_reads():
    for key, kind in (
        ("proof", ChallengeReply),
        ("action", ActionReply),
        ("actions", ActionsReply),
        ("rulesets", BotCard),
    ):
        found = [example for example in examples() if key in example]
        assert found
        for example in found:
            assert msgspec.to_builtins(msgspec.convert(example, kind)) == example


def test_the_contract_shows_every_phase_of_every_ruleset():
    shown = {
        ("river" if "cards" in example["observation"] else "seven_up", example["phase"]) for example in decisions()
    }
    assert shown == {(name, phase) for name, ruleset in RULESETS.items() for phase in ruleset.phases}


def test_the_contract_names_every_field_of_an_observation():
    text = (DOCS / "contract.md").read_text(encoding="utf-8")
    fields = {field for kind in OBSERVATIONS.values() for field in kind.__struct_fields__}
    assert [field for field in sorted(fields) if f"`{field}`" not in text] == []


def test_the_contract_names_every_public_event_and_its_fields():
    section = (DOCS / "contract.md").read_text(encoding="utf-8").split("## Public events")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `(\w+)` \| (.*?) \|", section, re.MULTILINE)
    documented = {event: set(re.findall(r"`(\w+)`", fields)) for event, fields in rows if event != "event"}
    told: dict[str, set[str]] = {}
    for news in public_events():
        told.setdefault(news["event"], set()).update(news.keys() - {"event"})
    assert documented == told


def public_events() -> Iterator[dict[str, Any]]:
    """Everything that was told in a game of each ruleset in which somebody begs and somebody leaves."""
    for name, seats in (("seven_up", 2), ("river", 4)):
        game = Game(RULESETS[name], {}, seats, committed(*VECTORS))
        while game.state.deal_number < 2 and not game.is_over:
            seat = game.owed()[0]
            game.apply(game.judged(seat, game.state.legal_actions(seat)[-1], ms=1.0))
        for seat in range(seats):
            if not game.is_over:
                game.apply(Retired(seat, RetiredBecause.LEFT))
        yield from game.news


def test_the_deal_of_seven_up_in_the_contract_is_that_of_the_vectors():
    state = RULESETS["seven_up"].new({"gift": True}, 2, committed(*VECTORS))
    assert_shown(state, "gam_k3vd.1.0")
    state.apply(1, "beg")
    assert_shown(state, "gam_k3vd.0.0")
    state.apply(0, "run")
    state.apply(0, "discard:8C")
    assert_shown(state, "gam_k3vd.0.2")
    for seat, card in ((0, "3D"), (1, "3C"), (0, "4D"), (1, "2D"), (1, "5S")):
        state.apply(seat, f"discard:{card}")
    for seat, card in ((1, "KH"), (0, "6D"), (1, "AS")):
        state.apply(seat, f"play:{card}")
    assert_shown(state, "gam_k3vd.0.5")


def test_the_deal_of_river_in_the_contract_is_that_of_the_vectors():
    state = RULESETS["river"].new({}, 4, committed(*VECTORS))
    while state.deal_number < 5:
        (seat,) = state.actors()
        legal = state.legal_actions(seat)
        state.apply(seat, legal[min(1, len(legal) - 1)] if state.phase == "bid" else legal[0])
    for seat, bid in ((2, 1), (3, 0), (0, 1)):
        state.apply(seat, f"bid:{bid}")
    assert_shown(state, "gam_7q2m.1.35")
    state.apply(1, "bid:2")
    for card in ("AH", "8S", "2H", "6H", "JD", "4D", "JH"):
        state.apply(state.actors()[0], f"play:{card}")
    assert_shown(state, "gam_7q2m.1.37")


def test_the_proof_in_the_contract_is_made_with_the_secret_it_names():
    challenge = next(example for example in examples() if example.get("type") == "challenge")
    reply = next(example for example in examples() if "proof" in example)
    signed = f"{challenge['bot_id']}.{challenge['challenge']}".encode()
    assert reply["proof"] == hmac.new(b64decode(SECRET), signed, hashlib.sha256).hexdigest()
    assert f"whsec_{SECRET}" in (DOCS / "contract.md").read_text(encoding="utf-8")


def test_the_record_shown_verifies():
    shown = record.read(blocks("record.md", "json")[0])
    assert record.verify(shown).places == [4, 1, 2, 2]


@pytest.mark.parametrize("deal", [0, 1, 7_375_980])
def test_vector_is_the_pack_of_the_engine_and_of_the_code_shown(deal):
    text = next(block for block in blocks("deals.md", "text") if block.startswith("deal 0\n"))
    vector = re.search(rf"^deal {deal}\n(.+\n.+)$", text, re.MULTILINE)[1].split()
    shown: dict[str, Any] = {}
    exec(blocks("deals.md", "python")[0], shown)
    assert vector == [NAMES[card] for card in committed(*VECTORS)(deal)]
    assert vector == shown["pack"](*VECTORS, deal)
    assert commitment(*VECTORS[:2]) == shown["commitment"](*VECTORS[:2])
