"""Seven Up, sentence by sentence of docs/rules.md, on packs laid out by hand."""

from __future__ import annotations

import pytest

from bot_sdk.games.base import IllegalAction
from tests.bot_sdk.deals import (
    DEALER_3,
    DEALER_3_PLAY,
    ELDEST_3,
    ELDEST_3_PLAY,
    EVEN_PIPS,
    EVEN_PIPS_PLAY,
    NO_TRUMPS,
    NO_TRUMPS_PLAY,
    NOTHING_CLASSIC,
    NOTHING_CLASSIC_PLAY,
    RUN_OUT,
    TWO_ALL,
    TWO_ALL_PLAY,
    deal_and_play,
    points,
)  # fmt: skip
from tests.bot_sdk.tables import act, play, seven_up, seven_up_pack

# Seven Up 1: who deals


@pytest.mark.parametrize("first", [0, 1])
def test_first_dealer_deals_the_first_deal(first: int) -> None:
    state = seven_up([TWO_ALL], first_dealer=first)
    assert state.dealer == first
    assert state.actors() == [1 - first]


def test_the_deal_alternates() -> None:
    state = seven_up([TWO_ALL] * 4)
    dealers = [state.dealer]
    for _ in range(3):
        play(act(state, "stand"), TWO_ALL_PLAY)
        dealers.append(state.dealer)
    assert dealers == [0, 1, 0, 1]


def test_the_deal_alternates_in_deals_beyond_a_tie_at_the_target() -> None:
    state = seven_up([TWO_ALL, TWO_ALL, DEALER_3], target=2)
    for _ in range(2):
        play(act(state, "stand"), TWO_ALL_PLAY)
    assert (state.totals, state.is_over) == ([4, 4], False)
    assert [deal.dealer for deal in state.deals] + [state.dealer] == [0, 1, 0]


# Seven Up 2: deal and upcard


def test_cards_go_one_at_a_time_eldest_first_and_the_next_is_turned() -> None:
    state = seven_up([list(range(52))])
    assert state.observe(1)["hand"] == ["2C", "4C", "6C", "8C", "TC", "QC"]
    assert state.observe(0)["hand"] == ["3C", "5C", "7C", "9C", "JC", "KC"]
    assert state.observe(None)["upcards"] == ["AC"]


def test_a_turned_jack_scores_for_the_dealer_before_anybody_is_asked() -> None:
    state = seven_up([seven_up_pack("", "", "JD")])
    assert state.totals == [1, 0]
    assert (state.phase, state.actors()) == ("beg", [1])


def test_any_other_upcard_scores_nothing() -> None:
    assert seven_up([TWO_ALL]).totals == [0, 0]


# Seven Up 3: stand or beg


def test_eldest_is_asked_stand_or_beg() -> None:
    state = seven_up([TWO_ALL])
    assert state.legal_actions(1) == ["stand", "beg"]
    assert state.legal_actions(0) == []
    assert state.observe(1)["trump"] is None


def test_stand_makes_the_first_suit_trump_and_play_begins_without_discards() -> None:
    state = act(seven_up([TWO_ALL]), "stand")
    assert (state.phase, state.actors(), state.observe(None)["trump"]) == ("play", [1], "S")
    assert state.observe(1)["begged"] is False


def test_beg_runs_three_cards_each_eldest_first_and_turns_the_next() -> None:
    state = act(seven_up([seven_up_pack("", "", "9S", "TC JC QC TD JD QD 2H")]), "beg")
    assert state.observe(None)["upcards"] == ["9S", "2H"]
    assert {"TC", "JC", "QC"} <= set(state.observe(1)["hand"])
    assert {"TD", "JD", "QD"} <= set(state.observe(0)["hand"])
    assert [len(state.observe(seat)["hand"]) for seat in (0, 1)] == [9, 9]
    assert (state.observe(0)["trump"], state.observe(0)["begged"]) == ("H", True)


def test_the_cards_run_again_while_the_upcard_is_of_the_first_suit() -> None:
    state = act(seven_up([seven_up_pack("", "", "9S", "2S", "3S", "2H")]), "beg")
    assert state.observe(None)["upcards"] == ["9S", "2S", "3S", "2H"]
    assert [len(state.observe(seat)["hand"]) for seat in (0, 1)] == [15, 15]
    assert state.observe(None)["trump"] == "H"


