"""The facts of docs/rules.md, by counting where the cases can be counted and by arithmetic on the rules where not."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import prod

import pytest

from bot_sdk.cards import NAMES, RANKS, SUITS
from bot_sdk.games.packs import given, seeded
from bot_sdk.games.registry import ruleset
from bot_sdk.games.seven_up import PIPS
from tests.bot_sdk.deals import DEALER_3_PLAY, ELDEST_3_PLAY, points
from tests.bot_sdk.tables import Table, act, choose, flat, play, play_out, river, seven_up, seven_up_pack, stacked

UPCARDS = (12, 19, 26, 33, 40, 47)


# Seven Up


def upcards_in_suits(suits: tuple[str, ...]) -> list[str]:
    """Name upcards of these suits, all different: the first of a suit a two, the second a three …"""
    return [RANKS[suits[:at].count(suit)] + suit for at, suit in enumerate(suits)]


def chance(suits: tuple[str, ...]) -> Fraction:
    """Give the chance that six upcards have these suits."""
    return prod((Fraction(13 - suits[:at].count(suit), 52 - at) for at, suit in enumerate(suits)), start=Fraction(1))


def test_the_suit_is_still_the_first_after_each_run_as_often_as_counting_says() -> None:
    still_first = [Fraction(0)] * 6
    for suits in product(SUITS, repeat=6):
        pack = stacked(dict(zip(UPCARDS, upcards_in_suits(suits), strict=True)))
        state = act(seven_up([pack, pack]), "beg")
        void = state.deal_number == 1
        runs_in_vain = 5 if void else len(state.observe(None)["upcards"]) - 2
        for runs in range(1, runs_in_vain + 1):
            still_first[runs] += chance(suits)
    assert still_first[1:] == [
        Fraction(4, 17), Fraction(22, 425), Fraction(44, 4165), Fraction(33, 16660), Fraction(66, 195755),
    ]  # fmt: skip


def test_upcards_lie_at_every_seventh_index_from_12() -> None:
    for runs in range(1, 6):
        suits = ("S",) * runs + ("H",)
        pack = stacked(dict(zip(UPCARDS, upcards_in_suits(suits), strict=False)))
        state = act(seven_up([pack]), "beg")
        assert state.observe(None)["upcards"] == [NAMES[pack[at]] for at in UPCARDS[: runs + 1]]


def test_after_five_runs_four_cards_are_left_and_a_hand_holds_21() -> None:
    pack = stacked(dict(zip(UPCARDS, ["2S", "3S", "4S", "5S", "6S", "2H"], strict=True)))
    state = act(seven_up([pack]), "beg")
    hands = [state.observe(seat)["hand"] for seat in (0, 1)]
    assert [len(hand) for hand in hands] == [21, 21]
    seen = {*hands[0], *hands[1], *state.observe(None)["upcards"]}
    assert [NAMES[card] for card in pack if NAMES[card] not in seen] == [NAMES[card] for card in pack[48:]]


def test_the_first_upcard_is_a_jack_once_in_13_deals() -> None:
    scored = sum(seven_up([stacked({12: name})]).totals[0] for name in NAMES)
    assert Fraction(scored, len(NAMES)) == Fraction(1, 13)


@pytest.mark.parametrize("suit", SUITS)
def test_nobody_can_catch_the_jack_that_was_turned_if_eldest_stands(suit: str) -> None:
    pack = stacked({12: f"J{suit}"})
    state = act(seven_up([pack, pack]), "stand")
    held = state.observe(0)["hand"] + state.observe(1)["hand"]
    assert (state.observe(0)["trump"], f"J{suit}" in held) == (suit, False)


def test_a_dealer_scores_five_with_one_turned_jack_and_all_four_points() -> None:
    run = "KH QH TH 2H 3H 4H 9S"
    pack = seven_up_pack("2C 3C 4C 5C 6C 7C", "JS 2D 3D 4D 5D 6D", "JH", run)
    assert played_after_a_run(pack, DEALER_3_PLAY.replace("5S", "JS"))[0] == 5


def test_a_dealer_scores_five_with_two_turned_jacks_and_three_points() -> None:
    run = "KH QH TH 2H 3H 4H JS"
    pack = seven_up_pack("2C 3C 4C 5C 6C 7C", "5S 2D 3D 4D 5D 6D", "JH", run)
    assert played_after_a_run(pack, DEALER_3_PLAY)[0] == 5


def test_a_dealer_scores_four_under_final() -> None:
    pack = seven_up_pack("2C 3C 4C 5C 6C 7C", "5S 2D 3D 4D 5D 6D", "JS")
    assert points(pack, DEALER_3_PLAY, turned_jack="final") == [4, 0]


def test_eldest_scores_four_and_five_with_a_gift() -> None:
    pack = seven_up_pack("JS AC KC QC JC TC", "2D 3D 4D 5D 6D 7D", "9S")
    cards = ELDEST_3_PLAY.replace("5S", "JS")
    assert points(pack, cards) == [0, 4]
    state = play(act(seven_up([pack] * 2, gift=True), "beg", "give"), cards)
    assert state.deals[0].points == [0, 5]


def played_after_a_run(pack: list[int], cards: str) -> list[int]:
    """Beg, throw the hearts of the run, play; give the points of the deal."""
    state = act(seven_up([pack, pack], target=50), "beg")
    for seat, thrown in ((1, "KH QH TH"), (0, "2H 3H 4H")):
        for name in thrown.split():
            state.apply(seat, f"discard:{name}")
    return play(state, cards).deals[0].points


@pytest.mark.parametrize(("turned_jack", "dealer"), [("every", 5), ("final", 4)])
@pytest.mark.parametrize(("gift", "eldest"), [(False, 4), (True, 5)])
def test_no_deal_brings_more(turned_jack: str, dealer: int, gift: bool, eldest: int) -> None:  # noqa: FBT001 - a rule is on or off
    options = {"turned_jack": turned_jack, "gift": gift, "target": 50}
    games = [Table("seven_up", options, 2, seed) for seed in range(25)]
    deals = flat(play_out(table.state(), table.rng()).deals for table in games)
    assert len(deals) > 500
    assert max(deal.points[deal.dealer] for deal in deals) <= dealer
    assert max(deal.points[1 - deal.dealer] for deal in deals) <= eldest


@pytest.mark.parametrize(("pips", "total"), [("face", 256), ("classic", 80)])
def test_pips_in_the_pack(pips: str, total: int) -> None:
    assert 4 * sum(PIPS[pips]) == total


def test_twelve_cards_hold_20_to_108_pips_and_59_08_on_average() -> None:
    ordered = sorted(PIPS["face"] * 4)
    assert (sum(ordered[:12]), sum(ordered[-12:])) == (20, 108)
    assert round(Fraction(12 * 256, 52), 2) == Fraction("59.08")


def test_a_tie_of_nothing_to_nothing_needs_classic() -> None:
    assert min(PIPS["face"]) > 0
    assert 4 * PIPS["classic"].count(0) >= 12


# Up and Down the River


@pytest.mark.parametrize(("seats", "most"), [(4, 12), (5, 10), (6, 8), (7, 7), (8, 6)])
def test_the_most_cards_and_the_default(seats: int, most: int) -> None:
    rules = ruleset("river")
    assert rules.resolve({"start_cards": most}, seats)["start_cards"] == most
    assert rules.resolve({}, seats)["start_cards"] == min(8, most)
    with pytest.raises(ValueError, match=rf"from 1 to at most {most} \({seats} seats leave a card to turn\)"):
        rules.resolve({"start_cards": most + 1}, seats)


LENGTHS = {
    "down_up": (lambda s: 2 * s - 1, lambda s: s * s + s - 1),
    "up_down": (lambda s: 2 * s - 1, lambda s: s * s),
    "down": (lambda s: s, lambda s: s * (s + 1) // 2),
}


@pytest.mark.parametrize("schedule", LENGTHS)
@pytest.mark.parametrize("start_cards", range(1, 13))
def test_rounds_and_tricks_a_game(schedule: str, start_cards: int) -> None:
    rounds, tricks = (length(start_cards) for length in LENGTHS[schedule])
    state = ruleset("river").new({"start_cards": start_cards, "schedule": schedule}, 4, seeded("lengths", 4))
    plays = 0
    while actors := state.actors():
        plays += state.phase == "play"
        state.apply(actors[0], state.legal_actions(actors[0])[0])
    assert (len(state.deals), plays) == (rounds, 4 * tricks)


@pytest.mark.parametrize(("seats", "start_cards", "decisions"), [(4, 8, 344), (4, 10, 512), (5, 10, 640), (8, 6, 416)])
def test_decisions_a_game(seats: int, start_cards: int, decisions: int) -> None:
    states = 0

    def count(_: object) -> None:
        nonlocal states
        states += 1

    table = Table("river", {"start_cards": start_cards}, seats, 1)
    play_out(table.state(), table.rng(), count)
    assert states - 1 == decisions


@pytest.mark.parametrize("cards", range(1, 5))
def test_the_hook_leaves_a_bid_and_lets_at_most_all_but_one_be_exact(cards: int) -> None:
    pack = list(range(52))
    for before in product(range(cards + 1), repeat=3):
        state = act(ruleset("river").new({"start_cards": cards}, 4, given([pack])), *(f"bid:{bid}" for bid in before))
        left = [int(action.removeprefix("bid:")) for action in state.legal_actions(0)]
        assert left == [bid for bid in range(cards + 1) if sum(before) + bid != cards]
        assert left


@pytest.mark.parametrize("hook", ["always", "off", "not_one"])
@pytest.mark.parametrize("seats", [4, 6, 8])
def test_points_of_a_round_are_its_tricks_and_ten_an_exact_bidder(seats: int, hook: str) -> None:
    for seed in range(10):
        table = Table("river", {"hook": hook}, seats, seed)
        state, rng = table.state(), table.rng()
        while actors := state.actors():
            deal, cards = state.deal_number, state.observe(None)["cards"]
            state.apply(actors[0], choose(rng, state.legal_actions(actors[0])))
            if len(state.deals) > deal:
                exact, left = divmod(sum(state.deals[-1].points) - cards, 10)
                assert left == 0
                hooked = hook == "always" or (hook == "not_one" and cards > 1)
                assert 0 <= exact <= seats - hooked


def test_a_round_without_the_hook_can_have_every_bidder_exact() -> None:
    pack = stacked({0: "2C", 1: "AC", 2: "3D", 3: "4S", 4: "9S"})
    state = act(river([pack], start_cards=1, hook="off"), "bid:0", "bid:0", "bid:0", "bid:1")
    assert play(state, "2C AC 3D 4S").totals == [11, 10, 10, 10]
