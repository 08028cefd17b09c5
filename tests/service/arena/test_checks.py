"""Checks of bots: what passes activates, with what the card says; and what changed meanwhile isn't undone."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from bot_sdk.bot import Bot, Decision
from bot_sdk.events import Outcome
from bot_sdk.hosting import respond
from bot_sdk.signing import sign
from service.arena.checks import Checks, OurFaultError
from service.arena.errors import ConflictError, TooManyError
from service.config import Settings
from service.outbound.guard import Guard
from service.outbound.values import Answer, Call
from service.services import allowance_of
from service.store.entities import BotState, Check, Suspension

SECRET = "whsec_" + "A" * 32
URL, NEW_URL = "http://127.0.0.1:9/bot_a", "http://127.0.0.1:9/new"


class Greatest(Bot):
    """Plays the last of the legal actions."""

    rulesets = ("seven_up", "river")

    def decide(self, decision: Decision) -> str:
        return decision.legal[-1]


class Cheat(Greatest):
    """Plays a card it doesn't hold."""

    def decide(self, decision: Decision) -> str:
        return "play:ZZ" if decision.phase == "play" else decision.legal[0]


class Hosts:
    """Carries the calls of a check to bots in this process, by their URLs; nobody else answers.

    `during` is called before each call, with its number.
    """

    def __init__(self):
        self.bots: dict[str, Bot] = {}
        self.calls: list[Call] = []
        self.during = lambda _number: None

    def get_card(self, url: str, budget_ms: float) -> Answer:
        return self._answer(url, url, "GET", {}, b"")

    def ask(self, call: Call) -> Answer:
        self.calls.append(call)
        self.during(len(self.calls))
        secrets, at = call.endpoint.secrets, 1_700_000_000 - call.age_s
        headers = sign(call.webhook_id, at, call.body, secrets) if secrets else {}
        return self._answer(call.key, call.endpoint.url, "POST", headers, call.body)

    def _answer(self, key, url, method, headers, body) -> Answer:
        bot = self.bots.get(url)
        if bot is None:
            return Answer(key, Outcome.UNREACHABLE, 1.0, "connection refused")
        if isinstance(bot, Answer):
            return bot
        reply = respond(bot, method, headers, body, now=lambda: 1_700_000_000)
        if reply.status != 200:
            return Answer(key, Outcome.BAD_STATUS, 1.0, f"expected 200, got {reply.status}", reply.status.value)
        return Answer(key, Outcome.OK, 1.0, None, 200, b"", reply.body)


@pytest.fixture
def hosts():
    made = Hosts()
    made.bots[URL] = Greatest("lowball", version="7", max_batch=4, max_games=3, secret=SECRET)
    return made


@pytest.fixture
def checks(store, hosts, clock):
    return Checks(store, hosts, clock=clock, challenge=lambda: "a challenge")


@pytest.fixture
def bot(desk):
    return desk.bot("bot_a", state=BotState.PENDING, rulesets=["seven_up"])


@pytest.fixture
def run(store, checks, clock):
    """Have a check of a URL run; give it as it ended."""

    def go(check_id="chk_1", url=URL):
        store.bots.create_check(Check(id=check_id, bot_id="bot_a", url=url, created_at=clock.now))
        checks.run(check_id)
        return store.bots.get_check(check_id)

    return go


def failed(check):
    """Name the steps that failed."""
    return [step["name"] for step in check.steps if not step["ok"]]


def test_passed_check_activates_with_what_the_card_says(bot, run, store, clock):
    check = run()
    assert (check.state, check.ended_at, failed(check)) == ("passed", clock.now, [])
    assert {"card", "challenge", "seven_up beg", "seven_up discard", "batch", "no signature"} <= {
        step["name"] for step in check.steps
    }
    active = store.bots.get("bot_a")
    assert (active.state, active.reason, active.activated_at) == (BotState.ACTIVE, None, clock.now)
    assert (active.version, active.max_batch, active.max_games) == ("7", 4, 3)
    assert (active.url, active.rulesets) == (URL, ["seven_up"])


def test_check_asks_only_for_what_the_bot_is_registered_for(bot, run, hosts):
    run()
    asked = [json.loads(call.body) for call in hosts.calls]
    games = [each["game"]["ruleset"] for each in asked if each["type"] == "decision"]
    assert set(games) == {"seven_up"}
    assert {call.endpoint.bot_id for call in hosts.calls} == {"bot_a"}


@pytest.mark.parametrize(
    ("hosted", "step"),
    [
        (None, "card"),
        (Greatest("lowball", secret="whsec_" + "B" * 32), "challenge"),
        (Cheat("cheat", secret=SECRET), "seven_up play"),
    ],
)
def test_failed_check_changes_nothing_but_says_what_failed(bot, run, hosts, store, hosted, step):
    if hosted is None:
        hosts.bots.clear()
    else:
        hosts.bots[URL] = hosted
    check = run()
    assert (check.state, step in failed(check)) == ("failed", True)
    assert check.ended_at is not None
    assert store.bots.get("bot_a") == bot


