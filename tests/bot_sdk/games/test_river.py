"""Up and Down the River, sentence by sentence of docs/rules.md, on packs laid out by hand."""

from __future__ import annotations

import pytest

from bot_sdk.games.base import IllegalAction, State
from bot_sdk.games.registry import ruleset
from tests.bot_sdk.tables import act, play, river, river_pack

ONE = river_pack(["2C", "AC", "3D", "4S"], "9S")
"""One card each: eldest leads clubs and the dealer, last, trumps."""

THREE = river_pack(["2C 3C 4D", "AC 5D 6D", "KC QC 2S", "7D 8D AH"], "9S")


def bid(state: State, *bids: int) -> State:
    return act(state, *(f"bid:{number}" for number in bids))


def sizes(seats: int, **options: object) -> list[int]:
    """Play a game by first actions; list the cards of its rounds."""
    state = river([list(range(52))] * 30, seats, **options)
    met = [state.observe(None)["cards"]]
    while actors := state.actors():
        state.apply(actors[0], state.legal_actions(actors[0])[0])
        if state.observe(None)["deal"] == len(met):
            met.append(state.observe(None)["cards"])
    return met


# Up and Down the River 1: the rounds


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [("down_up", [4, 3, 2, 1, 2, 3, 4]), ("up_down", [1, 2, 3, 4, 3, 2, 1]), ("down", [4, 3, 2, 1])],
)
def test_the_turning_point_is_played_once(schedule: str, expected: list[int]) -> None:
    assert sizes(4, start_cards=4, schedule=schedule) == expected


@pytest.mark.parametrize("schedule", ["down_up", "up_down", "down"])
def test_one_card_makes_one_round(schedule: str) -> None:
    assert sizes(4, start_cards=1, schedule=schedule) == [1]


# Up and Down the River 2: who deals


@pytest.mark.parametrize("first", [0, 1, 2, 3, 4])
def test_the_deal_passes_to_the_next_seat_each_round(first: int) -> None:
    state = river([list(range(52))] * 7, 5, start_cards=4, first_dealer=first)
    dealers = [state.dealer]
    while actors := state.actors():
        state.apply(actors[0], state.legal_actions(actors[0])[0])
        if state.deal_number == len(dealers):
            dealers.append(state.dealer)
    assert dealers == [(first + deal) % 5 for deal in range(7)]


# Up and Down the River 3: deal and trump


def test_cards_go_one_at_a_time_from_eldest_and_the_next_is_turned() -> None:
    state = river([list(range(52))], 5, start_cards=2, first_dealer=1)
    assert state.observe(2)["hand"] == ["2C", "7C"]
    assert state.observe(0)["hand"] == ["5C", "TC"]
    assert state.observe(1)["hand"] == ["6C", "JC"]
    assert (state.observe(None)["upcard"], state.observe(None)["trump"]) == ("QC", "C")


def test_the_upcard_is_out_of_play() -> None:
    state = river([list(range(52))], 4, start_cards=12)
    held = [card for seat in range(4) for card in state.observe(seat)["hand"]]
    assert len(held) == len(set(held)) == 48
    assert state.observe(None)["upcard"] not in held


# Up and Down the River 4: bids


def test_bids_go_round_from_eldest_to_the_dealer() -> None:
    state = river([THREE], start_cards=3, first_dealer=2)
    order = []
    while state.phase == "bid":
        order += state.actors()
        bid(state, 1)
    assert order == [3, 0, 1, 2]


def test_bids_are_heard_at_once() -> None:
    state = bid(river([THREE], start_cards=3), 1, 3)
    assert state.observe(None)["bids"] == [None, 1, 3, None]


def test_a_bid_is_a_number_from_nothing_to_all_tricks() -> None:
    state = river([THREE], start_cards=3)
    assert state.legal_actions(1) == ["bid:0", "bid:1", "bid:2", "bid:3"]
    with pytest.raises(IllegalAction):
        state.apply(1, "bid:4")


