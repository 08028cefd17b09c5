"""Every deal of River beside OpenSpiel's `oh_hell`, which plays one such deal by the same rules.

`oh_hell` serves its cards from seat 0 whoever deals, so each seat is given the hand it has here. Its cards are
``rank * 4 + suit`` with the suits C D S H, its bids ``52 + bid``, and its returns the points of the deal. It also
accepts sizes that leave no card to turn; the rules here refuse those, and they aren't tried.
"""

from __future__ import annotations

import random
from collections import Counter
from itertools import product
from typing import Any

import pytest

from bot_sdk.cards import NAMES, parse_card, rank_of, suit_of
from bot_sdk.games.registry import RULESETS

pyspiel = pytest.importorskip("pyspiel", reason="there is no wheel of open-spiel for this Python")

SEED = 11
DEALS = 2_200
SEATS = (4, 5, 6, 7)
SIZES = [(seats, cards) for seats in SEATS for cards in range(1, 51 // seats + 1)]
SCHEDULES = {
    "down_up": lambda most: [*range(most, 1, -1), *range(1, most + 1)],
    "up_down": lambda most: [*range(1, most), *range(most, 0, -1)],
    "down": lambda most: [*range(most, 0, -1)],
}
ORACLE_SUITS = "CDSH"


def oracle_card(card: int) -> int:
    return rank_of(card) * 4 + ORACLE_SUITS.index("CDHS"[suit_of(card)])


ORACLE_NAMES = {oracle_card(card): NAMES[card] for card in range(52)}


def oracle_action(action: str) -> int:
    verb, _, what = action.partition(":")
    return 52 + int(what) if verb == "bid" else oracle_card(parse_card(what))


def named(oracle_actions: list[int]) -> list[str]:
    """Write the oracle's legal actions as ours, in the order of the rules: bids ascending, cards C D H S, 2 to A."""
    bids = [f"bid:{code - 52}" for code in sorted(oracle_actions) if code >= 52]
    cards = sorted(parse_card(ORACLE_NAMES[code]) for code in oracle_actions if code < 52)
    return bids + [f"play:{NAMES[card]}" for card in cards]


def oracle_deal(seats: int, cards: int, dealer: int, pack: list[int]) -> Any:
    """Start the deal in OpenSpiel with the hands that `pack` gives when eldest is served first."""
    state = pyspiel.load_game("oh_hell", {"players": seats, "num_tricks_fixed": cards}).new_initial_state()
    state.apply_action(cards)
    state.apply_action(dealer)
    eldest = (dealer + 1) % seats
    for turn, seat in product(range(cards), range(seats)):
        state.apply_action(oracle_card(pack[turn * seats + (seat - eldest) % seats]))
    state.apply_action(oracle_card(pack[cards * seats]))
    return state


def play_deal(state: Any, oracle: Any, rng: random.Random) -> int:
    """Play the deal that is on to its end in both, at random; return the number of finished tricks compared."""
    number, totals, tricks = state.deal_number, list(state.totals), 0
    while not oracle.is_terminal():
        seat = oracle.current_player()
        assert state.actors() == [seat]
        assert state.deal_number == number
        assert state.legal_actions(seat) == named(oracle.legal_actions())
        finished = state.observe(None)["tricks"]
        if len(finished) > tricks:  # the winner leads, here and there
            assert finished[-1]["winner"] == seat
            tricks = len(finished)
        action = rng.choice(state.legal_actions(seat))
        oracle.apply_action(oracle_action(action))
        state.apply(seat, action)
    gained = [after - before for after, before in zip(state.totals, totals, strict=True)]
    assert gained == oracle.returns()  # one trick to another seat would change the points of both
    return tricks + 1


def play_game(rng: random.Random, seats: int, schedule: str, sizes: Counter[Any]) -> None:
    packs: dict[int, list[int]] = {}

    def pack(deal: int) -> list[int]:
        return packs.setdefault(deal, rng.sample(range(52), 52))

    first_dealer = rng.randrange(seats)
    options = {"start_cards": 51 // seats, "first_dealer": first_dealer, "schedule": schedule}
    state = RULESETS["river"].new(options, seats, pack)
    for deal, cards in enumerate(SCHEDULES[schedule](51 // seats)):
        dealer = (first_dealer + deal) % seats
        assert (state.deal_number, state.dealer, state.observe(None)["cards"]) == (deal, dealer, cards)
        oracle = oracle_deal(seats, cards, dealer, pack(deal))
        assert play_deal(state, oracle, rng) == cards, (options, deal, packs[deal])
        sizes[seats, cards] += 1
    assert state.is_over


@pytest.fixture(scope="module")
def sizes() -> Counter[Any]:
    """How many deals of each (seats, cards) agreed with the oracle."""
    rng = random.Random(SEED)
    counted: Counter[Any] = Counter()
    while counted.total() < DEALS:
        for seats, schedule in product(SEATS, SCHEDULES):
            play_game(rng, seats, schedule, counted)
    return counted


def test_river_plays_2_000_random_deals_as_openspiel_does(sizes):
    assert sizes.total() >= 2_000


@pytest.mark.parametrize(("seats", "cards"), SIZES)
def test_size_was_compared_at_least_30_times(sizes, seats, cards):
    assert sizes[seats, cards] >= 30
