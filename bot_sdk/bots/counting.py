"""``house:counting``: knows which cards are still out and bids by fitted odds."""

from __future__ import annotations

from bot_sdk.bot import Bot
from bot_sdk.bots import counting_river


def counting() -> Bot:
    """Make the bot."""
    bot = Bot("counting", version="1", author="slagveld", max_batch=64, max_games=64)
    bot.on("river", "bid")(counting_river.bid)
    bot.on("river", "play")(counting_river.play)
    return bot