def test_a_beg_cannot_be_refused_and_there_is_no_second_one() -> None:
    state = act(seven_up([seven_up_pack("", "", "9S", "2H")]), "beg")
    assert state.phase == "discard"
    with pytest.raises(IllegalAction):
        state.apply(1, "beg")


def test_a_run_out_stock_makes_the_deal_void_and_the_same_dealer_deals_afresh() -> None:
    state = act(seven_up([RUN_OUT, TWO_ALL]), "beg")
    assert (state.deals[0].void, state.deals[0].points, state.deals[0].number) == (True, [0, 0], 0)
    assert (state.deal_number, state.dealer, state.phase) == (1, 0, "beg")
    assert state.observe(None)["upcards"] == ["9S"]


def test_points_for_turned_jacks_of_a_void_deal_stay() -> None:
    state = act(seven_up([seven_up_pack("", "", "2S", "3S", "JS", "5S", "6S", "7S"), TWO_ALL]), "beg")
    assert (state.deals[0].void, state.deals[0].points, state.totals) == (True, [1, 0], [1, 0])


def test_a_deal_whose_last_run_turns_the_winning_jack_is_not_void() -> None:
    state = act(seven_up([seven_up_pack("", "", "2S", "3S", "4S", "5S", "6S", "JS")], target=1), "beg")
    assert (state.is_over, state.deals[0].void, state.totals) == (True, False, [1, 0])


def test_a_void_deal_does_not_pass_the_deal_on() -> None:
    state = act(seven_up([RUN_OUT, RUN_OUT, TWO_ALL, RUN_OUT, TWO_ALL], first_dealer=1), "beg", "beg", "stand")
    play(state, TWO_ALL_PLAY)
    act(state, "beg")
    assert [(deal.number, deal.dealer, deal.void) for deal in state.deals] == [
        (0, 1, True), (1, 1, True), (2, 1, False), (3, 0, True),
    ]  # fmt: skip
    assert (state.deal_number, state.dealer) == (4, 0)


# Seven Up 4: discards


def test_both_seats_owe_their_discards_at_the_same_time_one_card_a_decision() -> None:
    state = act(seven_up([seven_up_pack("", "", "9S", "2S", "2H")]), "beg")
    assert state.actors() == [0, 1]
    assert [state.observe(seat)["to_discard"] for seat in (0, 1)] == [6, 6]
    assert state.legal_actions(0) == [f"discard:{card}" for card in state.observe(0)["hand"]]
    gone = state.observe(0)["hand"][4]
    state.apply(0, f"discard:{gone}")
    assert state.observe(0)["discards"] == [gone]
    assert gone not in state.observe(0)["hand"]
    assert state.observe(0)["to_discard"] == 5
    assert state.actors() == [0, 1]


def test_neither_sees_how_far_the_other_is_with_discarding() -> None:
    state = act(seven_up([seven_up_pack("", "", "9S", "2H")]), "beg")
    before = [(state.observe(who), state.turn(who)) for who in (1, None)]
    for _ in range(3):
        state.apply(0, state.legal_actions(0)[0])
        assert [(state.observe(who), state.turn(who)) for who in (1, None)] == before
    assert state.turn(0) == [1]
    assert state.actors() == [1]


def test_a_seat_that_is_down_to_six_owes_nothing_and_play_begins_when_both_are() -> None:
    state = act(seven_up([seven_up_pack("", "", "9S", "2H")]), "beg")
    for _ in range(3):
        state.apply(1, state.legal_actions(1)[0])
    assert state.legal_actions(1) == []
    with pytest.raises(IllegalAction, match="no action of seat 1 now"):
        state.apply(1, f"discard:{state.observe(1)['hand'][0]}")
    for _ in range(3):
        assert state.phase == "discard"
        state.apply(0, state.legal_actions(0)[0])
    assert (state.phase, state.actors()) == ("play", [1])
    assert [len(state.observe(seat)["hand"]) for seat in (0, 1)] == [6, 6]


# Seven Up 5: play


def led(follower: str, lead: str, **options: object) -> list[str]:
    """Let eldest lead `lead` under spades as trumps; list what the dealer, holding `follower`, may play."""
    state = act(seven_up([seven_up_pack(lead, follower, "9S")], **options), "stand")
    play(state, lead)
    return [action.removeprefix("play:") for action in state.legal_actions(0)]


