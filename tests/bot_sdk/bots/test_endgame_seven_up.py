"""The exact solver against brute force by the rules themselves."""

from __future__ import annotations

import random
from math import inf
from typing import Any

import pytest

from bot_sdk.bots.endgame_seven_up import THEY, WE, Endgame, Rules
from bot_sdk.games.base import State
from bot_sdk.games.packs import seeded
from bot_sdk.games.registry import RULESETS
from bot_sdk.games.seven_up import BEG, STAND
from bot_sdk.games.tricks import Trick

OPTIONS: list[dict[str, Any]] = [
    {},
    {"void_play": "free"},
    {"pips": "classic", "game_tie": "non_dealer"},
    {"pips": "classic", "void_play": "free", "game_tie": "non_dealer", "first_dealer": 1},
]


def random_worth(rng: random.Random) -> list[list[float]]:
    """Draw what points are worth: more with ours, less with theirs, and at times the same."""
    ours, theirs = ([0, *(rng.choice([0, 1, 5]) for _ in range(4))] for _ in range(2))
    return [[float(sum(ours[: a + 1]) - sum(theirs[: b + 1])) for b in range(5)] for a in range(5)]


def dealt(seed: str, options: dict[str, Any], cards: int) -> State:
    """Deal, and play at random until the hands are down to so many cards, or a card fewer for who plays second."""
    state = RULESETS["seven_up"].new({"target": 50, **options}, 2, seeded(seed, 2))
    rng = random.Random(seed)
    state.step(state.actor, rng.choice([STAND, BEG]))
    while state.phase != "play" or state.hands[state.actor].bit_count() > cards:
        state.step(state.actor, rng.choice(state.codes(state.actor)))
    if rng.random() < 0.5:
        state.step(state.actor, rng.choice(state.codes(state.actor)))
    return state


def brute_force(state: State, me: int, worth: list[list[float]], before: list[int]) -> float:
    """Play every card of both sides to the end of the deal."""
    if state.deals and state.deals[-1].number == before[2]:
        points = [after - start for after, start in zip(state.deals[-1].totals, before, strict=False)]
        return worth[points[me]][points[1 - me]]
    best = max if state.actor == me else min
    return best(brute_force(after(state, card), me, worth, before) for card in state.codes(state.actor))


def after(state: State, card: int) -> State:
    twin = state.copy()
    twin.step(state.actor, card)
    return twin


def solved(state: State, worth: list[list[float]]) -> dict[int, float]:
    me = state.actor
    rules = Rules.of(state.options, state.trump, THEY if state.dealer == me else WE)
    taken = [
        sum(1 << card for trick in state.tricks if trick.winner == seat for card in trick.cards) for seat in (0, 1)
    ]
    on: Trick = state.trick
    theirs = state.hands[1 - me] | sum(1 << card for card in on.cards)
    endgame = Endgame(rules, state.hands[me], theirs, (taken[me], taken[1 - me]), worth)
    return endgame.replies(on.cards[0]) if on.cards else endgame.leads()


@pytest.mark.parametrize(("cards", "deals"), [(1, 20), (2, 40), (3, 60), (4, 20), (5, 4)])
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_every_playable_card_is_worth_what_brute_force_finds(cards: int, deals: int, options: dict[str, Any]) -> None:
    for number in range(deals):
        state = dealt(f"{cards}/{number}", options, cards)
        worth = random_worth(random.Random(number))
        before = [*state.totals, state.deal_number]
        assert solved(state, worth) == {
            card: brute_force(after(state, card), state.actor, worth, before) for card in state.codes(state.actor)
        }


def test_a_window_gives_the_worth_within_it_and_a_bound_beyond_whatever_was_asked_before() -> None:
    rng = random.Random("windows")
    for _ in range(150):
        cards = rng.sample(range(52), 12)
        ours, theirs = (sum(1 << card for card in cards[at : at + 5]) for at in (0, 5))
        rules, worth = Rules.of(RULESETS["seven_up"].resolve({}, 2), 3, WE), random_worth(rng)
        exact, asked = (Endgame(rules, ours, theirs, (1 << cards[10] | 1 << cards[11], 0), worth) for _ in range(2))
        true = exact._lead(exact._start(WE), -inf, inf)
        for _ in range(10):
            low, high = sorted(rng.sample(range(-25, 26), 2))
            found = asked._lead(asked._start(WE), low, high)
            assert found == true or true <= found <= low or high <= found <= true


@pytest.mark.soak
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_whole_deals_are_worth_what_brute_force_finds(options: dict[str, Any]) -> None:
    for number in range(3):
        state = dealt(f"whole/{number}", options, 6)
        worth = random_worth(random.Random(number))
        before = [*state.totals, state.deal_number]
        assert solved(state, worth) == {
            card: brute_force(after(state, card), state.actor, worth, before) for card in state.codes(state.actor)
        }
