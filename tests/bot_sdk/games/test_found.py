"""Rare turns of Seven Up in packs as the arena makes them: found by searching seeds, never by changing a state.

Each constant is the first seed that its search finds; a test searches again.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from itertools import combinations, count

import pytest

from bot_sdk.cards import JACK, mask_of, names_in, rank_of, suit_of
from bot_sdk.games.base import State
from bot_sdk.games.packs import seeded
from bot_sdk.games.registry import ruleset
from tests.bot_sdk.tables import act, choose, snapshot

VOID = 142
TWO_JACKS = 161
JACK_AT_ONCE = 12
ON_SIX = 154
JACK_ON_THE_FIFTH_RUN = 50116
ONE_RUN = 1
TWO_RUNS = 0

UPCARDS = (12, 19, 26, 33, 40, 47)


def turned(seed: int) -> list[int]:
    """List what deal 0 of a seed would turn if the cards ran to the end."""
    pack = seeded(str(seed), 2)(0)
    return [pack[at] for at in UPCARDS]


def runs_needed(seed: int) -> int:
    """Count the runs until another suit is turned; 6 if none is."""
    first, *rest = map(suit_of, turned(seed))
    return next((runs for runs, suit in enumerate(rest, 1) if suit != first), 6)


def is_void(seed: int) -> bool:
    return runs_needed(seed) == 6


def has_two_jacks(seed: int) -> bool:
    cards = turned(seed)
    return runs_needed(seed) == 1 and rank_of(cards[0]) == rank_of(cards[1]) == JACK


def has_jack_at_once(seed: int) -> bool:
    return rank_of(turned(seed)[0]) == JACK


def has_jack_on_the_fifth_run(seed: int) -> bool:
    return is_void(seed) and rank_of(turned(seed)[5]) == JACK


def started(seed: int, **options: object) -> State:
    return ruleset("seven_up").new(options, 2, seeded(str(seed), 2))


def played(seed: int) -> tuple[State, list[int]]:
    """Play the game of a seed at random; give its end, and the totals after the last deal that was played out."""
    state, rng = started(seed), random.Random(seed)
    while actors := state.actors():
        state.apply(actors[0], choose(rng, state.legal_actions(actors[0])))
    return state, state.deals[-2].totals if len(state.deals) > 1 else [0, 0]


def is_won_on_six(seed: int) -> bool:
    state, before = played(seed)
    last = state.deals[-1]
    return before[last.dealer] == 6 and len(state.observe(None)["upcards"]) == 1 and not state.observe(None)["tricks"]


def search(holds: Callable[[int], bool]) -> int:
    return next(seed for seed in count() if holds(seed))


SEARCHES = [
    (is_void, VOID),
    (has_two_jacks, TWO_JACKS),
    (has_jack_at_once, JACK_AT_ONCE),
    (is_won_on_six, ON_SIX),
    (has_jack_on_the_fifth_run, JACK_ON_THE_FIFTH_RUN),
    (lambda seed: runs_needed(seed) == 1, ONE_RUN),
    (lambda seed: runs_needed(seed) == 2, TWO_RUNS),
]


@pytest.mark.parametrize(("holds", "found"), SEARCHES)
def test_the_search_finds_the_seed(holds: Callable[[int], bool], found: int) -> None:
    assert search(holds) == found


def test_the_stock_runs_out_and_the_same_dealer_deals_the_next_number() -> None:
    state = act(started(VOID), "beg")
    assert (state.deals[0].void, state.deals[0].dealer, state.deal_number, state.dealer) == (True, 0, 1, 0)
    assert state.deals[0].points == [sum(rank_of(card) == JACK for card in turned(VOID)), 0]
    assert state.observe(1)["hand"] == names_in(mask_of(seeded(str(VOID), 2)(1)[:12:2]))
    assert (state.phase, state.observe(None)["begged"], len(state.observe(None)["upcards"])) == ("beg", False, 1)


def test_two_turned_jacks_score_twice_and_the_game_goes_on() -> None:
    state = act(started(TWO_JACKS), "beg")
    assert (state.totals, state.phase) == ([2, 0], "discard")


def test_two_turned_jacks_win_a_game_to_two_in_the_middle_of_a_beg() -> None:
    state = act(started(TWO_JACKS, target=2), "beg")
    assert (state.is_over, state.deals[0].points, state.actors()) == (True, [2, 0], [])


def test_a_turned_jack_at_deal_0_wins_a_game_to_one_with_no_decision() -> None:
    state = started(JACK_AT_ONCE, target=1)
    assert (state.is_over, state.actors(), state.places, len(state.deals)) == (True, [], [1, 2], 1)


def test_a_dealer_on_six_wins_by_the_upcard_before_anybody_is_asked() -> None:
    state, before = played(ON_SIX)
    dealer = state.deals[-1].dealer
    assert (before[dealer], state.totals[dealer], state.places[dealer]) == (6, 7, 1)
    assert sorted(state.deals[-1].points) == [0, 1]
    assert sum(len(state.observe(seat)["hand"]) for seat in (0, 1)) == 12


def test_a_jack_on_the_fifth_run_wins_instead_of_a_void_deal() -> None:
    jacks = sum(rank_of(card) == JACK for card in turned(JACK_ON_THE_FIFTH_RUN))
    state = act(started(JACK_ON_THE_FIFTH_RUN, target=jacks), "beg")
    assert (state.is_over, state.deals[0].void, state.totals) == (True, False, [jacks, 0])
    assert act(started(JACK_ON_THE_FIFTH_RUN, target=jacks + 1), "beg").deals[0].void


@pytest.mark.parametrize(("seed", "each"), [(ONE_RUN, 3), (TWO_RUNS, 6)])
def test_every_order_of_both_seats_discards_gives_the_same_state(seed: int, each: int) -> None:
    begun = act(started(seed), "beg")
    assert begun.observe(0)["to_discard"] == begun.observe(1)["to_discard"] == each
    thrown = [begun.legal_actions(seat)[1::2][:each] for seat in (0, 1)]
    ends = set()
    for turns in combinations(range(2 * each), each):
        state = begun.copy()
        left = [iter(actions) for actions in thrown]
        for turn in range(2 * each):
            seat = int(turn in turns)
            state.apply(seat, next(left[seat]))
        ends.add(snapshot(state))
    assert len(ends) == 1
    assert "'phase', 'play'" in ends.pop()


def test_discards_in_another_order_of_one_seat_give_the_same_state_too() -> None:
    begun = act(started(ONE_RUN), "beg")
    ends = set()
    for own in ([0, 1, 2], [2, 1, 0], [1, 2, 0]):
        state = begun.copy()
        names = begun.legal_actions(0)[:3]
        for at in own:
            state.apply(0, names[at])
        for name in begun.legal_actions(1)[:3]:
            state.apply(1, name)
        ends.add(snapshot(state))
    assert len(ends) == 1
