"""Erasing accounts: what goes, what stays, whatever dies in between. The whole is in tests/attacks/test_erasure.py."""

from __future__ import annotations

import contextlib

import pytest
from msgspec.structs import replace

from bot_sdk.events import Outcome, Retired, RetiredBecause
from bot_sdk.games.record import encode, read, verify
from bot_sdk.results.values import GameState
from service.arena.erasing import NEUTRAL, Erasing
from service.arena.errors import NotFoundError
from service.store import due, keys
from service.store.accounts import Token
from service.store.audit import Line, Log
from service.store.entities import Account, AccountState, Check, Seat, TournamentState
from service.store.idempotency import Answer
from service.store.ledger import LedgerLine
from tests.service.bench import Worker
from tests.service.fakes import first_legal
from tests.service.plain import plain

WORD = "zanzibar"
ME = "acc_1"
SETTLE_MS = 10_000


@pytest.fixture
def erasing(store, clock):
    return Erasing(store, clock=clock, settle_ms=0)


@pytest.fixture
def account(store, account):
    """Keep the account whose caller is made, with a token."""

    def make(account_id=ME):
        store.accounts.create(Account(id=account_id, name=f"{WORD} {account_id}", created_at=1))
        token = Token(id=f"tok_{account_id}", account_id=account_id, name=WORD, created_at=1)
        store.accounts.add_token(token, f"digest of {account_id}", most=9)
        return account(account_id)

    return make


@pytest.fixture
def erase(erasing, store):
    """Have an account erased to the end."""

    def run(account_id=ME):
        erasing.ask(account_id)
        erasing.run(account_id, lambda: False)
        assert store.accounts.get(account_id).state is AccountState.ERASED
        assert store.erasures.get(account_id) is None
        assert store.due.at(due.erasure(account_id)) is None

    return run


@pytest.fixture
def talkative(calls):
    """Let a bot say its name with each action."""

    def make(bot_id):
        calls.bots[bot_id] = lambda decision: (
            b'{"decision_id": "%s", "action": "%s", "note": "%s"}'
            % (decision["decision_id"].encode(), first_legal(decision).encode(), WORD.encode())
        )

    return make


@pytest.fixture
def my_bot(desk):
    def make(bot_id, account_id=ME):
        return desk.bot(bot_id, name=f"{WORD} {bot_id}", url=f"http://127.0.0.1:9/{WORD}", account_id=account_id)

    return make


def telling(redis):
    redis.config_set("rdbcompression", "no")  # so that DUMP shows plain bytes
    return {name for name in redis.scan_iter() if WORD.encode() in name + plain(redis, name)}


@pytest.fixture
def traces(store, desk, worker, running, start, owner, account, my_bot, talkative, tournaments, mint, tournament_order):
    """Leave the account's words wherever they may stand."""
    account()
    for bot_id in ("bot_a", "bot_b"):
        my_bot(bot_id)
        talkative(bot_id)
    desk.bot("bot_c", account_id="acc_2", name="honest")
    played = start("bot_a", "bot_c", name=f"{WORD} cup")
    while not store.tournaments.get(played).state.is_end:
        worker.drive(*running.advance(played, 1))
    waits = tournaments.create(owner, tournament_order(name=f"{WORD} waits"), mint()).id
    for bot_id in ("bot_b", "bot_c"):
        tournaments.enter(owner, waits, bot_id, None)
    reason = f"all its 2 games are over; {WORD} bot_a (deleted by its owner) forfeited 1 game"
    store.tournaments.change(played, lambda old: replace(old, reason=reason))
    store.ratings.add("seven_up", {}, {"bot_a": f"{WORD} a", "bot_c": "honest"})
    store.bots.create_check(Check(id="chk_1", bot_id="bot_a", url=f"http://{WORD}/", created_at=1))
    begun = store.idempotency.begin("one", "f", account_id=ME)
    store.idempotency.finish(begun, Answer(201, {}, WORD.encode()))
    begun = store.idempotency.begin("two", "f")
    store.idempotency.finish(begun, Answer(201, {}, f"{ME} {WORD}".encode()))
    for number, more in enumerate([{"account_id": ME}, {"path": f"/v1/admin/accounts/{ME}"}, {"made": "bot_b"}]):
        told = {"path": "/", "operation": "x", "address": WORD if "account_id" in more else None, "body": WORD} | more
        store.audit.put(Line(id=f"aud_{number}", created_at=1, log=Log.ACCOUNTS, **told))
    desk.game("bot_a", "bot_c")
    game = desk.meta(desk.game("human:x", "human:bob"))
    store.erasures.rewrite_seats(
        game.id, lambda seat: seat if seat.name == "bob" else Seat(kind="human", name=WORD, account_id=ME)
    )
    worker.drive(*(game.id for game in store.games.list_all(limit=10)[0] if game.state is GameState.RUNNING))
    return played, waits


