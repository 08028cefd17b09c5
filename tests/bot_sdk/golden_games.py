"""Golden games: for each registered ruleset, table size and option value, one small game as it was when looked at.

A file in ``golden/`` holds the playthrough (what was owed, what was legal, what was done and what the table learnt)
and the record. The game of an option value is one in which that value shows: under any other value the same actions
aren't possible or something else comes of them. ``golden/messages/`` holds the messages of the bot contract, among
them the decision of every phase. After a wanted change, write all of them again and read the difference::

    python -m tests.bot_sdk.golden_games
"""

from __future__ import annotations

import hashlib
import json
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any

import msgspec

from bot_sdk import messages
from bot_sdk.errors import SdkError
from bot_sdk.events import Decided, Event
from bot_sdk.games import record
from bot_sdk.games.game import Game
from bot_sdk.games.options import Choice, Option
from bot_sdk.games.packs import committed
from bot_sdk.games.record import LimitsShown, Record, SeatShown
from bot_sdk.games.registry import RULESETS, ruleset
from tests.bot_sdk.tables import every_table_size, random_event, values_of

FOLDER = Path(__file__).parent / "golden"
SMALL: dict[str, dict[str, Any]] = {"seven_up": {"target": 3}, "river": {"start_cards": 2}}
LIMITS = LimitsShown(budget_ms=1000, first_budget_ms=5000, max_faults=5)


@dataclass(frozen=True)
class Case:
    """What a golden game shows: the value of an option, or a size of the table if `option` is empty."""

    ruleset: str
    seats: int
    option: str = ""
    value: Any = None

    @property
    def name(self) -> str:
        what = f"{self.option}-{str(self.value).lower()}" if self.option else f"seats-{self.seats}"
        return f"{self.ruleset}-{what}"

    @property
    def path(self) -> Path:
        return FOLDER / f"{self.name}.json"

    @property
    def given(self) -> dict[str, Any]:
        return SMALL.get(self.ruleset, {}) | ({self.option: self.value} if self.option else {})

    def others(self) -> Iterator[dict[str, Any]]:
        """Give the options with each other value that has a golden game of its own."""
        for option in RULESETS[self.ruleset].options_for(self.seats):
            if option.name == self.option:
                yield from (self.given | {self.option: value} for value in wanted(option) if value != self.value)

    def secret(self, seed: int) -> bytes:
        return hashlib.sha256(f"{self.name} {seed}".encode()).digest()

    def entropy(self) -> list[str]:
        return ["", "alice", "é", *[""] * 8][: self.seats]

    def game(self, seed: int, options: dict[str, Any] | None = None) -> Game:
        packs = committed(self.secret(seed), self.name, self.entropy())
        return Game(ruleset(self.ruleset), options or self.given, self.seats, packs, max_faults=LIMITS.max_faults)

    def record(self, game: Game, seed: int) -> Record:
        return record.build(
            game,
            game_id=f"gam_{self.name}",
            status="void" if game.void else "finished",
            limits=LIMITS,
            seats=[SeatShown(f"player {seat}", "bot", f"bot_{seat}", "1") for seat in range(self.seats)],
            label=self.name,
            secret=self.secret(seed),
            entropy=self.entropy(),
        )


def wanted(option: Option) -> list[Any]:
    """Give the values that need a golden game: all of a short range, else the least and that of a small game."""
    values = values_of(option)
    if isinstance(option, Choice) or option.name not in {name for small in SMALL.values() for name in small}:
        return values
    return [option.low, *(small[option.name] for small in SMALL.values() if option.name in small)]


def cases() -> list[Case]:
    found = [Case(name, seats) for name, seats in every_table_size()]
    for name, rules in RULESETS.items():
        for option in rules.options_for(rules.min_seats):
            found += [Case(name, rules.min_seats, option.name, value) for value in wanted(option)]
    return found


def step(game: Game, told: int, event: Event, *, look: bool) -> dict[str, Any]:
    """Apply one event and write down the state before it and the news since `told`."""
    seat, phase = event.seat, game.state.phase
    before: dict[str, Any] = {"phase": phase, "owed": game.owed(), "seat": seat}
    if look:
        before |= {"observation": game.state.observe(seat), "table": game.state.observe(None)}
    legal = game.state.legal_actions(seat)
    logged = [msgspec.to_builtins(each) for each in game.apply(event)]
    return {**before, "legal": legal, "logged": logged, "version": game.version(None), "news": game.news[told:]}


def playthrough(game: Game, events: Iterable[Event]) -> list[dict[str, Any]]:
    """Play events and write down each step, with what was observed where a phase first comes up."""
    steps, looked = [{"news": game.news.copy()}], set()
    for event in events:
        phase = game.state.phase
        steps.append(step(game, len(game.news), event, look=phase not in looked))
        looked.add(phase)
    return steps


