from __future__ import annotations

from random import Random

import pytest

from bot_sdk.bots import search_river
from bot_sdk.bots.counting_river import follow, lead
from bot_sdk.bots.search_river import different, played_out
from bot_sdk.bots.strength import BEATING, CARD, NUMBER, SUIT, by_strength
from bot_sdk.bots.view_river import Turn, View
from bot_sdk.cards import NAMES
from bot_sdk.games.packs import seeded
from bot_sdk.games.registry import RULESETS
from bot_sdk.games.tricks import best
from tests.bot_sdk.bots.river_rounds import playing


def state_after(seats, cards, seed, plies):
    """Deal a round of so many cards, bid and play a part of it by chance."""
    rules, rng = RULESETS["river"], Random(seed)
    state = rules.new(rules.resolve({"start_cards": cards}, seats), seats, seeded(f"{seed}", seats), None)
    for _ in range(seats + plies):
        state.apply(state.actor, rng.choice(state.legal_actions(state.actor)))
    return state


def by_rule(state):
    """Choose the card that the rule of thumb plays when it knows what others hold."""
    trump, seat = state.trump, state.actor
    hands = [by_strength(hand, trump) for hand in state.hands]
    wants, trick = state.tricks_won[seat] != state.bids[seat], state.trick.cards
    if not trick:
        return lead(hands[seat], sum(hands) ^ hands[seat], wants)
    winning = NUMBER[trump][trick[best(trick, trump)]]
    return follow(by_strength(state.legal, trump), BEATING[winning], wants, len(trick) == state.seats - 1)


def turn_of(state):
    trick, trump = state.trick, state.trump
    if not trick.cards:
        return Turn.to_lead(state.actor, state.seats)
    at = best(trick.cards, trump)
    number = NUMBER[trump]
    return Turn(
        state.actor, SUIT[number[trick.cards[0]]], BEATING[number[trick.cards[at]]],
        (trick.leader + at) % state.seats, state.seats - len(trick.cards),
    )  # fmt: skip


@pytest.mark.parametrize("seats", [4, 5, 8])
def test_a_round_is_played_out_as_the_rules_have_it(seats):
    for seed in range(60):
        plies = seed % (4 * seats)
        state = state_after(seats, 5, seed, plies)
        hands = [by_strength(hand, state.trump) for hand in state.hands]
        won, bids, card = state.tricks_won.copy(), list(state.bids), by_rule(state)
        told = played_out(hands, won, bids, turn_of(state), card)
        deal, points = state.deal_number, None
        while points is None:
            state.step(state.actor, CARD[state.trump][card])
            if state.deals and state.deals[-1].number == deal:
                points = state.deals[-1].points
            else:
                card = by_rule(state)
        assert told == [scored % 10 for scored in points]


def test_what_is_given_to_be_played_out_stays_as_it_is():
    state = state_after(4, 5, 1, 6)
    hands = [by_strength(hand, state.trump) for hand in state.hands]
    before, won = hands.copy(), state.tricks_won.copy()
    played_out(hands, state.tricks_won, list(state.bids), turn_of(state), by_rule(state))
    assert (hands, state.tricks_won) == (before, won)


def names_of(cards, trump=3):
    return {NAMES[CARD[trump][card]] for card in cards}


@pytest.mark.parametrize(
    ("hand", "trick", "tricks", "tried"),
    [
        ("3H 4H 9H", "", (), {"4H", "9H"}),
        ("3H 5H", "", (), {"3H", "5H"}),
        ("9H JH", "TH 2H", (), {"9H", "JH"}),  # the ten on the table is between them
        ("9H JH", "", [(0, "TH 2H 3H 4H", 0)], {"JH"}),  # the ten is gone
        ("AH AD AC", "", (), {"AH", "AD", "AC"}),
        ("3S 4S", "", (), {"4S"}),  # the two was turned
    ],
)
def test_cards_that_are_worth_the_same_are_tried_once(hand, trick, tricks, tried):
    assert names_of(different(View.of(playing(hand, trick, missing=1, tricks=tricks)))) == tried


@pytest.mark.parametrize(
    ("hand", "trick", "missing", "played"),
    [
        ("2H AH", "KH 3H 4H", 1, "AH"),  # the ace takes it now; the two never will
        ("2H AH", "KH 3H 4H", 0, "2H"),
        ("AS AH", "2D 3D KD", 2, "AS"),  # both are needed
        ("AS 2C", "KD 3D 4D", 1, "2C"),  # the ace wins the last trick for certain, and the deuce no trick
    ],
)
def test_it_finds_what_is_certain(hand, trick, missing, played):
    assert search_river.play(playing(hand, trick, missing=missing)) == f"play:{played}"


def test_where_there_is_no_choice_nothing_is_thought_about(monkeypatch):
    monkeypatch.setattr(View, "draw", None)
    assert search_river.play(playing("2H 9C", "KH 3H", missing=1)) == "play:2H"


def test_where_a_miss_loses_all_tricks_of_a_lost_bid_count_nothing(monkeypatch):
    """With a bid of none and one trick taken, all cards are alike; else the ace brings a point."""
    monkeypatch.setattr(search_river, "WORLDS", 5)
    view = View.of(playing("2H AH", "KH 3H 4H", missing=-1))
    cards = different(view)
    assert search_river.values(view, cards, Random(1), loses_all=True) == [0, 0]
    low, high = search_river.values(view, cards, Random(1), loses_all=False)
    assert high > low
