"""``house:counting``: knows which cards are still out; bids by fitted odds."""

from __future__ import annotations

from bot_sdk.bot import Bot
from bot_sdk.bots import counting_river, counting_seven_up, greedy_seven_up


def counting() -> Bot:
    """Make the bot. In Seven Up it gives and discards as ``house:greedy`` does."""
    bot = Bot("counting", version="1", author="slagveld", max_batch=64, max_games=64)
    bot.on("river", "bid")(counting_river.bid)
    bot.on("river", "play")(counting_river.play)
    bot.on("seven_up", "beg")(counting_seven_up.beg)
    bot.on("seven_up", "gift")(greedy_seven_up.gift)
    bot.on("seven_up", "discard")(greedy_seven_up.discard)
    bot.on("seven_up", "play")(counting_seven_up.play)
    return bot
