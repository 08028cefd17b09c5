"""Suspended bots are checked by the arena, ever less often, until two checks in a row were good or it gives up."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from bot_sdk.messages import BotCard
from service.arena import health as sweep_of_health
from service.arena.bots import CHECK_MS, changed, judged
from service.arena.errors import ConflictError
from service.arena.recovery import activated, check_id, checked, next_at
from service.store.entities import AskedBy, BotState, Check, Suspension
from tests.service.arena.conftest import HEALTH_MS

NAME = "health:bot_a"
CARD = BotCard(name="lowball", version="7", rulesets=["seven_up", "river"])
GIVEN_UP_MS = sweep_of_health.GIVEN_UP_MS


@pytest.fixture
def suspended(desk, store, clock):
    """Make a bot that has just been suspended, as the referee leaves it."""

    def make(**changes):
        suspension = replace(Suspension(since=clock.now, games=["gam_1", "gam_2", "gam_3"]), **changes)
        bot = desk.bot("bot_a", state=BotState.SUSPENDED, reason="retired", activated_at=1, suspension=suspension)
        if not suspension.is_gone:
            store.due.begin(NAME, suspension.since)
        return bot

    return make


@pytest.fixture
def end(store, clock):
    """End the check that was asked for last, as a worker does."""

    def go(passed, *, is_gone=False):
        (check, *_), _ = store.bots.list_checks("bot_a", limit=1)
        card = CARD if passed else None
        both = {"rulesets": ["seven_up", "river"], "is_gone": is_gone}
        store.bots.change("bot_a", lambda bot: checked(bot, check, card, clock.now, **both))
        ended = {"state": "passed" if passed else "failed", "ended_at": clock.now}
        store.bots.change_check(check.id, lambda old: replace(old, **ended))
        return check

    return go


def asked(store):
    """Give the arena's checks, oldest first."""
    return store.bots.list_checks("bot_a", limit=100)[0][::-1]


def test_first_check_comes_a_minute_after_the_suspension(suspended, health, store, queue, clock):
    bot = suspended()
    health.look("bot_a")
    assert (queue.checks, store.due.at(NAME)) == ([], clock.now + HEALTH_MS)
    clock.forward(HEALTH_MS)
    health.look("bot_a")
    (check,) = asked(store)
    assert queue.checks == [check.id]
    assert (check.asked_by, check.url, check.state) == (AskedBy.ARENA, bot.url, "queued")
    assert store.due.at(NAME) == clock.now + CHECK_MS


