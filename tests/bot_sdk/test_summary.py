from __future__ import annotations

import pytest

from bot_sdk.bots import house
from bot_sdk.games.registry import RULESETS
from bot_sdk.local import Match, in_process, play, seated
from bot_sdk.summary import summarise


def test_a_player_who_sits_twice_is_one_line():
    players = [in_process(house(name), bot_id=name) for name in ("house:random", "house:greedy")]
    match = Match(RULESETS["river"], {"start_cards": 2})
    played = list(play(match, seated(players, 4), games=8))
    lines = summarise(played, ["random", "greedy"], [0, 1, 0, 1])
    assert [(line.games, line.seats) for line in lines] == [(8, 2), (8, 2)]
    assert sum(line.wins.mean * line.seats for line in lines) == pytest.approx(1.0)
    decisions = sum(sum(one.game.decisions) for one in played)
    assert sum(sum(line.outcomes.values()) for line in lines) == decisions
    points = sum(sum(one.game.state.totals) for one in played) / len(played) / 2
    assert sum(line.points.mean for line in lines) == pytest.approx(points)
    assert all(0 < line.mean_ms < 50 for line in lines)


def test_a_shared_first_place_is_shared():
    random = in_process(house("house:random"), bot_id="house:random")
    match = Match(RULESETS["river"], {"start_cards": 1})
    played = list(play(match, [random] * 4, games=40))
    assert any(one.game.places.count(1) > 1 for one in played)
    lines = summarise(played, "abcd", [0, 1, 2, 3])
    assert sum(line.wins.mean for line in lines) == pytest.approx(1.0)
