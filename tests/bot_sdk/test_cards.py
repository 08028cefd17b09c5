"""Cards, hands and packs as text."""

from __future__ import annotations

import pytest

from bot_sdk import cards
from bot_sdk.cards import CardError
from bot_sdk.events import Outcome, quantised


def test_the_fixed_order_runs_through_the_suits_c_d_h_s_and_the_ranks_2_to_ace() -> None:
    assert [s + r for r in "CDHS" for s in "23456789TJQKA"] == list(cards.NAMES)
    assert cards.names_in((1 << 52) - 1) == list(cards.NAMES)


def test_every_card_reads_back() -> None:
    for number, name in enumerate(cards.NAMES):
        assert cards.parse_card(name) == number
        assert cards.NAMES[cards.suit_of(number) * 13 + cards.rank_of(number)] == name


@pytest.mark.parametrize("text", ["10H", "qh", "HQ", "", "QHH", "1C", " QH", None, 3, ["QH"]])
def test_anything_else_is_refused_and_quoted(text: object) -> None:
    with pytest.raises(CardError) as caught:
        cards.parse_card(text)
    assert str(caught.value) == f"expected a card such as 'QH', got {text!r}"


def test_a_mask_gives_back_its_cards_in_order() -> None:
    assert list(cards.cards_in(cards.mask_of([51, 0, 13]))) == [0, 13, 51]
    assert list(cards.cards_in(0)) == []


@pytest.mark.parametrize(
    ("ms", "kept"), [(0, 0), (-5, 0), (0.0123, 0.012), (3.14, 3.1), (84.4, 84), (1049, 1000), (119_900, 120_000)]
)
def test_times_keep_two_significant_digits(ms: float, kept: float) -> None:
    assert quantised(ms) == kept
    assert quantised(kept) == kept


def test_a_retired_seat_and_our_own_trouble_are_no_faults() -> None:
    assert {outcome.value for outcome in Outcome if outcome.is_fault} == {
        "late", "unreachable", "bad_status", "bad_reply", "illegal",
    }  # fmt: skip
