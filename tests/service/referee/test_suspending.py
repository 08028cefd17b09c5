"""Bots that were retired from three of their last five games, and those that answer 410, are suspended: once."""

from __future__ import annotations

import threading

import pytest
from msgspec.structs import replace

from bot_sdk.events import Outcome, RetiredBecause
from service.store import keys
from service.store.entities import BotState, Tournament
from service.store.errors import ContendedError
from service.store.ledger import Ending
from tests.service.fakes import HOLD, Status, fails, first_legal

FOUR = ("bot_a", "bot_b", "bot_c", "bot_d")
GONE = Status(410)
HEALTH = "health:bot_a"


@pytest.fixture
def fail(worker, desk, calls):
    """Have bot_a retired from games against bot_b, one after another; gives their ids."""

    def run(count=1, **changes):
        calls.bots["bot_a"] = fails(Outcome.LATE)
        games = [desk.game("bot_b", "bot_a", **{"options": {"target": 7}} | changes) for _ in range(count)]
        for game in games:
            worker.drive(game)
        return games

    return run


@pytest.fixture
def succeed(worker, desk, calls):
    def run(count=1):
        calls.bots["bot_a"] = first_legal
        for _ in range(count):
            worker.drive(desk.game("bot_b", "bot_a"))

    return run


@pytest.fixture
def bot(store):
    return lambda bot_id="bot_a": store.bots.get(bot_id)


# --- retired too often ------------------------------------------------------------------------------------------------


def test_bot_retired_from_three_games_is_suspended_with_reason_and_evidence(fail, bot, store):
    games = fail(2)
    assert (bot().state, bot().suspension) == (BotState.ACTIVE, None)
    games += fail()
    suspension = bot().suspension
    assert (bot().state, suspension.games, suspension.is_gone) == (BotState.SUSPENDED, games[::-1], False)
    assert bot().reason.startswith("retired from 3 of its last 3 games; the arena checks it")
    assert store.due.at(HEALTH) == suspension.since <= store.due.now()
    assert bot("bot_b").state is BotState.ACTIVE


def test_only_the_last_five_games_count(fail, succeed, bot):
    fail(2)
    succeed(3)
    (last,) = fail()
    assert bot().state is BotState.ACTIVE
    again = fail(2)
    assert bot().suspension.games == [*again[::-1], last]
    assert bot().reason.startswith("retired from 3 of its last 5 games")


def test_forfeits_do_not_count(fail, worker, desk, bot):
    fail(2)
    for _ in range(6):
        worker.drive(desk.game("bot_b", "bot_a", forfeited=[1]))
    assert bot().state is BotState.ACTIVE
    fail()
    assert bot().state is BotState.SUSPENDED


def test_games_that_began_before_the_last_activation_do_not_count(fail, worker, desk, calls, store, bot):
    fail(2)
    calls.bots["bot_a"] = lambda _decision: HOLD
    held = desk.game("bot_b", "bot_a")
    run = worker.driving(held)
    calls.wait_until_held()
    since = store.due.now() + 1
    store.bots.change("bot_a", lambda old: replace(old, activated_at=since))
    calls.bots["bot_a"] = fails(Outcome.LATE)
    calls.let_go(Outcome.LATE)
    run.result()
    while store.due.now() < since:
        pass
    fail(2)
    assert bot().state is BotState.ACTIVE
    fail()
    assert bot().state is BotState.SUSPENDED


@pytest.mark.parametrize(
    ("limits", "owner", "counts"),
    [
        ({"max_faults": 1}, "acc_2", False),
        ({"budget_ms": 999}, "acc_2", False),
        ({"first_budget_ms": 4_999}, None, False),
        ({"max_faults": 1}, "acc_1", True),
        ({"max_faults": 9, "budget_ms": 2_000}, "acc_2", True),
        ({}, "acc_2", True),
    ],
)
def test_harsh_limits_count_against_a_bot_only_where_its_owner_has_set_them(fail, bot, desk, limits, owner, counts):
    """Else whoever dislikes a bot could have it suspended by games that nobody could play."""
    fail(3, limits=limits, owner=owner)
    assert (bot().state is BotState.SUSPENDED) == counts


