from __future__ import annotations

import random

import pytest
from hypothesis import given, settings

from bot_sdk.bot import Decision
from bot_sdk.cards import cards_in
from bot_sdk.games.base import State
from bot_sdk.games.registry import RULESETS
from bot_sdk.knowledge import Knowledge, Unexplained, sample
from bot_sdk.positions import positions
from tests.bot_sdk.deals import ELDEST_3, RUN_OUT
from tests.bot_sdk.knowledge.asking import asked, decision, few, shown
from tests.bot_sdk.tables import Table, act, play_out, seven_up, snapshot, tables


@given(tables(longest=5))
@settings(max_examples=60)
def test_a_sampled_game_shows_the_seat_the_same_and_lets_it_do_the_same(table: Table) -> None:
    rng = table.rng()
    for _, seat, message, known, _ in asked(table):
        drawn = sample(known, rng)
        assert drawn.observe(seat) == message.observation
        assert drawn.legal_actions(seat) == message.legal_actions
        assert (drawn.phase, drawn.deal_number, drawn.dealer) == (
            message.phase, message.observation["deal"], message.observation["dealer"],
        )  # fmt: skip
        assert sorted(drawn.pack) == list(range(52))


@given(tables(longest=7))
@settings(max_examples=50)
def test_a_sampled_game_honours_voids_and_holds_as_many_cards(table: Table) -> None:
    rng = table.rng()
    for state, seat, _, known, _ in few(asked(table), rng, 15):
        drawn = sample(known, rng)
        for other, hand in enumerate(drawn.hands):
            assert hand & ~known.may_hold(other) == 0
            if not state.is_sealed:
                assert hand.bit_count() == state.hands[other].bit_count()
        assert drawn.hands[seat] == state.hands[seat]


def replayed(drawn: State, acted: list[tuple[int, str]]) -> State:
    """Play a sampled deal from its first card, each action checked; what is hidden is taken as it was drawn."""
    again = type(drawn)(drawn.options, drawn.seats, drawn.packs, deals=drawn.deals)
    discards = [drawn.observe(seat).get("discards", []) for seat in range(drawn.seats)]
    for seat, action in acted:
        if action.startswith("bid:") and drawn.is_sealed:
            continue
        if not action.startswith("discard:"):
            again.apply(seat, action)
        elif discards[seat]:
            again.apply(seat, f"discard:{discards[seat].pop()}")
    return again


@given(tables(longest=7))
@settings(max_examples=50)
def test_all_that_was_done_is_legal_in_a_sampled_deal_and_leads_to_it(table: Table) -> None:
    rng = table.rng()
    for one in few(asked(table), rng, 15):
        drawn = sample(one.known, rng)
        assert snapshot(replayed(drawn, one.acted)) == snapshot(drawn)


@given(tables(longest=3))
@settings(max_examples=50)
def test_a_sampled_game_can_be_played_to_its_end(table: Table) -> None:
    rng = table.rng()
    for one in few(asked(table), rng, 5):
        drawn = sample(one.known, rng)
        ended = play_out(drawn.copy(), rng)
        assert ended.is_over
        sums = [sum(deal.points[seat] for deal in ended.deals) for seat in range(table.seats)]
        assert ended.totals == sums
        assert [deal.number for deal in ended.deals] == list(range(len(ended.deals)))
        again = [drawn.packs(drawn.deal_number + 1) for _ in range(2)]
        assert again[0] == again[1]
        assert sorted(again[0]) == list(range(52))


@given(tables(longest=7))
@settings(max_examples=50)
def test_the_next_deal_of_a_sampled_game_is_dealt_by_whom_it_would_be(table: Table) -> None:
    for one in few(asked(table), table.rng(), 10):
        mine, true = sample(one.known, table.rng()), one.state.copy()
        for state in (mine, true):
            while not state.is_over and state.deal_number == one.state.deal_number:
                state.apply(state.actor, state.first_legal(state.actor))
        if not (mine.is_over or true.is_over or mine.deals[-1].void or true.deals[-1].void):
            assert mine.dealer == true.dealer


def test_the_same_seat_deals_again_in_games_sampled_after_a_void_deal() -> None:
    table = Table("seven_up", {}, 2, 0)
    state = act(seven_up([RUN_OUT, ELDEST_3, ELDEST_3]), "beg", "stand")
    assert (state.deal_number, state.dealer) == (1, 0)
    drawn = sample(Knowledge(decision(table, state, 1)), random.Random(1))
    assert drawn.observe(1) == state.observe(1)
    assert [deal.void for deal in drawn.deals] == [True]
    while drawn.deal_number == 1:
        drawn.apply(drawn.actor, drawn.first_legal(drawn.actor))
    assert drawn.dealer == 1


def test_whatever_the_other_may_hold_is_drawn_sooner_or_later_the_true_card_too() -> None:
    met = 0
    for seed in range(12):
        table = Table("seven_up", RULESETS["seven_up"].resolve({"target": 3}, 2), 2, seed)
        for one in few(asked(table), table.rng(), 100):
            if one.state.phase != "play" or one.known.cards_left[1 - one.seat] != 1 or met == 12:
                continue
            met += 1
            rng, possible = random.Random(seed), one.known.may_hold(1 - one.seat)
            drawn = {sample(one.known, rng).hands[1 - one.seat] for _ in range(12 * possible.bit_count())}
            assert drawn == {1 << card for card in cards_in(possible)}
            assert one.state.hands[1 - one.seat] in drawn
    assert met == 12


@pytest.mark.parametrize("name", RULESETS)
def test_the_same_draws_make_the_same_game_and_others_another(name: str) -> None:
    for phase in RULESETS[name].phases:
        for message in positions(name, phase, 6, "same"):
            drawn = [Decision(message).sample(random.Random(seed)) for seed in (1, 1, 2)]
            assert snapshot(drawn[0]) == snapshot(drawn[1])
            assert drawn[0].pack != drawn[2].pack


def test_a_message_that_no_game_sends_is_refused() -> None:
    observation = {
        "deal": 0, "cards": 40, "dealer": 0, "hand": ["TC"], "upcard": "9S", "trump": "S", "totals": [0] * 4,
        "bids": [0] * 4, "trick": {"leader": 1, "cards": []}, "tricks": [],
    }  # fmt: skip
    with pytest.raises(Unexplained, match="expected cards for hands of 40, 40, 40, got 50"):
        Decision(shown("river", 1, observation, {})).sample(random.Random(1))
