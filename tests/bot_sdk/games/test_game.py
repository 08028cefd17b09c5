"""What decisions mean for the seats: fallbacks, faults, retirement, forfeits, endings (docs/contract.md, Outcomes)."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot_sdk.events import Decided, Outcome, Retired, RetiredBecause
from bot_sdk.games.base import IllegalAction
from bot_sdk.games.game import MAX_FAULTS, Ending, Game, LogError
from bot_sdk.games.packs import given as given_packs
from bot_sdk.games.registry import ruleset
from tests.bot_sdk.deals import DEALER_3, DEALER_3_PLAY, TWO_ALL
from tests.bot_sdk.tables import (
    FAULTS,
    Table,
    fallback_on,
    fault,
    ok,
    play_game,
    random_event,
    seven_up_pack,
    snapshot,
    tables,
)

LEFT = RetiredBecause.LEFT
JACK = seven_up_pack("", "", "JS")
RUN = seven_up_pack("", "", "9S", "2H")


def seven_up(
    *packs: list[int], max_faults: int = MAX_FAULTS, forfeited: tuple[int, ...] = (), **options: object
) -> Game:
    rules = ruleset("seven_up")
    return Game(rules, options, 2, given_packs(packs), max_faults=max_faults, forfeited=forfeited)


def river(seats: int = 4, *, max_faults: int = MAX_FAULTS, forfeited: tuple[int, ...] = (), **options: object) -> Game:
    table = Table("river", {"start_cards": 2, **options}, seats, 7)
    return table.game(max_faults=max_faults, forfeited=forfeited)


def retire(game: Game, seat: int, reason: RetiredBecause = RetiredBecause.LEFT) -> None:
    game.apply(Retired(seat, reason))


def faulty(game: Game, seat: int) -> Game:
    """Let `seat` fail whatever it owes until it retires; the others answer well."""
    while not game.is_over and game.retired[seat] is None:
        owing = game.owed()
        if seat in owing:
            fault(game, seat)
        else:
            ok(game, owing[0], game.fallback(owing[0]))
    return game


# Decisions and fallbacks


def test_a_decision_counts_for_its_seat_alone() -> None:
    game = seven_up(RUN)
    ok(game, 1, "beg")
    ok(game, 0, game.fallback(0))
    ok(game, 0, game.fallback(0))
    assert game.decisions == [2, 1]


def test_an_answer_is_judged_ok_if_it_is_legal() -> None:
    game = seven_up(TWO_ALL)
    assert game.judged(1, "beg", ms=3.0, note="why not") == Decided(1, "beg", Outcome.OK, 3.0, "why not")


@pytest.mark.parametrize("action", ["play:2C", "discard:AS", "", "STAND", "run"])
def test_an_illegal_answer_plays_the_first_legal_action(action: str) -> None:
    game = seven_up(TWO_ALL)
    assert game.judged(1, action, ms=3.0) == Decided(1, "stand", Outcome.ILLEGAL, 3.0)


@pytest.mark.parametrize("outcome", FAULTS)
def test_every_fault_plays_the_fallback_is_counted_and_shown(outcome: Outcome) -> None:
    game = seven_up(TWO_ALL)
    decided = game.failed(1, outcome, ms=1000.0)
    assert decided.action == game.fallback(1) == "stand"
    assert game.apply(decided) == [decided]
    assert game.state.phase == "play"
    assert (game.faults(1), game.outcomes[1], game.last[1]) == (1, {outcome: 1}, decided)
    assert game.news[-2] == {"event": "action", "seat": 1, "action": "stand", "outcome": outcome.value, "ms": 1000.0}


def test_ok_is_no_fault() -> None:
    game = fallback_on(river())
    assert [game.faults(seat) for seat in range(4)] == [0] * 4


# What can't be logged


def refused(game: Game) -> list[Decided | Retired]:
    """List events that can't come now, whatever the game."""
    seat = game.owed()[0] if game.owed() else 0
    stranger = next((other for other in range(game.seats) if other not in game.owed()), game.seats)
    action = game.fallback(seat) if game.owed() else "play:2C"
    events: list[Decided | Retired] = [
        Decided(stranger, action),
        Decided(-1, action),
        Decided(game.seats, action),
        Decided(seat, action, Outcome.OUR_FAULT),
        Decided(seat, action, Outcome.OK if game.is_out(seat) else Outcome.RETIRED),
        Decided(seat, "sing"),
        Decided(seat, "play:QQ", Outcome.LATE),
        Retired(-1, RetiredBecause.LEFT),
        Retired(game.seats, RetiredBecause.DISABLED),
    ]
    events += [
        Retired(each, RetiredBecause.FAULTS) for each in range(game.seats) if game.faults(each) < game.max_faults
    ]
    events += [Retired(each, RetiredBecause.LEFT) for each in range(game.seats) if game.is_out(each) or game.is_over]
    if game.owed() and len(legal := game.state.legal_actions(seat)) > 1:
        events.append(Decided(seat, legal[1], Outcome.LATE))
    return events


