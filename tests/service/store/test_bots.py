from __future__ import annotations

import threading

import pytest
from msgspec.structs import replace

from service.store.bots import KEPT_CHECKS
from service.store.entities import BotState, Check
from service.store.errors import ContendedError, FullError, NotFoundError


def test_bot_is_kept_once_with_its_first_secret(store, make_bot):
    assert store.bots.create(make_bot(), secret="whsec_a")
    assert store.bots.create(make_bot(), secret="whsec_a")
    assert not store.bots.create(make_bot(name="other"), secret="whsec_b")
    assert store.bots.get("bot_1") == make_bot()
    assert store.bots.get_many(["bot_none", "bot_1"]) == [None, make_bot()]
    assert store.bots.get_many([]) == []
    assert store.bots.secrets("bot_1", 0) == ("whsec_a",)


def test_account_with_as_many_bots_as_it_may_have_gets_no_further(store, make_bot):
    assert store.bots.create(make_bot("bot_1"), secret="whsec_a", most=1)
    assert store.bots.create(make_bot("bot_1"), secret="whsec_a", most=1)
    with pytest.raises(FullError):
        store.bots.create(make_bot("bot_2"), secret="whsec_a", most=1)
    assert store.bots.get("bot_2") is None
    store.bots.delete(make_bot("bot_1"))
    assert store.bots.create(make_bot("bot_2"), secret="whsec_a", most=1)


def test_previous_secret_is_good_until_its_time(store, make_bot):
    store.bots.create(make_bot(), secret="whsec_a")
    for _ in range(2):  # the second one is the same request, sent again
        store.bots.rotate("bot_1", "whsec_b", previous_until=100)
        assert store.bots.secrets("bot_1", 99) == ("whsec_b", "whsec_a")
        assert store.bots.secrets("bot_1", 100) == ("whsec_b",)
    with pytest.raises(NotFoundError, match="bot_none"):
        store.bots.secrets("bot_none", 0)


def test_changes_from_many_threads_are_all_there(store, make_bot):
    store.bots.create(make_bot(max_games=0), secret="whsec_a")
    threads = [
        threading.Thread(target=store.bots.change, args=["bot_1", lambda b: replace(b, max_games=b.max_games + 1)])
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=30)
    assert store.bots.get("bot_1").max_games == 8


def test_of_two_who_want_the_same_change_both_get_their_turn(store, make_bot):
    """The second one sees what the first one made, although both began with the same bot."""
    store.bots.create(make_bot(max_games=0), secret="whsec_a")
    seen = []

    def second(bot):
        seen.append(bot.max_games)
        if len(seen) == 1:
            store.bots.change("bot_1", lambda other: replace(other, max_games=other.max_games + 1))
        return replace(bot, max_games=bot.max_games + 1)

    store.bots.change("bot_1", second)
    assert seen == [0, 1]
    assert store.bots.get("bot_1").max_games == 2


def test_change_sent_twice_is_one_change(store, make_bot, lose_answers):
    store.bots.create(make_bot(max_games=0), secret="whsec_a")
    changed = lose_answers(
        lambda: store.bots.change("bot_1", lambda bot: replace(bot, max_games=bot.max_games + 1)),
        when=lambda answer: answer == 1,
    )
    assert changed.max_games == store.bots.get("bot_1").max_games == 1


def test_change_that_is_refused_changes_nothing(store, make_bot):
    store.bots.create(make_bot(), secret="whsec_a")

    def refuse(bot):
        raise PermissionError(bot.id)

    with pytest.raises(PermissionError, match="bot_1"):
        store.bots.change("bot_1", refuse)
    assert store.bots.get("bot_1") == make_bot()
    with pytest.raises(NotFoundError, match="no bot bot_none"):
        store.bots.change("bot_none", refuse)


def test_change_that_always_comes_too_late_gives_up(store, make_bot):
    store.bots.create(make_bot(), secret="whsec_a")
    other = iter(range(1_000))

    def overtaken(bot):
        if bot.name != "inner":
            store._redis.set("bot:bot_1", store._redis.get("bot:bot_1") + b" " * next(other))
        return replace(bot, max_games=bot.max_games + 1)

    next(other)
    with pytest.raises(ContendedError, match="bot_1"):
        store.bots.change("bot_1", overtaken)


def test_lists_are_by_owner_or_by_what_the_caller_likes(store, make_bot):
    for n in range(4):
        state = BotState.ACTIVE if n % 2 else BotState.PENDING
        made = make_bot(f"bot_{n}", account_id=f"acc_{n // 2}", state=state, created_at=n)
        store.bots.create(made, secret="whsec_a")
    active, _ = store.bots.list_all(limit=9, keep=lambda bot: bot.state is BotState.ACTIVE)
    owned, _ = store.bots.list_for_account("acc_0", limit=9)
    assert [bot.id for bot in active] == ["bot_3", "bot_1"]
    assert [bot.id for bot in owned] == ["bot_1", "bot_0"]


def test_deleted_bot_is_gone_with_its_secrets(store, make_bot):
    store.bots.create(make_bot(), secret="whsec_a")
    for _ in range(2):
        store.bots.delete(make_bot())
        assert store.bots.get("bot_1") is None
        assert store.bots.list_all(limit=9) == store.bots.list_for_account("acc_1", limit=9) == ([], None)
        with pytest.raises(NotFoundError):
            store.bots.secrets("bot_1", 0)


def test_checks_are_kept_changed_and_listed(store):
    for n in range(2):
        assert store.bots.create_check(Check(id=f"chk_{n}", bot_id="bot_1", url="http://x/", created_at=n))
    store.bots.change_check("chk_0", lambda check: replace(check, state="passed", ended_at=9))
    assert store.bots.get_check("chk_0").state == "passed"
    checks, _ = store.bots.list_checks("bot_1", limit=9)
    assert [(check.id, check.state) for check in checks] == [("chk_1", "queued"), ("chk_0", "passed")]


def test_only_the_newest_checks_are_kept_and_the_others_go_with_what_they_were(store, redis):
    for n in range(KEPT_CHECKS + 3):
        store.bots.create_check(Check(id=f"chk_{n}", bot_id="bot_1", url="http://x/", created_at=n))
    store.bots.create_check(Check(id="chk_other", bot_id="bot_2", url="http://x/", created_at=0))
    checks, following = store.bots.list_checks("bot_1", limit=100)
    assert ([check.id for check in checks], following) == ([f"chk_{n}" for n in range(KEPT_CHECKS + 2, 2, -1)], None)
    assert [store.bots.get_check(f"chk_{n}") for n in range(3)] == [None] * 3
    assert len(redis.keys("check:*")) == KEPT_CHECKS + 1


def test_checks_that_a_crash_kept_from_being_forgotten_are_by_the_next(store, redis, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(store.bots, "_forget_checks", lambda *_, **__: None)
        for n in range(KEPT_CHECKS + 3):
            store.bots.create_check(Check(id=f"chk_{n}", bot_id="bot_1", url="http://x/", created_at=n))
    store.bots.create_check(Check(id="chk_last", bot_id="bot_1", url="http://x/", created_at=999))
    assert len(redis.keys("check:*")) == redis.zcard("bot:bot_1:checks") == KEPT_CHECKS
