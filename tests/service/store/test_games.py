"""What `GameStore` promises about creation, seats, ends and lists, on a real server."""

from __future__ import annotations

import pytest

from bot_sdk.events import Decided
from bot_sdk.results.values import GameState, Slot
from service.store import due as names
from service.store import keys
from service.store.entities import Seat
from service.store.errors import BadCursorError, NotFoundError
from service.store.games import GameStore

SECRET = bytes(range(32))
BOT = Seat(kind="bot", name="lowball", bot_id="bot_1")
OPEN = Seat(kind="open", name="")
ADA = Seat(kind="human", name="Ada")


@pytest.fixture
def news(redis):
    """Tell what was told of game `gam_1` since the last call."""
    with redis.pubsub(ignore_subscribe_messages=True) as pubsub:
        pubsub.subscribe(keys.game_news("gam_1"), "end")

        def heard():
            redis.publish("end", "")
            told = []
            while (message := pubsub.get_message(timeout=5)) is None or message["channel"] != b"end":
                told += [message["data"]] if message else []
            return told

        yield heard


def test_game_comes_back_as_it_was_created(games, make_game):
    game = make_game(slot=Slot(tournament_id="trn_1", round=1, table=2, board="1.2"), owner="acc_1")
    assert games.create(game, secret=SECRET, due_at=5)
    assert games.get(game.id) == game
    assert games.secret(game.id) == SECRET
    assert games.load(game.id) == (game, [], SECRET)


def test_unknown_game_is_none_and_its_secret_an_error(games):
    assert games.get("gam_none") is None
    assert games.load("gam_none") is None
    with pytest.raises(NotFoundError, match="gam_none"):
        games.secret("gam_none")


def test_creating_the_same_game_again_is_the_same_creation(games, make_game):
    assert games.create(make_game(), secret=SECRET, due_at=5)
    assert games.create(make_game(), secret=SECRET, due_at=5)


def test_another_game_under_a_taken_id_changes_nothing(games, make_game):
    games.create(make_game(), secret=SECRET, due_at=5)
    assert not games.create(make_game(ruleset="seven_up"), secret=b"other", due_at=9)
    assert games.get("gam_1") == make_game()
    assert games.secret("gam_1") == SECRET


def test_creation_makes_the_game_due_before_anything_else(redis, games, due, make_game, monkeypatch):
    monkeypatch.setattr(games._scripts, "run", lambda *_: (_ for _ in ()).throw(ConnectionError))
    with pytest.raises(ConnectionError):
        games.create(make_game(), secret=SECRET, due_at=77)
    assert due.at(names.game("gam_1")) == 77
    assert not redis.exists(keys.game_meta("gam_1"))


def test_creating_again_leaves_the_time_at_which_it_is_due(games, due, make_game):
    games.create(make_game(), secret=SECRET, due_at=5)
    due.add(names.game("gam_1"), 500)
    games.create(make_game(), secret=SECRET, due_at=6)
    assert due.at(names.game("gam_1")) == 500


def test_game_created_running_has_a_start(games, due, make_game):
    before = due.now()
    games.create(make_game(state=GameState.RUNNING), secret=SECRET, due_at=None)
    game = games.get("gam_1")
    assert game.state is GameState.RUNNING
    assert before <= game.started_at <= due.now()


def test_full_game_starts_once(games, due, make_game):
    games.create(make_game(), secret=SECRET, due_at=None)
    assert games.start("gam_1")
    started = games.get("gam_1").started_at
    assert games.start("gam_1")
    assert games.get("gam_1").started_at == started <= due.now()


def test_game_with_an_open_seat_starts_after_somebody_joined(games, make_game):
    games.create(make_game(seats=[BOT, OPEN]), secret=SECRET, due_at=None)
    assert not games.start("gam_1")
    assert games.fill_seat("gam_1", 1, ADA, replaces="open") == "filled"
    assert games.start("gam_1")
    assert games.get("gam_1").seats == [BOT, ADA]


def test_ended_or_missing_game_does_not_start(redis, games, make_game):
    games.create(make_game(), secret=SECRET, due_at=None)
    games.end("gam_1", GameState.CANCELLED)
    assert not games.start("gam_1")
    assert not games.start("gam_none")
    assert not redis.exists(keys.game_meta("gam_none"))


