"""The environments are what PettingZoo expects, and show an agent nothing that its seat can't see."""

from __future__ import annotations

import json
import pickle
import random
from itertools import islice

import numpy as np
import pytest
from pettingzoo.test import api_test, seed_test

from bot_sdk.cards import NAMES, mask_of, names_in, parse_card, suit_of
from bot_sdk.envs import river_v1, seven_up_v1
from bot_sdk.games.base import IllegalAction, UnknownAction
from bot_sdk.games.options import OptionError
from bot_sdk.games.registry import RulesetError
from tests.bot_sdk.tables import cards_shown

TABLES = {
    "river": (river_v1, {}),
    "river of five, hidden bids": (river_v1, {"seats": 5, "options": {"bidding": "simultaneous", "start_cards": 4}}),
    "seven up": (seven_up_v1, {}),
    "seven up with gifts": (seven_up_v1, {"options": {"gift": True, "turned_jack": "final", "pips": "classic"}}),
    "seven up to one": (seven_up_v1, {"options": {"target": 1}, "rewards": "points"}),
}
every_table = pytest.mark.parametrize(("module", "table"), TABLES.values(), ids=TABLES)


def beg_often(texts, rng):
    return "beg" if "beg" in texts and rng.random() < 0.7 else rng.choice(texts)


def steps(env, rng):
    """Play by chance, and yield before each action the agent and the text of the action it will take."""
    state = env.game
    for agent in env.agent_iter():
        observation, _, over, _, _ = env.last()
        if over:
            env.step(None)
            continue
        texts = [state.ACTIONS[code] for code in np.flatnonzero(observation["action_mask"])]
        text = beg_often(texts, rng)
        yield agent, text
        env.step(state.CODES[text])


def played_out(env, rng):
    """Play a game to its end and give each agent's rewards summed up."""
    sums = dict.fromkeys(env.possible_agents, 0.0)
    for agent in env.agent_iter():
        observation, reward, over, _, _ = env.last()
        sums[agent] += reward
        env.step(None if over else rng.choice(np.flatnonzero(observation["action_mask"])))
    return sums


# It finds these odd in every environment with a mask in its observations, but for a list of its own.
@pytest.mark.filterwarnings("ignore:Observation is not a NumPy array")
@pytest.mark.filterwarnings("ignore:Observation space for each agent probably should be")
@pytest.mark.filterwarnings("ignore:Action mask numpy array is all zeros")
@every_table
@pytest.mark.parametrize("made", ["env", "raw_env"])
def test_pettingzoos_own_api_test_passes(module, table, made):
    api_test(getattr(module, made)(**table))


@every_table
def test_pettingzoos_own_seed_test_passes(module, table):
    seed_test(lambda: module.env(**table), num_cycles=50)


@every_table
def test_the_mask_is_what_is_legal_and_stands_in_observation_and_infos(module, table):
    env = module.raw_env(**table)
    env.reset(seed=1)
    for agent, _ in islice(steps(env, random.Random(1)), 120):
        state, seat = env.game, env.possible_agents.index(agent)
        assert seat in state.actors()
        for other in env.agents:
            mask = env.observe(other)["action_mask"]
            assert np.array_equal(mask, env.infos[other]["action_mask"])
            legal = [state.ACTIONS[code] for code in np.flatnonzero(mask)]
            assert legal == (state.legal_actions(seat) if other == agent else [])


def swapped(state, seat):
    """Give a permutation of the cards that moves those `seat` can't see, each to another of its suit."""
    seen = {parse_card(name) for name in cards_shown(state.observe(seat))}
    to = list(range(52))
    for suit in range(4):
        hidden = [card for card in range(52) if suit_of(card) == suit and card not in seen]
        for card, other in zip(hidden, hidden[1:] + hidden[:1], strict=True):
            to[card] = other
    return to


