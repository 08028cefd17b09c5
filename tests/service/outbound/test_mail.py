"""Bots that fetch their calls: timed and judged as those by HTTP, and nothing that we do is their fault."""

from __future__ import annotations

import json
import threading
import time

import pytest
from redis.exceptions import ConnectionError as RedisConnectionError

from bot_sdk.signing import make_secret, verify
from service.outbound import mail
from service.outbound.calls import Calls
from service.outbound.guard import LOOPBACK, Guard
from service.outbound.letters import GONE, NO_CARD, UNHEARD
from service.outbound.values import Call, Endpoint
from service.store import keys
from service.store.mailbox import Given, Mailboxes, Office
from tests.integration.arena import wait_until
from tests.service.outbound.hostile import OnALine, gather

BOT = "bot_a"
SECRET = make_secret(bytes(32))
PATIENT_MS = 20_000


def call(key=1, name="msg_1", budget_ms=PATIENT_MS, bot=BOT, body=b'{"type":"decision"}', **more):
    endpoint = Endpoint(bot, "pull:", (SECRET,), is_pull=True)
    return Call(key=key, endpoint=endpoint, body=body, budget_ms=budget_ms, webhook_id=name, **more)


class Troubled(Office):
    """The office, which fails or waits when told to."""

    def __init__(self, redis):
        super().__init__(redis, "w1")
        self.failures = {}
        self.deaf = threading.Event()

    def _fail(self, what):
        if self.failures.get(what, 0):
            self.failures[what] -= 1
            raise RedisConnectionError("away")

    def put(self, letters):
        self._fail("put")
        return super().put(letters)

    def withdraw(self, letters):
        self._fail("withdraw")
        return super().withdraw(letters)

    def hear(self, wait_ms):
        self._fail("hear")
        while self.deaf.is_set():
            time.sleep(0.001)
        return super().hear(min(wait_ms, 20))


class Polling:
    """A bot that answers what it fetches by `reply(parcel) -> (status, body)`, or not at all by None."""

    def __init__(self, redis, bot=BOT):
        self.boxes = Mailboxes(redis)
        self.bot = bot
        self.parcels = []
        self.reply = lambda parcel: (200, json.dumps({"to": parcel["id"]}))
        self._ends = threading.Event()
        self.boxes.fetch(bot, 1)
        self._thread = threading.Thread(target=self._run)
        self._thread.start()

    def _run(self):
        while not self._ends.wait(0.002):
            for raw in self.boxes.fetch(self.bot, 16):
                parcel = json.loads(raw)
                self.parcels.append(parcel)
                told = self.reply(parcel)
                if told is not None:
                    self.boxes.answer(self.bot, [Given(parcel["id"], told[0], told[1].encode())])

    def close(self):
        self._ends.set()
        self._thread.join()


def been_open(redis):
    """Have bots been able to poll for ever."""
    redis.delete(keys.MAIL_OPEN)
    redis.hset(keys.MAIL_OPEN, mapping={"since": 1, "last": redis.time()[0] * 1000})


@pytest.fixture
def office(redis):
    been_open(redis)
    return Troubled(redis)


@pytest.fixture(params=[Calls, OnALine], ids=["here", "line"])
def calls(request, office):
    made = request.param(Guard(LOOPBACK), office=office)
    yield made
    made.close()


@pytest.fixture
def bot(redis):
    polling = Polling(redis)
    yield polling
    polling.close()


def test_a_call_comes_signed_byte_for_byte_and_its_answer_is_timed(bot, calls):
    body = '{"type":"decision","é":"\\u0000"}'.encode()
    answer = calls.ask(call(key="k", body=body))
    assert (answer.key, answer.outcome, answer.status, answer.body) == ("k", "ok", 200, b'{"to": "msg_1"}')
    assert 0 < answer.ms < PATIENT_MS
    [parcel] = bot.parcels
    assert parcel["body"].encode() == body
    assert verify(parcel["headers"], body, [SECRET], now=time.time()) == parcel["id"] == "msg_1"


def test_a_call_without_a_secret_is_not_signed(bot, calls):
    endpoint = Endpoint(BOT, "pull:", (), is_pull=True)
    calls.ask(Call(1, endpoint, b"{}", PATIENT_MS, "msg_1"))
    assert bot.parcels[0]["headers"] == {}


@pytest.mark.parametrize(
    ("told", "outcome", "error"),
    [
        ((200, ""), "ok", None),
        ((200, "x" * 65_536), "ok", None),
        ((200, "x" * 65_537), "bad_reply", "expected at most 65536 bytes"),
        ((500, "oops"), "bad_status", "expected 200, got 500"),
        ((204, ""), "bad_status", "expected 200, got 204"),
        ((410, "{}"), "bad_status", "expected 200, got 410"),
    ],
)
def test_what_is_answered_is_judged_as_by_http(bot, calls, told, outcome, error):
    bot.reply = lambda _: told
    answer = calls.ask(call())
    assert (answer.outcome, answer.error, answer.status) == (outcome, error, told[0])
    assert answer.head == told[1][:512].encode()
    assert (answer.body is not None) == (outcome == "ok")


