"""by the book: the house's own rules of thumb, as a bot that takes decisions of many games in one request.

The decorated functions of a bot stay plain functions: another bot can use them, and replace the ones it dislikes.
"""

from bot_sdk.bot import Bot, Decision
from bot_sdk.bots import greedy_river, greedy_seven_up

bot = Bot("by the book", author="slagveld", max_batch=64, max_games=64)

bot.on("river", "bid")(greedy_river.bid)
bot.on("river", "play")(greedy_river.play)
bot.on("seven_up", "beg")(greedy_seven_up.beg)
bot.on("seven_up", "discard")(greedy_seven_up.discard)
bot.on("seven_up", "play")(greedy_seven_up.play)


@bot.on("seven_up", "gift")
def never_give(decision: Decision) -> str:
    """Run the pack again: a point in the hand is worth more than a suit."""
    return "run" if "run" in decision.legal else decision.legal[0]