@pytest.mark.parametrize(("owner", "state"), [("acc_1", BotState.SUSPENDED), ("acc_2", BotState.ACTIVE)])
def test_limits_of_a_tournament_are_those_of_who_made_it(fail, bot, store, desk, owner, state):
    tournament = Tournament(
        id="trn_1",
        name="night",
        owner=owner,
        ruleset="seven_up",
        options={},
        table_size=2,
        seed=1,
        root="",
        created_at=1,
    )
    store.tournaments.create(tournament, secret=bytes(32))
    for number in range(3):
        fail(limits={"max_faults": 1}, slot=desk.slot(number))
    assert bot().state is state


@pytest.mark.parametrize("state", [BotState.PENDING, BotState.PAUSED, BotState.DISABLED])
def test_only_an_active_bot_is_suspended_for_what_it_lost(fail, store, bot, state):
    fail(2)
    store.bots.change("bot_a", lambda old: replace(old, state=state, reason="so it is"))
    fail()
    assert (bot().state, bot().reason, bot().suspension) == (state, "so it is", None)


def test_bot_that_was_deleted_meanwhile_is_no_error(fail, store, worker):
    fail(2)
    store.bots.delete(store.bots.get("bot_a"))
    worker.referee.aftermath._suspending.retired("bot_a")
    assert store.bots.get("bot_a") is None


