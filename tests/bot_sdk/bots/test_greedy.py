from __future__ import annotations

import pytest

from bot_sdk import messages
from bot_sdk.bot import Decision
from bot_sdk.bots import greedy_river, greedy_seven_up
from bot_sdk.games.registry import RULESETS


def decision(ruleset, phase, legal, seats, **observation):
    info = messages.GameInfo("g", ruleset, RULESETS[ruleset].resolve({}, seats), ["x"] * seats)
    return Decision(
        messages.Decision(
            decision_id="g.0.0", budget_ms=1000, last=None, game=info, seat=0, phase=phase,
            observation={"dealer": 0, "tricks": [], **observation}, legal_actions=legal.split(),
        )
    )  # fmt: skip


def river(hand, trick="", *, missing, legal=None, trump="S"):
    cards = hand.split()
    return decision(
        "river", "play", " ".join(f"play:{card}" for card in (legal or hand).split()), 4,
        hand=cards, upcard="2S", trump=trump, bids=[missing, 0, 0, 0], tricks_won=[0, 0, 0, 0],
        trick={"leader": 1, "cards": trick.split()},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("hand", "trick", "missing", "played"),
    [
        ("3H KH AH", "9H 5H TH", 1, "KH"),  # last, and the king is enough
        ("3H KH AH", "9H 5H", 1, "AH"),  # one more to come: make sure
        ("3H 4H", "9H 5H", 1, "3H"),  # can't win: keep the better one
        ("3H 8H AH", "9H 5H TH", 0, "8H"),  # the highest that loses
        ("QH AH", "9H 5H TH", 0, "AH"),  # last and forced to win: by the one that would win again
        ("QH AH", "9H 5H", 0, "QH"),  # maybe somebody goes above
        ("3H AH 2C", "", 1, "AH"),  # nothing beats it but trumps
        ("3H AH 2C", "", 0, "2C"),
        ("4S KH", "AH", -1, "KH"),
    ],
)
def test_river_wins_cheaply_while_it_needs_tricks_and_dumps_high_else(hand, trick, missing, played):
    legal = " ".join(card for card in hand.split() if not trick or card[1] == trick[1]) or hand
    assert greedy_river.play(river(hand, trick, missing=missing, legal=legal)) == f"play:{played}"


@pytest.mark.parametrize(("hand", "bid"), [("AS KS QS", "bid:3"), ("2C 3D 4H", "bid:0"), ("AS 2C 3D", "bid:1")])
def test_river_bids_what_the_hand_is_worth(hand, bid):
    asked = decision("river", "bid", "bid:0 bid:1 bid:2 bid:3", 4, hand=hand.split(), trump="S")
    assert greedy_river.bid(asked) == bid


def test_river_bids_the_nearest_legal_when_the_hook_bars_its_own():
    asked = decision("river", "bid", "bid:0 bid:2 bid:3", 4, hand=["AS", "2C", "3D"], trump="S")
    assert greedy_river.bid(asked) in {"bid:0", "bid:2"}


@pytest.mark.parametrize(("hand", "said"), [("AS KS 4S 2C 3C 9D", "stand"), ("2S 4C 5C 7D 8D 9H", "beg")])
def test_seven_up_begs_with_few_trumps(hand, said):
    assert greedy_seven_up.beg(decision("seven_up", "beg", "stand beg", 2, hand=hand.split(), upcards=["TS"])) == said


@pytest.mark.parametrize(
    ("hand", "legal", "said"),
    [("AS KS 4S", "run give", "give"), ("2S 4C 5C", "run give", "run"), ("AS KS 4S", "run", "run")],
)
def test_seven_up_gives_only_for_a_strong_suit_and_if_it_may(hand, legal, said):
    assert greedy_seven_up.gift(decision("seven_up", "gift", legal, 2, hand=hand.split(), upcards=["TS"])) == said


def test_seven_up_keeps_trumps_and_high_cards():
    legal = "discard:2C discard:AC discard:3S"
    asked = decision("seven_up", "discard", legal, 2, hand=["2C", "AC", "3S"], trump="S")
    assert greedy_seven_up.discard(asked) == "discard:2C"


def seven_up(hand, trick=""):
    cards = hand.split()
    return decision(
        "seven_up", "play", " ".join(f"play:{card}" for card in cards), 2,
        hand=cards, upcards=["TS"], trump="S", discards=[], trick={"leader": 1, "cards": trick.split()},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("hand", "trick", "played"),
    [
        ("4S QS", "JS", "QS"),  # catch the Jack
        ("JS 9S", "AS", "9S"),  # keep the Jack from the ace
        ("AS 3C", "", "AS"),  # nothing beats it, and it draws a trump
        ("TC 3C", "AC", "3C"),  # ten pips are not for the other side
        ("JS 4S", "3C", "JS"),  # bring the Jack home while the trick can't be lost
    ],
)
def test_seven_up_takes_what_is_worth_taking(hand, trick, played):
    assert greedy_seven_up.play(seven_up(hand, trick)) == f"play:{played}"
