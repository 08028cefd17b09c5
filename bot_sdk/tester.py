"""The pytest plugin: the fixture `bot_tester`. Importing this loads nothing else, since every pytest run does."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from bot_sdk.bot import Bot
    from bot_sdk.testing import BotTester


@pytest.fixture(scope="session")
def bot_tester() -> Callable[[Bot | str], BotTester]:
    """Test a bot: ``bot_tester(bot).plays_legally("river")``, see `bot_sdk.testing.BotTester`."""
    from bot_sdk.testing import BotTester  # noqa: PLC0415 - only who tests a bot pays for it

    return BotTester