def test_second_to_join_finds_the_seat_taken(games, make_game):
    games.create(make_game(seats=[BOT, OPEN]), secret=SECRET, due_at=None)
    assert games.fill_seat("gam_1", 1, ADA, replaces="open", token="a") == "filled"
    assert games.fill_seat("gam_1", 1, Seat(kind="human", name="Bob"), replaces="open", token="b") == "taken"
    assert games.tokens("gam_1") == {1: "a"}


def test_joining_again_after_a_lost_answer_is_the_same_joining(games, make_game, news):
    games.create(make_game(seats=[BOT, OPEN]), secret=SECRET, due_at=None)
    games.fill_seat("gam_1", 1, ADA, replaces="open", token="a")
    assert games.fill_seat("gam_1", 1, ADA, replaces="open", token="a") == "filled"
    games.start("gam_1")
    assert games.fill_seat("gam_1", 1, ADA, replaces="open", token="a") == "filled"
    assert len(news()) == 2


def test_same_name_with_another_token_is_another_player(games, make_game):
    games.create(make_game(seats=[BOT, OPEN]), secret=SECRET, due_at=None)
    games.fill_seat("gam_1", 1, ADA, replaces="open", token="a")
    assert games.fill_seat("gam_1", 1, ADA, replaces="open", token="b") == "taken"


def test_leaving_voids_the_token_and_cannot_put_out_who_came_after(games, make_game):
    games.create(make_game(), secret=SECRET, due_at=None, tokens={1: "a"})
    assert games.tokens("gam_1") == {1: "a"}
    assert games.fill_seat("gam_1", 1, OPEN, replaces="human", held_by="a") == "filled"
    assert games.tokens("gam_1") == {}
    games.fill_seat("gam_1", 1, ADA, replaces="open", token="b")
    assert games.fill_seat("gam_1", 1, OPEN, replaces="human", held_by="a") == "taken"
    assert games.tokens("gam_1") == {1: "b"}


def test_seats_are_closed_after_the_start(games, running):
    assert games.fill_seat(running.id, 1, OPEN, replaces="human") == "started"
    assert not games.set_entropy(running.id, 1, "luck")


def test_seat_that_does_not_exist_is_an_error(games, make_game):
    games.create(make_game(), secret=SECRET, due_at=None)
    with pytest.raises(NotFoundError, match="seat 2"):
        games.fill_seat("gam_1", 2, ADA, replaces="open")
    with pytest.raises(NotFoundError, match="gam_none"):
        games.fill_seat("gam_none", 0, ADA, replaces="open")


def test_entropy_is_taken_until_the_start(games, make_game):
    games.create(make_game(), secret=SECRET, due_at=None)
    assert games.set_entropy("gam_1", 1, "lück")
    games.start("gam_1")
    assert games.set_entropy("gam_1", 1, "lück")
    assert not games.set_entropy("gam_1", 1, "more")
    assert games.get("gam_1").entropy == ["", "lück"]


def test_first_end_stands(games, due, running):
    assert games.end(running.id, GameState.CANCELLED)
    assert games.end(running.id, GameState.CANCELLED)
    assert not games.end(running.id, GameState.ABORTED)
    assert not games.end("gam_none", GameState.ABORTED)
    game = games.get(running.id)
    assert game.state is GameState.CANCELLED
    assert game.started_at <= game.ended_at <= due.now()


def test_an_end_must_be_an_end(games, running):
    with pytest.raises(ValueError, match="running"):
        games.end(running.id, GameState.RUNNING)


def test_game_is_shown_once(games, running, news):
    assert games.show(running.id)
    assert not games.show(running.id)
    assert news() == [b"shown"]
    assert not games.show("gam_none")
    assert games.get("gam_none") is None


def test_showing_sent_again_after_a_lost_answer_is_still_the_first(redis, running):
    games = GameStore(redis, nonce=lambda: "once")
    assert games.show(running.id)
    assert games.show(running.id)