def test_eldest_leads_any_card() -> None:
    state = act(seven_up([TWO_ALL]), "stand")
    assert state.legal_actions(1) == [f"play:{card}" for card in state.observe(1)["hand"]]


def test_follower_with_the_led_suit_may_follow_or_trump() -> None:
    assert led("2C AC 3S 2D 2H KH", "4C") == ["2C", "AC", "3S"]


def test_void_follower_with_a_trump_must_trump() -> None:
    assert led("3S JS 2D 3D 2H KH", "4C") == ["3S", "JS"]


def test_void_follower_with_a_trump_may_play_anything_under_free() -> None:
    assert led("3S JS 2D 3D 2H KH", "4C", void_play="free") == ["2D", "3D", "2H", "KH", "3S", "JS"]


def test_follower_with_the_led_suit_may_not_throw_a_third_suit_under_free_either() -> None:
    assert led("2C 3S 2D 3D 2H KH", "4C", void_play="free") == ["2C", "3S"]


@pytest.mark.parametrize("void_play", ["must_trump", "free"])
def test_follower_with_neither_may_play_anything(void_play: str) -> None:
    assert led("2D 3D 4D 5D 2H KH", "4C", void_play=void_play) == ["2D", "3D", "4D", "5D", "2H", "KH"]


@pytest.mark.parametrize("void_play", ["must_trump", "free"])
def test_follower_must_follow_a_led_trump(void_play: str) -> None:
    assert led("2S 3S 2D 3D 2H KH", "4S", void_play=void_play) == ["2S", "3S"]


@pytest.mark.parametrize(
    ("lead", "follow", "winner"),
    [("4C", "5C", 0), ("5C", "4C", 1), ("AC", "2S", 0), ("2S", "AC", 1), ("3S", "4S", 0), ("2C", "AD", 1)],
)
def test_the_highest_trump_wins_else_the_highest_of_the_led_suit_and_the_winner_leads(
    lead: str, follow: str, winner: int
) -> None:
    pack = seven_up_pack(f"{lead} 2H 3H 4H 5H 6H", f"{follow} 7H 8H 9H TH QH", "9S")
    state = act(seven_up([pack]), "stand")
    play(state, f"{lead} {follow}")
    assert state.observe(None)["tricks"] == [{"leader": 1, "cards": [lead, follow], "winner": winner}]
    assert state.actors() == [winner]


def test_six_tricks_are_played() -> None:
    state = act(seven_up([TWO_ALL, TWO_ALL]), "stand")
    cards = TWO_ALL_PLAY.split()
    play(state, " ".join(cards[:11]))
    assert (state.deal_number, len(state.observe(None)["tricks"])) == (0, 5)
    play(state, cards[11])
    assert state.deal_number == 1


# Seven Up 6: what a deal scores


def test_high_and_game_to_one_and_low_and_jack_to_the_other() -> None:
    assert points(TWO_ALL, TWO_ALL_PLAY) == [2, 2]


def test_low_goes_to_the_captor_not_to_who_held_it() -> None:
    pack = seven_up_pack("AS 2C 3C 4C 5C 6C", "2S TD JD QD KD AD", "9S")
    # eldest catches the two with the ace, then loses nothing: high, low and game
    assert points(pack, "AS 2S 2C TD 3C JD 4C QD 5C KD 6C AD") == [0, 3]


def test_jack_goes_to_the_captor() -> None:
    pack = seven_up_pack("AS 2C 3C 4C 5C 6C", "JS TD 2D QD KD AD", "9S")
    assert points(pack, "AS JS 2C TD 3C 2D 4C QD 5C KD 6C AD") == [0, 4]


def test_without_a_trump_played_nobody_scores_high_low_or_jack() -> None:
    assert points(NO_TRUMPS, NO_TRUMPS_PLAY) == [0, 1]


def test_one_trump_is_both_high_and_low() -> None:
    assert points(DEALER_3, DEALER_3_PLAY) == [3, 0]
    assert points(ELDEST_3, ELDEST_3_PLAY) == [0, 3]