def test_a_batch_may_be_answered_at_greater_length(bot, calls):
    bot.reply = lambda _: (200, "x" * (65_536 + 2 * 1024))
    assert calls.ask(call(decisions=2)).outcome == "ok"


@pytest.mark.parametrize("is_fetched", [True, False])
def test_what_is_not_answered_by_its_deadline_is_late_and_never_answered(redis, calls, is_fetched):
    boxes = Mailboxes(redis)
    boxes.fetch(BOT, 1)
    done = []
    asking = threading.Thread(target=lambda: done.append(calls.ask(call(budget_ms=300))))
    asking.start()
    if is_fetched:
        wait_until(lambda: boxes.fetch(BOT, 1), 10, "a call")
    asking.join()
    [answer] = done
    assert answer.outcome == "late"
    assert answer.ms >= 300
    assert answer.error == f"waited 300 ms for {'an answer' if is_fetched else 'the bot to fetch it'}"
    assert boxes.fetch(BOT, 1) == []
    assert boxes.answer(BOT, [Given("msg_1", 200, b"{}")]) == [False]


def test_a_bot_that_does_not_poll_is_unreachable_at_once(calls):
    began = time.monotonic()
    answer = calls.ask(call(budget_ms=60_000))
    assert (answer.outcome, answer.error) == ("unreachable", GONE.error)
    assert time.monotonic() - began < 20


def test_a_bot_that_goes_before_it_fetches_is_unreachable_before_its_time_is_up(redis, calls):
    Mailboxes(redis).fetch(BOT, 1)
    boxes = Mailboxes(redis)

    def go():
        wait_until(lambda: boxes.waiting(BOT), 10, "a call")
        redis.delete(keys.mail_polled(BOT))

    going = threading.Thread(target=go)
    going.start()
    began = time.monotonic()
    answer = calls.ask(call(budget_ms=60_000))
    going.join()
    assert (answer.outcome, answer.error) == ("unreachable", GONE.error)
    assert time.monotonic() - began < 20


def test_the_budget_begins_when_the_call_is_in_the_mailbox(bot, office, calls):
    office.failures["put"] = 10
    answer = calls.ask(call(budget_ms=400))
    assert answer.outcome in {"ok", "our_fault"}  # the latter on a machine that stands still
    assert answer.ms < 400
    assert office.failures["put"] == 0


def test_an_answer_in_time_counts_though_we_hear_of_it_late(bot, office, calls):
    office.deaf.set()
    threading.Timer(0.8, office.deaf.clear).start()
    answer = calls.ask(call(budget_ms=400))
    assert answer.outcome == "ok", answer.error
    assert answer.ms <= 400


@pytest.mark.parametrize("what", ["withdraw", "hear"])
def test_what_the_store_keeps_from_us_is_our_fault_and_says_nothing_about_the_bot(redis, office, calls, what):
    Mailboxes(redis).fetch(BOT, 1)
    office.failures[what] = 20
    answer = calls.ask(call(budget_ms=200))
    assert (answer.outcome, answer.is_unattended) == ("our_fault", True)


def test_a_lost_answer_is_our_fault(redis, office, calls):
    boxes = Mailboxes(redis)
    boxes.fetch(BOT, 1)

    def lose():
        wait_until(lambda: boxes.waiting(BOT), 10, "a call")
        redis.delete(keys.mail_calls(BOT))

    losing = threading.Thread(target=lose)
    losing.start()
    answer = calls.ask(call(budget_ms=3_000))
    losing.join()
    assert (answer.outcome, answer.error) == ("our_fault", "an answer was lost")


def test_a_bot_is_not_blamed_for_not_polling_a_store_that_was_away(redis, office, calls):
    office.failures["put"] = 1
    threading.Timer(0.2, lambda: Mailboxes(redis).fetch(BOT, 1)).start()
    answer = calls.ask(call(budget_ms=100))
    assert answer.outcome == "late"


def test_a_call_waits_for_an_api_that_is_away_and_its_budget_too(redis, office, calls):
    redis.delete(keys.MAIL_OPEN)

    def come_back():
        time.sleep(0.3)
        Mailboxes(redis).fetch(BOT, 1)
        time.sleep(0.3)
        been_open(redis)

    coming = threading.Thread(target=come_back)
    coming.start()
    answer = calls.ask(call(budget_ms=100))
    coming.join()
    assert answer.outcome == "late", "it was put when the bot came, though nobody could poll for longer than its budget"
    assert answer.ms < 500


def test_a_call_waits_for_an_api_so_long_and_no_longer(redis, office, calls, monkeypatch):
    monkeypatch.setattr(mail, "CLOSED_S", 0.3)
    redis.delete(keys.MAIL_OPEN)
    answer = calls.ask(call(budget_ms=100))
    assert (answer.outcome, answer.is_unattended, answer.error) == ("our_fault", True, UNHEARD.error)