def differently(state, taken, seat, to):
    """Give the actions taken so far as they might have been, too, for all that `seat` knows."""
    now = state.deal_number
    bids = [
        at for at, (deal, _, text) in enumerate(taken) if deal == now and text.startswith("bid") and state.is_sealed
    ]
    for at, (deal, actor, text) in enumerate(taken):
        kind, _, what = text.partition(":")
        if actor != seat and deal == now and kind == "discard":
            yield actor, f"discard:{NAMES[to[parse_card(what)]]}"
        elif actor != seat and at in bids:
            yield actor, f"bid:{(int(what) + 1) % (state.cards + 1)}"
        else:
            yield actor, text


@every_table
@pytest.mark.parametrize("seed", range(3))
def test_agents_see_the_same_whatever_the_cards_and_bids_are_that_they_cannot_see(module, table, seed, monkeypatch):
    env = module.raw_env(**table)
    env.reset(seed=seed)
    taken, moved, compared = [], 0, 0
    for agent, text in islice(steps(env, random.Random(seed)), 70):
        state = env.game
        for seat, watching in enumerate(env.possible_agents if len(taken) % 3 == seed else []):
            to = swapped(state, seat)
            real = [state.packs(deal) for deal in range(state.deal_number + 1)]
            packs = [*real[:-1], [to[card] for card in real[-1]]]
            with monkeypatch.context() as patch:
                patch.setattr("bot_sdk.envs.trick_taking.committed", lambda *_, packs=packs: packs.__getitem__)
                twin = module.raw_env(**table)
                twin.reset()
            for actor, said in differently(state, taken, seat, to):
                assert twin.agent_selection == env.possible_agents[actor]
                twin.step(twin.game.CODES[said])
            ours, theirs = env.observe(watching), twin.observe(watching)
            assert np.array_equal(ours["observation"], theirs["observation"])
            assert np.array_equal(ours["action_mask"], theirs["action_mask"])
            assert np.array_equal(env.infos[watching]["action_mask"], twin.infos[watching]["action_mask"])
            moved += state.hands != twin.game.hands
            compared += 1
        taken.append((state.deal_number, env.possible_agents.index(agent), text))
    assert moved > compared / 2


@every_table
def test_the_vector_holds_all_that_the_seat_sees(module, table):
    env = module.raw_env(**table)
    env.reset(seed=5)
    seats = len(env.possible_agents)
    met = set()
    for agent, _ in islice(steps(env, random.Random(5)), 200):
        state, seat = env.game, env.possible_agents.index(agent)
        seen = state.observe(seat)
        vector = env.observe(agent)["observation"]
        part = {name: vector[at] for name, at in env.layout.items()}
        assert names_in(mask_of(np.flatnonzero(part["hand"]).tolist())) == seen["hand"]
        assert (np.argmax(part["dealer"]) + seat) % seats == seen["dealer"]
        assert [suit for suit, bit in zip("CDHS", part["trump"], strict=True) if bit] == [*(seen["trump"] or "")]
        assert tricks_in(part["tricks"].reshape(seats, 52)) == [
            {(leads_at(trick, at, seat, seats), name) for at, name in enumerate(trick["cards"])}
            for trick in seen["tricks"]
        ]
        if seen["trick"]:
            assert (np.argmax(part["leader"]) + seat) % seats == seen["trick"]["leader"]
            assert part["trick"].sum() == len(seen["trick"]["cards"])
        assert part["phase"].sum() == 1
        met.add(int(np.argmax(part["phase"])))
        if "bids" in seen:
            bids = [int(np.argmax(row)) if row.any() else None for row in part["bids"].reshape(seats, -1)]
            assert bids == seen["bids"][seat:] + seen["bids"][:seat]
            assert np.argmax(part["upcard"]) == parse_card(seen["upcard"])
        else:
            assert np.argmax(part["first_upcard"]) == parse_card(seen["upcards"][0])
            assert sorted(NAMES[card] for card in np.flatnonzero(part["upcards"])) == sorted(seen["upcards"])
            assert names_in(mask_of(np.flatnonzero(part["discards"]).tolist())) == seen["discards"]
            assert round(15 * part["to_discard"][0]) == seen["to_discard"]
            assert bool(part["begged"][0]) is seen["begged"]
    assert len(met) > 1


def leads_at(trick, at, seat, seats):
    return (trick["leader"] + at - seat) % seats


