"""Run it with pytest: a bot that fails or cheats here would pay for it in the arena."""

import pytest
from bot import bot

from bot_sdk.bots import house
from bot_sdk.games.registry import RULESETS
from bot_sdk.local import Match, in_process, play


@pytest.mark.parametrize("ruleset", bot.card().rulesets)
def test_every_answer_is_legal_and_in_time(ruleset):
    rules = RULESETS[ruleset]
    others = [in_process(house("house:greedy"), bot_id="house:greedy")] * (rules.min_seats - 1)
    for played in play(Match(rules), [in_process(bot), *others], games=2 * rules.min_seats):
        mine = played.players.index(0)
        assert set(played.game.outcomes[mine]) == {"ok"}
