"""Checks of bots: what passes activates, with what the card says; and what changed meanwhile isn't undone."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from bot_sdk.bot import Bot, Decision
from bot_sdk.events import Outcome
from bot_sdk.hosting import respond
from bot_sdk.signing import sign
from service.arena.checks import Checks
from service.arena.errors import ConflictError
from service.outbound.values import Answer, Call
from service.store.entities import BotState, Check

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
        headers = (
            sign(call.webhook_id, 1_700_000_000, call.body, call.endpoint.secrets) if call.endpoint.secrets else {}
        )
        return self._answer(call.key, call.endpoint.url, "POST", headers, call.body)

    def _answer(self, key, url, method, headers, body) -> Answer:
        bot = self.bots.get(url)
        if bot is None:
            return Answer(key, Outcome.UNREACHABLE, 1.0, "connection refused")
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
    assert run().ended_at is not None
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


def test_check_is_asked_for_once_at_a_time(bot, bots, owner, queue, mint):
    check = bots.check(owner, "bot_a", mint())
    assert queue.checks == [check.id]
    with pytest.raises(ConflictError):
        bots.check(owner, "bot_a", mint())
