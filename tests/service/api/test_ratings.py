"""Leaderboards and bots' ratings as readers see them: today's names, nothing of what is private."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from service.arena.ratings import Ratings
from service.store.entities import Bot, BotState
from tests.service.fakes import Clock, until
from tests.service.rated import EVERY_MS, NOW, Season, fit_here

HOUSE = "house:greedy"
FOUR = tuple("bot_" + letter * 26 for letter in "abcd")
ADA, BEA, CLEO, DORA = FOUR


@pytest.fixture
def clock():
    return Clock(NOW)


@pytest.fixture
def store(app):
    return app.extensions["slagveld"].store


@pytest.fixture
def ratings(store, queue, clock):
    return Ratings(store, queue, fit_here, clock=clock, new_id=lambda: "fit", every_ms=EVERY_MS)


@pytest.fixture
def season(store, ratings):
    return Season(store, ratings)


@pytest.fixture
def owner(person):
    return person("ann")


@pytest.fixture
def bots(store, owner):
    """Register four bots of one owner, named by their letters."""
    for bot_id in FOUR:
        bot = Bot(
            id=bot_id,
            account_id=owner.id,
            name=bot_id[-1],
            url="http://127.0.0.1:9/",
            rulesets=["river"],
            state=BotState.ACTIVE,
            version="1",
            created_at=NOW,
            activated_at=NOW,
        )
        assert store.bots.create(bot, secret="whsec_" + "A" * 32)


@pytest.fixture
def played(bots, season, ratings):
    """Have the bots beat each other in order of their letters, often enough."""
    season.enter(**{bot_id: bot_id[-1] for bot_id in FOUR})
    season.play(*FOUR, times=12)
    assert ratings.refit("river")
    return season


@pytest.fixture
def change(store):
    def change(bot_id, **changes):
        store.bots.change(bot_id, lambda bot: replace(bot, **changes))

    return change


@pytest.fixture
def get(client):
    def get(path, status=200):
        answer = client.get(path)
        assert answer.status_code == status, answer.text
        return answer.get_json()

    return get


@pytest.fixture
def leaderboard(get):
    return lambda query="": get(f"/v1/leaderboards/river{query}")


def by_bot(shown):
    return {item["bot_id"]: item for item in shown["items"]}


# --- from a tournament to a leaderboard -------------------------------------------------------------------------------


def test_tournament_of_house_bots_is_rated_as_its_boards_close(night, person_at):
    host = person_at(night)
    made = host("POST", "/v1/tournaments", json={"name": "friday", "ruleset": "seven_up", "rounds": 12, "seed": 1})
    path = f"/v1/tournaments/{made.get_json()['id']}"
    for bot_id in ("house:random", HOUSE):
        assert host("PUT", f"{path}/entries/{bot_id}", json={}).status_code == 200
    assert host("PUT", f"{path}/state", json={"state": "running"}).status_code == 200

    def shown():
        return host("GET", "/v1/leaderboards/seven_up").get_json()

    until(lambda: shown()["results"] == 12, timeout_s=60)
    greedy, at_random = shown()["items"]
    assert (greedy["rank"], greedy["bot_id"], greedy["games"]) == (1, HOUSE, 12)
    assert (at_random["rank"], at_random["bot_id"], at_random["rating"]) == (2, "house:random", 1000)
    assert greedy["low"] < greedy["rating"] < greedy["high"]
    (met,) = host("GET", f"/v1/bots/{HOUSE}/opponents").get_json()["items"]
    assert (met["bot_id"], met["games"]) == ("house:random", 12)
    assert met["superiority"] > 0.5


# --- leaderboards -----------------------------------------------------------------------------------------------------


def test_before_the_first_fit_a_leaderboard_is_empty(leaderboard):
    shown = leaderboard()
    assert (shown["items"], shown["next_cursor"], shown["computed_at"], shown["results"]) == ([], None, None, 0)
    assert set(shown["method"]) == {"rating", "interval", "rated", "rank"}


@pytest.mark.parametrize("name", ["whist", "River", "x" * 40])
def test_ruleset_that_is_not_there_is_not_found(get, name):
    assert get(f"/v1/leaderboards/{name}", 404)["code"] == "not_found"


def test_leaderboard_shows_ranks_ratings_and_when_they_were_computed(played, leaderboard):
    shown = leaderboard()
    assert [(item["rank"], item["bot_id"]) for item in shown["items"]] == list(enumerate(FOUR, 1))
    assert (shown["computed_at"], shown["results"], shown["next_cursor"]) == (NOW, 12, None)
    first = shown["items"][0]
    assert set(first) == {
        *("rank", "bot_id", "name", "state", "version", "rating", "low", "high"),
        *("games", "is_provisional", "last_at"),
    }
    assert (first["name"], first["state"], first["version"]) == ("a", "active", "1")
    assert (first["games"], first["is_provisional"]) == (12, False)


def test_house_bots_stand_in_it_too(played, ratings, leaderboard, get):
    played.play(HOUSE, *FOUR[:3], times=12)
    ratings.refit("river")
    house = by_bot(leaderboard())[HOUSE]
    assert (house["name"], house["state"], house["games"]) == ("greedy", "active", 12)
    assert get(f"/v1/bots/{HOUSE}/ratings")["items"][0]["versions"][0]["games"] == 12


def test_ties_share_a_rank(bots, season, ratings, leaderboard):
    for _ in range(6):
        season.play(*FOUR, places=[1, 2, 3, 4])
        season.play(BEA, ADA, DORA, CLEO, places=[1, 2, 3, 4])
    ratings.refit("river")
    assert [(item["rank"], item["bot_id"]) for item in leaderboard()["items"]] == [
        *((1, ADA), (1, BEA)),
        *((3, CLEO), (3, DORA)),
    ]


def test_provisional_ratings_come_last_and_have_no_rank(played, ratings, leaderboard):
    played.play(HOUSE, ADA, BEA, CLEO)
    ratings.refit("river")
    items = leaderboard()["items"]
    assert [item["rank"] for item in items] == [1, 2, 3, 4, None]
    assert items[-1]["bot_id"] == HOUSE
    assert items[-1]["is_provisional"]
    assert items[-1]["rating"] > items[-2]["rating"]


def test_leaderboard_goes_by_pages(played, leaderboard):
    first = leaderboard("?limit=3")
    rest = leaderboard(f"?limit=3&cursor={first['next_cursor']}")
    assert [item["rank"] for item in first["items"] + rest["items"]] == [1, 2, 3, 4]
    assert rest["next_cursor"] is None
    assert rest["computed_at"] == NOW


@pytest.mark.parametrize("query", ["?versions=old", "?cursor=abc", "?limit=0", "?ruleset=river"])
def test_bad_query_is_refused(get, query):
    get(f"/v1/leaderboards/river{query}", 422)


def test_one_row_a_bot_for_the_version_that_played_last_unless_all_are_asked_for(played, ratings, leaderboard):
    played.play(f"{ADA}@2", *FOUR[1:], times=11)
    ratings.refit("river")
    newest = by_bot(leaderboard())[ADA]
    assert (newest["version"], newest["games"]) == ("2", 11)
    both = [item for item in leaderboard("?versions=all")["items"] if item["bot_id"] == ADA]
    assert {(item["version"], item["games"]) for item in both} == {("1", 12), ("2", 11)}


# --- what may happen to bots ------------------------------------------------------------------------------------------


def ratings_of(shown):
    return {(item["bot_id"], item["version"]): (item["rating"], item["games"]) for item in shown["items"]}


def test_name_is_todays_and_the_rating_stays(played, ratings, leaderboard, owner):
    before = ratings_of(leaderboard())
    assert owner("PATCH", f"/v1/bots/{ADA}", json={"name": "renamed"}).status_code == 200
    assert by_bot(leaderboard())[ADA]["name"] == "renamed"
    assert ratings_of(leaderboard()) == before


@pytest.mark.parametrize("state", [BotState.PAUSED, BotState.SUSPENDED, BotState.DISABLED, BotState.PENDING])
def test_bot_that_does_not_play_now_keeps_its_rating_and_is_shown_as_such(played, change, leaderboard, state):
    before = ratings_of(leaderboard())
    change(ADA, state=state)
    assert by_bot(leaderboard())[ADA]["state"] == state
    assert ratings_of(leaderboard()) == before


def test_withdrawal_changes_no_rating(played, leaderboard, store):
    before = ratings_of(leaderboard())
    store.tournaments.withdraw(played.tournament.id, ADA, NOW)
    assert ratings_of(leaderboard()) == before


def test_deleted_bot_leaves_the_leaderboard_and_its_games_go_on_counting(played, ratings, leaderboard, owner, get):
    before = ratings_of(leaderboard())
    assert owner("DELETE", f"/v1/bots/{ADA}").status_code == 204
    shown = leaderboard()
    assert [(item["rank"], item["bot_id"]) for item in shown["items"]] == list(enumerate(FOUR[1:], 1))
    played.play(*FOUR[1:], HOUSE)
    ratings.refit("river")
    assert by_bot(leaderboard())[BEA]["games"] == before[BEA, "1"][1] + 1
    get(f"/v1/bots/{ADA}/ratings", 404)
    get(f"/v1/bots/{ADA}/opponents", 404)
    met = {item["bot_id"]: item for item in get(f"/v1/bots/{BEA}/opponents")["items"]}
    assert (met[ADA]["name"], met[ADA]["games"]) == ("a", 12)


# --- what is private --------------------------------------------------------------------------------------------------


@pytest.fixture
def hidden(played, owner):
    """Make the first bot private, and give it a name that nobody else is to know."""
    answer = owner("PATCH", f"/v1/bots/{ADA}", json={"availability": "private", "name": "hush"})
    assert answer.status_code == 200


def test_private_bot_stands_by_the_name_it_took_part_by(hidden, client, leaderboard, person):
    stranger = person("eve")("GET", "/v1/leaderboards/river")
    for answer in (client.get("/v1/leaderboards/river"), stranger):
        assert "hush" not in answer.text
        item = by_bot(answer.get_json())[ADA]
        assert (item["name"], item["state"], item["rank"]) == ("a", None, 1)


def test_owner_sees_his_private_bot_by_its_name(hidden, owner):
    item = by_bot(owner("GET", "/v1/leaderboards/river").get_json())[ADA]
    assert (item["name"], item["state"]) == ("hush", "active")
    assert owner("GET", f"/v1/bots/{ADA}/ratings").status_code == 200


def test_private_bots_own_pages_are_its_owners(hidden, get):
    get(f"/v1/bots/{ADA}/ratings", 404)
    get(f"/v1/bots/{ADA}/opponents", 404)


def test_private_bot_stands_among_opponents_by_the_name_it_took_part_by(hidden, client):
    answer = client.get(f"/v1/bots/{BEA}/opponents")
    assert "hush" not in answer.text
    assert by_bot(answer.get_json())[ADA]["name"] == "a"


# --- a bot's own pages ------------------------------------------------------------------------------------------------


def test_bots_ratings_show_its_versions_and_the_history(played, ratings, clock, get):
    clock.forward(60_000)
    played.play(f"{ADA}@2", *FOUR[1:])
    ratings.refit("river")
    (shown,) = get(f"/v1/bots/{ADA}/ratings")["items"]
    assert (shown["ruleset"], shown["computed_at"]) == ("river", clock.now)
    assert [(each["version"], each["games"]) for each in shown["versions"]] == [("2", 1), ("1", 12)]
    assert [(line["at"], line["version"], line["games"]) for line in shown["history"]] == [
        (NOW, "1", 12),
        (clock.now, "2", 1),
    ]
    assert shown["history"][-1]["rating"] == shown["versions"][0]["rating"]


def test_bot_rated_in_two_rulesets_shows_both(played, store, ratings, get):
    Season(store, ratings, "seven_up").play(ADA, BEA)
    ratings.refit("seven_up")
    assert {each["ruleset"] for each in get(f"/v1/bots/{ADA}/ratings")["items"]} == {"seven_up", "river"}
    assert [item["bot_id"] for item in get(f"/v1/bots/{ADA}/opponents?ruleset=seven_up")["items"]] == [BEA]
    assert len(get(f"/v1/bots/{ADA}/opponents")["items"]) == 4


def test_bot_without_rated_games_has_no_ratings(bots, get):
    assert get(f"/v1/bots/{ADA}/ratings") == {"items": [], "next_cursor": None}
    assert get(f"/v1/bots/{ADA}/opponents") == {"items": [], "next_cursor": None}


def test_opponents_say_what_came_of_the_games(played, get):
    items = get(f"/v1/bots/{BEA}/opponents")["items"]
    assert {(item["name"], item["games"], item["points"], item["mean"]) for item in items} == {
        *(("a", 12, 0, 0), ("c", 12, 12, 1)),
        ("d", 12, 12, 1),
    }
    assert by_bot({"items": items})[ADA]["superiority"] < 0.5 < by_bot({"items": items})[CLEO]["superiority"]


@pytest.mark.parametrize("name", ["ratings", "opponents"])
def test_bot_that_is_not_there_is_not_found(get, name):
    get(f"/v1/bots/{ADA}/{name}", 404)


def test_opponents_by_a_ruleset_that_is_not_there_are_refused(bots, get):
    get(f"/v1/bots/{ADA}/opponents?ruleset=whist", 422)


def test_reading_needs_no_fit(played, leaderboard, monkeypatch):
    """API processes read what is stored."""

    def broken(games):
        raise AssertionError("a fit ran")

    monkeypatch.setattr("tests.service.rated.fitted", broken)
    assert leaderboard()["items"]
