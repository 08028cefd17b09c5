"""The messages of the bot contract: golden files for each, held against their declared types."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot_sdk import messages
from bot_sdk.events import Decided, Outcome
from bot_sdk.games.registry import RULESETS
from bot_sdk.messages import Decision, Decisions
from tests.bot_sdk.golden_games import golden_messages, message_path, message_text
from tests.bot_sdk.tables import Table, random_event, tables

MADE = golden_messages()


def kept(name: str) -> bytes:
    return message_path(name).read_bytes()


def decisions_in(message: messages.Request) -> list[Decision]:
    if isinstance(message, Decisions):
        return message.decisions
    return [message] if isinstance(message, Decision) else []


def strictly(value: dict[str, Any], kind: type[msgspec.Struct]) -> None:
    """Hold a JSON object against a Struct: of its types, with all of its fields, and with no other."""
    converted = msgspec.convert(value, kind, strict=True)
    assert msgspec.to_builtins(converted) == value


@pytest.mark.parametrize("name", MADE)
def test_the_message_is_as_kept(name: str) -> None:
    assert message_text(MADE[name]) == kept(name).decode()


@pytest.mark.parametrize("name", MADE)
def test_the_kept_message_is_of_its_declared_type_with_no_other_field(name: str) -> None:
    message = msgspec.json.decode(kept(name), type=messages.Request)
    assert msgspec.to_builtins(message) == json.loads(kept(name))
    assert type(message) is type(MADE[name])


@pytest.mark.parametrize("name", MADE)
def test_observations_in_kept_messages_are_of_their_declared_type_with_no_other_field(name: str) -> None:
    for decision in decisions_in(msgspec.json.decode(kept(name), type=messages.Request)):
        strictly(decision.observation, messages.OBSERVATIONS[decision.game.ruleset])


def test_every_phase_of_every_ruleset_has_a_kept_decision() -> None:
    met = {
        (decision.game.ruleset, decision.phase)
        for name in MADE
        for decision in decisions_in(msgspec.json.decode(kept(name), type=messages.Request))
    }
    assert met == {(name, phase) for name, rules in RULESETS.items() for phase in rules.phases}


def test_every_type_of_message_has_a_kept_one() -> None:
    declared = {kind.__struct_config__.tag for kind in messages.Request.__args__}
    assert {json.loads(kept(name))["type"] for name in MADE} == declared
    assert set(messages.OBSERVATIONS) == set(RULESETS)


def test_kept_decisions_tell_how_the_last_one_went() -> None:
    outcomes = {decision.last and decision.last.outcome for made in MADE.values() for decision in decisions_in(made)}
    assert len(outcomes) > 1


@given(tables(longest=3))
def test_every_observation_of_every_game_is_of_its_declared_type(table: Table) -> None:
    game, rng = table.game(), table.rng()
    while not game.is_over:
        for seat in range(table.seats):
            strictly(game.state.observe(seat), messages.OBSERVATIONS[table.ruleset])
        game.apply(random_event(game, rng, 0.1))


@given(tables(longest=2))
def test_a_decision_names_what_the_seat_owes_and_counts_its_own_decisions(table: Table) -> None:
    game, rng = table.game(), table.rng()
    info = messages.GameInfo("gam_1", table.ruleset, game.state.options, ["x"] * table.seats)
    asked: set[str] = set()
    while not game.is_over:
        for seat in game.owed():
            decision = messages.decision_of(game, info, seat, 1000)
            assert decision.decision_id == f"gam_1.{seat}.{game.decisions[seat]}"
            assert (decision.seat, decision.phase) == (seat, game.state.phase)
            assert decision.legal_actions == game.state.legal_actions(seat)
            assert decision.observation == game.state.observe(seat)
            assert decision.last == messages.last_of(game.last[seat])
        event = random_event(game, rng, 0.1)
        decided = messages.decision_id("gam_1", event.seat, game.decisions[event.seat])
        assert decided not in asked
        asked.add(decided)
        game.apply(event)


def test_another_seats_hidden_action_leaves_a_pending_decision_as_it_was() -> None:
    game = Table("river", {"bidding": "simultaneous"}, 4, 1).game()
    info = messages.GameInfo("gam_1", "river", game.state.options, ["x"] * 4)
    before = messages.decision_of(game, info, 2, 1000)
    game.apply(Decided(0, "bid:3", Outcome.OK, 5.0))
    assert messages.decision_of(game, info, 2, 1000) == before


@given(st.from_regex(r"[a-z_0-9.~/]{1,80}", fullmatch=True), st.integers(0, 99), st.integers(0, 999_999))
def test_a_decision_id_reads_back(game_id: str, seat: int, number: int) -> None:
    assert messages.parse_decision_id(messages.decision_id(game_id, seat, number)) == (game_id, seat, number)


@pytest.mark.parametrize(
    "text", ["", "gam_1", "gam_1.0", ".0.1", "gam_1.x.1", "gam_1.0.1 ", "gam_1.0.-1", "gam_1.100.1"]
)
def test_anything_else_is_no_decision_id(text: str) -> None:
    assert messages.parse_decision_id(text) is None


def card(**changes: Any) -> messages.BotCard:
    shown = {"name": "lowball", "version": "3", "rulesets": ["river"]} | changes
    return msgspec.json.decode(msgspec.json.encode(shown), type=messages.BotCard)


def test_rulesets_that_are_not_known_here_do_not_count() -> None:
    assert card(rulesets=["whist", *RULESETS]).known == list(RULESETS)
    assert card(rulesets=["whist"]).known == []


@pytest.mark.parametrize(
    "changes",
    [{"api": 2}, {"api": "1"}, {"name": " \t"}, {"rulesets": ["river", "river"]}, {"rulesets": [""]}, {"rulesets": []}],
)
def test_what_is_no_card_is_refused(changes: dict[str, Any]) -> None:
    assert card(api=1).name == "lowball"
    with pytest.raises(msgspec.ValidationError):
        card(**changes)