def test_one_trump_that_is_the_jack_scores_high_low_and_jack() -> None:
    pack = seven_up_pack("2C 3C 4C 5C 6C 7C", "JS 2D 3D 4D 5D 6D", "9S")
    assert points(pack, DEALER_3_PLAY.replace("5S", "JS")) == [4, 0]


def test_equal_pips_score_for_nobody() -> None:
    assert points(EVEN_PIPS, EVEN_PIPS_PLAY) == [0, 0]


def test_equal_pips_score_for_eldest_under_non_dealer() -> None:
    assert points(EVEN_PIPS, EVEN_PIPS_PLAY, game_tie="non_dealer") == [0, 1]
    assert points(EVEN_PIPS, EVEN_PIPS_PLAY, game_tie="non_dealer", first_dealer=1) == [1, 0]


@pytest.mark.parametrize(("game_tie", "expected"), [("none", [0, 0]), ("non_dealer", [0, 1])])
def test_nothing_to_nothing_is_a_tie_for_game_under_classic(game_tie: str, expected: list[int]) -> None:
    assert points(NOTHING_CLASSIC, NOTHING_CLASSIC_PLAY, pips="classic", game_tie=game_tie) == expected


def test_classic_counts_the_ten_as_ten_and_nine_to_two_as_nothing() -> None:
    # eldest takes 9 8 7 6 5 and the dealer's AD; the dealer takes one trick, with a ten in it
    pack = seven_up_pack("9C 8C 7C 6C 5C 3C", "2D 3D 4D 5D TC 2H", "9S")
    cards = "3C TC 2D 9C 2H 8C 3D 7C 4D 6C 5D 5C"
    assert points(pack, cards, pips="classic") == [1, 0]
    pack = seven_up_pack("9C 8C 7C 6C 5C 2C", "3D 4D 5D 6D 7D JC", "9S")
    cards = "2C JC 3D 9C 4D 8C 5D 7C 6D 6C 7D 5C"
    assert points(pack, cards, pips="classic") == [1, 0]


@pytest.mark.parametrize(("pips", "winner"), [("face", 1), ("classic", 0)])
def test_the_pips_decide_who_scores_game(pips: str, winner: int) -> None:
    # eldest takes three tricks of nines and eights, the dealer three of honours
    pack = seven_up_pack("AC KC QC 2H 3H 4H", "9D 8D 7D AH KH TH", "9S")
    cards = "AC 9D KC 8D QC 7D 2H AH KH 3H TH 4H"
    # face: 33 against 26; classic: 9 against 17
    expected = [0, 0]
    expected[winner] = 1
    assert points(pack, cards, pips=pips) == expected


def test_upcards_discards_and_the_stock_count_for_nothing() -> None:
    run = "AH QH TC TS TD KH 2H"
    state = act(seven_up([seven_up_pack("2C 3C 4C 5C 6C 7C", "2D 3D 4D 5D 6D 7D", "JS", run)] * 2), "beg")
    for seat, cards in ((0, "TS TD KH"), (1, "AH QH TC")):
        for card in cards.split():
            state.apply(seat, f"discard:{card}")
    play(state, NO_TRUMPS_PLAY)
    # 1 for the Jack; no trump was played, though ace, king, queen and two of trumps were thrown or turned
    assert state.deals[0].points == [1, 1]


# Seven Up 7: the end


def test_the_game_ends_after_play_when_a_seat_has_the_target_and_more_than_the_other() -> None:
    state = deal_and_play(DEALER_3, DEALER_3_PLAY, target=3)
    assert (state.is_over, state.actors(), state.totals, state.places) == (True, [], [3, 0], [1, 2])
    assert state.legal_actions(0) == state.legal_actions(1) == []


def test_below_the_target_another_deal_is_played() -> None:
    assert not deal_and_play(DEALER_3, DEALER_3_PLAY, target=4).is_over


def test_if_both_reach_the_target_in_one_deal_the_higher_total_wins() -> None:
    pack = seven_up_pack("AS 2C 3C 4C 5C 6C", "TS 2S AD KD QD JD", "9S")
    state = deal_and_play(pack, "2C TS AD AS 3C 2S KD 4C QD 5C JD 6C", target=1)
    # low and game against high
    assert (state.totals, state.is_over, state.places) == ([2, 1], True, [1, 2])


