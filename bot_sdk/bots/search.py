"""``house:search``: samples how the hidden cards may lie and plays each card out."""

from __future__ import annotations

from bot_sdk.bot import Bot
from bot_sdk.bots import counting_seven_up, greedy_seven_up, search_river, search_seven_up


def search() -> Bot:
    """Make the bot. In Seven Up it begs as ``house:counting`` does, and gives and discards as ``house:greedy``."""
    bot = Bot("search", version="1", author="slagveld", max_batch=64, max_games=64)
    bot.on("river", "bid")(search_river.bid)
    bot.on("river", "play")(search_river.play)
    bot.on("seven_up", "beg")(counting_seven_up.beg)
    bot.on("seven_up", "gift")(greedy_seven_up.gift)
    bot.on("seven_up", "discard")(greedy_seven_up.discard)
    bot.on("seven_up", "play")(search_seven_up.play)
    return bot
