from __future__ import annotations

import threading

import pytest
from msgspec.structs import replace

from bot_sdk.results.values import Entry, GameState, Result, Round
from service.store.entities import TournamentState
from service.store.errors import NotFoundError
from service.store.tournaments import TournamentStore
from tests.service.bench import Background

SECRET = bytes(range(32))


@pytest.fixture
def tournaments(store, make_tournament):
    store.tournaments.create(make_tournament(), secret=SECRET)
    return store.tournaments


def entry(bot_id="bot_1", **changes):
    return Entry(**({"bot_id": bot_id, "name": "x", "account_id": None, "entered_at": 5} | changes))


def enter(tournaments, wanted, *, most=9, most_each=None):
    return tournaments.enter("trn_1", wanted, most=most, most_each=most_each)


def result(slot, **changes):
    values = {
        "game_id": "gam_1",
        "state": GameState.FINISHED,
        "slot": slot,
        "bots": ["bot_1", "bot_2"],
        "versions": ["1", None],
        "totals": [3, 7],
        "places": [2, 1],
        "retired": [False, False],
        "forfeited": [],
        "deals": 4,
        "outcomes": [{"ok": 3}, {"ok": 2, "late": 1}],
        "ended_at": 9,
    }
    return Result(**(values | changes))


def set_state(tournaments, state):
    tournaments.change("trn_1", lambda tournament: replace(tournament, state=state))


def test_tournament_is_kept_once_with_its_first_secret(store, make_tournament):
    assert store.tournaments.create(make_tournament(), secret=SECRET)
    assert store.tournaments.create(make_tournament(), secret=SECRET)
    assert not store.tournaments.create(make_tournament(name="other"), secret=bytes(32))
    assert store.tournaments.get("trn_1") == make_tournament()
    assert store.tournaments.secret("trn_1") == SECRET
    with pytest.raises(NotFoundError, match="trn_none"):
        store.tournaments.secret("trn_none")


def test_entries_change_until_the_start_and_not_after(tournaments):
    assert enter(tournaments, entry("bot_b")) == "done"
    assert enter(tournaments, entry("bot_a")) == "done"
    assert enter(tournaments, entry("bot_c")) == "done"
    assert enter(tournaments, entry("bot_a", entropy="luck")) == "done"
    assert tournaments.leave("trn_1", "bot_c")
    set_state(tournaments, TournamentState.RUNNING)
    assert enter(tournaments, entry("bot_d")) == "closed"
    assert enter(tournaments, entry("bot_a", entropy="more")) == "closed"
    assert not tournaments.leave("trn_1", "bot_b")
    assert tournaments.entries("trn_1") == [entry("bot_a", entropy="luck"), entry("bot_b")]


def test_entering_again_after_a_lost_answer_stands_although_it_started(tournaments):
    tournaments.enter("trn_1", entry(), most=9)
    set_state(tournaments, TournamentState.RUNNING)
    assert enter(tournaments, entry()) == "done"
    assert tournaments.leave("trn_1", "bot_gone")


def test_entering_nothing_is_an_error(tournaments):
    with pytest.raises(NotFoundError, match="trn_none"):
        tournaments.enter("trn_none", entry(), most=9)


def test_first_withdrawal_stands(tournaments):
    tournaments.enter("trn_1", entry(), most=9)
    set_state(tournaments, TournamentState.RUNNING)
    assert tournaments.withdraw("trn_1", "bot_1", 40).withdrawn_at == 40
    assert tournaments.withdraw("trn_1", "bot_1", 50).withdrawn_at == 40
    assert tournaments.entries("trn_1") == [entry(withdrawn_at=40)]
    with pytest.raises(NotFoundError, match="bot_none"):
        tournaments.withdraw("trn_1", "bot_none", 40)


def test_no_more_bots_enter_than_a_tournament_or_an_account_may_have(tournaments):
    mine, others = (entry(f"bot_{name}", account_id=f"acc_{name[0]}") for name in ("a1", "b1"))
    assert enter(tournaments, mine, most_each=1) == enter(tournaments, others, most_each=1) == "done"
    assert enter(tournaments, entry("bot_a2", account_id="acc_a"), most_each=1) == "account_full"
    assert enter(tournaments, entry("house:greedy"), most_each=1) == "done"
    assert enter(tournaments, entry("house:random"), most_each=1) == "done"
    assert enter(tournaments, entry("bot_c1", account_id="acc_c"), most=4) == "full"
    changed = entry("bot_a1", account_id="acc_a", entropy="luck")
    assert enter(tournaments, changed, most=4, most_each=1) == "done"
    assert len(tournaments.entries("trn_1")) == 4


