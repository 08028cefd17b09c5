"""What the tests of the rules are laid out with: packs put together by hand, tables drawn, games played by a seed.

A position is always reached by packs and actions; nothing here reaches into a state to change it.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from bot_sdk.cards import NAMES, parse_card
from bot_sdk.events import Decided, Event, Outcome
from bot_sdk.games.base import State
from bot_sdk.games.game import Game
from bot_sdk.games.options import Choice, Option
from bot_sdk.games.packs import given, seeded
from bot_sdk.games.registry import RULESETS, ruleset

Pack = list[int]


def stacked(places: Mapping[int, str]) -> Pack:
    """Give a pack with these cards at these indices and the others in the fixed order between them."""
    fixed = {at: parse_card(name) for at, name in places.items()}
    rest = iter(sorted(set(range(52)) - set(fixed.values())))
    return [fixed[at] if at in fixed else next(rest) for at in range(52)]


def seven_up_pack(eldest: str, dealer: str, upcard: str, *runs: str) -> Pack:
    """Lay out a deal of Seven Up; each run is its upcard, or three cards of eldest, three of the dealer and it."""
    places = {2 * i: name for i, name in enumerate(eldest.split())}
    places |= {2 * i + 1: name for i, name in enumerate(dealer.split())}
    places[12] = upcard
    for run, cards in enumerate(runs):
        *drawn, turned = cards.split()
        start = 13 + 7 * run
        places[start + 6] = turned
        for i, name in enumerate(drawn):
            places[start + 2 * (i % 3) + i // 3] = name
    return stacked(places)


def river_pack(hands: Sequence[str], upcard: str) -> Pack:
    """Lay out a round of River: the hands from eldest on, then the upcard."""
    held = [hand.split() for hand in hands]
    places = {i * len(held) + seat: name for seat, hand in enumerate(held) for i, name in enumerate(hand)}
    places[len(held) * len(held[0])] = upcard
    return stacked(places)


def seven_up(packs: Sequence[Pack], **options: Any) -> State:
    return ruleset("seven_up").new(options, 2, given(packs))


def river(packs: Sequence[Pack], seats: int = 4, **options: Any) -> State:
    return ruleset("river").new(options, seats, given(packs))


def act(state: State, *actions: str) -> State:
    """Apply actions, each by the only seat that owes one."""
    for action in actions:
        (seat,) = state.actors()
        state.apply(seat, action)
    return state


def play(state: State, cards: str) -> State:
    """Play these cards, in order of the play."""
    return act(state, *(f"play:{name}" for name in cards.split()))


def snapshot(thing: State | Game) -> str:
    """Write down all that a state or a game holds, so that two can be compared whatever they share."""
    if isinstance(thing, Game):
        # `_told` only says whose decision the next news is about, while one is applied
        held = {name: value for name, value in vars(thing).items() if name not in {"state", "_tell", "_told"}}
        return repr(sorted(held.items())) + snapshot(thing.state)
    names = {name for kind in type(thing).__mro__ for name in getattr(kind, "__slots__", ())}
    return repr(sorted((name, getattr(thing, name)) for name in names - {"packs", "tell"}))


@dataclass(frozen=True)
class Table:
    """A game to be played: everything but the moves."""

    ruleset: str
    options: dict[str, Any]
    seats: int
    seed: int

    def packs(self) -> Callable[[int], Sequence[int]]:
        return seeded(f"table {self.seed}", self.seats)

    def state(self) -> State:
        return ruleset(self.ruleset).new(self.options, self.seats, self.packs())

    def game(self, **more: Any) -> Game:
        return Game(ruleset(self.ruleset), self.options, self.seats, self.packs(), **more)

    def rng(self) -> random.Random:
        return random.Random(self.seed)


def choose(rng: random.Random, legal: Sequence[str]) -> str:
    """Choose as a player might who loves to beg."""
    if "beg" in legal and rng.random() < 0.5:
        return "beg"
    return rng.choice(legal)


def play_out(state: State, rng: random.Random, seen: Callable[[State], None] = lambda _: None) -> State:
    """Play a state to its end at random; `seen` is called with every state met, the first and the last included."""
    seen(state)
    while actors := state.actors():
        seat = rng.choice(actors)
        state.apply(seat, choose(rng, state.legal_actions(seat)))
        seen(state)
    return state


FAULTS = [outcome for outcome in Outcome if outcome.is_fault]


def random_event(game: Game, rng: random.Random, faults: float) -> Decided:
    """Draw what comes next: a legal action, or with probability `faults` a fault."""
    seat = rng.choice(game.owed())
    if game.is_out(seat):
        return game.failed(seat, Outcome.RETIRED, ms=0.0)
    if rng.random() < faults:
        return game.failed(seat, rng.choice(FAULTS), ms=1000.0)
    note = rng.choice([None, None, "a note", "line\u2028break"])
    return game.judged(seat, choose(rng, game.state.legal_actions(seat)), ms=float(rng.choice([0, 3.1, 84])), note=note)


def play_game(
    game: Game, rng: random.Random, *, faults: float = 0.0, seen: Callable[[Game], None] = lambda _: None
) -> Game:
    """Play a game to its end, or until all have retired; `seen` is called after every event."""
    seen(game)
    while not game.is_over:
        game.apply(random_event(game, rng, faults))
        seen(game)
    return game


def ok(game: Game, seat: int, action: str) -> list[Event]:
    return game.apply(Decided(seat, action))


def fault(game: Game, seat: int, outcome: Outcome = Outcome.LATE) -> list[Event]:
    return game.apply(game.failed(seat, outcome, ms=1000.0))


def fallback_on(game: Game, *, until: Callable[[Game], bool] = lambda _: False) -> Game:
    """Let every seat answer with its first legal action, and retired ones fall back, until the end or `until`."""
    while not game.is_over and not until(game):
        seat = game.owed()[0]
        game.apply(game.failed(seat, Outcome.RETIRED if game.is_out(seat) else Outcome.OK, ms=0.0))
    return game


def values_of(option: Option) -> list[Any]:
    """Give every value of an option."""
    return list(option.values) if isinstance(option, Choice) else list(range(option.low, option.high + 1))


def every_table_size() -> list[tuple[str, int]]:
    return [(name, seats) for name, rules in RULESETS.items() for seats in range(rules.min_seats, rules.max_seats + 1)]


@st.composite
def tables(draw: st.DrawFn, *, longest: int = 4) -> Table:
    """Draw any registered game at any table with any option values; whole numbers mostly up to `longest`."""
    rules = RULESETS[draw(st.sampled_from(sorted(RULESETS)))]
    seats = draw(st.integers(rules.min_seats, rules.max_seats))
    options = {}
    for option in rules.options_for(seats):
        values = values_of(option)
        short = [value for value in values if isinstance(option, Choice) or value <= max(longest, option.low)]
        options[option.name] = draw(st.sampled_from(short))
    return Table(rules.name, options, seats, draw(st.integers(0, 10**9)))


def renamed(action: str, names: Mapping[str, str]) -> str:
    """Rename the card of an action, if it has one."""
    kind, _, card = action.partition(":")
    return f"{kind}:{names[card]}" if card in names else action


def renaming(permutation: Sequence[int]) -> dict[str, str]:
    """Name cards anew by a permutation of the 52."""
    return {NAMES[card]: NAMES[permutation[card]] for card in range(52)}


def fixed_order(action: str) -> tuple[int, ...]:
    """Give the place of an action in the fixed order of docs/rules.md, *Actions*, told without the engine's codes."""
    kind, _, value = action.partition(":")
    if kind in {"play", "discard"}:
        return ("CDHS".index(value[1]), "23456789TJQKA".index(value[0]))
    if kind == "bid":
        return (int(value),)
    return (["stand", "beg", "run", "give"].index(kind),)


def cards_shown(observation: Mapping[str, Any]) -> list[str]:
    """List every card that an observation of the current deal shows."""
    shown: list[str] = [*(observation["hand"] or []), *(observation.get("discards") or [])]
    shown += observation.get("upcards") or [observation["upcard"]]
    for trick in [*observation["tricks"], observation["trick"] or {"cards": []}]:
        shown += trick["cards"]
    return shown


def flat(parts: Iterable[Iterable[Any]]) -> list[Any]:
    return [each for part in parts for each in part]