def test_settled_game_is_neither_due_nor_counted(games, due, unfinished, make_game):
    game = make_game(seats=[BOT, ADA], owner="acc_1")
    games.create(game, secret=SECRET, due_at=5)
    assert unfinished.games("bot:bot_1") == unfinished.games("account:acc_1") == ["gam_1"]
    for _ in range(2):
        games.settle(game)
        assert unfinished.count("bot:bot_1") == unfinished.count("account:acc_1") == due.count() == 0


def test_every_change_is_told(games, make_game, news):
    games.create(make_game(seats=[BOT, OPEN]), secret=SECRET, due_at=None)
    changes = [
        lambda: games.fill_seat("gam_1", 1, ADA, replaces="open"),
        lambda: games.set_entropy("gam_1", 1, "luck"),
        lambda: games.start("gam_1"),
        lambda: games.commit("gam_1", [Decided(0, "bid:1")], expected=0, lease=None),
        lambda: games.end("gam_1", GameState.CANCELLED),
        lambda: games.show("gam_1"),
    ]
    for change in changes:
        change()
        assert len(news()) == 1


# --- lists --------------------------------------------------------------------------------------------------


def walk(read, limit):
    """Give the ids of all pages, and check that none is too long."""
    found, cursor = [], None
    while True:
        items, cursor = read(limit=limit, cursor=cursor)
        assert len(items) <= limit
        found += [game.id for game in items]
        if cursor is None:
            return found


@pytest.fixture
def many(games, make_game):
    """Seven games, the last four of them made in one millisecond."""
    for n in range(7):
        slot = Slot(tournament_id="trn_1", round=n, table=0, board=str(n)) if n % 2 else None
        made = make_game(f"gam_{n}", created_at=1_000 + min(n, 3), owner="acc_1" if n < 3 else None, slot=slot)
        games.create(made, secret=SECRET, due_at=None)
    return [f"gam_{n}" for n in reversed(range(7))]


@pytest.mark.parametrize("limit", [1, 2, 3, 6, 7, 8])
def test_pages_hold_every_game_once_newest_first(games, many, limit):
    assert walk(games.list_all, limit) == many


def test_games_made_while_paging_do_not_shift_the_pages(games, many, make_game):
    items, cursor = games.list_all(limit=3)
    games.create(make_game("gam_new", created_at=2_000), secret=SECRET, due_at=None)
    rest, _ = games.list_all(limit=10, cursor=cursor)
    assert [game.id for game in items + rest] == many


def test_lists_by_account_tournament_and_state(games, many):
    games.end("gam_1", GameState.CANCELLED)
    games.end("gam_5", GameState.CANCELLED)

    def cancelled(**page):
        return games.list_for_tournament("trn_1", state=GameState.CANCELLED, **page)

    assert walk(lambda **page: games.list_for_account("acc_1", **page), 2) == ["gam_2", "gam_1", "gam_0"]
    assert walk(lambda **page: games.list_for_tournament("trn_1", **page), 2) == ["gam_5", "gam_3", "gam_1"]
    assert walk(cancelled, 1) == ["gam_5", "gam_1"]
    assert games.list_for_account("acc_none", limit=5) == ([], None)


def test_listed_game_that_never_came_to_be_is_passed_over(redis, games, many):
    redis.delete(keys.game_meta("gam_4"))
    assert walk(games.list_all, 2) == [name for name in many if name != "gam_4"]


def test_game_made_anew_after_a_crash_in_the_midst_of_its_creation_is_listed_once(games, many, make_game, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(games._scripts, "run", None)
        with pytest.raises(TypeError):
            games.create(make_game("gam_late", created_at=1_001, owner="acc_1"), secret=SECRET, due_at=None)
    games.create(make_game("gam_late", created_at=1_005, owner="acc_1"), secret=SECRET, due_at=None)
    for limit in (1, 2, 9):
        assert walk(games.list_all, limit) == ["gam_late", *many]
        mine = walk(lambda **page: games.list_for_account("acc_1", **page), limit)
        assert mine == ["gam_late", "gam_2", "gam_1", "gam_0"]


@pytest.mark.parametrize("cursor", ["", "x", "!!!!", "AAAA", "é", "=" * 400, "MDAwMDAwMDAwMDAxMDAzOg"])
def test_made_up_cursor_is_refused(games, many, cursor):
    with pytest.raises(BadCursorError, match="next_cursor"):
        games.list_all(limit=2, cursor=cursor)
