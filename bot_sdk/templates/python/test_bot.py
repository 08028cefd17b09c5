"""Run it with pytest: a bot that fails or cheats here would pay for it in the arena."""

import pytest
from bot import bot


@pytest.mark.parametrize("ruleset", bot.card().rulesets)
def test_every_answer_is_legal_and_in_time(bot_tester, ruleset):
    bot_tester(bot).plays_legally(ruleset)
