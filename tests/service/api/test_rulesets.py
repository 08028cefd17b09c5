from __future__ import annotations

from bot_sdk.games.registry import RULESETS


def test_every_ruleset_is_listed_with_seats_phases_and_options(client):
    page = client.get("/v1/rulesets").get_json()
    assert page["next_cursor"] is None
    assert [item["name"] for item in page["items"]] == list(RULESETS)
    for item in page["items"]:
        assert client.get(f"/v1/rulesets/{item['name']}").get_json() == item
        assert item["options"]["type"] == "object"


def test_options_follow_the_number_of_seats(client):
    def most(seats):
        shown = client.get(f"/v1/rulesets/river?seats={seats}").get_json()
        return shown["options"]["properties"]["start_cards"]["maximum"]

    assert [most(seats) for seats in range(4, 9)] == [12, 10, 8, 7, 6]


def test_a_table_that_the_game_doesnt_seat_is_refused(client):
    refused = client.get("/v1/rulesets/river?seats=3")
    assert refused.status_code == 422
    assert "4 to 8" in refused.get_json()["errors"]["seats"][0]


def test_an_unknown_ruleset(client):
    assert client.get("/v1/rulesets/bridge").status_code == 404
    assert client.get("/v1/rulesets/Bridge").status_code == 404
