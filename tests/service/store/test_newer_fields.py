"""What a newer release has added to a value stays there when this one changes the value: both may run side by side."""

from __future__ import annotations

import json

import pytest
from msgspec.structs import replace

from bot_sdk.events import Decided
from bot_sdk.results.values import Entry, GameState
from service.store import keys, packed
from service.store.audit import Line, Log
from service.store.documents import encode, encode_over
from service.store.entities import Account, Seat
from tests.service.store.conftest import SECRET

LATER = {"later": [1, {"x": "y"}]}


def added_to(raw):
    """Give a value as a newer release would have written it; documents begin with letters."""
    letters, brace, text = raw.partition(b"{")
    return letters + json.dumps(json.loads(brace + text) | LATER).encode()


def has_later(raw):
    return json.loads(b"{" + raw.partition(b"{")[2]).get("later") == LATER["later"]


def add_to_field(redis, key, field):
    redis.hset(key, field, added_to(redis.hget(key, field)))


def test_documents_keep_what_they_are_not_read_for(store, redis, make_bot, make_tournament):
    store.accounts.create(Account(id="acc_1", name="Ada", created_at=1))
    store.bots.create(make_bot(), secret="whsec_1")
    store.tournaments.create(make_tournament(), secret=SECRET)
    names = [keys.account("acc_1"), keys.bot("bot_1"), keys.bot_secrets("bot_1"), keys.tournament("trn_1")]
    for name in names:
        redis.set(name, added_to(redis.get(name)))
    store.accounts.change("acc_1", lambda account: replace(account, name="erased"))
    store.bots.change("bot_1", lambda bot: replace(bot, url="http://127.0.0.1:2/"))
    store.bots.rotate("bot_1", "whsec_2", previous_until=1)
    store.tournaments.change("trn_1", lambda tournament: replace(tournament, name="day"))
    assert all(has_later(redis.get(name)) for name in names)
    assert store.bots.get("bot_1").url == "http://127.0.0.1:2/"
    assert store.bots.secrets("bot_1", 0) == ("whsec_2", "whsec_1")


def test_entries_keep_it(store, redis, make_tournament):
    store.tournaments.create(make_tournament(), secret=SECRET)
    entry = Entry(bot_id="bot_1", name="lowball", account_id=None, entered_at=1)
    store.tournaments.enter("trn_1", entry, most=9)
    add_to_field(redis, keys.tournament_entries("trn_1"), "bot_1")
    store.tournaments.withdraw("trn_1", "bot_1", 7)
    assert has_later(redis.hget(keys.tournament_entries("trn_1"), "bot_1"))
    assert store.tournaments.entries("trn_1") == [replace(entry, withdrawn_at=7)]


def test_audit_lines_keep_it(store, redis):
    line = Line(id="aud_1", created_at=1, log=Log.OPERATOR, operation="o", path="/p", address="a", body=None)
    store.audit.put(line)
    add_to_field(redis, keys.audit_lines("operator"), "aud_1")
    store.audit.rewrite(lambda each: replace(each, address=None))
    assert has_later(redis.hget(keys.audit_lines("operator"), "aud_1"))


def renamed(seat):
    return replace(seat, name="erased")


def test_games_keep_it_when_their_seats_are_renamed(store, redis, make_game):
    store.games.create(
        make_game(seats=[Seat(kind="open", name=""), Seat(kind="human", name="Ada")]), secret=SECRET, due_at=None
    )
    store.games.fill_seat("gam_1", 0, Seat(kind="human", name="Eve"), replaces="open", token="t")
    for field in ("body", "seat:0"):
        add_to_field(redis, keys.game_meta("gam_1"), field)
    store.erasures.rewrite_seats("gam_1", renamed)
    assert all(has_later(redis.hget(keys.game_meta("gam_1"), field)) for field in ("body", "seat:0"))
    assert [seat.name for seat in store.games.get("gam_1").seats] == ["erased", "erased"]


def test_games_keep_it_when_they_are_packed_renamed_and_stripped(store, redis, running):
    store.games.commit("gam_1", [Decided(0, "bid:1", note="mine")], expected=0, lease=None, ending=GameState.FINISHED)
    add_to_field(redis, keys.game_meta("gam_1"), "body")
    assert store.games.pack("gam_1")
    store.erasures.rewrite_seats("gam_1", renamed)
    store.erasures.strip_notes("gam_1", {0})
    value = redis.get(keys.game_packed("gam_1"))
    assert has_later(packed._awake(packed._opened("gam_1", value)))
    game, log, _ = store.games.load("gam_1")
    assert {seat.name for seat in game.seats} == {"erased"}
    assert log[0][1].note is None


@pytest.mark.parametrize("seen", [b"{}", b'{"id":"acc_2","name":"","created_at":2}'])
def test_nothing_is_added_where_nothing_is_unknown(seen):
    account = Account(id="acc_1", name="Ada", created_at=1)
    assert encode_over(seen, account) == encode(account)
