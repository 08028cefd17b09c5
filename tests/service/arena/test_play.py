"""Playing as a person: acting, leaving, waiting, and several at once."""

from __future__ import annotations

from contextlib import suppress

import pytest
from msgspec.json import decode

from bot_sdk.events import Decided, Outcome, Retired, RetiredBecause
from bot_sdk.games import record
from bot_sdk.results.values import GameState
from service.arena.errors import ConflictError, ForbiddenError, InvalidError, NotFoundError
from service.arena.scoreboard import Scoreboard
from service.store import due, keys
from tests.service.arena.conftest import ANYBODY
from tests.service.bench import Background
from tests.service.fakes import HOLD, until

FISTS = {"bidding": "simultaneous"}
NEVER = 5.0
"""Seconds that no wait of these tests should take."""


def code(refused):
    return refused.value.code


@pytest.fixture
def make(games, owner, mint, order):
    """Make a game; give its id."""
    return lambda *who, **changes: games.create(owner, order(*who, **changes), mint()).game.id


@pytest.fixture
def duel(make):
    """Make a game of two people; seat 1 is to stand or beg."""
    return make("human:ann", "human:bea")


@pytest.fixture
def scoreboard(store, tournaments):
    return Scoreboard(store, tournaments, clock=lambda: 0)


@pytest.fixture
def act(play, holder):
    """Let a seat act: the decision it owes, unless another is named."""

    def go(game, seat, action=None, decision_id=None):
        view = play.look_from(holder(game, seat), game, seat, lambda _tag: False).view
        action = action or view["legal_actions"][0]
        return play.act(holder(game, seat), game, seat, decision_id or view["decision_id"], action)

    return go


def play_out(play, act, game, holder, seats):
    """Let people play their first legal actions to the end."""
    while True:
        views = [play.look_from(holder(game, seat), game, seat, lambda _tag: False).view for seat in seats]
        if views[0]["state"] != "running":
            return
        for seat, view in zip(seats, views, strict=True):
            if view["decision_id"]:
                act(game, seat)
                break


# --- acting -----------------------------------------------------------------------------------------------------------


def test_action_stands_and_the_view_shows_what_comes_next(act, duel, desk):
    acted = act(duel, 1, "stand")
    assert (acted.is_new, acted.decision_id, acted.action) == (True, f"{duel}.1.0", "stand")
    view = acted.look.view
    assert (view["phase"], view["turn"], view["decision_id"]) == ("play", [1], f"{duel}.1.1")
    assert (view["last"]["action"], view["last"]["outcome"]) == ("stand", "ok")
    (event,) = desk.log(duel)
    assert (event.seat, event.action, event.outcome) == (1, "stand", Outcome.OK)


def test_time_a_person_took_counts_from_when_the_decision_became_owed(act, duel, desk, store):
    until(lambda: store.due.now() >= desk.meta(duel).started_at + 30)
    act(duel, 1, "stand")
    until(lambda: store.due.now() >= desk.table(duel).times[-1] + 10)
    act(duel, 1)
    first, second = desk.decided(duel, 1)
    began, stood, played = desk.table(duel).times
    assert 28 <= first.ms <= (stood - began) * 1.05 + 1
    assert 9 <= second.ms <= (played - stood) * 1.05 + 1


def test_same_action_again_is_no_error_and_acts_once(act, duel, desk):
    act(duel, 1, "stand")
    again = act(duel, 1, "stand", f"{duel}.1.0")
    assert (again.is_new, again.action) == (False, "stand")
    act(duel, 1)
    assert not act(duel, 1, "stand", f"{duel}.1.0").is_new
    assert len(desk.log(duel)) == 2


def test_other_action_for_a_decision_taken_is_refused(act, duel, desk):
    act(duel, 1, "stand")
    with pytest.raises(ConflictError) as refused:
        act(duel, 1, "beg", f"{duel}.1.0")
    assert code(refused) == "decided"
    assert "stand (ok)" in str(refused.value)
    assert len(desk.log(duel)) == 1