def test_equal_totals_at_the_target_mean_more_deals_until_they_differ() -> None:
    state = seven_up([TWO_ALL, TWO_ALL, DEALER_3], target=2)
    for _ in range(2):
        play(act(state, "stand"), TWO_ALL_PLAY)
        assert not state.is_over
    play(act(state, "stand"), DEALER_3_PLAY)
    assert (state.is_over, state.totals, state.places) == (True, [7, 4], [1, 2])


def test_a_turned_jack_at_deal_0_wins_a_game_to_one_without_any_decision() -> None:
    state = seven_up([seven_up_pack("", "", "JH")], target=1)
    assert (state.is_over, state.actors(), state.totals, state.places) == (True, [], [1, 0], [1, 2])
    assert [(deal.number, deal.void, deal.points) for deal in state.deals] == [(0, False, [1, 0])]


def test_a_dealer_on_six_wins_on_the_spot_by_a_turned_jack() -> None:
    state = seven_up([DEALER_3, ELDEST_3, seven_up_pack("", "", "JH")])
    play(act(state, "stand"), DEALER_3_PLAY)
    play(act(state, "stand"), ELDEST_3_PLAY)
    assert (state.is_over, state.actors(), state.totals) == (True, [], [7, 0])
    assert [deal.points for deal in state.deals] == [[3, 0], [3, 0], [1, 0]]


def test_a_jack_turned_in_a_run_wins_on_the_spot() -> None:
    state = act(seven_up([seven_up_pack("", "", "JH", "JS", "2D")], target=2), "beg")
    assert (state.is_over, state.totals, state.observe(None)["upcards"]) == (True, [2, 0], ["JH", "JS"])


def test_a_turned_jack_breaks_a_tie_beyond_the_target() -> None:
    state = seven_up([TWO_ALL, seven_up_pack("", "", "JS")], target=2)
    play(act(state, "stand"), TWO_ALL_PLAY)
    assert (state.is_over, state.totals, state.dealer) == (True, [2, 3], 1)


# turned_jack


def test_two_turned_jacks_score_both() -> None:
    state = act(seven_up([seven_up_pack("", "", "JH", "JS")]), "beg")
    assert (state.totals, state.phase) == ([2, 0], "discard")


def test_every_scores_a_jack_turned_in_the_middle_of_a_run() -> None:
    state = act(seven_up([seven_up_pack("", "", "2H", "JH", "3S")]), "beg")
    assert state.totals == [1, 0]


def test_final_scores_no_jack_before_its_suit_is_trump() -> None:
    state = seven_up([seven_up_pack("", "", "JH")], turned_jack="final")
    assert state.totals == [0, 0]


def test_final_scores_the_first_upcard_on_stand() -> None:
    state = act(seven_up([seven_up_pack("", "", "JH")], turned_jack="final"), "stand")
    assert (state.totals, state.phase) == ([1, 0], "play")


def test_final_on_stand_may_end_the_game() -> None:
    state = act(seven_up([seven_up_pack("", "", "JH")], turned_jack="final", target=1), "stand")
    assert (state.is_over, state.totals, state.actors()) == (True, [1, 0], [])


def test_final_scores_the_jack_a_run_ends_on_before_anybody_discards() -> None:
    state = act(seven_up([seven_up_pack("", "", "2H", "3H", "JS")], turned_jack="final"), "beg")
    assert (state.totals, state.phase) == ([1, 0], "discard")


def test_final_at_the_end_of_a_run_may_end_the_game() -> None:
    state = act(seven_up([seven_up_pack("", "", "2H", "JS")], turned_jack="final", target=1), "beg")
    assert (state.is_over, state.totals) == (True, [1, 0])
    assert [(deal.void, deal.points) for deal in state.deals] == [(False, [1, 0])]


@pytest.mark.parametrize("turned", [("JH", "3S"), ("2H", "JH", "3S")])
def test_final_scores_no_jack_that_is_run_over(turned: tuple[str, ...]) -> None:
    state = act(seven_up([seven_up_pack("", "", *turned)], turned_jack="final"), "beg")
    assert (state.totals, state.phase) == ([0, 0], "discard")


def test_final_scores_the_second_of_two_turned_jacks_only() -> None:
    state = act(seven_up([seven_up_pack("", "", "JH", "JS")], turned_jack="final"), "beg")
    assert state.totals == [1, 0]


