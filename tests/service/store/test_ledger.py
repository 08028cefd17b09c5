from __future__ import annotations

import pytest

from bot_sdk.events import Outcome
from service.store.errors import BadCursorError
from service.store.ledger import Ending, Ledger, LedgerLine
from service.store.newest import KEPT_S


def line(n, **changes):
    values = {
        "bot_id": "bot_1",
        "decision_id": f"gam_1.0.{n}",
        "game_id": "gam_1",
        "at": 1_000 + n // 4,
        "outcome": Outcome.OK,
        "ms": 1.5,
    }
    return LedgerLine(**(values | changes))


def test_lines_come_back_newest_first_page_by_page(store):
    bad = line(99, outcome=Outcome.BAD_REPLY, error="expected an object, got 'ü \n'", status=200, head="<html> ü")
    lines = [*map(line, range(10)), bad]
    store.ledger.add(lines)
    found, cursor = [], None
    while True:
        page, cursor = store.ledger.lines("bot_1", limit=3, cursor=cursor)
        assert len(page) <= 3
        found += page
        if cursor is None:
            break
    assert found == lines[::-1]


def test_same_line_again_is_one_line(store):
    store.ledger.add([line(1)])
    store.ledger.add([line(1), line(1, bot_id="bot_2")])
    assert store.ledger.lines("bot_1", limit=9) == ([line(1)], None)
    assert store.ledger.lines("bot_2", limit=9) == ([line(1, bot_id="bot_2")], None)


def test_only_the_last_lines_are_kept(redis):
    ledger = Ledger(redis, keep=3)
    for n in range(7):
        ledger.add([line(n, at=n)])
    assert [kept.at for kept in ledger.lines("bot_1", limit=9)[0]] == [6, 5, 4]


def test_made_up_cursor_is_refused(store):
    with pytest.raises(BadCursorError):
        store.ledger.lines("bot_1", limit=3, cursor="Z2FtXzE")


def test_last_endings_are_told(store):
    endings = [Ending(bot_id="bot_1", game_id=f"gam_{n}", at=n, retired=n % 2 == 0) for n in range(4)]
    store.ledger.add_endings(endings)
    store.ledger.add_endings(endings[2:])
    assert store.ledger.endings("bot_1", limit=3) == endings[:0:-1]
    assert store.ledger.endings("bot_none", limit=3) == []


def test_lists_of_a_bot_that_is_gone_run_out(store, redis):
    store.ledger.add([line(1), line(2, bot_id="bot_2")])
    store.ledger.add_endings([Ending(bot_id="bot_1", game_id="gam_1", at=1, retired=False)])
    assert all(0 < redis.ttl(key) <= KEPT_S for key in redis.keys("bot:*"))
    assert len(redis.keys("bot:*")) == 3