def test_both_hold_after_the_end_too(act, duel, play, holder, desk):
    act(duel, 1, "stand")
    play_out(play, act, duel, holder, [0, 1])
    assert desk.state(duel) is GameState.FINISHED
    assert not act(duel, 1, "stand", f"{duel}.1.0").is_new
    with pytest.raises(ConflictError) as refused:
        act(duel, 1, "beg", f"{duel}.1.0")
    assert code(refused) == "decided"
    with pytest.raises(ConflictError) as refused:
        act(duel, 1, "play:QH", f"{duel}.1.40")
    assert code(refused) == "not_running"


def test_decision_that_was_missed_was_taken_by_the_fallback(act, make, worker, desk):
    game = make("human:ann", "human:bea", limits={"human_budget_ms": 1})
    until(lambda: desk.store.due.now() > desk.table(game).deadline(1, desk.store.clock.read()))
    worker.drive(game)
    with pytest.raises(ConflictError) as refused:
        act(game, 1, "stand", f"{game}.1.0")
    assert code(refused) == "decided"
    assert "stand (late)" in str(refused.value)


@pytest.mark.parametrize("action", ["play:QH", "give", "", "STAND", "x" * 500])
def test_illegal_action_is_refused_with_the_legal_ones_and_changes_nothing(act, duel, desk, action):
    with pytest.raises(InvalidError) as refused:
        act(duel, 1, action or " ")
    assert code(refused) == "illegal_action"
    assert refused.value.members["legal_actions"] == ["stand", "beg"]
    assert len(str(refused.value)) < 300
    assert desk.log(duel) == []


def test_seat_that_owes_nothing_is_told_so(act, duel):
    with pytest.raises(ConflictError) as refused:
        act(duel, 0, "play:QH", f"{duel}.0.0")
    assert code(refused) == "not_owed"
    with pytest.raises(ConflictError) as refused:
        act(duel, 1, "stand", f"{duel}.1.1")
    assert code(refused) == "not_owed"


@pytest.mark.parametrize("name", ["{game}.0.0", "gam_other.1.0", "{game}.1", "nonsense", "", "{game}.1.-1"])
def test_name_of_no_decision_of_the_seat_is_refused_by_its_field(play, holder, duel, name):
    with pytest.raises(InvalidError) as refused:
        play.act(holder(duel, 1), duel, 1, name.format(game=duel), "stand")
    assert list(refused.value.errors) == ["decision_id"]


def test_action_after_the_deadline_is_too_late_though_nobody_has_seen_to_it(act, make, desk, store):
    game = make("human:ann", "human:bea", limits={"human_budget_ms": 20})
    until(lambda: store.due.now() >= desk.table(game).deadline(1, desk.store.clock.read()))
    with pytest.raises(ConflictError) as refused:
        act(game, 1, "stand", f"{game}.1.0")
    assert code(refused) == "too_late"
    assert desk.log(game) == []


def test_retired_seat_acts_no_more(act, make, play, holder):
    game = make("human:ann", "human:bea", "human:cid", "human:dan")
    play.leave(holder(game, 1), game, 1)
    with pytest.raises(ConflictError) as refused:
        act(game, 1, "bid:0", f"{game}.1.0")
    assert code(refused) == "retired"


def test_game_that_has_not_begun_takes_no_action(make, play, holder):
    game = make("human:ann", "open:")
    with pytest.raises(ConflictError) as refused:
        play.act(holder(game, 0), game, 0, f"{game}.0.0", "stand")
    assert code(refused) == "not_running"


def test_cancelled_game_takes_no_action(act, duel, games, owner):
    games.set_state(owner, duel, GameState.CANCELLED)
    with pytest.raises(ConflictError) as refused:
        act(duel, 1, "stand", f"{duel}.1.0")
    assert code(refused) == "not_running"


def test_only_the_holder_of_a_seat_acts_for_it(play, duel, owner, operator, holder):
    for caller in (owner, operator, holder(duel, 0), holder("gam_other", 1)):
        with pytest.raises(ForbiddenError) as refused:
            play.act(caller, duel, 1, f"{duel}.1.0", "stand")
        assert code(refused) == "not_your_seat"
    with pytest.raises(NotFoundError):
        play.act(holder("gam_none", 1), "gam_none", 1, "gam_none.1.0", "stand")


def test_bot_that_has_to_go_on_is_driven_and_a_person_is_waited_for(act, make, queue, store, desk):
    game = make("house:greedy", "human:ann")
    queue.driven.clear()
    act(game, 1, "stand")
    assert queue.driven == []
    assert store.due.at(due.game(game)) == desk.table(game).deadline(1, desk.store.clock.read())
    act(game, 1)
    assert queue.driven == [game]
    assert store.due.at(due.game(game)) <= store.due.now() + 1_000  # should the hint be lost