@given(tables(longest=2), st.sampled_from([0.0, 0.3]))
def test_an_event_that_can_not_come_now_is_refused_and_changes_nothing(table: Table, faults: float) -> None:
    def check(game: Game) -> None:
        before = snapshot(game)
        for event in refused(game):
            with pytest.raises((LogError, IllegalAction)):
                game.apply(event)
        assert snapshot(game) == before

    play_game(table.game(max_faults=3), table.rng(), faults=faults, seen=check)


def test_a_log_must_hold_the_retirement_that_follows() -> None:
    game = faulty(river(max_faults=2), 1)
    at = next(at for at, event in enumerate(game.log) if isinstance(event, Retired))
    with pytest.raises(LogError, match="at the end of the log, got nothing"):
        river(max_faults=2).replay(game.log[:at])
    with pytest.raises(LogError, match=f"as event {at}, got"):
        river(max_faults=2).replay([*game.log[:at], Decided(2, "bid:0")])
    with pytest.raises(LogError, match=f"as event {at}, got"):
        river(max_faults=2).replay([*game.log[:at], Retired(1, RetiredBecause.LEFT)])


# Retirement


@pytest.mark.parametrize("max_faults", [1, 3, MAX_FAULTS])
def test_a_seat_retires_right_after_the_fault_that_is_one_too_many(max_faults: int) -> None:
    game = river(max_faults=max_faults)
    seat = 1
    for count in range(1, max_faults + 1):
        while seat not in game.owed():
            ok(game, game.owed()[0], game.fallback(game.owed()[0]))
        logged = fault(game, seat)
        assert game.faults(seat) == count
        assert [type(event) for event in logged] == ([Decided] if count < max_faults else [Decided, Retired])
    assert game.log[-1] == Retired(seat, RetiredBecause.FAULTS)
    assert game.news[-1] == {"event": "retired", "seat": seat, "reason": "faults"}


def test_five_faults_retire_unless_said_otherwise() -> None:
    assert MAX_FAULTS == 5
    assert river().max_faults == 5


def test_in_seven_up_the_opponent_of_a_retired_seat_wins_at_once() -> None:
    game = faulty(seven_up(TWO_ALL, TWO_ALL, TWO_ALL, max_faults=3), 0)
    assert (game.is_over, game.void, game.ending, game.places) == (True, False, Ending.RETIREMENT, [2, 1])
    assert game.owed() == []
    assert game.news[-1] == {
        "event": "ended", "ended_by": "retirement", "totals": game.state.totals, "places": [2, 1],
    }  # fmt: skip


def test_the_opponent_of_a_retired_seat_wins_though_it_has_fewer_points() -> None:
    game = seven_up(DEALER_3, TWO_ALL)
    ok(game, 1, "stand")
    for card in DEALER_3_PLAY.split():
        ok(game, game.owed()[0], f"play:{card}")
    assert game.state.totals == [3, 0]
    retire(game, 0)
    assert (game.ending, game.places, game.state.totals) == (Ending.RETIREMENT, [2, 1], [3, 0])


def test_seven_up_is_void_if_the_other_seat_never_answered_either() -> None:
    game = seven_up(TWO_ALL, max_faults=2)
    fault(game, 1)
    fault(game, 1)
    assert (game.is_over, game.void, game.ending, game.places) == (True, True, None, None)
    assert game.news[-1] == {"event": "ended", "ended_by": None, "totals": [0, 0], "places": None}


