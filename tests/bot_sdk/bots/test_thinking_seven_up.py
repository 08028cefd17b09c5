"""What ``house:counting`` and ``house:search`` make of Seven Up, in positions where one answer is right."""

from __future__ import annotations

import random
import time

import pytest

from bot_sdk.bot import Decision
from bot_sdk.bots import counting_seven_up, search_seven_up
from bot_sdk.bots.counting_seven_up import Count
from bot_sdk.bots.search_seven_up import worlds
from bot_sdk.cards import SUIT_MASKS, parse_card
from bot_sdk.games.tricks import BEATS
from bot_sdk.positions import positions
from tests.bot_sdk.knowledge.asking import shown

HEARTS, SPADES = SUIT_MASKS[2:]


def playing(hand: str, on: str = "", *, tricks: str = "", upcards: str = "9S", discards: str = "") -> Decision:
    """Ask seat 1 to play, with spades as trump; seat 0 has led what lies on the table, and won all tricks before."""
    cards = tricks.split()
    observation = {
        "deal": 0, "dealer": 0, "hand": hand.split(), "upcards": upcards.split(), "trump": "S",
        "begged": bool(discards), "discards": discards.split(), "to_discard": 0, "totals": [0, 0],
        "trick": {"leader": 0 if on else 1, "cards": on.split()},
        "tricks": [{"leader": 1, "cards": cards[at : at + 2], "winner": 0} for at in range(0, len(cards), 2)],
    }  # fmt: skip
    return Decision(shown("seven_up", 1, observation, {}))


LATE = "2C 5C 3C 6C 4C 7C 8C 9C"


@pytest.mark.parametrize("bot", [counting_seven_up, search_seven_up])
@pytest.mark.parametrize(
    ("hand", "on", "played"),
    [
        ("4S QS 3D", "JS", "QS"),  # catch the Jack
        ("JS 9S 2S", "AS", "9S"),  # keep the Jack and the lowest trump from the ace
    ],
)
def test_takes_what_is_worth_taking(bot, hand, on, played):
    assert bot.play(playing(hand, on, tricks="2C 5C 3C 6C 4C 7C")) == f"play:{played}"


def test_counting_gives_nothing_away_that_it_need_not():
    assert counting_seven_up.play(playing("TC 3C", "AC", tricks="2C 5C 4C 6C 7C 8C 9D TD")) == "play:3C"


def test_search_waits_with_the_jack_for_the_low_trump_that_it_catches_more_often_than_it_is_caught():
    """Eight lower trumps are out and three higher; with the ten the game is lost already."""
    assert search_seven_up.play(playing("JS 3D", "TD", tricks=LATE)) == "play:3D"


def test_counting_leads_a_ten_only_when_nothing_out_can_take_it():
    """The hearts above the ten are gone, and who has shown to lack trumps can't trump it."""
    tricks = "AH 2C KH 3C QH 4C JH 5C"
    assert counting_seven_up.play(playing("TH 2D", tricks=tricks)) == "play:TH"


def test_counting_knows_whether_a_trump_may_be_the_lowest():
    count = Count.of(playing("3S 5S QD", tricks="AC 2D"))
    three, five = map(parse_card, ("3S", "5S"))
    assert count.is_lowest(five) == 0  # the three is in the same hand
    assert count.is_lowest(three) == 1  # they have shown to hold no trump
    unknown = Count.of(playing("5S QD"))
    assert 0 < unknown.is_lowest(five) < unknown.is_lowest(three) == 1 - unknown.trump_share


def test_counting_expects_kept_trumps_from_who_has_discarded():
    before = Count.of(playing("3S 5S QD"))
    after = Count.of(playing("3S 5S QD", upcards="9H 9S", discards="2C 3C 4C"))
    assert after.trump_share > before.trump_share
    assert after.side_share < before.side_share


def test_counting_expects_answers_that_follow_before_any_other():
    count = Count.of(playing("TH 2D"))
    answers = list(count.answers(parse_card("TH")))
    follows = [bool((HEARTS | SPADES) >> card & 1) for card in answers]
    assert follows == sorted(follows, reverse=True)
    assert BEATS[3][parse_card("TH")][answers[0]]
    assert len(answers) == 49


@pytest.mark.parametrize("bot", [counting_seven_up, search_seven_up])
def test_the_same_decision_is_answered_the_same_way(bot):
    for message in positions("seven_up", "play", 10, "again"):
        assert len({bot.play(Decision(message)) for _ in range(3)}) == 1


def test_search_draws_hands_that_the_other_may_hold():
    for message in positions("seven_up", "play", 40, "worlds"):
        known = Decision(message).knowledge
        other = 1 - known.seat
        hands = list(worlds(known, random.Random(1)))
        assert len(hands) == search_seven_up.WORLDS
        for hand in hands:
            assert hand & ~known.may_hold(other) == 0
            assert hand.bit_count() == known.cards_left[other]


def test_search_expects_trumps_from_who_has_discarded():
    known = playing("3S 5S QD", upcards="9H 9S", discards="2C 3C 4C").knowledge
    drawn = [list(worlds(known, random.Random(1))), [known.draw_hands(random.Random(at))[0] for at in range(20)]]
    kept, any_hand = (sum((hand & SPADES).bit_count() for hand in hands) for hands in drawn)
    assert kept > any_hand


def test_search_draws_no_suit_that_the_other_has_shown_to_lack_after_a_run_either():
    known = playing("3S 5S QD", tricks="TC AD", upcards="9H 9S", discards="4C 3C 5C").knowledge
    assert all(hand & ~known.may_hold(0) == 0 for hand in worlds(known, random.Random(1)))


def test_search_draws_on_when_the_other_has_kept_what_nobody_would():
    """It has played low side cards first, as if it held nothing better, and has shown to lack trumps."""
    known = playing("3S 5S QD", tricks="AC 2D AD 2C", upcards="9H 9S", discards="4C 3C 5C").knowledge
    assert all(hand & ~known.may_hold(0) == 0 for hand in worlds(known, random.Random(1)))


def test_search_spends_a_few_milliseconds_on_a_decision():
    asked = positions("seven_up", "play", 30, "time")
    start = time.process_time()
    for message in asked:
        search_seven_up.play(Decision(message))
    assert (time.process_time() - start) / len(asked) < 0.05
