from __future__ import annotations

import pytest
from scipy.stats import t

from bot_sdk.bots import house
from bot_sdk.games.registry import RULESETS
from bot_sdk.local import Match, in_process, play, seated
from bot_sdk.summary import interval, summarise, t_quantile


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 5, 9, 29, 499])
def test_t_quantiles_agree_with_scipy(freedom):
    assert t_quantile(0.975, freedom) == pytest.approx(t.ppf(0.975, freedom), rel=5e-3)


def test_one_board_has_no_interval():
    assert interval([3.0]).half_width is None
    assert interval([]).half_width is None


def test_interval_is_over_boards():
    made = interval([1.0, 2.0, 3.0, 4.0])
    assert made.mean == 2.5
    assert made.half_width == pytest.approx(2.054, rel=5e-3)
    assert made.low == pytest.approx(0.446, abs=0.02)


def test_a_player_who_sits_twice_is_one_line():
    players = [in_process(house(name), bot_id=name) for name in ("house:random", "house:greedy")]
    match = Match(RULESETS["river"], {"start_cards": 2})
    played = list(play(match, seated(players, 4), games=8))
    lines = summarise(played, ["random", "greedy"], [0, 1, 0, 1])
    assert [line.games for line in lines] == [8, 8]
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
