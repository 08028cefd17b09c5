"""``house:random``: any legal action, all equally likely. What everybody should beat."""

from __future__ import annotations

from bot_sdk.bot import Bot, Decision
from bot_sdk.games.registry import RULESETS


def random() -> Bot:
    """Make the bot."""
    bot = Bot("random", version="1", author="slagveld", max_batch=64, max_games=64)
    for ruleset in RULESETS:
        bot.on(ruleset)(any_action)
    return bot


def any_action(decision: Decision) -> str:
    """Draw one of the legal actions; the same decision gets the same answer."""
    return decision.rng.choice(decision.legal)