def test_failed_step_names_the_fault_its_place_and_what_to_do(bot, run, hosts):
    hosts.bots[URL] = Cheat("cheat", secret=SECRET)
    (step,) = [step for step in run().steps if step["name"] == "seven_up play"]
    assert (step["fault"], step["where"], step["ok"]) == ("illegal", "the field action", False)
    assert "legal_actions" in step["advice"]


def test_bot_that_takes_unsigned_calls_fails(bot, run, hosts, monkeypatch):
    monkeypatch.delenv("SLAGVELD_BOT_SECRET", raising=False)
    hosts.bots[URL] = Greatest("lowball")
    assert run().state == "failed"


def test_failed_check_leaves_an_active_bot_active(desk, run, hosts, store):
    bot = desk.bot("bot_a", rulesets=["seven_up"], version="6")
    hosts.bots.clear()
    assert run().state == "failed"
    assert store.bots.get("bot_a") == bot


def test_new_url_takes_the_place_of_the_old_when_its_own_check_passes(desk, run, hosts, store):
    bot = desk.bot("bot_a", rulesets=["seven_up"], new_url=NEW_URL, activated_at=1)
    assert run("chk_1", NEW_URL).state == "failed"
    assert store.bots.get("bot_a") == bot
    hosts.bots[NEW_URL] = Greatest("lowball", version="8", secret=SECRET)
    assert run("chk_2", NEW_URL).state == "passed"
    moved = store.bots.get("bot_a")
    assert (moved.url, moved.new_url, moved.version) == (NEW_URL, None, "8")


def test_passed_check_of_the_old_url_leaves_the_new_one_waiting(desk, run, store):
    desk.bot("bot_a", rulesets=["seven_up"], new_url=NEW_URL, activated_at=1)
    assert run("chk_1", URL).state == "passed"
    stays = store.bots.get("bot_a")
    assert (stays.url, stays.new_url, stays.version) == (URL, NEW_URL, "7")


def change_at_first_call(hosts, store, **changes):
    """Have the bot's owner change it while the check runs."""

    def during(number):
        if number == 1:
            store.bots.change("bot_a", lambda old: replace(old, **changes))

    hosts.during = during


def test_url_changed_while_the_check_ran_is_not_activated(bot, run, hosts, store):
    change_at_first_call(hosts, store, url=NEW_URL)
    run()
    changed = store.bots.get("bot_a")
    assert (changed.state, changed.url, changed.version) == (BotState.PENDING, NEW_URL, None)


def test_bot_disabled_while_the_check_ran_stays_disabled(bot, run, hosts, store):
    change_at_first_call(hosts, store, state=BotState.DISABLED)
    run()
    assert store.bots.get("bot_a").state is BotState.DISABLED


def test_ruleset_added_while_the_check_ran_is_not_activated_unseen(bot, run, hosts, store):
    change_at_first_call(hosts, store, rulesets=["seven_up", "river"])
    run()
    assert store.bots.get("bot_a").state is BotState.PENDING


def test_ruleset_dropped_while_the_check_ran_matters_nothing(desk, run, hosts, store):
    desk.bot("bot_a", state=BotState.PENDING, rulesets=["seven_up", "river"])
    change_at_first_call(hosts, store, rulesets=["seven_up"])
    run()
    assert (store.bots.get("bot_a").state, store.bots.get("bot_a").rulesets) == (BotState.ACTIVE, ["seven_up"])


def test_bot_deleted_while_the_check_ran_is_no_error(bot, run, hosts, store):
    hosts.during = lambda number: number == 1 and store.bots.delete(store.bots.get("bot_a"))
    assert run() is None, "its checks went with it"
    assert len(hosts.calls) == 1, "it is asked nothing more"
    assert store.bots.get("bot_a") is None


def test_check_that_ended_or_was_never_asked_for_is_not_run(bot, run, checks, hosts):
    run()
    asked = len(hosts.calls)
    checks.run("chk_1")
    checks.run("chk_none")
    assert len(hosts.calls) == asked


def test_check_that_a_dead_worker_left_is_run_anew(bot, run, checks, hosts, store):
    def dies(number):
        if number == 3:
            raise KeyboardInterrupt

    hosts.during = dies
    with pytest.raises(KeyboardInterrupt):
        run()
    assert store.bots.get_check("chk_1").state == "running"
    hosts.during = lambda _number: None
    checks.run("chk_1")
    check = store.bots.get_check("chk_1")
    assert check.state == "passed"
    assert len({step["name"] for step in check.steps}) == len(check.steps)


