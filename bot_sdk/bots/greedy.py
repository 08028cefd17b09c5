"""``house:greedy``: a rule-of-thumb player of both games that looks no further than the trick on the table."""

from __future__ import annotations

from bot_sdk.bot import Bot
from bot_sdk.bots import greedy_river, greedy_seven_up


def greedy() -> Bot:
    """Make the bot."""
    bot = Bot("greedy", version="1", author="slagveld", max_batch=64, max_games=64)
    bot.on("river", "bid")(greedy_river.bid)
    bot.on("river", "play")(greedy_river.play)
    bot.on("seven_up", "beg")(greedy_seven_up.beg)
    bot.on("seven_up", "gift")(greedy_seven_up.gift)
    bot.on("seven_up", "discard")(greedy_seven_up.discard)
    bot.on("seven_up", "play")(greedy_seven_up.play)
    return bot