def test_bots_of_an_account_that_enter_at_once_do_not_pass_its_limit(tournaments):
    entries = [entry(f"bot_{number}", account_id="acc_a") for number in range(8)]
    threads = [Background(lambda each=each: enter(tournaments, each, most_each=3)) for each in entries]
    assert sorted(thread.result() for thread in threads) == ["account_full"] * 5 + ["done"] * 3


def test_round_is_written_once(tournaments):
    first, second = Round((("a", "b"),)), Round((("b", "a"),), byes=("c",))
    assert tournaments.put_round("trn_1", 10, first) == first
    assert tournaments.put_round("trn_1", 10, second) == first
    assert tournaments.put_round("trn_1", 9, second) == second
    assert list(tournaments.rounds("trn_1").items()) == [(9, second), (10, first)]


def test_attempts_at_a_place_start_one_after_the_other(tournaments, slot):
    again, third = replace(slot, attempt=1), replace(slot, attempt=2)
    assert not tournaments.claim("trn_1", again)
    assert tournaments.claim("trn_1", slot)
    assert tournaments.claim("trn_1", slot)
    assert not tournaments.claim("trn_1", third)
    assert tournaments.claim("trn_1", again)
    assert not tournaments.claim("trn_1", slot)
    assert tournaments.started("trn_1") == {"2.1.0": 1}


def test_result_is_written_once(tournaments, slot):
    assert tournaments.put_result(result(slot))
    assert tournaments.put_result(result(slot))
    assert not tournaments.put_result(result(slot, totals=[9, 9]))
    assert tournaments.put_result(result(replace(slot, round=1)))
    assert tournaments.put_result(result(replace(slot, leg=1)))
    places = [(found.slot.round, found.slot.table, found.slot.leg) for found in tournaments.results("trn_1")]
    assert places == [(1, 1, 0), (2, 1, 0), (2, 1, 1)]
    assert tournaments.results("trn_1")[1] == result(slot)
    assert tournaments.count_results("trn_1") == 3


def test_of_two_different_results_at_once_one_stands(tournaments, slot):
    for table in range(20):
        at = replace(slot, table=table)
        barrier, told = threading.Barrier(2), []

        def put(points, at=at, barrier=barrier, told=told):
            barrier.wait(timeout=30)
            told.append((tournaments.put_result(result(at, totals=[points, 0])), points))

        threads = [threading.Thread(target=put, args=[points]) for points in (1, 2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(timeout=30)
        won = [points for stands, points in told if stands]
        assert [found.totals[0] for found in tournaments.results("trn_1") if found.slot == at] == won


def test_board_is_closed_once_and_for_ever(tournaments):
    assert tournaments.close_board("trn_1", "2")
    assert not tournaments.close_board("trn_1", "2")
    assert tournaments.close_board("trn_1", "2~1")
    assert tournaments.closed("trn_1") == {"2", "2~1"}
    assert tournaments.closed("trn_none") == set()


def test_closing_sent_again_after_a_lost_answer_is_still_the_first(redis):
    tournaments = TournamentStore(redis, nonce=lambda: "once")
    assert tournaments.close_board("trn_1", "2")
    assert tournaments.close_board("trn_1", "2")


def test_game_on_a_shared_board_is_readable_once_that_is_closed(tournaments, slot):
    shared = replace(slot, board="2", is_shared=True)
    elsewhere = replace(shared, tournament_id="trn_2")
    asked = [None, slot, shared, replace(shared, table=2), replace(shared, board="3"), elsewhere]
    assert tournaments.are_readable(asked) == [True, True, False, False, False, False]
    tournaments.close_board("trn_1", "2")
    assert tournaments.are_readable(asked) == [True, True, True, True, False, False]
    assert tournaments.is_readable(shared)
    assert not tournaments.is_readable(elsewhere)
    assert tournaments.are_readable([]) == []


def test_each_change_moves_the_pulse_once(tournaments, slot):
    changes = [
        lambda: tournaments.enter("trn_1", entry(), most=9),
        lambda: set_state(tournaments, TournamentState.RUNNING),
        lambda: tournaments.put_round("trn_1", 1, Round(())),
        lambda: tournaments.claim("trn_1", slot),
        lambda: tournaments.put_result(result(slot)),
        lambda: tournaments.withdraw("trn_1", "bot_1", 40),
        lambda: tournaments.close_board("trn_1", "2"),
    ]
    for change in changes:
        before = tournaments.pulse("trn_1")
        change()
        change()
        assert tournaments.pulse("trn_1") == before + 1


def test_lists(store, make_tournament):
    for n in range(3):
        owner = "acc_1" if n else None
        store.tournaments.create(make_tournament(f"trn_{n}", owner=owner, created_at=n), secret=SECRET)
    assert [t.id for t in store.tournaments.list_all(limit=9)[0]] == ["trn_2", "trn_1", "trn_0"]
    assert [t.id for t in store.tournaments.list_for_account("acc_1", limit=9)[0]] == ["trn_2", "trn_1"]
