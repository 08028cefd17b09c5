from __future__ import annotations

from math import isclose

import pytest

from bot_sdk.bots import bids_river, counting_river
from bot_sdk.bots.bids_river import Bidder, chances, fitted
from bot_sdk.games.river import most_cards
from tests.bot_sdk.bots.river_rounds import bidding, playing


@pytest.mark.parametrize(
    ("hand", "trick", "missing", "played"),
    [
        ("3H KH AH", "9H 5H TH", 1, "KH"),  # last, and the king is enough
        ("3H KH AH", "9H 5H", 1, "AH"),  # one more to come: make sure
        ("3H 4H", "9H 5H", 1, "3H"),  # can't win: keep the better one
        ("3H 8H AH", "9H 5H TH", 0, "8H"),  # the highest that loses
        ("QH AH", "9H 5H TH", 0, "AH"),  # last and forced to win: by the one that would win again
        ("QH AH", "9H 5H", 0, "QH"),  # maybe somebody goes above
        ("3C 4S", "AH", 1, "4S"),  # trumps it
        ("KS 4S", "AH", 1, "4S"),  # a small trump will do
        ("KS 4S", "3S", 1, "KS"),  # but not among trumps
        ("3C 4S KD", "AH", 0, "KD"),  # gets rid of what might win
        ("3H AH 2C", "", 1, "AH"),  # nothing beats it but trumps
        ("AH AS 2C", "", 1, "AS"),  # nor trumps that
        ("3H AH 2C", "", 0, "2C"),
        ("3H KH 4C", "", 1, "3H"),  # wins nothing for certain, so it waits
    ],
)
def test_it_takes_what_it_wants_and_avoids_what_it_does_not(hand, trick, missing, played):
    assert counting_river.play(playing(hand, trick, missing=missing)) == f"play:{played}"


@pytest.mark.parametrize("missing", [-1, 1])
def test_it_leads_a_card_that_has_become_the_highest(missing):
    tricks = [(0, "AH 2H 4H KH", 0)]
    assert counting_river.play(playing("QH KD", missing=missing, tricks=tricks)) == "play:QH"
    assert counting_river.play(playing("JH KD", missing=missing, tricks=tricks)) == "play:JH"


def test_it_wants_tricks_again_once_its_bid_is_lost():
    assert counting_river.play(playing("3H AH", "9H 5H TH", missing=-1)) == "play:AH"
    assert counting_river.play(playing("3H AH", "9H 5H TH", missing=0)) == "play:3H"


@pytest.mark.parametrize(
    ("hand", "bid"), [("AS KS QS", 3), ("2C 3D 4H", 0), ("AS 2C 3D", 1), ("AS KS 2C", 2), ("AS", 1)]
)
def test_it_bids_what_the_hand_is_worth(hand, bid):
    assert counting_river.bid(bidding(hand)) == f"bid:{bid}"


def test_it_bids_the_best_legal_when_the_hook_bars_its_own():
    assert counting_river.bid(bidding("AS 2C 3D", (1, 1, 0), legal=[0, 2, 3])) in {"bid:0", "bid:2"}


def test_bids_heard_change_a_bid():
    """A hand that is worth half a trick more or less takes it from those who bid nothing."""
    asked = [bidding("QS 9D JD QH TH 4C 3C", (bid,) * 3) for bid in (0, 1, 2, 3)]
    assert len({tuple(chances(Bidder.of(each), [2], fitted()[4][7])) for each in asked}) == 4


def test_bids_that_are_hidden_count_as_what_is_due():
    """With four seats and four cards that is one trick for each."""
    hidden = Bidder.of(bidding("AS 2C 3D 4H", (None, None), options={"bidding": "simultaneous"}))
    assert hidden == Bidder.of(bidding("AS 2C 3D 4H", (1, 1)))
    assert hidden.excess == 0


def test_the_table_knows_every_number_of_seats_and_cards():
    assert {seats: sorted(of) for seats, of in fitted().items()} == {
        seats: list(range(1, most_cards(seats) + 1)) for seats in range(4, 9)
    }


def test_chances_are_all_there_is():
    bidder = Bidder.of(bidding("AS KS 2C 7D"))
    for odds in chances(bidder, range(5), fitted()[4][4]):
        assert isclose(sum(odds), 1)
        assert all(0 < chance < 1 for chance in odds)


def test_who_bids_higher_is_likelier_to_take_fewer_and_less_likely_to_take_more():
    found = chances(Bidder.of(bidding("AS KS 2C 7D")), [1, 2, 3], fitted()[4][4])
    more, fewer, _ = zip(*found, strict=True)
    assert list(more) == sorted(more, reverse=True)
    assert list(fewer) == sorted(fewer)


def test_where_a_miss_loses_all_a_higher_bid_is_worth_more():
    assert bids_river.points(3, 0.5, loses_all=True) > bids_river.points(2, 0.5, loses_all=True)
    assert bids_river.points(3, 0.5, loses_all=False) == bids_river.points(2, 0.5, loses_all=False)
