"""Up and Down the River as a PettingZoo environment: ``env = river_v1.env(seats=5)``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from gymnasium.utils import EzPickle
from pettingzoo import AECEnv

from bot_sdk.envs.trick_taking import Rewards, TrickTakingEnv, wrapped


class RiverEnv(TrickTakingEnv, EzPickle):
    """The game without wrappers: an illegal action raises."""

    metadata: ClassVar[dict[str, Any]] = {**TrickTakingEnv.metadata, "name": "river_v1"}

    def __init__(
        self,
        seats: int = 4,
        options: Mapping[str, Any] | None = None,
        rewards: Rewards = "result",
        render_mode: str | None = None,
    ) -> None:
        """Set the table; `options` are those of docs/rules.md, the rest as in `TrickTakingEnv`."""
        EzPickle.__init__(self, seats, options, rewards, render_mode)
        super().__init__("river", seats, options=options, rewards=rewards, render_mode=render_mode)


raw_env = RiverEnv


def env(
    seats: int = 4,
    options: Mapping[str, Any] | None = None,
    rewards: Rewards = "result",
    render_mode: str | None = None,
) -> AECEnv:
    """Give the game in PettingZoo's usual wrappers: an illegal action loses it."""
    return wrapped(RiverEnv(seats, options, rewards, render_mode))