def test_end_of_a_game_is_left_to_a_worker_to_settle(act, duel, play, holder, queue, store, worker, desk):
    play_out(play, act, duel, holder, [0, 1])
    assert queue.driven[-1] == duel
    worker.drive(duel)
    assert (store.due.count(), store.unfinished.count("account:acc_1")) == (0, 0)


def test_action_for_a_position_that_the_store_lost_meanwhile_is_judged_anew(act, duel, desk, store, monkeypatch):
    act(duel, 1, "stand")
    act(duel, 1)  # a lead
    commit, told = store.moves.commit, []

    def lead_again():
        stamp = desk.table(duel).times[-1]
        store._redis.ltrim(keys.game_log(duel), 0, -2)
        until(lambda: store.due.now() > stamp)
        desk.commit(duel, 1, desk.table(duel).game.state.legal_actions(1)[1])

    def overtaken(*args, **kwargs):
        if not told:
            told.append("overtaken")
            lead_again()
        committed, moment = commit(*args, **kwargs)
        told.append(committed.status)
        return committed, moment

    monkeypatch.setattr(store.moves, "commit", overtaken)
    with suppress(InvalidError):  # it may have become illegal
        act(duel, 0)
    assert told[:2] == ["overtaken", "length"]


# --- leaving ----------------------------------------------------------------------------------------------------------


def test_leaving_before_the_start_frees_the_seat(make, play, games, holder, mint):
    game = make("human:ann", "open:", "open:", "open:")
    play.leave(holder(game, 0), game, 0)
    assert games.get(game).seats[0].kind == "open"
    games.join(ANYBODY, game, 0, "cid", mint())
    assert games.get(game).seats[0].name == "cid"


def test_leaving_a_duel_gives_it_up_once_the_other_has_played(act, duel, play, holder, desk, queue):
    act(duel, 1, "stand")
    play.leave(holder(duel, 0), duel, 0)
    assert desk.log(duel)[-1] == Retired(0, RetiredBecause.LEFT)
    assert (desk.state(duel), desk.table(duel).game.places) == (GameState.FINISHED, [2, 1])
    assert queue.driven[-1] == duel


def test_leaving_a_table_lets_the_others_go_on(act, make, play, holder, desk, worker):
    game = make("human:ann", "human:bea", "human:cid", "human:dan", options={"start_cards": 2})
    act(game, 1)
    play.leave(holder(game, 2), game, 2)
    worker.drive(game)
    assert desk.state(game) is GameState.RUNNING
    assert desk.outcomes(game, 2) == [Outcome.RETIRED]
    assert desk.table(game).game.owed() == [3]


def test_leaving_twice_is_no_error(make, play, holder, desk):
    game = make("human:ann", "human:bea", "human:cid", "human:dan")
    for _ in range(2):
        play.leave(holder(game, 2), game, 2)
    assert desk.log(game) == [Retired(2, RetiredBecause.LEFT)]


def test_who_has_left_neither_retires_nor_plays_for_who_came_after(make, play, games, holder, mint, desk):
    game = make("human:ann", "open:")
    ann = holder(game, 0)
    play.leave(ann, game, 0)
    games.join(ANYBODY, game, 0, "cid", mint())
    games.join(ANYBODY, game, 1, "bea", mint())
    for seat_again in (lambda: play.leave(ann, game, 0), lambda: play.act(ann, game, 0, f"{game}.0.0", "stand")):
        with pytest.raises(ForbiddenError):
            seat_again()
    assert (desk.state(game), desk.log(game)) == (GameState.RUNNING, [])


@pytest.mark.parametrize("kind", ["decision", "news"])
def test_who_leaves_amid_a_wait_is_shown_nothing_of_who_came_after(make, play, games, holder, mint, store, kind):
    game = make("open:", "human:bea")
    ann = holder(game, 1)
    waits = {
        "decision": lambda: play.wait_for_decision(ann, game, 1, NEVER),
        "news": lambda: play.look_from(ann, game, 1, lambda tag: ".open." in tag, NEVER),
    }
    waiting = Background(waits[kind])
    until(lambda: sum(len(channel.waiters) for channel in store.watch._channels.values()) == 1)
    play.leave(ann, game, 1)
    games.join(ANYBODY, game, 1, "cid", mint())
    games.join(ANYBODY, game, 0, "dan", mint())
    with pytest.raises(ForbiddenError):
        waiting.result(NEVER + 5)