def drawn(game: Game, rng: random.Random) -> Iterator[Event]:
    """Draw decisions until the game is over, some of them faults."""
    while not game.is_over:
        yield random_event(game, rng, faults=0.1)


def shows(case: Case, seed: int, events: list[Event], steps: list[dict[str, Any]]) -> bool:
    """Tell whether the value of the case makes a difference in this game to every other value."""
    return all(not could_be(case, seed, options, events, steps) for options in case.others())


def could_be(case: Case, seed: int, options: dict[str, Any], events: list[Event], steps: list[dict[str, Any]]) -> bool:
    try:
        game = case.game(seed, options)
        return playthrough(game, events) == steps and game.is_over
    except SdkError:
        return False


def decisions_of(steps: list[dict[str, Any]]) -> list[Event]:
    """Give the decisions of a playthrough; retirements follow from them."""
    return [msgspec.convert(each["logged"][0], Decided) for each in steps[1:]]


def golden(case: Case) -> dict[str, Any]:
    """Make the golden game of a case: the first seed in whose game its value shows."""
    for seed in count():
        game = case.game(seed)
        steps = playthrough(game, drawn(game, random.Random(f"{case.name} {seed}")))
        if shows(case, seed, decisions_of(steps), steps):
            break
    return {
        "ruleset": case.ruleset,
        "seats": case.seats,
        "options": case.given,
        "seed": seed,
        "steps": steps,
        "record": msgspec.to_builtins(case.record(game, seed)),
    }


def written(made: dict[str, Any]) -> str:
    """Write a golden game as JSON with a line a step, so that a difference can be read."""
    lines = {key: json.dumps(value) for key, value in made.items()}
    lines["steps"] = "[\n  " + ",\n  ".join(json.dumps(each) for each in made["steps"]) + "\n ]"
    return "{\n" + ",\n".join(f' "{key}": {value}' for key, value in lines.items()) + "\n}\n"


# Messages


def decisions(name: str, seats: int, options: dict[str, Any]) -> dict[str, messages.Decision]:
    """Give a decision of every phase that comes up in twenty games."""
    met: dict[str, list[messages.Decision]] = {}
    case = Case(name, seats)
    info = messages.GameInfo("gam_1", name, ruleset(name).resolve(options, seats), [f"bot {n}" for n in range(seats)])
    for seed in range(20):
        game, rng = case.game(seed, options), random.Random(seed)
        while not game.is_over:
            event = random_event(game, rng, faults=0.1)
            budget = messages.BUDGET_MS if game.decisions[event.seat] else messages.FIRST_BUDGET_MS
            met.setdefault(game.state.phase, []).append(messages.decision_of(game, info, event.seat, budget))
            game.apply(event)
    return {phase: telling(found) for phase, found in met.items()}


def telling(found: list[messages.Decision]) -> messages.Decision:
    """Choose the decision that shows most: one after the first trick, else the second of its phase."""
    return next((each for each in found if len(each.observation["tricks"]) == 1), found[1])


def golden_messages() -> dict[str, msgspec.Struct]:
    """Make the messages of the contract by the name of their file."""
    made: dict[str, msgspec.Struct] = {}
    for phase, decision in decisions("seven_up", 2, {"gift": True, "target": 3}).items():
        made[f"decision-seven_up-{phase}"] = decision
    for phase, decision in decisions("river", 4, {"start_cards": 3}).items():
        made[f"decision-river-{phase}"] = decision
    fists = decisions("river", 5, {"start_cards": 3, "bidding": "simultaneous"})["bid"]
    made["decision-river-bid-simultaneous"] = fists
    info = fists.game
    made["decisions"] = messages.Decisions(budget_ms=1000, decisions=list(made.values())[:2])
    made["challenge"] = messages.Challenge(challenge="c2xhZ3ZlbGQ", bot_id="bot_1")
    made["game_started"] = messages.GameStarted(game=info, seat=2)
    made["game_ended"] = messages.GameEnded(
        game=info, seat=2, state="finished", totals=[3, 24, 11, 1, 12], places=[4, 1, 3, 5, 2],
        outcomes={"ok": 24, "late": 1}, record_url="https://arena.example/v1/games/gam_1/record",
    )  # fmt: skip
    return made


def message_path(name: str) -> Path:
    return FOLDER / "messages" / f"{name}.json"


def message_text(message: msgspec.Struct) -> str:
    return msgspec.json.format(messages.encode(message), indent=1).decode() + "\n"


def main() -> None:
    """Write every golden file again and drop those that nothing asks for."""
    (FOLDER / "messages").mkdir(parents=True, exist_ok=True)
    texts = {case.path: written(golden(case)) for case in cases()}
    texts |= {message_path(name): message_text(message) for name, message in golden_messages().items()}
    for path in set(FOLDER.rglob("*.json")) - texts.keys():
        path.unlink()
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