def test_nothing_in_the_store_names_it_any_more(traces, redis, erase, worker, store, erasing):
    assert len(telling(redis)) >= 15
    assert {name.split(b":")[0].strip(b"{") for name in telling(redis)} >= {b"account", b"bot", b"check", b"g", b"t"}
    erasing.ask(ME)
    left = next(game for game in store.games.list_all(limit=10)[0] if game.state is GameState.RUNNING)
    store.games.end(left.id, GameState.CANCELLED)
    erase()
    assert telling(redis) == set()


def test_what_others_need_stands(traces, erase, store, desk, redis, games):
    played, _ = traces
    results, entries = store.tournaments.results(played), store.tournaments.entries(played)
    for game in store.games.list_all(limit=10)[0]:
        store.games.end(game.id, GameState.CANCELLED)
    erase()
    assert store.tournaments.results(played) == results
    after = store.tournaments.entries(played)
    assert [entry.bot_id for entry in after] == [entry.bot_id for entry in entries]
    assert [entry.name for entry in after] == ["erased", "honest"]
    assert [entry.withdrawn_at for entry in after] == [None, None], "it was over"
    shown = store.tournaments.get(played)
    assert (shown.name, shown.state) == ("erased", TournamentState.FINISHED)
    assert shown.reason == "all its 2 games are over; erased (deleted by its owner) forfeited 1 game"
    assert store.ratings.names("seven_up", ["bot_a", "bot_c"]) == {"bot_a": "erased", "bot_c": "honest"}
    for result in results:
        record = desk.table(result.game_id).record(result.state.value)
        assert sorted(seat.name for seat in record.seats) == ["erased", "honest"]
        verify(read(encode(record)))
    lines, _ = store.audit.lines(Log.ACCOUNTS, limit=10)
    assert {(line.operation, line.body, line.address) for line in lines} == {("x", None, None)}


def test_tokens_are_good_for_nothing_from_the_moment_it_is_asked_for(account, erasing, store):
    account()
    erasing.ask(ME)
    assert store.accounts.get(ME).state is AccountState.ERASING
    erasing.run(ME, lambda: False)
    assert store.accounts.token(f"digest of {ME}") is None
    erasing.ask(ME)
    assert store.due.at(due.erasure(ME)) is None, "it is erased already"


def test_whatever_dies_whenever_it_is_taken_to_its_end(traces, redis, store, erasing, monkeypatch):
    """The store goes away at a command, one later each time; each time another worker goes on."""
    for game in store.games.list_all(limit=10)[0]:
        store.games.end(game.id, GameState.CANCELLED)
    with dying(store, monkeypatch, 4), pytest.raises(GoneError):
        erasing.ask(ME)
    assert store.due.at(due.erasure(ME)) is not None
    deaths = 0
    while store.accounts.get(ME).state is not AccountState.ERASED or store.due.at(due.erasure(ME)) is not None:
        with dying(store, monkeypatch, deaths + 1), contextlib.suppress(GoneError):  # the last run survives
            erasing.run(ME, lambda: False)
        deaths += 1
    assert deaths > 20
    assert telling(redis) == set()


class GoneError(Exception):
    pass


@contextlib.contextmanager
def dying(store, monkeypatch, commands):
    """Let the store's connection die after so many commands."""
    left, pool = iter(range(commands)), store._redis.connection_pool
    get = pool.get_connection

    def dies(*args, **more):
        if next(left, None) is None:
            raise GoneError
        return get(*args, **more)

    with monkeypatch.context() as patched:
        patched.setattr(pool, "get_connection", dies)
        yield


def test_what_was_written_meanwhile_is_found_by_a_second_look(account, store, desk, my_bot, redis, clock):
    """Whoever had read an old name may still write it for a while."""
    account()
    my_bot("bot_a")
    erasing = Erasing(store, clock=clock, settle_ms=SETTLE_MS)
    erasing.ask(ME)
    erasing.run(ME, lambda: False)
    settled_at = store.erasures.get(ME).asked_at + SETTLE_MS
    assert store.due.at(due.erasure(ME)) == settled_at
    line = {"decision_id": "gam_1.0.0", "game_id": "gam_1", "at": 1, "outcome": Outcome.LATE, "ms": 1.0, "head": WORD}
    store.ledger.add([LedgerLine(bot_id="bot_a", **line)])
    my_bot("bot_late")
    late = desk.game("bot_late", "human:bob")
    store.games.end(late, GameState.CANCELLED)
    store.erasures.change(ME, lambda old: replace(old, asked_at=old.asked_at - SETTLE_MS))
    erasing.run(ME, lambda: False)
    assert store.accounts.get(ME).state is AccountState.ERASED
    assert telling(redis) == set()


