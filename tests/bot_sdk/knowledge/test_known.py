from __future__ import annotations

import pytest
from hypothesis import given, settings

from bot_sdk.bot import Decision
from bot_sdk.cards import NAMES, SUIT_MASKS, SUITS, cards_in, mask_of, names_in, parse_card
from bot_sdk.games.base import NO_TRUMP
from bot_sdk.games.registry import ruleset
from bot_sdk.knowledge import Knowledge
from tests.bot_sdk.knowledge.asking import Asked, asked, decision, few, shown
from tests.bot_sdk.tables import Table, act, cards_shown, seven_up, seven_up_pack, tables

HEIGHT = {name: "23456789TJQKA".index(name[0]) for name in NAMES}


def best_by_name(names: list[str], trump: str) -> str:
    """Name the winning card as docs/rules.md, *Tricks* says it."""
    trumps = [name for name in names if name[1] == trump]
    return max(trumps or [name for name in names if name[1] == names[0][1]], key=HEIGHT.__getitem__)


@given(tables())
def test_what_is_known_of_cards_is_true(table: Table) -> None:
    for state, seat, message, known, _ in asked(table):
        seen = cards_shown(message.observation)
        assert (known.seat, known.seats) == (seat, table.seats)
        assert known.hand == state.hands[seat]
        assert names_in(known.seen) == sorted(seen, key=NAMES.index)
        assert (known.seen | known.out, known.seen & known.out) == ((1 << 52) - 1, 0)
        assert sum(known.played) == mask_of(state.played)
        assert known.tricks == state.tricks
        assert known.trump == state.trump
        for other in range(table.seats):
            taken = [card for trick in state.tricks if trick.winner == other for card in trick.cards]
            assert known.taken[other] == mask_of(taken)
            assert state.hands[other] & ~known.may_hold(other) == 0
            assert state.hands[other] & known.voids[other] == 0
            if state.phase != "discard" or other == seat:
                assert known.cards_left[other] == state.hands[other].bit_count()


@given(tables())
def test_the_winner_of_a_trick_so_far_is_who_would_win_it(table: Table) -> None:
    for state, seat, message, known, _ in asked(table):
        trick = message.observation["trick"]
        if not trick or not trick["cards"]:
            assert (known.winner, known.winning) == (None, None)
            continue
        winning = best_by_name(trick["cards"], message.observation["trump"])
        assert known.winning == parse_card(winning)
        assert known.winner == (trick["leader"] + trick["cards"].index(winning)) % table.seats
        assert known.is_last == (len(trick["cards"]) == table.seats - 1)
        for card in cards_in(state.mask(seat)):
            taking = best_by_name([*trick["cards"], NAMES[card]], message.observation["trump"]) == NAMES[card]
            assert known.takes(card) == taking


@given(tables())
def test_cards_above_are_the_higher_ones_of_the_suit_that_are_still_out(table: Table) -> None:
    for state, seat, message, known, _ in few(asked(table), table.rng(), 10):
        unseen = set(NAMES) - set(cards_shown(message.observation))
        for name in names_in(state.hands[seat]):
            higher = {other for other in unseen if other[1] == name[1] and HEIGHT[other] > HEIGHT[name]}
            assert set(names_in(known.above(parse_card(name)))) == higher


def legal_throughout(table: Table, one: Asked, other: int, card: int) -> bool:
    """Whether the deal could have gone as it did if the only card left to `other` were this one of the stock."""
    held = one.state.hands[other].bit_length() - 1
    pack = [{held: card, card: held}.get(each, each) for each in one.state.pack]
    state = ruleset(table.ruleset).state(one.state.options, table.seats, lambda _: pack, deals=one.state.deals)
    for seat, action in one.acted:
        if not state.is_legal(seat, action):
            return False
        state.apply(seat, action)
    return True


@given(tables())
@settings(max_examples=50)
def test_a_card_may_be_held_exactly_if_all_that_was_played_was_legal_with_it(table: Table) -> None:
    for one in few(asked(table), table.rng(), 40):
        if one.state.phase != "play":
            continue
        nowhere = ((1 << 52) - 1) & ~one.known.seen & ~sum(one.state.hands)
        nowhere &= ~sum(getattr(one.state, "discards", [0]))
        for other in {*range(table.seats)} - {one.seat}:
            if one.state.hands[other].bit_count() == 1:
                possible = {card for card in cards_in(nowhere) if legal_throughout(table, one, other, card)}
                assert possible == {*cards_in(nowhere & one.known.may_hold(other))}


def after_a_trick(name: str, led: str, played: str, **options: str) -> Knowledge:
    """Give what seat 1, which led, knows when seat 0 has played to the trick; spades are trump."""
    seats = 2 if name == "seven_up" else 4
    others = ["3H", "4H"] if name == "river" else []
    observation = {
        "deal": 0, "cards": 2, "dealer": 0, "hand": ["TC"], "upcard": "9S", "upcards": ["9S"], "trump": "S",
        "begged": False, "discards": [], "to_discard": 0, "totals": [0] * seats, "bids": [0] * seats,
        "trick": {"leader": 1, "cards": []}, "tricks": [{"leader": 1, "cards": [led, *others, played], "winner": 1}],
    }  # fmt: skip
    return Knowledge(shown(name, 1, observation, options))


@pytest.mark.parametrize(
    ("led", "played", "must_trump", "free", "river"),
    [
        ("AC", "QC", "", "", ""),
        ("AC", "4S", "", "", "C"),  # in Seven Up one may trump though one could follow
        ("2S", "4S", "", "", ""),
        ("QH", "2D", "HS", "H", "H"),  # who neither follows nor trumps
        ("2S", "2D", "S", "S", "S"),
    ],
)
def test_a_follower_shows_what_it_lacks(led: str, played: str, must_trump: str, free: str, river: str) -> None:
    for known, suits in (
        (after_a_trick("seven_up", led, played, void_play="must_trump"), must_trump),
        (after_a_trick("seven_up", led, played, void_play="free"), free),
        (after_a_trick("river", led, played), river),
    ):
        assert known.voids[0] == sum(SUIT_MASKS[SUITS.index(suit)] for suit in suits)
        assert known.voids[1] == 0


def test_others_hold_all_they_were_dealt_while_discards_are_owed() -> None:
    pack = seven_up_pack("AC KC 4D QH 2S 3S", "2D 3H 4S 5S KD QC", "9S", "AD KH 2H 3D 4H 5H 2C")
    state = act(seven_up([pack]), "beg")
    for code in (0, 1):
        state.apply(code, state.first_legal(code))
    known = Knowledge(decision(Table("seven_up", {}, 2, 0), state, 0))
    assert known.cards_left == [8, 9]
    assert known.trump == SUITS.index("C")


def test_there_is_no_trump_before_one_is_fixed() -> None:
    state = seven_up([seven_up_pack("AC KC 4D QH 2S 3S", "2D 3H 4S 5S KD QC", "9S")])
    assert Knowledge(decision(Table("seven_up", {}, 2, 0), state, 1)).trump == NO_TRUMP


def test_a_decision_knows() -> None:
    state = seven_up([seven_up_pack("AC KC 4D QH 2S 3S", "2D 3H 4S 5S KD QC", "9S")])
    asked_for = Decision(decision(Table("seven_up", {}, 2, 0), state, 1))
    assert names_in(asked_for.knowledge.hand) == asked_for.hand
    assert asked_for.knowledge is asked_for.knowledge