# --- checks by the arena ----------------------------------------------------------------------------------------------


@pytest.fixture
def sick(desk, clock):
    """Make a bot that the arena has suspended."""
    suspension = Suspension(since=clock.now, games=["gam_1"])
    return desk.bot("bot_a", state=BotState.SUSPENDED, activated_at=1, suspension=suspension)


@pytest.fixture
def examine(store, checks, clock, health):
    """Have the arena check the bot when its time has come; give the check as it ended."""

    def go():
        health.look("bot_a")
        clock.forward(3_600_000)
        health.look("bot_a")
        (check,), _ = store.bots.list_checks("bot_a", limit=1)
        checks.run(check.id)
        return store.bots.get_check(check.id)

    return go


@pytest.fixture
def watched(sick, store):
    store.due.begin("health:bot_a", sick.suspension.since)
    return sick


def test_two_passed_checks_of_the_arena_activate_as_one_of_the_owner_s_does(watched, examine, store):
    assert (examine().state, store.bots.get("bot_a").state) == ("passed", BotState.SUSPENDED)
    assert (examine().state, store.bots.get("bot_a").state) == ("passed", BotState.ACTIVE)
    active = store.bots.get("bot_a")
    assert (active.version, active.max_games, active.suspension) == ("7", 3, None)


def test_end_of_a_check_of_the_arena_has_the_sweeper_look_at_once(watched, examine, store):
    examine()
    assert abs(store.due.at("health:bot_a") - store.due.now()) < 60_000


def test_failed_check_of_the_arena_leaves_the_bot_suspended(watched, examine, hosts, store):
    examine()
    hosts.bots.clear()
    assert examine().state == "failed"
    suspension = store.bots.get("bot_a").suspension
    assert (suspension.checks, suspension.good) == (2, 0)


def test_410_in_a_check_of_the_arena_is_heard(watched, examine, hosts, store):
    hosts.bots[URL] = Answer("key", Outcome.BAD_STATUS, 1.0, "expected 200, got 410", 410)
    assert examine().state == "failed"
    assert store.bots.get("bot_a").suspension.is_gone


