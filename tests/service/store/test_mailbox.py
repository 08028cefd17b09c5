"""Mailboxes: each call is given to one reader and answered once, and nothing of it stays."""

from __future__ import annotations

import time

import pytest

from service.store import keys
from service.store.mailbox import CLOSED, Given, Mailboxes, Office

BOT = "bot_a"


@pytest.fixture
def box(redis):
    """Give the mailboxes, of which a bot polls its own."""
    found = Mailboxes(redis)
    assert found.fetch(BOT, 1) == []
    been_open(redis)
    return found


@pytest.fixture
def office(redis):
    return Office(redis, "w1")


def post(office, *names, ms=10_000, bot=BOT):
    return office.put([(bot, name, f'"{name}"'.encode(), ms) for name in names])


def been_open(redis):
    """Have bots been able to poll for ever."""
    redis.set(keys.MAIL_OPEN, 1, px=60_000)


def gone(redis, bot=BOT):
    """Let so much time pass that a bot counts as gone."""
    redis.delete(keys.mail_polled(bot))


def heard(office):
    return [(each.bot_id, each.call_id, each.status, each.body) for each in office.hear(1)]


def test_calls_are_fetched_in_order_each_by_one_reader(box, office):
    assert all(post(office, "a", "b", "c"))
    assert box.waiting(BOT) == 3
    assert box.fetch(BOT, 2) == [b'"a"', b'"b"']
    assert box.fetch(BOT, 9) == [b'"c"']
    assert box.fetch(BOT, 9) == []


def test_an_answer_gets_to_who_asked_once(box, office, redis):
    post(office, "a", "b")
    post(Office(redis, "w2"), "c")
    box.fetch(BOT, 9)
    answers = [Given("a", 200, b"{}"), Given("b", 500, b"\xc3\xa9"), Given("a", 200, b"other"), Given("x", 200, b"")]
    assert box.answer(BOT, answers) == [True, True, False, False]
    assert box.answer(BOT, answers[:1]) == [False]
    assert heard(office) == [(BOT, "a", 200, b"{}"), (BOT, "b", 500, b"\xc3\xa9")]
    assert box.answer(BOT, [Given("c", 200, b"{}")]) == [True]
    assert heard(Office(redis, "w2")) == [(BOT, "c", 200, b"{}")]
    assert heard(office) == []


def test_another_bot_can_neither_fetch_nor_answer(box, office):
    post(office, "a")
    assert box.fetch("bot_b", 9) == []
    assert box.answer("bot_b", [Given("a", 200, b"{}")]) == [False]
    assert box.fetch(BOT, 9) == [b'"a"']


def test_nothing_is_put_where_nobody_polls(box, office, redis):
    gone(redis)
    assert post(office, "a") == [None]
    assert box.fetch(BOT, 9) == []
    assert post(office, "a") != [None]
    gone(redis)
    box.answer(BOT, [])
    assert post(office, "b") != [None], "who answers is there"


@pytest.mark.parametrize("since", ["never", "just now"])
def test_a_bot_that_could_not_poll_is_not_taken_for_gone(box, office, redis, since):
    post(office, "a")
    gone(redis)
    redis.delete(keys.MAIL_OPEN)
    if since == "just now":
        box.keep_open()
    assert post(office, "b") == [CLOSED]
    assert office.recall([(BOT, "a")]) == [False]
    been_open(redis)
    box.keep_open()
    assert post(office, "b") == [None]
    assert office.recall([(BOT, "a")]) == [True]


def test_what_was_heard_is_heard_again_until_the_next_time(box, office, redis, monkeypatch):
    post(office, "a")
    box.answer(BOT, [Given("a", 200, b"{}")])
    assert len(heard(office)) == 1
    assert len(heard(Office(redis, "w1"))) == 1, "as after a connection that broke"
    assert heard(office) == []
    assert heard(Office(redis, "w1")) == []


def test_a_call_that_was_taken_back_is_neither_fetched_nor_answered(box, office):
    post(office, "a", "b", "c")
    box.fetch(BOT, 1)
    box.answer(BOT, [Given("c", 200, b"{}")])
    assert office.withdraw([(BOT, name) for name in "abcx"]) == [True, False, None, None]
    assert box.fetch(BOT, 9) == []
    assert box.answer(BOT, [Given("a", 200, b"{}"), Given("b", 200, b"{}")]) == [False, False]


def test_calls_are_recalled_only_of_a_bot_that_is_gone_and_only_what_it_has_not_fetched(box, office, redis):
    post(office, "a", "b")
    box.fetch(BOT, 1)
    assert office.recall([(BOT, "a"), (BOT, "b")]) == [False, False]
    gone(redis)
    assert office.recall([(BOT, "a"), (BOT, "b")]) == [False, True]
    assert box.fetch(BOT, 9) == []
    assert box.answer(BOT, [Given("a", 200, b"{}")]) == [True], "it has been fetched: its answer may come"


def test_a_call_that_another_process_asks_again_is_given_once_and_answered_to_that_one(box, office, redis):
    other = Office(redis, "w2")
    post(office, "a")
    post(other, "a")
    assert box.fetch(BOT, 9) == [b'"a"']
    assert office.withdraw([(BOT, "a")]) == [None], "it is another's by now"
    assert box.answer(BOT, [Given("a", 200, b"{}")]) == [True]
    assert heard(office) == []
    assert len(heard(other)) == 1


def test_a_call_put_twice_is_given_once(box, office):
    post(office, "a")
    post(office, "a")
    assert box.fetch(BOT, 9) == [b'"a"']
    assert box.fetch(BOT, 9) == []


def test_what_is_too_old_is_not_given(box, office):
    post(office, "a", ms=1)
    post(office, "b")
    time.sleep(0.005)
    assert box.fetch(BOT, 9) == [b'"b"']


def test_what_a_dead_process_left_goes_by_itself(box, office, redis, monkeypatch):
    monkeypatch.setattr("service.store.mailbox.SETTLE_MS", 1)
    post(office, *(f"a{n}" for n in range(50)), ms=1)
    box.fetch(BOT, 20)
    time.sleep(0.01)
    monkeypatch.undo()
    office.put([(BOT, "b", b"b", 30_000)])
    monkeypatch.setattr("service.store.mailbox.SETTLE_MS", 1)
    post(office, "c")
    assert {name.split()[-1] for name in redis.hkeys(keys.mail_calls(BOT))} <= {b"b", b"c"}
    assert redis.zcard(keys.mail_ends(BOT)) == 2


def test_everything_but_the_card_expires_by_itself(box, office, redis):
    box.put_card(BOT, b"{}")
    post(office, "a", "b")
    box.fetch(BOT, 1)
    box.answer(BOT, [Given("a", 200, b"{}")])
    lasting = {name for name in redis.scan_iter("*mail:*") if redis.pttl(name) < 0}
    assert lasting == {keys.mail_card(BOT).encode()}
    assert len(list(redis.scan_iter("*mail:*"))) == 7


def test_a_card_is_shown_with_whether_the_bot_is_there(box, office, redis):
    assert office.card(BOT) == (None, True)
    box.put_card(BOT, b'{"name":"x"}')
    gone(redis)
    assert office.card(BOT) == (b'{"name":"x"}', False)


def test_hands_stand_under_the_prefix_of_secrets(box, office, redis):
    redis.config_set("rdbcompression", "no")
    office.put([(BOT, "a", b"hand-AS", 1_000)])
    telling = [name for name in redis.scan_iter() if b"hand-AS" in redis.dump(name)]
    assert telling
    assert all(name.startswith(b"secret:") for name in telling)