def tricks_in(played):
    numbers = sorted({value for value in played.flat if value})
    return [
        {(int(seat), NAMES[card]) for seat, card in zip(*np.nonzero(played == number), strict=True)}
        for number in numbers
    ]


@pytest.mark.parametrize(("module", "table"), [(river_v1, {"options": {"start_cards": 3}}), (seven_up_v1, {})])
def test_rewards_of_a_result_say_who_beat_whom(module, table):
    env = module.env(**table)
    for seed in range(5):
        env.reset(seed=seed)
        sums = played_out(env, random.Random(seed))
        totals = env.unwrapped.game.totals
        for own, reward in zip(totals, sums.values(), strict=True):
            beaten = sum(own > other for other in totals) - sum(own < other for other in totals)
            assert reward == pytest.approx(beaten / (len(totals) - 1))


def test_rewards_in_points_come_deal_by_deal():
    env = river_v1.env(rewards="points", options={"start_cards": 2, "schedule": "down"})
    env.reset(seed=3)
    sums = played_out(env, random.Random(3))
    totals = env.unwrapped.game.totals
    assert [round(value, 6) for value in sums.values()] == [round(own - (sum(totals) - own) / 3, 6) for own in totals]
    assert len(env.unwrapped.game.deals) == 2


def test_an_illegal_action_raises_or_with_wrappers_loses():
    raw = river_v1.raw_env()
    raw.reset(seed=1)
    with pytest.raises(IllegalAction, match="expected one of bid:0"):
        raw.step(0)
    for unknown in (-1, 99):
        with pytest.raises(UnknownAction):
            raw.step(unknown)
    env = river_v1.env()
    env.reset(seed=1)
    loser = env.agent_selection
    env.step(0)
    assert env.terminations == dict.fromkeys(env.agents, True)
    assert env.rewards[loser] == -1


def test_what_is_rendered_is_what_the_agent_sees_whose_turn_it_is(capsys):
    env = seven_up_v1.raw_env(render_mode="ansi")
    env.reset(seed=1)
    seat = env.possible_agents.index(env.agent_selection)
    assert json.dumps(env.game.observe(seat)["hand"]) in env.render()
    assert NAMES[next(card for card in range(52) if env.game.hands[1 - seat] >> card & 1)] not in env.render()
    shown = seven_up_v1.env(render_mode="human")
    shown.reset(seed=1)
    assert shown.render() is None
    assert capsys.readouterr().out == env.render() + "\n"


def test_games_follow_from_the_seed_and_differ_without_one():
    env = seven_up_v1.raw_env()

    def pack(seed=None):
        env.reset(seed=seed)
        return [*env.game.pack]

    first, second = pack(7), pack()
    assert first != second
    assert (pack(7), pack()) == (first, second)
    assert seven_up_v1.raw_env().layout == env.layout


def test_a_game_that_a_turned_jack_ends_before_anybody_is_asked_is_dealt_again():
    env = seven_up_v1.raw_env(options={"target": 1})
    for seed in range(60):  # one in 13 of them begins with a Jack
        env.reset(seed=seed)
        assert not any(env.terminations.values())
        assert env.observe(env.agent_selection)["action_mask"].any()


def test_environments_share_nothing_and_cross_to_other_processes_as_they_were_made():
    one, other = (river_v1.raw_env(seats=6, options={"start_cards": 2}) for _ in range(2))
    one.reset(seed=1)
    other.reset(seed=1)
    for _ in islice(steps(one, random.Random(1)), 5):
        pass
    assert not other.game.played
    assert other.game.bids == [None] * 6
    crossed = pickle.loads(pickle.dumps(one))
    crossed.reset(seed=1)
    assert crossed.game.pack == other.game.pack
    assert len(crossed.possible_agents) == 6


def test_tables_that_cannot_be_are_refused():
    with pytest.raises(RulesetError, match="4 to 8 seats"):
        river_v1.env(seats=3)
    with pytest.raises(OptionError):
        seven_up_v1.env(options={"target": 0})
    with pytest.raises(ValueError, match="expected rewards among result, points, got 'chips'"):
        river_v1.env(rewards="chips")
    with pytest.raises(LookupError, match="expected reset"):
        river_v1.raw_env().observe("player_0")