def test_games_that_end_at_once_in_several_processes_suspend_once(make_worker, desk, bot, store, redis):
    """Each reads the endings after it has added its own, so the last of them sees all."""
    desk.bot("bot_a")
    workers = [make_worker().referee.aftermath for _ in range(6)]
    barrier = threading.Barrier(len(workers))
    seen = []

    def end(number):
        ending = Ending(bot_id="bot_a", game_id=f"gam_{number}", began=1, at=number + 2, retired=True)
        barrier.wait(10)
        store.ledger.add_endings([ending])
        workers[number]._suspending.retired("bot_a")
        seen.append(bot().suspension)

    threads = [threading.Thread(target=end, args=[number]) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert bot().state is BotState.SUSPENDED
    assert {each.since for each in seen if each} == {bot().suspension.since}
    assert len(bot().suspension.games) >= 3
    assert redis.zcard("due") == 1


def test_process_that_dies_before_the_health_is_due_has_it_made_due_by_the_next(fail, worker, store, bot, monkeypatch):
    games = fail(2)

    def dies(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(store.due, "begin", dies)
        with pytest.raises(KeyboardInterrupt):
            fail()
    suspension = bot().suspension
    assert (bot().state, store.due.at(HEALTH)) == (BotState.SUSPENDED, None)
    last = next(game for game in suspension.games if game not in games)
    store._redis.delete(keys.game_lease(last))
    worker.drive(last)
    assert store.due.at(HEALTH) == suspension.since
    assert bot().suspension == suspension


def test_endings_that_come_again_change_nothing_and_move_no_check(fail, worker, store, bot):
    games = fail(3)
    store.due.add(HEALTH, 12_345)
    before = bot()
    worker.referee.aftermath._suspending.retired("bot_a")
    store.due.add(f"game:{games[0]}", store.due.now())
    worker.drive(games[0])
    assert (bot(), store.due.at(HEALTH)) == (before, 12_345)


def test_running_games_of_a_suspended_bot_go_on_as_they_were(fail, worker, desk, calls, bot):
    calls.bots["bot_a"] = lambda _decision: HOLD
    running = desk.game(*FOUR)
    run = worker.driving(running)
    calls.wait_until_held()
    fail_games = fail(3)
    assert bot().suspension.games == fail_games[::-1]
    calls.bots["bot_a"] = first_legal
    calls.let_go()
    run.result()
    assert set(desk.outcomes(running, 0)) == {Outcome.OK}
    assert ("bot_a", "game_ended") in {(who, message["type"]) for who, message in calls.told}


# --- 410 --------------------------------------------------------------------------------------------------------------


def told_since(calls, number):
    return {who for who, _ in calls.told[number:]}


def test_bot_that_answers_410_is_suspended_at_once_and_leaves_its_game(worker, desk, calls, store, bot):
    calls.bots["bot_a"] = lambda _decision: GONE
    game = desk.game(*FOUR)
    worker.drive(game)
    assert (bot().state, bot().suspension.games, bot().suspension.is_gone) == (BotState.SUSPENDED, [game], True)
    assert bot().reason.startswith("it answered 410 Gone, and so asked not to be called")
    assert store.due.at(HEALTH) is None
    assert [outcome for outcome in desk.outcomes(game, 0) if outcome is not Outcome.RETIRED] == [Outcome.BAD_STATUS]
    assert [event.reason for event in desk.retired(game)] == [RetiredBecause.LEFT]
    assert len(calls.decisions_of("bot_a")) == 1
    (line,) = store.ledger.lines("bot_a", limit=9)[0]
    assert (line.outcome, line.status) == (Outcome.BAD_STATUS, 410)


def test_bot_that_is_gone_is_told_nothing_any_more(worker, desk, calls):
    calls.bots["bot_a"] = lambda _decision: GONE
    worker.drive(desk.game(*FOUR))
    assert [message["type"] for who, message in calls.told if who == "bot_a"] == ["game_started"]
    before = len(calls.told)
    worker.drive(desk.game(*FOUR))
    assert told_since(calls, before) == set(FOUR) - {"bot_a"}


def test_410_as_the_last_decision_of_a_game_is_the_last_that_the_bot_hears(worker, desk, calls, bot):
    calls.bots["bot_a"] = lambda _decision: GONE
    worker.drive(desk.game("bot_b", "bot_a", limits={"max_faults": 1}))
    assert bot().suspension.is_gone
    assert [message["type"] for who, message in calls.told if who == "bot_a"] == ["game_started"]


def test_other_games_of_a_bot_that_is_gone_are_left_too(make_worker, desk, calls):
    games = [desk.game("bot_b", "bot_a"), desk.game(*FOUR)]
    calls.bots["bot_a"] = lambda _decision: GONE
    make_worker(calls).drive(games[0])
    make_worker(calls).drive(games[1])
    assert {name["game"]["id"] for name in calls.decisions_of("bot_a")} == {games[0]}
    assert [event.reason for event in desk.retired(games[1])] == [RetiredBecause.LEFT]


def test_410_from_where_a_bot_no_longer_is_says_nothing_about_it(worker, desk, calls, store, bot):
    game = desk.game("bot_b", "bot_a")
    store.bots.change("bot_a", lambda old: replace(old, url="http://127.0.0.1:9/moved"))
    calls.bots["bot_a"] = lambda _decision: GONE
    worker.drive(game)
    assert (bot().state, bot().suspension) == (BotState.ACTIVE, None)


@pytest.mark.parametrize(
    ("state", "after"),
    [
        (BotState.PAUSED, BotState.SUSPENDED),
        (BotState.PENDING, BotState.SUSPENDED),
        (BotState.DISABLED, BotState.DISABLED),
    ],
)
def test_410_outlasts_a_pause_but_not_the_operator(worker, desk, store, bot, state, after):
    desk.bot("bot_a", state=state)
    worker.referee.aftermath._suspending.gone("bot_a", bot().url, "gam_1")
    assert bot().state is after


def test_410_of_a_suspended_bot_ends_the_arena_s_checks(fail, worker, bot):
    fail(3)
    worker.referee.aftermath._suspending.gone("bot_a", bot().url, "gam_9")
    first = bot()
    assert (first.suspension.is_gone, first.suspension.games) == (True, ["gam_9"])
    worker.referee.aftermath._suspending.gone("bot_a", bot().url, "gam_10")
    assert bot() == first


def test_bot_that_can_not_be_suspended_takes_no_other_game_along(worker, desk, calls, bot, monkeypatch, caplog):
    calls.bots["bot_a"] = lambda _decision: GONE
    games = [desk.game("bot_a", "bot_b"), desk.game("bot_c", "bot_d")]

    def contended(*_):
        raise ContendedError("the bot changed 32 times while we changed it")

    monkeypatch.setattr(worker.referee.aftermath._suspending, "gone", contended)
    worker.drive(*games)
    assert [desk.state(game).is_end for game in games] == [True, True]
    assert bot().state is BotState.ACTIVE
    assert "bot_a has answered 410 and can't be suspended" in caplog.text
