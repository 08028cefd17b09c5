"""The environment that both games share: PettingZoo's AEC interface around a `State`.

Agents are ``player_0`` …, by seat. An action is a code of the game (`State.ACTIONS[code]` is its text), and the mask of
the legal ones stands in the observation, as in PettingZoo's classic environments, and in the infos. Where several seats
owe an action at once (hidden bids, discards) they are asked one after another, lowest seat first, and see nothing of
each other until the last is in. An environment shares nothing with another, so they may be stepped side by side.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from statistics import fmean
from typing import Any, ClassVar, Final, Literal, TypeAlias

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete
from gymnasium.utils.seeding import np_random
from numpy.typing import NDArray
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers

from bot_sdk.envs.features import layout
from bot_sdk.games.base import State
from bot_sdk.games.packs import SECRET_BYTES, committed
from bot_sdk.games.registry import ruleset

Rewards: TypeAlias = Literal["result", "points"]
REWARDS: Final[tuple[Rewards, ...]] = ("result", "points")


class TrickTakingEnv(AECEnv):  # type: ignore[misc]  # PettingZoo carries no types
    """A game of one ruleset at one table.

    `rewards` says what is learned from. ``result`` gives at the end the number of others with fewer points less that of
    those with more, as a share of all others: 1 and -1 at a table of two. ``points`` gives at the end of each deal its
    points less the mean of the others'. Both sum to 0 over the seats.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["human", "ansi"], "is_parallelizable": False}

    def __init__(
        self,
        ruleset_name: str,
        seats: int,
        *,
        options: Mapping[str, Any] | None,
        rewards: Rewards,
        render_mode: str | None,
    ) -> None:
        """Set the table; raises `RulesetError` or `OptionError` for one that can't be, ValueError for other rewards."""
        super().__init__()
        if rewards not in REWARDS:
            raise ValueError(f"expected rewards among {', '.join(REWARDS)}, got {rewards!r:.80}")
        self._rules = ruleset(ruleset_name)
        self._options = self._rules.resolve(options or {}, seats)
        self._layout = layout(ruleset_name, seats, self._options)
        self._rewarding = rewards
        self.render_mode = render_mode
        self._random: np.random.Generator | None = None
        self._state: State | None = None
        self.possible_agents = [f"player_{seat}" for seat in range(seats)]
        self.agents: list[str] = []
        actions = len(self._rules.state.ACTIONS)
        self.action_spaces = {agent: Discrete(actions) for agent in self.possible_agents}
        self.observation_spaces = {
            agent: Dict({"observation": self._layout.space(), "action_mask": Box(0, 1, (actions,), np.int8)})
            for agent in self.possible_agents
        }

    @property
    def layout(self) -> dict[str, slice]:
        """Where each part of the observation's vector is, by name; docs/cookbook.md lists them."""
        return dict(self._layout.slices)

    @property
    def game(self) -> State:
        """The game itself, hidden cards and all: for who trains, not for who plays. Raises LookupError before reset."""
        if self._state is None:
            raise LookupError("expected reset before anything else")
        return self._state

    def observation_space(self, agent: str) -> Dict:
        """Give the space of an agent's observations."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Discrete:
        """Give the space of an agent's actions."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:  # noqa: ARG002 - theirs
        """Deal a new game. The same seed deals the same games; without one the generator goes on from where it is."""
        if seed is not None or self._random is None:
            self._random, _ = np_random(seed)
        self.agents = self.possible_agents.copy()
        self._state = self._deal(self._random)
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self._select(self._state)

    def observe(self, agent: str) -> dict[str, NDArray[Any]]:
        """Give what an agent sees, and what it may do; the mask is empty unless it is its turn."""
        state, seat = self.game, self.possible_agents.index(agent)
        vector = self._layout.vector(state.phase, state.observe(seat), seat)
        return {"observation": vector, "action_mask": self._mask(agent)}

    def step(self, action: int | None) -> None:
        """Take the action of the agent whose turn it is; raises `IllegalAction` if it isn't legal."""
        agent, state = self.agent_selection, self.game
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        self._cumulative_rewards[agent] = 0.0
        ended = len(state.deals)
        state.apply(self.possible_agents.index(agent), _text(state, action))
        self.rewards = dict(zip(self.agents, self._earned(state, ended), strict=True))
        self._accumulate_rewards()
        self._select(state)

    def render(self) -> str | None:
        """Tell in words what the agent sees whose turn it is: printed in mode ``human``, given in mode ``ansi``."""
        seat = self.possible_agents.index(self.agent_selection)
        seen = {"phase": self.game.phase, **self.game.observe(seat)}
        told = "\n".join([f"{self.agent_selection}:", *(f"  {name:<12}{json.dumps(seen[name])}" for name in seen)])
        if self.render_mode == "human":
            print(told)  # noqa: T201 - asked for
        return told if self.render_mode == "ansi" else None

    def close(self) -> None:
        """Do nothing: nothing is held open."""

    def _deal(self, random: np.random.Generator) -> State:
        """Start a game; one that a turned Jack ends before anybody is asked teaches nothing, and is dealt again."""
        seats = len(self.possible_agents)
        while True:
            packs = committed(random.bytes(SECRET_BYTES), "env", [""] * seats)
            state = self._rules.new(self._options, seats, packs)
            if not state.is_over:
                return state

    def _select(self, state: State) -> None:
        """Turn to who acts next, or to the first agent, to tell all of them that the game is over."""
        if state.is_over:
            self.terminations = dict.fromkeys(self.agents, True)
        self.agent_selection = self.agents[0 if state.is_over else state.actor]
        self.infos = {agent: {"action_mask": self._mask(agent)} for agent in self.agents}

    def _mask(self, agent: str) -> NDArray[np.int8]:
        state = self.game
        mask = np.zeros(len(state.ACTIONS), np.int8)
        if agent == self.agent_selection and not state.is_over:
            mask[state.codes(self.possible_agents.index(agent))] = 1
        return mask

    def _earned(self, state: State, ended: int) -> list[float]:
        """Reckon what the last action brought each seat; `ended` deals had ended before it."""
        if self._rewarding == "points":
            new = state.deals[ended:]
            return _ahead([sum(deal.points[seat] for deal in new) for seat in range(state.seats)])
        if not state.is_over:
            return [0.0] * state.seats
        return [
            fmean([(total > other) - (total < other) for other in _others(state.totals, seat)])
            for seat, total in enumerate(state.totals)
        ]


def _text(state: State, action: Any) -> str:
    """Give the text of an action; of a number that has none its digits, which no game takes for an action."""
    return state.ACTIONS[action] if 0 <= action < len(state.ACTIONS) else str(action)


def _ahead(points: list[int]) -> list[float]:
    """Give by how much each seat has more than the mean of the others."""
    return [own - fmean(_others(points, seat)) for seat, own in enumerate(points)]


def _others(values: list[int], seat: int) -> list[int]:
    return values[:seat] + values[seat + 1 :]


def wrapped(env: TrickTakingEnv) -> AECEnv:
    """Wrap an environment as PettingZoo's classic ones are: an illegal action ends the game and costs its agent 1."""
    return wrappers.OrderEnforcingWrapper(
        wrappers.AssertOutOfBoundsWrapper(wrappers.TerminateIllegalWrapper(env, illegal_reward=-1))
    )