@pytest.mark.parametrize(
    ("before", "left"),
    [((0, 0, 0), [0, 1, 2]), ((1, 0, 1), [0, 2, 3]), ((3, 0, 0), [1, 2, 3]), ((3, 1, 0), [0, 1, 2, 3])],
)
def test_the_dealer_may_not_make_the_bids_sum_to_the_tricks(before: tuple[int, ...], left: list[int]) -> None:
    state = bid(river([THREE], start_cards=3), *before)
    assert state.legal_actions(0) == [f"bid:{number}" for number in left]


@pytest.mark.parametrize(("before", "left"), [((0, 0, 0), ["bid:0"]), ((0, 1, 0), ["bid:1"])])
def test_the_hook_holds_with_one_card_too(before: tuple[int, ...], left: list[str]) -> None:
    assert bid(river([ONE], start_cards=1), *before).legal_actions(0) == left


def test_only_the_dealer_is_hooked() -> None:
    state = bid(river([ONE], start_cards=1), 0, 0)
    assert state.legal_actions(3) == ["bid:0", "bid:1"]


def test_hook_off_leaves_the_dealer_every_bid() -> None:
    assert bid(river([ONE], start_cards=1, hook="off"), 0, 0, 0).legal_actions(0) == ["bid:0", "bid:1"]
    assert len(bid(river([THREE], start_cards=3, hook="off"), 0, 0, 0).legal_actions(0)) == 4


def test_hook_not_one_spares_the_rounds_of_one_card_only() -> None:
    assert bid(river([ONE], start_cards=1, hook="not_one"), 0, 0, 0).legal_actions(0) == ["bid:0", "bid:1"]
    assert len(bid(river([THREE], start_cards=3, hook="not_one"), 0, 0, 0).legal_actions(0)) == 3


# bidding


@pytest.mark.parametrize("hook", ["always", "off", "not_one"])
def test_simultaneous_bids_are_owed_by_all_at_once_and_know_no_hook(hook: str) -> None:
    state = river([ONE], start_cards=1, bidding="simultaneous", hook=hook)
    assert state.actors() == [0, 1, 2, 3]
    for seat in (1, 2, 3):
        state.apply(seat, "bid:0")
    assert state.legal_actions(0) == ["bid:0", "bid:1"]


def test_simultaneous_bids_are_hidden_until_the_last_is_in() -> None:
    state = river([THREE], start_cards=3, bidding="simultaneous")
    for seat in (2, 0, 3):
        state.apply(seat, "bid:1")
        assert state.observe(None)["bids"] == state.observe(1)["bids"] == [None] * 4
    assert state.observe(3)["bids"] == [None, None, None, 1]
    state.apply(1, "bid:3")
    assert state.observe(None)["bids"] == [1, 3, 1, 1]
    assert (state.phase, state.actors()) == ("play", [1])


def test_while_bids_are_hidden_nobody_sees_who_has_bid() -> None:
    state = river([THREE], start_cards=3, bidding="simultaneous")
    state.apply(2, "bid:1")
    assert state.turn(None) == [0, 1, 2, 3]
    assert state.turn(1) == [0, 1, 2, 3]
    assert state.turn(2) == [0, 1, 3]


def test_a_hidden_bid_can_not_be_made_twice() -> None:
    state = river([THREE], start_cards=3, bidding="simultaneous")
    state.apply(2, "bid:1")
    assert state.legal_actions(2) == []
    with pytest.raises(IllegalAction):
        state.apply(2, "bid:2")


# Up and Down the River 5: play


def test_eldest_leads_any_card_trumps_included() -> None:
    pack = river_pack(["2C 3S 4D", "AC 5D 6D", "KC QC 2S", "7D 8D AH"], "9S")
    state = bid(river([pack], start_cards=3), 0, 0, 0, 0)
    assert (state.actors(), state.legal_actions(1)) == ([1], ["play:2C", "play:4D", "play:3S"])


def test_the_others_follow_suit_if_able_else_play_any_card() -> None:
    state = bid(river([THREE], start_cards=3), 0, 0, 0, 0)
    play(state, "2C")
    assert state.legal_actions(2) == ["play:AC"]
    play(state, "AC")
    assert state.legal_actions(3) == ["play:QC", "play:KC"]
    play(state, "QC")
    assert state.legal_actions(0) == ["play:7D", "play:8D", "play:AH"]