def test_one_good_answer_of_the_other_seat_is_enough_to_win() -> None:
    game = seven_up(RUN, max_faults=2)
    ok(game, 1, "beg")
    fault(game, 0)
    fault(game, 0)
    assert (game.void, game.ending, game.places) == (False, Ending.RETIREMENT, [2, 1])


@pytest.mark.parametrize("reason", [RetiredBecause.LEFT, RetiredBecause.DISABLED])
def test_leaving_and_being_disabled_retire_at_once(reason: RetiredBecause) -> None:
    game = seven_up(RUN)
    ok(game, 1, "beg")
    retire(game, 0, reason)
    assert (game.retired, game.ending, game.places) == ([reason, None], Ending.RETIREMENT, [2, 1])
    assert game.news[-2] == {"event": "retired", "seat": 0, "reason": reason.value}


def test_leaving_before_the_other_has_answered_makes_seven_up_void() -> None:
    game = seven_up(TWO_ALL)
    retire(game, 1)
    assert (game.void, game.places) == (True, None)


def test_a_fallback_that_ends_the_game_is_play_and_nobody_retires() -> None:
    game = seven_up(DEALER_3, target=3, max_faults=1)
    ok(game, 1, "stand")
    *cards, last = DEALER_3_PLAY.split()
    for card in cards:
        ok(game, game.owed()[0], f"play:{card}")
    logged = fault(game, 1)
    assert logged == [Decided(1, f"play:{last}", Outcome.LATE, 1000.0)]
    assert (game.is_over, game.ending, game.retired, game.places) == (True, Ending.PLAY, [None, None], [1, 2])


def test_the_last_card_of_river_is_play_whatever_the_faults() -> None:
    game = fallback_on(river(max_faults=1), until=is_last_card)
    fault(game, game.owed()[0])
    assert (game.is_over, game.ending, game.retired) == (True, Ending.PLAY, [None] * 4)


def is_last_card(game: Game) -> bool:
    seen = game.state.observe(None)
    held = sum(len(game.state.observe(seat)["hand"]) for seat in range(game.seats))
    return seen["deal"] == 2 and game.state.phase == "play" and held == 1


def test_a_turned_jack_of_the_next_deal_ends_the_game_before_a_retirement() -> None:
    pack = seven_up_pack("", "", "2S", "3S", "4S", "5S", "6S", "7S")
    game = seven_up(pack, JACK, target=1, max_faults=1)
    # the beg makes the deal void and the next upcard wins, all in one decision
    ok(game, 1, "beg")
    assert (game.ending, [deal.void for deal in game.state.deals]) == (Ending.PLAY, [True, False])
    assert game.deal_ends == [1, 1]


def test_a_retired_river_seat_plays_fallbacks_and_is_not_judged() -> None:
    game = river()
    retire(game, 2)
    fallback_on(game)
    own = [event for event in game.log if isinstance(event, Decided) and event.seat == 2]
    assert {event.outcome for event in own} == {Outcome.RETIRED}
    assert (game.faults(2), game.ending) == (0, Ending.PLAY)


def test_a_retired_seat_can_not_answer() -> None:
    game = river()
    retire(game, 1)
    for outcome in (Outcome.OK, Outcome.LATE):
        with pytest.raises(LogError, match="expected another outcome for seat 1"):
            game.apply(Decided(1, "bid:0", outcome))


def test_retired_river_seats_are_placed_last_by_their_totals() -> None:
    orders = set()
    for seed in range(30):
        game = Table("river", {"start_cards": 2}, 4, seed).game()
        retire(game, 0)
        retire(game, 1)
        fallback_on(game)
        totals, places = game.state.totals, game.places
        assert places is not None
        assert sorted(places[2:]) in ([1, 2], [1, 1])
        assert places[0] == 3 + (totals[1] > totals[0])
        assert places[1] == 3 + (totals[0] > totals[1])
        orders.add((totals[0] > totals[2], totals[0] > totals[1]))
    # among them: a retired seat with more points than one that played on
    assert {order[0] for order in orders} == {order[1] for order in orders} == {False, True}


