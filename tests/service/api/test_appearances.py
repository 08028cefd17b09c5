"""How bots did lately, as readers see it: sums by ruleset, and their last games, of which nothing hidden is told."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from bot_sdk.bots import HOUSE
from bot_sdk.events import Outcome
from bot_sdk.results.values import GameState
from service.store.retention import RetentionStore
from tests.service.api.answers import problem
from tests.service.bench import NOW, Desk, Worker
from tests.service.fakes import FakeCalls, fails

ADA, BEA, CLEO, DORA = ("bot_" + letter * 26 for letter in "abcd")


@pytest.fixture
def store(app):
    return app.extensions["slagveld"].store


@pytest.fixture
def desk(store):
    desk = Desk(store)
    for bot_id in (ADA, BEA, CLEO, DORA):
        desk.bot(bot_id, activated_at=NOW)
    return desk


@pytest.fixture
def calls():
    return FakeCalls(ms=12.0)


@pytest.fixture
def drive(store, calls):
    return Worker(store, calls).drive


@pytest.fixture
def get(client):
    def get(path, status=200):
        answer = client.get(path)
        assert answer.status_code == status, answer.text
        return answer.get_json()

    return get


def game_id(number):
    return f"gam_{'a' * 24}{chr(97 + number // 26)}{chr(97 + number % 26)}"


@pytest.fixture
def play(desk, drive):
    """Play games to their ends, one after the other."""
    numbers = iter(range(100))

    def play(*who, **more):
        game = desk.game(*who, id=game_id(next(numbers)), **more)
        drive(game)
        return game

    return play


def test_statistics_sum_up_games_by_ruleset(play, desk, calls, get):
    calls.bots[ADA] = fails(Outcome.ILLEGAL)
    games = [play(ADA, BEA, limits={"max_faults": 2}), play("house:random", ADA, limits={"max_faults": 2})]
    calls.bots[ADA] = fails(Outcome.UNREACHABLE)
    river = play(ADA, BEA, CLEO, DORA, limits={"max_faults": 1})
    seven_up, four = get(f"/v1/bots/{ADA}/statistics")["items"]
    ends = [desk.meta(game).ended_at for game in games]
    count = sum(len(desk.decided(game, seat)) for seat, game in enumerate(games))
    assert seven_up == {
        "ruleset": "seven_up",
        "games": 2,
        "since": ends[0],
        "until": ends[1],
        "decisions": count,
        "outcomes": {"illegal": count},
        "retired": 2,
        "times": [{"from_ms": 10.0, "to_ms": 15.0, "decisions": count}],
    }
    decisions = len(desk.decided(river, 0))
    assert (four["outcomes"], four["times"]) == ({"unreachable": 1, "retired": decisions - 1}, [])


def test_classes_of_times_have_no_gaps(play, calls, get):
    calls.ms = 2.0
    play(ADA, BEA)
    calls.ms = 7.0
    play(ADA, BEA)
    (shown,) = get(f"/v1/bots/{ADA}/statistics")["items"]
    edges = [(each["from_ms"], each["to_ms"]) for each in shown["times"]]
    assert edges == [(2.0, 3.0), (3.0, 5.0), (5.0, 7.0), (7.0, 10.0)]
    counts = [each["decisions"] for each in shown["times"]]
    assert (counts[1:3], sum(counts)) == ([0, 0], shown["decisions"])


def test_last_games_come_newest_first_with_what_became_of_them(play, desk, get):
    games = [play(ADA, BEA), play("house:greedy", ADA), play(ADA, BEA, CLEO, DORA)]
    shown = get(f"/v1/bots/{ADA}/games?limit=2")
    rest = get(f"/v1/bots/{ADA}/games?limit=2&cursor={shown['next_cursor']}")
    assert rest["next_cursor"] is None
    items = [*shown["items"], *rest["items"]]
    assert [item["id"] for item in items] == games[::-1]
    for item in items:
        game = desk.table(item["id"]).game
        assert (item["totals"], item["places"], item["retired"]) == (game.state.totals, game.places, False)
        assert (item["state"], item["readable"]) == ("finished", True)
        assert item["seats"][item["own_seats"][0]]["bot_id"] == ADA
    (house,) = get("/v1/bots/house:greedy/games")["items"]
    assert (house["id"], house["own_seats"]) == (games[1], [0])


def test_open_board_is_neither_counted_nor_listed(play, desk, drive, store, get):
    game = play(ADA, BEA, slot=desk.shared_slot())
    assert desk.state(game) is GameState.FINISHED
    for path in ("statistics", "games"):
        assert get(f"/v1/bots/{ADA}/{path}") == {"items": [], "next_cursor": None}
    store.tournaments.close_board("trn_1", "1")
    drive(game)
    assert [item["id"] for item in get(f"/v1/bots/{ADA}/games")["items"]] == [game]
    assert get(f"/v1/bots/{ADA}/statistics")["items"][0]["games"] == 1


def test_game_that_cannot_be_read_after_all_is_not_listed(play, desk, store, get, redis):
    """Its tournament was restored from before the board was closed, say: what is listed decides nothing by itself."""
    store.tournaments.close_board("trn_1", "1")
    play(ADA, BEA, slot=desk.shared_slot())
    assert len(get(f"/v1/bots/{ADA}/games")["items"]) == 1
    redis.delete("{t:trn_1}:closed")
    assert get(f"/v1/bots/{ADA}/games")["items"] == []


def test_game_that_has_left_the_store_is_counted_and_not_listed(play, store, desk, redis, get):
    games = [play(ADA, BEA), play(ADA, BEA)]
    RetentionStore(redis).drop_games([desk.meta(games[0])])
    assert [item["id"] for item in get(f"/v1/bots/{ADA}/games")["items"]] == games[1:]
    assert get(f"/v1/bots/{ADA}/statistics")["items"][0]["games"] == 2


@pytest.mark.parametrize("path", ["statistics", "games"])
def test_it_is_public_as_the_bot_is(play, store, client, path):
    play(ADA, BEA)
    store.bots.change(ADA, lambda bot: replace(bot, availability="private"))
    problem(client.get(f"/v1/bots/{ADA}/{path}"), 404, "not_found")
    problem(client.get(f"/v1/bots/bot_{'z' * 26}/{path}"), 404, "not_found")
    assert client.get(f"/v1/bots/{BEA}/{path}").status_code == 200


@pytest.mark.parametrize("path", ["statistics", "games"])
def test_bot_that_has_not_played_has_none(desk, get, path):
    assert get(f"/v1/bots/{ADA}/{path}") == {"items": [], "next_cursor": None}
    assert get(f"/v1/bots/{next(iter(HOUSE))}/{path}") == {"items": [], "next_cursor": None}


def test_cursor_that_no_page_gave_is_refused(desk, get):
    assert get(f"/v1/bots/{ADA}/games?cursor=Z2FtXzE", 422)["code"] == "invalid"