def test_worker_that_dies_before_it_has_ended_a_check_leaves_it_to_the_next_and_it_counts_once(
    watched, checks, health, clock, store, monkeypatch
):
    clock.forward(60_000)
    health.look("bot_a")
    (check,), _ = store.bots.list_checks("bot_a", limit=1)

    def dies(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(checks, "_end", dies)
        with pytest.raises(KeyboardInterrupt):
            checks.run(check.id)
    counted = store.bots.get("bot_a").suspension
    assert (counted.good, store.bots.get_check(check.id).ended_at) == (1, None)
    checks.run(check.id)
    assert (store.bots.get("bot_a").suspension, store.bots.get_check(check.id).state) == (counted, "passed")


@pytest.mark.parametrize("is_gone", [True, False])
def test_bot_that_is_active_again_or_gone_is_not_called_by_a_check_of_the_arena(
    watched, checks, health, hosts, clock, store, is_gone
):
    clock.forward(60_000)
    health.look("bot_a")
    (check,), _ = store.bots.list_checks("bot_a", limit=1)
    after = replace(watched.suspension, is_gone=True) if is_gone else None
    state = BotState.SUSPENDED if is_gone else BotState.ACTIVE
    store.bots.change("bot_a", lambda old: replace(old, state=state, suspension=after))
    checks.run(check.id)
    ended = store.bots.get_check(check.id)
    assert (hosts.calls, ended.state, failed(ended)) == ([], "failed", ["suspended"])


def test_owner_s_check_calls_a_bot_that_is_gone_and_brings_it_back(desk, run, store):
    suspension = Suspension(since=1, games=[], is_gone=True)
    desk.bot("bot_a", state=BotState.SUSPENDED, activated_at=1, suspension=suspension)
    assert run().state == "passed"
    assert store.bots.get("bot_a").state is BotState.ACTIVE


def test_check_that_came_to_nothing_by_our_own_fault_says_nothing_and_is_run_again(bot, run, hosts, checks, store):
    """Such as one during which the worker was told to stop."""
    hosted, hosts.bots[URL] = hosts.bots[URL], Answer("key", Outcome.OUR_FAULT, 1.0, "the arena is shutting down")
    with pytest.raises(OurFaultError):
        run()
    assert store.bots.get_check("chk_1").ended_at is None
    hosts.bots[URL] = hosted
    checks.run("chk_1")
    assert store.bots.get_check("chk_1").state == "passed"


# --- how many there may be --------------------------------------------------------------------------------------------


def end_all(store, bot_id):
    for check in store.bots.list_checks(bot_id, limit=100)[0]:
        store.bots.change_check(check.id, lambda old: replace(old, state="failed", ended_at=1))


@pytest.fixture
def ask(store, mint):
    """Ask for a check after those before have ended."""

    def go(bots, caller, bot_id, seed=None):
        end_all(store, bot_id)
        return bots.check(caller, bot_id, mint(seed))

    return go


def test_a_host_has_so_many_checks_a_day_whoever_asks(desk, make_bots, owner, stranger, ask, store):
    bots = make_bots(most=2)
    desk.bot("bot_a")
    desk.bot("bot_b", account_id="acc_2", url="http://127.0.0.1:10/other")
    desk.bot("bot_c", account_id="acc_2", url="http://127.0.0.2:10/")
    ask(bots, owner, "bot_a")
    ask(bots, stranger, "bot_b")
    with pytest.raises(TooManyError, match=r"bots at 127\.0\.0\.1 have been checked 2 times within a day") as refused:
        ask(bots, owner, "bot_a")
    assert (refused.value.code, refused.value.retry_after) == ("too_many_checks", pytest.approx(86_400, abs=60))
    assert len(store.bots.list_checks("bot_a", limit=9)[0]) == 1
    ask(bots, stranger, "bot_c")


def test_checks_that_a_host_has_no_room_for_cost_the_account_none(desk, make_bots, owner, stranger, ask):
    bots = make_bots(most=2)
    desk.bot("bot_a")
    desk.bot("bot_b", account_id="acc_2", url="http://127.0.0.1:10/")
    desk.bot("bot_c", url="http://127.0.0.2/")
    for _ in range(2):
        ask(bots, stranger, "bot_b")
    for _ in range(3):
        with pytest.raises(TooManyError, match="bots at"):
            ask(bots, owner, "bot_a")
    for _ in range(2):
        ask(bots, owner, "bot_c")


def test_an_account_has_so_many_checks_a_day_under_whatever_names(desk, make_bots, owner, ask):
    """Any name may lead to a stranger's address."""
    bots = make_bots(most=2)
    for number in range(3):
        desk.bot(f"bot_{number}", url=f"http://x{number}.example/")
    ask(bots, owner, "bot_0")
    ask(bots, owner, "bot_1")
    with pytest.raises(TooManyError, match="the account has asked for 2 checks within a day"):
        ask(bots, owner, "bot_2")


def test_account_that_has_had_its_checks_takes_none_of_a_host_s(desk, make_bots, owner, stranger, ask):
    bots = make_bots(most=1)
    desk.bot("bot_a", url="http://x.example/")
    desk.bot("bot_b", account_id="acc_2")
    ask(bots, owner, "bot_a")
    desk.bot("bot_c")
    with pytest.raises(TooManyError):
        ask(bots, owner, "bot_c")
    ask(bots, stranger, "bot_b")


def test_request_that_is_sent_again_counts_once(desk, make_bots, owner, ask):
    bots = make_bots(most=2)
    desk.bot("bot_a")
    first = ask(bots, owner, "bot_a", "the same key")
    assert [ask(bots, owner, "bot_a", "the same key").id for _ in range(3)] == [first.id] * 3
    ask(bots, owner, "bot_a")


def test_check_is_asked_for_once_at_a_time(bot, bots, owner, queue, mint):
    check = bots.check(owner, "bot_a", mint())
    assert queue.checks == [check.id]
    with pytest.raises(ConflictError):
        bots.check(owner, "bot_a", mint())


def test_checks_that_a_host_has_no_room_for_are_none_of_the_account_s(desk, make_bots, owner, stranger, ask):
    bots = make_bots(most=2)
    desk.bot("bot_b", account_id="acc_2")
    ask(bots, stranger, "bot_b")
    ask(bots, stranger, "bot_b")
    desk.bot("bot_a")
    for _ in range(3):
        with pytest.raises(TooManyError, match="bots at"):
            ask(bots, owner, "bot_a")
    desk.bot("bot_c", url="http://x.example/")
    ask(bots, owner, "bot_c")


@pytest.mark.parametrize(
    ("first", "again"),
    [
        ("http://[2606:4700::1]/", "http://[2606:4700:0:0::0001]/"),
        ("http://[2606:4700::1]/", "http://[2606:4700::2]/"),
        ("http://8.8.8.8/", "http://[::ffff:8.8.8.8]/"),
        ("http://x.example/", "http://X.example.:8080/"),
    ],
)
def test_a_host_is_the_same_however_its_address_is_written(store, first, again):
    allowance = allowance_of(store, Settings(max_challenges=1), Guard())
    allowance.take_for("acc_1", Check(id="chk_1", bot_id="bot_a", url=first, created_at=1))
    with pytest.raises(TooManyError, match="bots at"):
        allowance.take_for("acc_2", Check(id="chk_2", bot_id="bot_b", url=again, created_at=1))