def test_river_goes_on_while_one_seat_is_left() -> None:
    game = river()
    for seat in (0, 1, 2):
        retire(game, seat)
        assert not game.is_over
    fallback_on(game)
    assert (game.ending, game.places[3]) == (Ending.PLAY, 1)


def test_river_is_void_when_no_seat_is_left() -> None:
    game = river()
    for seat in (3, 1, 2, 0):
        retire(game, seat)
    assert (game.is_over, game.void, game.ending, game.places, game.owed()) == (True, True, None, None, [])


def test_river_is_void_when_the_last_seat_faults_once_too_often() -> None:
    game = river(max_faults=1)
    for seat in (0, 2, 3):
        retire(game, seat)
    assert fault(game, 1)[-1] == Retired(1, RetiredBecause.FAULTS)
    assert game.void


def test_a_fault_while_actions_are_hidden_retires_too() -> None:
    game = river(max_faults=1, bidding="simultaneous")
    fault(game, 2)
    assert game.retired[2] is RetiredBecause.FAULTS
    assert game.owed() == [0, 1, 3]
    assert game.state.observe(None)["bids"] == [None] * 4


# Forfeits


@pytest.mark.parametrize("seat", [0, 1])
def test_a_forfeited_game_of_seven_up_is_not_played(seat: int) -> None:
    game = seven_up(TWO_ALL, forfeited=(seat,))
    assert (game.is_over, game.owed(), game.log) == (True, [], [])
    assert (game.ending, game.places, game.state.totals) == (Ending.FORFEIT, [1 + (seat == 0), 1 + (seat == 1)], [0, 0])
    assert game.news[-1]["ended_by"] == "forfeit"


def test_a_forfeited_game_of_river_is_played_with_fallbacks_from_the_first_decision() -> None:
    game = fallback_on(river(forfeited=(1,)))
    own = [event for event in game.log if isinstance(event, Decided) and event.seat == 1]
    assert {event.outcome for event in own} == {Outcome.RETIRED}
    assert (game.ending, game.retired, game.places[1]) == (Ending.FORFEIT, [None] * 4, 4)


@pytest.mark.parametrize(("rules", "seats"), [("seven_up", 2), ("river", 4), ("river", 8)])
def test_a_game_that_all_forfeit_is_void(rules: str, seats: int) -> None:
    game = Table(rules, {}, seats, 1).game(forfeited=range(seats))
    assert (game.is_over, game.void, game.ending, game.places) == (True, True, None, None)


def test_river_is_void_when_all_that_had_not_forfeited_retire() -> None:
    game = river(forfeited=(0, 1))
    retire(game, 2)
    assert not game.void
    retire(game, 3)
    assert game.void


def test_who_has_forfeited_can_not_retire() -> None:
    with pytest.raises(LogError):
        retire(river(forfeited=(1,)), 1)


# The end


def test_a_game_over_at_the_first_upcard_is_play() -> None:
    game = seven_up(JACK, target=1)
    assert (game.is_over, game.log, game.deal_ends, game.ending, game.places) == (True, [], [0], Ending.PLAY, [1, 2])
    assert [item["event"] for item in game.news] == ["deal", "deal_ended", "ended"]


@given(tables(longest=3), st.sampled_from([0.0, 0.2, 0.6]))
def test_every_game_ends_once_and_says_how(table: Table, faults: float) -> None:
    game = play_game(table.game(), table.rng(), faults=faults)
    assert [item["event"] for item in game.news].count("ended") == 1
    assert game.news[-1]["event"] == "ended"
    assert (game.ending is None) == game.void == (game.places is None)
    if game.ending is Ending.PLAY:
        assert game.state.is_over
        assert table.seats != 2 or not any(game.retired)


@given(tables(longest=3), st.sampled_from([0.0, 0.2, 0.6]))
def test_a_seat_retires_exactly_when_it_has_as_many_faults_as_are_allowed(table: Table, faults: float) -> None:
    def check(game: Game) -> None:
        for seat in range(game.seats):
            assert game.faults(seat) <= game.max_faults
            if not game.state.is_over:
                assert (game.faults(seat) == game.max_faults) == (game.retired[seat] is not None)

    play_game(table.game(max_faults=2), table.rng(), faults=faults, seen=check)


