from __future__ import annotations

import pytest

from bot_sdk.bot import Bot
from bot_sdk.bots import house
from bot_sdk.comparing import compare
from bot_sdk.loading import LoadError
from bot_sdk.local import MatchError


@pytest.mark.parametrize("jobs", [0, 2])
def test_a_bot_that_is_better_is_found_better(jobs):
    found = compare("seven_up", "house:greedy", "house:random", games=99, seed="c", jobs=jobs)
    assert (found.first, found.second, found.games, found.boards) == ("house:greedy", "house:random", 100, 50)
    assert 0 < found.low < found.mean < found.high
    assert found.points.low > 0
    assert found.los > 0.99


def test_a_bot_is_as_good_as_itself():
    found = compare("river", "house:greedy", house("house:greedy"), games=8, options={"start_cards": 2})
    assert (found.mean, found.los, found.points.mean) == (0.0, 0.5, 0.0)


@pytest.mark.parametrize("other", ["house:greedy", house("house:greedy")])
def test_a_bot_that_does_not_play_the_ruleset_is_refused(other):
    bot = Bot("river only")
    bot.on("river")(lambda decision: decision.legal[0])
    with pytest.raises(LoadError, match="expected a bot that plays seven_up, got 'river only', which plays river"):
        compare("seven_up", other, bot, games=2)


def test_a_bot_itself_cannot_be_sent_to_processes():
    with pytest.raises(MatchError, match="named by text"):
        compare("seven_up", "house:greedy", house("house:random"), games=2, jobs=1)