def test_last_to_leave_makes_the_game_void(make, play, holder, desk):
    game = make("human:ann", "human:bea", "human:cid", "human:dan")
    for seat in range(4):
        play.leave(holder(game, seat), game, seat)
    assert desk.state(game) is GameState.VOID


def test_nobody_leaves_a_game_that_has_ended_nor_the_seat_of_another(duel, play, holder, games, owner):
    with pytest.raises(ForbiddenError):
        play.leave(holder(duel, 0), duel, 1)
    games.set_state(owner, duel, GameState.CANCELLED)
    with pytest.raises(ConflictError) as refused:
        play.leave(holder(duel, 0), duel, 0)
    assert code(refused) == "ended"


# --- several at once --------------------------------------------------------------------------------------------------


def test_bids_of_several_seats_at_once_all_land(make, play, holder, desk):
    for _ in range(5):
        game = make(*[f"human:p{seat}" for seat in range(8)], options=FISTS)
        threads = [
            Background(lambda s=seat, g=game: play.act(holder(g, s), g, s, f"{g}.{s}.0", "bid:1")) for seat in range(8)
        ]
        assert all(thread.result().is_new for thread in threads)
        bids = desk.log(game)[:8]
        assert sorted(event.seat for event in bids) == list(range(8))
        assert {event.action for event in bids} == {"bid:1"}
        assert desk.table(game).game.state.phase == "play"


def test_discards_of_both_seats_at_once_all_land(act, make, play, holder, desk):
    game = _discarding(make, act, desk)

    def discard_all(seat):
        while desk.table(game).game.state.phase == "discard":
            view = play.look_from(holder(game, seat), game, seat, lambda _tag: False).view
            if view["phase"] != "discard" or not view["decision_id"]:
                return
            play.act(holder(game, seat), game, seat, view["decision_id"], view["legal_actions"][0])

    threads = [Background(lambda seat=seat: discard_all(seat)) for seat in (0, 1)]
    for thread in threads:
        thread.result()
    state = desk.table(game).game.state
    assert state.phase == "play"
    assert [len(state.observe(seat)["hand"]) for seat in (0, 1)] == [6, 6]


def _discarding(make, act, desk):
    """Make a game in which eldest has begged; the packs differ from game to game, so a run-out can be passed over."""
    for _ in range(20):
        game = make("human:ann", "human:bea", options={"target": 50})
        act(game, 1, "beg")
        if desk.table(game).game.state.phase == "discard":
            return game
    raise AssertionError("the cards ran out twenty times")


def test_of_two_actions_for_one_decision_exactly_one_is_accepted(make, play, holder, desk):
    for _ in range(10):
        game = make("human:ann", "human:bea")

        def take(action, game=game):
            with suppress(ConflictError):  # the other was quicker
                return play.act(holder(game, 1), game, 1, f"{game}.1.0", action).action
            return None

        threads = [Background(lambda a=action: take(a)) for action in ("stand", "beg")]
        accepted = [thread.result() for thread in threads if thread.result()]
        assert len(accepted) == 1
        assert [event.action for event in desk.log(game)] == accepted


def test_same_action_sent_many_times_at_once_acts_once(duel, play, holder, desk):
    threads = [Background(lambda: play.act(holder(duel, 1), duel, 1, f"{duel}.1.0", "stand")) for _ in range(8)]
    told = [thread.result() for thread in threads]
    assert {(each.decision_id, each.action) for each in told} == {(f"{duel}.1.0", "stand")}
    assert any(each.is_new for each in told)  # several may be, if they came in the same millisecond
    assert len(desk.log(duel)) == 1


