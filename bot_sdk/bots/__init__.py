"""The house bots: ordinary bots of this SDK, written to be read first."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Final

from bot_sdk.bot import Bot
from bot_sdk.bots.counting import counting
from bot_sdk.bots.greedy import greedy
from bot_sdk.bots.random import random
from bot_sdk.bots.search import search
from bot_sdk.errors import SdkError

PREFIX: Final = "house:"

HOUSE: Final[dict[str, Callable[[], Bot]]] = {
    "house:random": random,
    "house:greedy": greedy,
    "house:counting": counting,
    "house:search": search,
}
"""What makes each house bot, by its fixed id. A change of play is a new version on its card."""

THINKING: Final = frozenset({"house:search"})
"""Those that take more than 5 ms for some decisions: the arena asks them in processes of their own."""


class NoSuchBot(SdkError, LookupError):  # noqa: N818 - says what is missing
    """A house bot that doesn't exist."""


@cache
def house(bot_id: str) -> Bot:
    """Give the house bot of that id, such as ``house:greedy``; raises `NoSuchBot`.

    One instance serves every caller: it keeps nothing between decisions, and threads may share it.
    """
    if bot_id not in HOUSE:
        raise NoSuchBot(f"expected a house bot among {', '.join(HOUSE)}, got {bot_id!r:.80}")
    return HOUSE[bot_id]()
