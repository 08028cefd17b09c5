"""Positions arranged around a hand are those of real games, and what can't be is refused in words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot_sdk.arranging import PositionError, holding
from bot_sdk.cards import NAMES, CardError
from bot_sdk.games.options import OptionError
from bot_sdk.games.registry import RULESETS, RulesetError
from tests.bot_sdk.tables import cards_shown, fixed_order

BEG = "AS TH 7H 4D JC 2C"
MOST = {"beg": (6, 6), "gift": (6, 6), "discard": (7, 21), "play": (1, 6)}


def in_order(hand):
    return sorted(hand.split(), key=lambda name: fixed_order(f"play:{name}"))


@st.composite
def asked(draw):
    """Draw a hand that can be held: the ruleset, the phase, the cards, an upcard or none, the table."""
    ruleset, phase = draw(
        st.sampled_from([(name, phase) for name in sorted(RULESETS) for phase in RULESETS[name].phases])
    )
    seats = draw(st.integers(RULESETS[ruleset].min_seats, RULESETS[ruleset].max_seats))
    least, most = MOST[phase] if ruleset == "seven_up" else (1, RULESETS[ruleset].resolve({}, seats)["start_cards"])
    cards = draw(st.permutations(NAMES))
    size = draw(st.integers(least, most))
    upcard = draw(st.sampled_from([None, cards[size]]))
    return ruleset, phase, " ".join(cards[:size]), upcard, seats, str(draw(st.integers(0, 99)))


@given(asked())
def test_any_hand_of_the_right_size_is_held_by_a_seat_that_owes_the_phase(case):
    ruleset, phase, hand, upcard, seats, seed = case
    decision = holding(ruleset, phase, hand, upcard=upcard, seats=seats, seed=seed)
    seen = decision.observation
    assert (decision.phase, seen["hand"], len(decision.game.seats)) == (phase, in_order(hand), seats)
    assert len(set(cards_shown(seen))) == len(cards_shown(seen))
    turned = seen["upcards"][-1] if ruleset == "seven_up" else seen["upcard"]
    assert upcard in {None, turned}
    if phase == "play":
        assert seen["trump"] == turned[1]
        assert {action[-2:] for action in decision.legal_actions} <= set(hand.split())


def test_the_position_of_the_issue_is_a_beg_of_eldest_in_the_first_deal():
    decision = holding("seven_up", "beg", BEG, upcard="9S")
    assert decision.legal_actions == ["stand", "beg"]
    assert decision.seat == 1
    assert decision.observation == {
        "deal": 0, "dealer": 0, "hand": in_order(BEG), "upcards": ["9S"], "trump": None, "begged": False,
        "discards": [], "to_discard": 0, "totals": [0, 0], "trick": None, "tricks": [],
    }  # fmt: skip


def test_whoever_holds_more_than_six_cards_has_drawn_them_and_thrown_the_others_away():
    seen = holding("seven_up", "discard", "AS KS QS JS TS 9S 8S", upcard="2H").observation
    assert (len(seen["upcards"]), len(seen["discards"]), seen["to_discard"]) == (2, 2, 1)
    assert seen["upcards"][0][1] != seen["upcards"][1][1]
    longest = holding("seven_up", "discard", " ".join(NAMES[:21])).observation
    assert (len(longest["upcards"]), longest["to_discard"]) == (6, 15)


def test_a_short_hand_of_seven_up_comes_late_in_the_play():
    seen = holding("seven_up", "play", "AS KS").observation
    assert len(seen["tricks"]) == 4


def test_river_is_played_up_to_the_round_of_that_many_cards():
    seen = holding("river", "bid", "AS KD 2C", upcard="9D").observation
    assert (seen["deal"], seen["cards"], seen["upcard"], seen["trump"]) == (5, 3, "9D", "D")
    assert sum(seen["totals"]) >= 8 + 7 + 6 + 5 + 4


def test_the_same_arguments_give_the_same_position_and_another_seed_another():
    def position(seed):
        return holding("river", "play", "AS KD 2C", seed=seed)

    assert position("a") == position("a")
    assert position("a").observation != position("b").observation


def test_the_gift_is_an_option_that_its_phase_switches_on():
    assert holding("seven_up", "gift", BEG).game.options["gift"] is True
    with pytest.raises(PositionError, match="option gift"):
        holding("seven_up", "gift", BEG, options={"gift": False})


@pytest.mark.parametrize(
    ("ruleset", "phase", "hand", "more", "error", "says"),
    [
        ("seven_up", "beg", "AS TH 7H 4D JC", {}, PositionError, "expected 6 cards in hand for beg, got 5"),
        ("seven_up", "discard", BEG, {}, PositionError, "expected 7 to 21 cards in hand for discard, got 6"),
        ("seven_up", "play", "", {}, PositionError, "expected 1 to 6 cards in hand for play, got 0"),
        ("seven_up", "beg", "AS AS 7H 4D JC 2C", {}, PositionError, "expected each card once in the hand, got AS"),
        ("seven_up", "beg", BEG, {"upcard": "AS"}, PositionError, "expected an upcard that isn't in the hand, got AS"),
        ("seven_up", "bid", BEG, {}, PositionError, "expected a phase of seven_up among beg, gift, discard, play, got"),
        ("seven_up", "beg", "10S TH 7H 4D JC 2C", {}, CardError, "expected a card such as 'QH', got '10S'"),
        ("seven_up", "beg", BEG, {"seats": 3}, RulesetError, "expected 2 seats for seven_up, got 3"),
        ("seven_up", "beg", BEG, {"upcard": "JS", "options": {"target": 1}}, PositionError, "which no game came to"),
        ("river", "bid", "AS KS QS JS TS 9S 8S 7S 6S", {}, PositionError, "expected 1 to 8 cards"),
        ("river", "bid", "AS", {"options": {"hook": "never"}}, OptionError, "expected hook to be one of"),
        ("whist", "bid", "AS", {}, RulesetError, "expected a ruleset among seven_up, river"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused_in_words(ruleset, phase, hand, more, error, says):
    with pytest.raises(error, match=says):
        holding(ruleset, phase, hand, **more)