def test_who_can_not_follow_need_not_trump() -> None:
    state = bid(river([THREE], start_cards=3), 0, 0, 0, 0)
    play(state, "2C AC KC 7D 5D")
    # seat 3 holds QC and 2S, a trump, and no diamond
    assert state.legal_actions(3) == ["play:QC", "play:2S"]


def test_the_winner_of_a_trick_leads_the_next() -> None:
    state = bid(river([THREE], start_cards=3), 0, 0, 0, 0)
    play(state, "2C AC KC 7D")
    assert (state.actors(), state.observe(None)["tricks_won"]) == ([2], [0, 0, 1, 0])


@pytest.mark.parametrize(
    ("cards", "winner"),
    [("2C AC 3D 4S", 0), ("2C AC 3D 4H", 2), ("2C 3D 4H AD", 1), ("2C 3S 2S AC", 2), ("2S 3S AC AD", 2)],
)
def test_the_highest_trump_wins_else_the_highest_of_the_led_suit(cards: str, winner: int) -> None:
    state = bid(river([river_pack(cards.split(), "9S")] * 1, start_cards=1), 0, 0, 0, 0)
    play(state, cards)
    assert state.observe(None)["tricks"] == [{"leader": 1, "cards": cards.split(), "winner": winner}]


# Up and Down the River 6: points and the end


def test_a_trick_scores_one_and_a_bid_met_exactly_ten_more() -> None:
    state = play(bid(river([ONE], start_cards=1), 0, 0, 1, 1), "2C AC 3D 4S")
    # the dealer met its 1, seats 1 and 2 their 0, seat 3 missed
    assert state.totals == [11, 10, 10, 0]


@pytest.mark.parametrize(("miss", "dealer"), [("tricks", 1), ("zero", 0)])
def test_a_missed_bid_keeps_its_tricks_or_nothing(miss: str, dealer: int) -> None:
    state = play(bid(river([ONE], start_cards=1, miss=miss), 0, 0, 0, 0), "2C AC 3D 4S")
    assert state.totals == [dealer, 10, 10, 10]


def test_a_met_bid_scores_the_same_under_zero() -> None:
    state = play(bid(river([ONE], start_cards=1, miss="zero"), 0, 0, 1, 1), "2C AC 3D 4S")
    assert state.totals == [11, 10, 10, 0]


def test_points_of_the_rounds_add_up() -> None:
    state = river([river_pack(["2C 2D", "3C 3D", "4C 4D", "5C 5D"], "9S"), ONE], start_cards=2, schedule="down")
    play(bid(state, 0, 0, 1, 2), "2C 3C 4C 5C 5D 2D 3D 4D")
    assert (state.deals[0].points, state.dealer) == ([12, 10, 10, 0], 1)
    play(bid(state, 0, 0, 0, 0), "2C AC 3D 4S")
    assert (state.is_over, state.deals[1].points, state.totals) == (True, [10, 1, 10, 10], [22, 11, 20, 10])
    assert state.places == [1, 3, 2, 4]


def test_equal_totals_share_the_place_and_the_next_is_left_out() -> None:
    state = play(bid(river([ONE], start_cards=1), 0, 0, 1, 1), "2C AC 3D 4S")
    assert state.places == [1, 2, 2, 4]


def test_the_game_is_over_after_the_last_round() -> None:
    state = play(bid(river([ONE], start_cards=1), 0, 0, 1, 1), "2C AC 3D 4S")
    assert (state.is_over, state.actors(), state.phase) == (True, [], "over")
    assert all(state.legal_actions(seat) == [] for seat in range(4))


def test_no_deal_is_void() -> None:
    state = play(bid(river([ONE], start_cards=1), 0, 0, 1, 1), "2C AC 3D 4S")
    assert [deal.void for deal in state.deals] == [False]


def test_no_more_than_eight_and_no_fewer_than_four_sit_at_a_table() -> None:
    rules = ruleset("river")
    assert (rules.min_seats, rules.max_seats) == (4, 8)