def test_person_acts_while_a_worker_asks_a_bot_and_both_land(make, act, desk, worker, calls):
    desk.bot("bot_a")
    game = make("human:ann", "bot_a", "house:random", "house:random", options=FISTS)
    calls.bots["bot_a"] = lambda _decision: HOLD
    run = worker.driving(game)
    calls.wait_until_held()
    act(game, 0, "bid:1")
    worker.stopping.set()
    calls.let_go()
    run.result()
    assert Decided(0, "bid:1", Outcome.OK, desk.decided(game, 0)[0].ms) in desk.log(game)
    assert desk.outcomes(game, 1) == [Outcome.OK]
    assert len(calls.decisions_of("bot_a")) == 1


# --- waiting and reading ----------------------------------------------------------------------------------------------


def test_wait_for_a_decision_ends_when_it_is_owed(act, duel, play, holder):
    act(duel, 1, "stand")
    waiting = Background(lambda: play.wait_for_decision(holder(duel, 0), duel, 0, NEVER))
    act(duel, 1)
    view = waiting.result(NEVER).view
    assert view["decision_id"] == f"{duel}.0.0"
    assert view["legal_actions"] != []


def test_wait_for_a_decision_that_does_not_come_gives_the_view_without_one(duel, play, holder):
    view = play.wait_for_decision(holder(duel, 0), duel, 0, 0.05).view
    assert (view["state"], view["decision_id"], view["legal_actions"], view["deadline"]) == ("running", None, [], None)


@pytest.mark.parametrize("end", ["cancel", "retire"])
def test_wait_for_a_decision_ends_when_none_will_come(make, play, holder, games, owner, end):
    game = make("human:ann", "human:bea", "human:cid", "human:dan")
    waiting = Background(lambda: play.wait_for_decision(holder(game, 0), game, 0, NEVER))
    if end == "cancel":
        games.set_state(owner, game, GameState.CANCELLED)
    else:
        play.leave(holder(game, 0), game, 0)
    view = waiting.result(NEVER).view
    assert view["decision_id"] is None
    assert (view["state"] == "cancelled") is (end == "cancel")


def test_look_waits_for_what_its_reader_can_see(make, play, holder, act):
    """A sealed bid of another seat is no news to anybody else; the last bid reveals them all."""
    game = make(*[f"human:p{seat}" for seat in range(4)], options=FISTS)
    seen = play.look(game, lambda _tag: False).tag
    for seat in range(3):
        act(game, seat, "bid:0")
        assert play.look(game, lambda tag: tag == seen, 0.02).tag == seen
    waiting = Background(lambda: play.look(game, lambda tag: tag == seen, NEVER))
    act(game, 3, "bid:0")
    look = waiting.result(NEVER)
    assert look.tag != seen
    assert look.view["observation"]["bids"] == [0] * 4


def test_public_events_are_followed_to_the_end(act, duel, play, holder):
    act(duel, 1, "stand")
    first, more = play.events(duel, 0)
    assert more
    assert [decode(event)["id"] for event in first] == list(range(1, len(first) + 1))
    play_out(play, act, duel, holder, [0, 1])
    rest, more = play.events(duel, len(first))
    assert not more
    assert decode(rest[0])["id"] == len(first) + 1
    assert decode(rest[-1])["event"] == "ended"


def test_record_can_be_read_after_the_end_and_verifies(act, duel, play, holder, games, owner, make):
    with pytest.raises(ConflictError) as refused:
        play.record(duel)
    assert code(refused) == "not_ended"
    play_out(play, act, duel, holder, [0, 1])
    shown = record.read(record.encode(play.record(duel)))
    assert record.verify(shown).state.totals == shown.totals
    unbegun = make("human:ann", "open:")
    games.set_state(owner, unbegun, GameState.CANCELLED)
    with pytest.raises(ConflictError) as refused:
        play.record(unbegun)
    assert code(refused) == "never_began"


def test_nobody_waits_once_the_watch_is_closed(duel, play, scoreboard, start, store, holder):
    tournament = start("bot_a", "bot_b")
    seen = scoreboard.follow(tournament, -1)[0]
    waits = [
        Background(lambda: play.follow(duel, 1, 60).version),
        Background(lambda: play.wait_for_decision(holder(duel, 0), duel, 0, 60).view["decision_id"]),
        Background(lambda: scoreboard.follow(tournament, seen, 60)[0]),
    ]
    until(lambda: sum(len(channel.waiters) for channel in store.watch._channels.values()) == 3)
    store.watch.close()
    assert [wait.result(NEVER) for wait in waits] == [1, None, seen]
