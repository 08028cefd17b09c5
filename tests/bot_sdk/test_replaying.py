"""Decisions of records, asked again."""

from __future__ import annotations

import json

import pytest

from bot_sdk import messages
from bot_sdk.bot import Bot
from bot_sdk.bots import house
from bot_sdk.events import Decided, Retired
from bot_sdk.games import record
from bot_sdk.games.registry import RULESETS
from bot_sdk.local import Match, in_process, play
from bot_sdk.replaying import NoSuchDecision, Steps, choose, decision_at, decisions, place_in


class Listening(Bot):
    """Keeps what it was asked, and breaks at some of it."""

    def __init__(self, heard, name="ears"):
        super().__init__(name)
        self.heard = heard

    def decide(self, decision):
        self.heard.append(messages.encode(decision.message))
        if len(self.heard) % 9 == 0:
            raise RuntimeError("by hand")
        return decision.rng.choice(decision.legal), "a note"


@pytest.mark.parametrize(
    ("ruleset", "options"),
    [
        ("seven_up", {"gift": True}),
        ("seven_up", {"target": 3}),
        ("river", {"start_cards": 3}),
        ("river", {"start_cards": 3, "bidding": "simultaneous"}),
    ],
)
def test_the_messages_are_those_that_the_seats_got_to_the_letter(ruleset, options):
    heard = []
    rules = RULESETS[ruleset]
    table = [in_process(Listening(heard, f"ears {seat}")) for seat in range(rules.min_seats)]
    match = Match(rules, options, budget_ms=20_000, first_budget_ms=30_000)
    for played in play(match, table, games=2, seed="r"):
        again = record.read(record.encode(played.record))
        found = list(decisions(again))
        assert [messages.encode(decision.message) for decision in found] == heard
        for decision in found:
            event = again.deals[decision.deal].events[decision.at]
            assert (event["seat"], event["action"]) == (decision.message.seat, decision.decided.action)
            assert decision_at(again, decision.deal, decision.at) == decision
        heard.clear()


def test_steps_are_the_events_and_tell_all_that_becomes_known():
    table = [in_process(bot) for bot in (Listening([]), house("house:random"), Listening([]), house("house:greedy"))]
    (played,) = play(Match(RULESETS["river"], {"start_cards": 3}, max_faults=1), table, games=1)
    assert any(seat.retired for seat in played.record.seats)
    steps = Steps(played.record)
    got = list(steps)
    assert [step.event for step in got] == played.game.log
    assert steps.opening + [news for step in got for news in step.news] == played.game.news
    unasked = [step for step in got if step.message is None]
    assert {type(step.event) for step in unasked} == {Decided, Retired}
    for step in unasked:
        with pytest.raises(NoSuchDecision, match="when nobody was"):
            decision_at(played.record, step.deal, step.at)


@pytest.fixture(scope="module")
def recorded():
    table = [in_process(house("house:random"), bot_id="house:random")] * 2
    return [played.record for played in play(Match(RULESETS["seven_up"]), table, games=2)]


def test_places_that_are_none_are_told(recorded):
    deals, events = len(recorded[0].deals), len(recorded[0].deals[0].events)
    with pytest.raises(NoSuchDecision, match=f"a deal from 0 to {deals - 1}, got {deals}"):
        decision_at(recorded[0], deals, 0)
    with pytest.raises(NoSuchDecision, match=f"from 0 to {events - 1}, got {events}"):
        decision_at(recorded[0], 0, events)
    for text in ("3", "3.", ".1", "a.b", "-1.0", "1.2.3", "²." + "1", "9" * 5000 + ".1"):
        with pytest.raises(NoSuchDecision, match=r"expected DEAL\.EVENT"):
            place_in(text)
    assert place_in("3.17") == (3, 17)


def test_one_of_several_records_is_named(recorded):
    lines = [record.encode(one) + b"\n" for one in recorded]
    assert choose(lines[:1]) == recorded[0]
    assert choose(lines, recorded[1].game_id) == recorded[1]
    with pytest.raises(NoSuchDecision, match=f"{recorded[0].game_id}, {recorded[1].game_id} or another"):
        choose(lines)
    with pytest.raises(NoSuchDecision, match="expected the record of gam_x, got none"):
        choose(lines, "gam_x")
    with pytest.raises(NoSuchDecision, match="expected the record of a game, got none"):
        choose([])


def test_a_record_that_does_not_hold_is_refused(recorded):
    shown = json.loads(record.encode(recorded[0]))
    shown["totals"][0] += 1
    with pytest.raises(record.RecordError, match=r"record\.totals"):
        Steps(record.read(json.dumps(shown)))