@pytest.mark.parametrize("runs", [("JS", "3S", "4S", "5S", "6S"), ("3S", "4S", "5S", "6S", "JS")])
def test_final_scores_nothing_in_a_void_deal(runs: tuple[str, ...]) -> None:
    state = act(seven_up([seven_up_pack("", "", "2S", *runs), TWO_ALL], turned_jack="final", target=1), "beg")
    assert (state.deals[0].void, state.totals, state.is_over) == (True, [0, 0], False)


# gift


def test_without_gift_a_beg_runs_the_cards_at_once() -> None:
    assert act(seven_up([seven_up_pack("", "", "9S", "2H")]), "beg").phase == "discard"


def test_gift_asks_the_dealer_run_or_give_after_a_beg() -> None:
    state = act(seven_up([TWO_ALL], gift=True), "beg")
    assert (state.phase, state.actors(), state.legal_actions(0)) == ("gift", [0], ["run", "give"])
    assert state.observe(None)["begged"] is True


def test_give_scores_one_for_eldest_and_keeps_the_first_suit() -> None:
    state = act(seven_up([TWO_ALL], gift=True), "beg", "give")
    assert (state.totals, state.phase, state.actors()) == ([0, 1], "play", [1])
    assert (state.observe(0)["trump"], len(state.observe(0)["hand"])) == ("S", 6)


def test_run_runs_the_cards_as_without_gift() -> None:
    pack = seven_up_pack("", "", "9S", "2S", "2H")
    with_gift = act(seven_up([pack], gift=True), "beg", "run")
    without = act(seven_up([pack]), "beg")
    assert [with_gift.observe(seat) for seat in (0, 1)] == [without.observe(seat) for seat in (0, 1)]


def test_give_is_not_legal_if_the_point_would_win_and_run_alone_is_asked() -> None:
    state = act(seven_up([TWO_ALL], gift=True, target=1), "beg")
    assert (state.actors(), state.legal_actions(0)) == ([0], ["run"])
    with pytest.raises(IllegalAction, match="expected one of run, got 'give'"):
        state.apply(0, "give")


def test_give_is_not_legal_at_equal_totals_beyond_the_target() -> None:
    state = seven_up([TWO_ALL, TWO_ALL], gift=True, target=2)
    play(act(state, "stand"), TWO_ALL_PLAY)
    assert state.totals == [2, 2]
    assert act(state, "beg").legal_actions(1) == ["run"]


def test_give_is_legal_one_point_short_of_winning() -> None:
    assert act(seven_up([TWO_ALL], gift=True, target=2), "beg").legal_actions(0) == ["run", "give"]


def test_give_is_legal_if_the_point_only_draws_level() -> None:
    # the turned Jack has put the dealer on 1 of 2, and eldest would come to 1
    state = act(seven_up([seven_up_pack("", "", "JS")], gift=True, target=2), "beg")
    assert state.legal_actions(0) == ["run", "give"]


def test_give_is_judged_by_the_scores_as_they_stand_before_a_final_jack() -> None:
    state = seven_up([TWO_ALL, seven_up_pack("", "", "JS")], gift=True, target=3, turned_jack="final")
    play(act(state, "stand"), TWO_ALL_PLAY)
    # 2-2: eldest would win with one more, though the dealer's Jack would come first
    assert act(state, "beg").legal_actions(1) == ["run"]


def test_final_scores_the_jack_on_give_before_the_gift() -> None:
    state = act(seven_up([seven_up_pack("", "", "JS")], gift=True, turned_jack="final"), "beg")
    assert state.totals == [0, 0]
    assert act(state, "give").totals == [1, 1]


def test_final_on_give_may_end_the_game_before_the_gift_is_given() -> None:
    state = seven_up([DEALER_3, ELDEST_3, seven_up_pack("", "", "JS")], gift=True, turned_jack="final")
    play(act(state, "stand"), DEALER_3_PLAY)
    play(act(state, "stand"), ELDEST_3_PLAY)
    act(state, "beg", "give")
    assert (state.is_over, state.totals, state.deals[-1].points) == (True, [7, 0], [1, 0])


def test_final_scores_no_jack_when_the_dealer_runs() -> None:
    state = act(seven_up([seven_up_pack("", "", "JS", "2H")], gift=True, turned_jack="final"), "beg", "run")
    assert state.totals == [0, 0]