def test_pauses_grow_to_an_hour_while_checks_fail(suspended, health, store, queue, clock, end):
    suspended()
    pauses, began = [], clock.now
    while len(pauses) < 9:
        health.look("bot_a")
        if len(queue.checks) > len(pauses):
            pauses.append((clock.now - began) // 60_000)
            end(passed=False)
            began = clock.now
        else:
            clock.now = store.due.at(NAME)
    assert pauses == [1, 2, 4, 8, 16, 32, 60, 60, 60]
    assert store.bots.get("bot_a").suspension.checks == 9


def check_now(health, store, clock):
    """Let the next check's time come, and have it asked for."""
    health.look("bot_a")
    clock.now = max(clock.now, store.due.at(NAME))
    health.look("bot_a")


def test_two_good_checks_in_a_row_activate(suspended, health, store, clock, end):
    suspended()
    for passed, good in [(True, 1), (False, 0), (True, 1)]:
        check_now(health, store, clock)
        end(passed)
        assert (store.bots.get("bot_a").state, store.bots.get("bot_a").suspension.good) == (BotState.SUSPENDED, good)
    began = clock.now
    check_now(health, store, clock)
    assert clock.now - began == HEALTH_MS
    end(passed=True)
    bot = store.bots.get("bot_a")
    assert (bot.state, bot.reason, bot.suspension) == (BotState.ACTIVE, None, None)
    assert (bot.version, bot.activated_at) == ("7", clock.now)
    health.look("bot_a")
    assert store.due.at(NAME) is None


def test_check_that_is_lost_is_asked_for_again_and_is_the_same(suspended, health, store, queue, clock):
    suspended()
    check_now(health, store, clock)
    clock.forward(CHECK_MS)
    health.look("bot_a")
    (check,) = asked(store)
    assert queue.checks == [check.id] * 2


def test_two_sweepers_at_once_ask_for_one_check(suspended, make_health, store, clock):
    suspended()
    clock.forward(HEALTH_MS)
    for health in (make_health(), make_health()):
        health.look("bot_a")
    assert len(asked(store)) == 1


class DeadQueue:
    def check(self, check_id):
        raise ConnectionError(check_id)


def test_check_that_could_not_be_sent_stays_due_and_is_sent_later(suspended, make_health, health, store, queue, clock):
    suspended()
    clock.forward(HEALTH_MS)
    with pytest.raises(ConnectionError):
        make_health(DeadQueue()).look("bot_a")
    assert store.due.at(NAME) == clock.now + CHECK_MS
    clock.forward(CHECK_MS)
    health.look("bot_a")
    assert queue.checks == [check.id for check in asked(store)]


def test_check_counts_once_however_often_it_is_concluded(suspended, health, store, clock, end):
    suspended()
    check_now(health, store, clock)
    end(passed=True)
    after = store.bots.get("bot_a")
    end(passed=True)
    end(passed=False)
    assert store.bots.get("bot_a") == after


def test_check_of_an_earlier_suspension_counts_for_nothing(suspended, health, store, clock, end):
    suspended(good=1)
    check_now(health, store, clock)
    again = Suspension(since=clock.now + 1, games=["gam_4"], good=1)
    store.bots.change("bot_a", lambda bot: replace(bot, suspension=again))
    end(passed=True)
    assert store.bots.get("bot_a").suspension == again


def test_after_seven_days_the_owner_is_told_and_the_arena_checks_no_more(suspended, health, store, queue, clock):
    suspended()
    clock.forward(GIVEN_UP_MS)
    health.look("bot_a")
    bot = store.bots.get("bot_a")
    assert (bot.state, queue.checks, store.due.at(NAME)) == (BotState.SUSPENDED, [], None)
    assert "a check that its owner asks for" in bot.reason


def test_bot_that_is_gone_is_never_checked(suspended, health, store, queue, clock):
    suspended(is_gone=True)
    store.due.begin(NAME, clock.now)
    clock.forward(HEALTH_MS)
    health.look("bot_a")
    assert (queue.checks, store.due.at(NAME)) == ([], None)


def test_410_in_a_check_of_the_arena_is_its_last(suspended, health, store, clock, end):
    suspended()
    check_now(health, store, clock)
    end(passed=False, is_gone=True)
    bot = store.bots.get("bot_a")
    assert (bot.suspension.is_gone, bot.suspension.games) == (True, ["gam_1", "gam_2", "gam_3"])
    assert bot.reason.startswith("it answered 410 Gone")
    health.look("bot_a")
    assert store.due.at(NAME) is None


@pytest.mark.parametrize("state", [BotState.ACTIVE, BotState.PENDING, BotState.PAUSED, BotState.DISABLED, None])
def test_bot_that_is_not_suspended_any_more_leaves(suspended, health, store, queue, clock, state):
    suspended()
    clock.forward(HEALTH_MS)
    if state is None:
        store.bots.delete(store.bots.get("bot_a"))
    else:
        store.bots.change("bot_a", lambda bot: replace(bot, state=state, suspension=None))
    health.look("bot_a")
    assert (queue.checks, store.due.at(NAME)) == ([], None)


def test_bot_suspended_anew_while_the_sweeper_lets_it_leave_stays_due(suspended, health, store, clock, monkeypatch):
    bot = suspended()
    store.bots.change("bot_a", lambda old: replace(old, state=BotState.ACTIVE, suspension=None))
    drop = store.due.drop

    def suspended_before(name):
        store.bots.change("bot_a", lambda _old: bot)
        store.due.begin(name, bot.suspension.since)  # it's there already
        drop(name)

    monkeypatch.setattr(store.due, "drop", suspended_before)
    health.look("bot_a")
    assert store.due.at(NAME) == bot.suspension.since


def test_the_arena_takes_half_of_a_host_s_checks_and_waits_for_the_next_day(
    suspended, make_health, store, queue, clock, redis, make_allowance
):
    suspended()
    allowance = make_allowance(4)
    for number in range(2):
        allowance.take_for_arena(Check(id=f"chk_{number}", bot_id="bot_b", url="http://127.0.0.1:9/b", created_at=1))
    clock.forward(HEALTH_MS)
    make_health(most=4).look("bot_a")
    assert (queue.checks, asked(store)) == ([], [])
    assert store.due.at(NAME) - clock.now == pytest.approx(24 * 3_600_000, abs=60_000)
    allowance.take_for("acc_1", Check(id="chk_3", bot_id="bot_a", url="http://127.0.0.1:7/", created_at=1))


def test_sweeper_looks_at_the_health_that_is_due_and_one_that_breaks_holds_up_no_other(
    suspended, sweep, health, desk, store, queue, clock, monkeypatch, caplog
):
    suspended()
    long_ago = Suspension(since=clock.now - HEALTH_MS, games=[])
    store.bots.change("bot_a", lambda bot: replace(bot, suspension=long_ago))
    store.due.add("health:bot_0", 1)
    look = health.look

    def breaks(bot_id):
        if bot_id == "bot_0":
            raise RuntimeError(bot_id)
        look(bot_id)

    monkeypatch.setattr(health, "look", breaks)
    sweep.once()
    assert queue.checks == [check.id for check in asked(store)] != []
    assert "the health of bot_0 can't be looked at now" in caplog.text
    assert store.due.at("health:bot_0") > clock.now, "it doesn't stand before all others for ever"


# --- who may change a suspended bot into what -------------------------------------------------------------------------


@pytest.fixture
def sick(suspended):
    return suspended(good=1)


def test_owner_of_a_suspended_bot_can_neither_activate_nor_pause_it(sick):
    for state in ("active", "paused"):
        with pytest.raises(ConflictError, match="the bot is suspended; a check has to pass first"):
            changed(sick, {"state": state})


def test_a_passed_check_of_the_owner_s_makes_it_active_whatever_it_was_suspended_for(sick):
    check = Check(id="chk_1", bot_id="bot_a", url=sick.url, created_at=1)
    for bot in (sick, replace(sick, suspension=replace(sick.suspension, is_gone=True))):
        well = activated(bot, check, CARD, 5, checked=["seven_up", "river"])
        assert (well.state, well.reason, well.suspension, well.activated_at) == (BotState.ACTIVE, None, None, 5)


def test_disabling_ends_a_suspension_and_no_check_undoes_it(sick):
    disabled = judged(sick, BotState.DISABLED, "enough")
    assert (disabled.state, disabled.suspension) == (BotState.DISABLED, None)
    check = Check(id=check_id("bot_a", sick.suspension), bot_id="bot_a", url=sick.url, created_at=1)
    assert checked(disabled, check, CARD, 5, rulesets=["seven_up", "river"], is_gone=False) == disabled


def test_suspended_bot_that_claims_another_ruleset_waits_for_its_owner_s_check(sick):
    narrow = replace(sick, rulesets=["river"])
    wider = changed(narrow, {"rulesets": ["river", "seven_up"]})
    assert (wider.state, wider.suspension) == (BotState.PENDING, None)
    check = Check(id=check_id("bot_a", sick.suspension), bot_id="bot_a", url=sick.url, created_at=1)
    assert checked(wider, check, CARD, 5, rulesets=["river"], is_gone=False) == wider


def test_a_change_that_leaves_it_suspended_leaves_its_suspension(sick):
    assert changed(sick, {"name": "other", "url": "http://127.0.0.1:9/new"}).suspension == sick.suspension


def test_an_hour_is_the_longest_pause(clock):
    for checks in range(200):
        suspension = Suspension(since=0, games=[], checks=checks, checked_at=1_000)
        assert next_at(suspension, 60_000) - 1_000 <= 3_600_000