@pytest.mark.parametrize("is_fetched", [True, False])
def test_a_bot_is_not_late_whom_no_api_has_answered(redis, office, calls, is_fetched):
    boxes = Mailboxes(redis)
    boxes.fetch(BOT, 1)

    def die():
        wait_until(lambda: boxes.fetch(BOT, 1) if is_fetched else boxes.waiting(BOT), 10, "a call")
        redis.delete(keys.MAIL_OPEN)

    dying = threading.Thread(target=die)
    dying.start()
    answer = calls.ask(call(budget_ms=1_000))
    dying.join()
    assert (answer.outcome, answer.is_unattended, answer.error) == ("our_fault", True, UNHEARD.error)


def test_what_waits_for_a_bot_that_may_be_kept_away_holds_up_nobody_and_is_tried_now_and_then(redis, bot, office):
    made, puts = Calls(Guard(LOOPBACK), office=office), []
    put = office.put
    office.put = lambda letters: puts.extend(each.bot_id for each in letters) or put(letters)
    redis.hset(keys.MAIL_OPEN, "since", redis.time()[0] * 1000)
    line = made.line()
    try:
        began = time.monotonic()
        line.submit(call(key="kept away", name="msg_0", bot="bot_b"))
        for number in range(1, 100):
            line.submit(call(key=number, name=f"msg_{number}"))
            assert [each.key for each in gather(line, 1)] == [number]
        assert puts.count("bot_b") <= 2 + (time.monotonic() - began) / mail.AGAIN_S
    finally:
        line.close()
        made.close()


def test_the_same_call_under_way_twice_has_its_answer_twice(bot, office):
    made = Calls(Guard(LOOPBACK), office=office)
    line = made.line()
    try:
        office.deaf.set()
        line.submit(call(key=1))
        line.submit(call(key=2))
        office.deaf.clear()
        answers = gather(line, 2)
        assert {(each.key, each.outcome) for each in answers} == {(1, "ok"), (2, "ok")}
    finally:
        line.close()
        made.close()


def test_many_calls_of_a_line_go_together_and_each_has_its_answer(bot, office):
    made, puts = Calls(Guard(LOOPBACK), office=office), []
    put = office.put
    office.put = lambda letters: puts.append(len(letters)) or put(letters)
    line = made.line()
    try:
        for number in range(300):
            line.submit(call(key=number, name=f"msg_{number}"))
        answers = gather(line, 300, 60)
        assert {each.key: json.loads(each.body)["to"] for each in answers} == {n: f"msg_{n}" for n in range(300)}
        assert sum(puts) == 300
        assert len(puts) < 150, "one round trip for many"
    finally:
        line.close()
        made.close()


def test_two_copies_share_the_work_and_no_call_is_done_twice(redis, bot, office):
    other = Polling(redis)
    made = Calls(Guard(LOOPBACK), office=office)
    line = made.line()
    try:
        names = [f"msg_{number}" for number in range(200)]
        for number, name in enumerate(names):
            line.submit(call(key=number, name=name))
        assert {each.outcome for each in gather(line, 200, 60)} == {"ok"}
        done = [parcel["id"] for polling in (bot, other) for parcel in polling.parcels]
        assert sorted(done) == sorted(names)
    finally:
        line.close()
        made.close()
        other.close()


def test_news_arrive_and_nothing_waits_for_them(bot, office):
    made = Calls(Guard(LOOPBACK), office=office)
    try:
        for name in ("msg_started", "msg_ended"):
            made.notify(call(name=name))
        wait_until(lambda: len(bot.parcels) == 2, 10, "both news")
        assert [parcel["id"] for parcel in bot.parcels] == ["msg_started", "msg_ended"]
    finally:
        made.close()


def test_what_is_in_the_mail_when_we_close_is_our_fault(redis, office):
    boxes, made = Mailboxes(redis), Calls(Guard(LOOPBACK), office=office)
    boxes.fetch(BOT, 1)
    line = made.line()
    line.submit(call())
    wait_until(lambda: boxes.waiting(BOT) == 1, 10, "a call")
    made.close()
    [answer] = line.wait(5)
    assert (answer.outcome, answer.error) == ("our_fault", "the arena is shutting down")
    assert boxes.fetch(BOT, 1) == [], "nobody is asked in vain"
    line.submit(call(key=2))
    assert line.wait(5)[0].outcome == "our_fault"
    line.close()


def test_a_card_is_read_as_if_it_had_been_asked_for(redis, bot, calls):
    none_yet = calls.get_posted_card(BOT)
    assert (none_yet.outcome, none_yet.error) == ("unreachable", NO_CARD.error)
    bot.boxes.put_card(BOT, b'{"name":"x"}')
    answer = calls.get_posted_card(BOT)
    assert (answer.outcome, answer.body) == ("ok", b'{"name":"x"}')
    bot.close()
    redis.delete(keys.mail_polled(BOT))
    gone = calls.get_posted_card(BOT)
    assert (gone.outcome, gone.error) == ("unreachable", GONE.error)


def test_without_an_office_a_bot_that_fetches_cannot_be_reached():
    made = Calls(Guard(LOOPBACK))
    assert made.ask(call()).outcome == "unreachable"
    assert made.get_posted_card(BOT).outcome == "unreachable"
    made.close()
