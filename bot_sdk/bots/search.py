"""``house:search``: samples how the hidden cards may lie and looks ahead."""

from __future__ import annotations

from bot_sdk.bot import Bot
from bot_sdk.bots import search_river


def search() -> Bot:
    """Make the bot."""
    bot = Bot("search", version="1", author="slagveld", max_batch=64, max_games=64)
    bot.on("river", "bid")(search_river.bid)
    bot.on("river", "play")(search_river.play)
    return bot
