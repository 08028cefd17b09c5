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


def now_ms(redis):
    seconds, micros = redis.time()
    return seconds * 1000 + micros // 1000


def been_open(redis, since=1, until_ms_ago=0):
    """Have bots been able to poll for ever, as was noted so long ago."""
    redis.delete(keys.MAIL_OPEN)
    redis.hset(keys.MAIL_OPEN, mapping={"since": since, "last": now_ms(redis) - until_ms_ago})


def polled(redis, ms_ago, bot=BOT):
    redis.set(keys.mail_polled(bot), now_ms(redis) - ms_ago)


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
    assert post(office, "b") == [None]
    assert office.recall([(BOT, "a")]) == [True]


@pytest.mark.parametrize(
    ("polled_ms_ago", "noted_ms_ago", "is_gone"),
    [(4_000, 0, False), (5_500, 0, True), (5_500, 900, False), (7_000, 900, True)],
)
def test_a_bot_is_gone_only_if_it_is_known_that_it_could_have_polled(
    box, office, redis, polled_ms_ago, noted_ms_ago, is_gone
):
    post(office, "a")
    polled(redis, polled_ms_ago)
    been_open(redis, until_ms_ago=noted_ms_ago)
    assert (post(office, "b") == [None]) == is_gone
    assert office.recall([(BOT, "a")]) == [is_gone], "whoever answered polls may have died just after the note"


def test_nothing_is_put_while_nobody_answers_polls(box, office, redis):
    redis.delete(keys.MAIL_OPEN)
    assert post(office, "a") == [CLOSED]
    box.keep_open()
    assert post(office, "a") not in ([CLOSED], [None])


def test_that_polls_are_answered_counts_from_when_it_began_and_not_longer_than_it_is_noted(box, office, redis):
    redis.delete(keys.MAIL_OPEN)
    box.keep_open()
    since = redis.hget(keys.MAIL_OPEN, "since")
    box.keep_open()
    assert redis.hget(keys.MAIL_OPEN, "since") == since
    assert 0 < redis.pttl(keys.MAIL_OPEN) <= 1_000
    for wrong in (now_ms(redis) + 3_600_000, now_ms(redis) - 1_000):
        redis.hset(keys.MAIL_OPEN, mapping={"since": 1, "last": wrong})
        box.keep_open()
        assert int(redis.hget(keys.MAIL_OPEN, "since")) >= int(since), "a clock that was set, or a gap"


def test_a_clock_that_was_set_back_makes_nobody_gone_nor_keeps_anybody_there(box, office, redis):
    post(office, "a")
    ahead = now_ms(redis) + 3_600_000
    redis.set(keys.mail_polled(BOT), ahead)
    redis.hset(keys.MAIL_OPEN, mapping={"since": 1, "last": ahead})
    assert office.recall([(BOT, "a")]) == [False]
    assert post(office, "b") == [CLOSED]
    been_open(redis)
    assert office.recall([(BOT, "a")]) == [True]
    assert post(office, "b") == [None]


def test_a_call_says_at_its_deadline_if_nobody_answered_the_bot_for_a_while(box, office, redis):
    def put(name):
        [put_us] = post(office, name)
        return BOT, name, put_us

    [a, b, c] = map(put, "abc")
    assert office.withdraw([a]) == [False]
    redis.delete(keys.MAIL_OPEN)
    assert office.withdraw([b]) == [CLOSED], "nobody does now"
    time.sleep(0.005)
    box.keep_open()
    assert office.withdraw([c]) == [CLOSED], "somebody does again"
    assert box.fetch(BOT, 9) == []


def test_bots_poll_and_answer_also_when_memory_is_short(box, office, redis):
    post(office, "a", "b")
    redis.delete(keys.mail_polled(BOT))
    redis.config_set("maxmemory", 1)
    try:
        assert box.fetch(BOT, 1) == [b'"a"']
        assert box.answer(BOT, [Given("a", 200, b"{}")]) == [True]
    finally:
        redis.config_set("maxmemory", 0)
    assert redis.exists(keys.mail_polled(BOT))


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
    assert office.withdraw([(BOT, name, 2_000) for name in "abcx"]) == [True, False, None, None]
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
    assert office.withdraw([(BOT, "a", 2_000)]) == [None], "it is another's by now"
    assert box.answer(BOT, [Given("a", 200, b"{}")]) == [True]
    assert heard(office) == []
    assert len(heard(other)) == 1


def test_a_call_put_twice_is_given_once(box, office):
    post(office, "a")
    post(office, "a")
    assert box.fetch(BOT, 9) == [b'"a"']
    assert box.fetch(BOT, 9) == []


@pytest.mark.parametrize("grace_ms", [1, 60_000])
def test_what_is_too_old_is_lost_but_not_before_who_put_it_had_time_to_take_it_back(
    box, office, redis, monkeypatch, grace_ms
):
    monkeypatch.setattr("service.store.mailbox.GRACE_MS", grace_ms)
    post(office, "a", ms=1)
    post(office, "b")
    time.sleep(0.01)
    assert box.fetch(BOT, 9) == ([b'"b"'] if grace_ms == 1 else [b'"a"', b'"b"'])
    told = office.withdraw([(BOT, "a", 2_000)])
    assert told == ([None] if grace_ms == 1 else [True]), "a clock that was set on doesn't make anybody late"


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
    box.keep_open()
    post(office, "a", "b")
    box.fetch(BOT, 1)
    box.answer(BOT, [Given("a", 200, b"{}")])
    lasting = {name for name in redis.scan_iter("*mail:*") if redis.pttl(name) < 0}
    assert lasting == {keys.mail_card(BOT).encode()}
    assert len(list(redis.scan_iter("*mail:*"))) == 7


def test_a_card_is_shown_with_whether_the_bot_is_there_or_could_not_be(box, office, redis):
    assert office.card(BOT) == (None, True)
    box.put_card(BOT, b'{"name":"x"}')
    gone(redis)
    assert office.card(BOT) == (b'{"name":"x"}', False)
    redis.delete(keys.MAIL_OPEN)
    assert office.card(BOT) == (b'{"name":"x"}', True)
    box.keep_open()
    assert office.card(BOT) == (b'{"name":"x"}', True)


def test_hands_stand_under_the_prefix_of_secrets(box, office, redis):
    redis.config_set("rdbcompression", "no")
    office.put([(BOT, "a", b"hand-AS", 1_000)])
    telling = [name for name in redis.scan_iter() if b"hand-AS" in redis.dump(name)]
    assert telling
    assert all(name.startswith(b"secret:") for name in telling)
