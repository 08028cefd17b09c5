"""dice: any legal action, by lot. The shortest bot there is, and what every other one should beat."""

from bot_sdk.bot import Bot, Decision

bot = Bot("dice", author="slagveld", max_games=64)


@bot.on("river")
@bot.on("seven_up")
def any_action(decision: Decision) -> str:
    """Draw one; `decision.rng` draws the same for the same decision, so a retry gets the same answer."""
    return decision.rng.choice(decision.legal)