@given(tables(longest=3), st.sampled_from([0.0, 0.2]))
def test_outcomes_and_decisions_count_the_log(table: Table, faults: float) -> None:
    game = play_game(table.game(), table.rng(), faults=faults)
    for seat in range(game.seats):
        own = [event for event in game.log if isinstance(event, Decided) and event.seat == seat]
        assert game.decisions[seat] == sum(game.outcomes[seat].values()) == len(own)
        assert game.last[seat] == (own[-1] if own else None)
        for outcome, count in game.outcomes[seat].items():
            assert count == sum(event.outcome is outcome for event in own)


# owed_since


def test_the_first_decision_is_owed_since_the_empty_log() -> None:
    assert seven_up(TWO_ALL).owed_since[1] == 0
    assert river(bidding="simultaneous").owed_since == [0] * 4


def test_a_decision_is_owed_since_the_event_that_asked_for_it() -> None:
    game = seven_up(RUN)
    ok(game, 1, "beg")
    assert game.owed_since == [1, 1]


def test_another_seats_hidden_action_does_not_restart_the_clock_and_an_own_one_does() -> None:
    game = seven_up(RUN)
    ok(game, 1, "beg")
    ok(game, 0, game.fallback(0))
    assert game.owed_since == [2, 1]
    ok(game, 0, game.fallback(0))
    ok(game, 1, game.fallback(1))
    assert game.owed_since == [3, 4]


def test_another_seats_retirement_does_not_restart_the_clock() -> None:
    game = river(bidding="simultaneous")
    retire(game, 3)
    assert game.owed_since[:3] == [0, 0, 0]


@given(tables(longest=2), st.sampled_from([0.0, 0.3]))
def test_a_decision_is_owed_since_the_seats_last_or_since_it_came_on_turn(table: Table, faults: float) -> None:
    game, rng = table.game(), table.rng()
    since = dict.fromkeys(game.owed(), 0)
    while not game.is_over:
        event = random_event(game, rng, faults)
        before = len(game.log)
        game.apply(event)
        still = {seat: at for seat, at in since.items() if seat in game.owed() and seat != event.seat}
        since = {seat: still.get(seat, before + 1) for seat in game.owed()}
        assert {seat: game.owed_since[seat] for seat in game.owed()} == since


def test_retirement_amid_hidden_bids_is_told_when_they_are_revealed():
    """Sooner, it would tell the table that the seat's bid is the fallback."""
    game = river(max_faults=1, bidding="simultaneous")
    before = game.version(None), game.version(0), game.version(2)
    fault(game, 2)
    assert game.retired[2] is RetiredBecause.FAULTS
    assert game.retired_as_known(None) == game.retired_as_known(0) == [None] * 4
    assert game.retired_as_known(2)[2] is RetiredBecause.FAULTS
    assert (game.version(None), game.version(0)) == before[:2]
    assert game.version(2) > before[2]
    for seat in (0, 1, 3):
        ok(game, seat, "bid:1")
    told = [news["event"] for news in game.news]
    assert told == ["deal", "action", "action", "action", "action", "retired"]
    assert game.retired_as_known(None)[2] is RetiredBecause.FAULTS


# Copies


@given(tables(), st.randoms(use_true_random=False))
def test_a_game_stays_as_it_is_whatever_its_copies_come_to(table: Table, rng: Random) -> None:
    game = table.game(max_faults=2)
    while not game.is_over:
        before = snapshot(game)
        twin = game.copy()
        assert snapshot(twin) == before
        for _ in range(5):
            if not twin.is_over:
                twin.apply(random_event(twin, rng, faults=0.3))
        if not twin.is_over:
            twin.apply(Retired(rng.choice([seat for seat in range(twin.seats) if not twin.is_out(seat)]), LEFT))
        assert snapshot(game) == before
        game.apply(random_event(game, rng, faults=0.1))


def test_a_fault_of_a_copy_is_none_of_the_game_it_was_copied_from() -> None:
    game = river()
    for _ in range(MAX_FAULTS):
        twin = game.copy()
        seat = twin.owed()[0]
        fault(twin, seat)
        assert (twin.faults(seat), twin.retired[seat]) == (1, None)
    assert game.faults(seat) == 0