def test_notes_of_a_game_that_runs_go_when_it_has_ended(
    account, store, desk, my_bot, talkative, worker, erasing, redis
):
    account()
    my_bot("bot_a")
    talkative("bot_a")
    game = desk.game("bot_a", "human:bob", options={"target": 5})
    worker.drive(game)
    while not any(event.note for event in desk.decided(game, 0)):
        desk.commit(game, 1, desk.table(game).game.state.legal_actions(1)[0])
        worker.drive(game)
    erasing.ask(ME)
    erasing.run(ME, lambda: False)
    assert telling(redis) == {f"{{g:{game}}}:log".encode()}
    assert store.due.at(due.erasure(ME)) > store.due.now(), "it is looked at again"
    fresh = Worker(store, worker.calls)  # that doesn't know the bot from before
    while not desk.state(game).is_end:
        desk.commit(game, 1, desk.table(game).game.state.legal_actions(1)[0])
        fresh.drive(game)
    assert desk.retired(game) == [Retired(0, RetiredBecause.DISABLED)]
    erasing.run(ME, lambda: False)
    assert telling(redis) == set()
    assert {event.outcome for event in desk.decided(game, 0)} <= {Outcome.OK, Outcome.RETIRED}


def test_what_it_hosts_is_called_off_or_ends_by_itself(
    account, store, tournaments, start, erase, mint, tournament_order, owner
):
    me = account()
    waits = tournaments.create(me, tournament_order(), mint()).id
    runs = start("house:greedy", "house:random")
    ladder = start("house:greedy", "house:random", format="ladder", deals=None)
    tournaments.change(owner, ladder, {"name": NEUTRAL})
    tournaments = tournaments.__class__(
        store, max_tournaments=9, clock=lambda: 5, root_secret=lambda: bytes(32), seed=lambda: 1
    )
    paused = tournaments.create(me, tournament_order(), mint()).id
    for bot in ("house:greedy", "house:random"):
        tournaments.enter(me, paused, bot, None)
    for state in (TournamentState.RUNNING, TournamentState.PAUSED):
        tournaments.set_state(me, paused, state)
    erase()
    states = {name: store.tournaments.get(name).state.value for name in (waits, runs, ladder, paused)}
    assert list(states.values()) == ["cancelled", "running", "running", "cancelled"]
    assert store.tournaments.get(ladder).max_games == 1, "it draws no more"
    assert "its host's account was erased" in store.tournaments.get(waits).reason
    assert store.due.at(due.tournament(paused)) is not None, "its games are to be cancelled"


def test_an_act_that_ends_while_its_line_is_gone_over_keeps_its_end(store):
    line = Line(id="aud_1", created_at=1, log=Log.ACCOUNTS, operation="x", path="/", address="10.0.0.1", body=None)
    store.audit.put(line)

    def discreet(seen):
        return replace(seen, address=None)

    def slow(seen):
        store.audit.put(replace(seen, status=204))
        return discreet(seen)

    store.audit.rewrite(slow)
    store.audit.rewrite(discreet)
    assert store.audit.lines(Log.ACCOUNTS, limit=9)[0] == [replace(line, status=204, address=None)]


def test_a_damaged_log_keeps_none_of_the_rest(traces, redis, erase, desk, store):
    damaged = 0
    for game in store.games.list_all(limit=10)[0]:
        store.games.end(game.id, GameState.CANCELLED)
        if redis.exists(keys.game_packed(game.id)):
            damaged += redis.append(keys.game_packed(game.id), b"x") > 0
        elif desk.log(game.id):
            damaged += redis.lset(keys.game_log(game.id), 0, b"1 {")
    assert damaged > 1
    erase()


def test_where_its_bots_are_entered_they_are_out_or_withdrawn(
    account, store, desk, my_bot, tournaments, mint, erase, start, tournament_order
):
    host, _ = account("acc_2"), account()
    for bot in ("bot_a", "bot_b"):
        my_bot(bot)
    desk.bot("bot_c", account_id="acc_2")
    waits = tournaments.create(host, tournament_order(), mint()).id
    for bot in ("bot_a", "bot_c"):
        tournaments.enter(host, waits, bot, None)
    runs = start("bot_b", "bot_c")
    erase()
    assert [entry.bot_id for entry in store.tournaments.entries(waits)] == ["bot_c"]
    entered = {entry.bot_id: (entry.name, entry.withdrawn_at is None) for entry in store.tournaments.entries(runs)}
    assert entered == {"bot_b": ("erased", False), "bot_c": ("bot_c", True)}
    assert store.accounts.get("acc_2").name == f"{WORD} acc_2", "another account is another's"


def test_it_gives_way_to_others_and_goes_on_where_it_stopped(account, store, erasing):
    account()
    erasing.ask(ME)
    for step in range(4):
        assert store.erasures.get(ME).step == step
        turns = iter([False])
        erasing.run(ME, lambda turns=turns: next(turns, True))
        assert store.due.at(due.erasure(ME)) <= store.due.now(), "the sweeper sends it again"


def test_the_sweeper_has_it_done(account, erasing, sweep, queue, store):
    account()
    erasing.ask(ME)
    sweep.once()
    assert queue.erasures == [ME]
    assert store.due.at(due.erasure(ME)) > store.due.now()


def test_an_account_that_isnt_there(erasing, store):
    with pytest.raises(NotFoundError):
        erasing.ask("acc_nobody")
    erasing.run("acc_nobody", lambda: False)
    assert store.due.count() == 0
