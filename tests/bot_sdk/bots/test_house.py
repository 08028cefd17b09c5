from __future__ import annotations

import time
from itertools import product

import pytest

from bot_sdk.bots import HOUSE, THINKING, NoSuchBot, house, search_river, search_seven_up
from bot_sdk.events import Outcome
from bot_sdk.games.registry import RULESETS
from bot_sdk.local import Match, in_process, play, seated
from bot_sdk.positions import positions
from bot_sdk.results.intervals import t_interval

RANDOM, GREEDY, COUNTING, SEARCH = (in_process(house(name), bot_id=name) for name in HOUSE)


PATIENT_MS = 60_000
"""No decision is late, however busy the machine."""


def test_ids_and_cards_are_fixed():
    assert list(HOUSE) == ["house:random", "house:greedy", "house:counting", "house:search"]
    for name in HOUSE:
        card = house(name).card()
        assert f"house:{card.name}" == name
        assert card.rulesets == list(RULESETS)
        assert card.max_batch == 64


def test_an_unknown_house_bot_is_named():
    with pytest.raises(NoSuchBot, match=f"among {', '.join(HOUSE)}, got 'house:perfect'"):
        house("house:perfect")


@pytest.mark.parametrize("name", HOUSE)
@pytest.mark.parametrize(("ruleset", "phase"), [(name, phase) for name in RULESETS for phase in RULESETS[name].phases])
def test_the_same_decision_is_answered_the_same_way(name, ruleset, phase):
    for decision in positions(ruleset, phase, 12, "same"):
        answers = {house(name).answer(decision).action for _ in range(3)}
        assert len(answers) == 1
        assert answers <= set(decision.legal_actions)


def tables():
    """Give every option value of each ruleset in short games, others at their defaults, and tables of every size."""
    short = {"river": {"start_cards": 3}, "seven_up": {"target": 3}}
    for ruleset in RULESETS.values():
        for seats in range(ruleset.min_seats, ruleset.max_seats + 1):
            yield ruleset, seats, {}
            for option in ruleset.options_for(seats):
                values = option.values if hasattr(option, "values") else {option.low, option.high}
                for value in values:
                    if value != option.default:
                        yield ruleset, seats, short[ruleset.name] | {option.name: value}
    for values in product((False, True), ("every", "final"), ("must_trump", "free"), ("face", "classic")):
        names = ("gift", "turned_jack", "void_play", "pips")
        yield RULESETS["seven_up"], 2, dict(zip(names, values, strict=True))


@pytest.mark.parametrize("players", [(GREEDY, RANDOM), (COUNTING, SEARCH)], ids=["greedy", "counting"])
@pytest.mark.parametrize(("ruleset", "seats", "options"), list(tables()))
def test_every_answer_is_legal_under_every_option(ruleset, seats, options, players, monkeypatch):
    for module in (search_river, search_seven_up):
        monkeypatch.setattr(module, "WORLDS", 2)  # what is legal doesn't hang on them
    match = Match(ruleset, options, budget_ms=PATIENT_MS, first_budget_ms=PATIENT_MS)
    for played in play(match, seated(players, seats), games=2, seed="options"):
        assert all(set(counts) == {Outcome.OK} for counts in played.game.outcomes)
        assert played.record.status == "finished"


def test_greedy_beats_random_at_seven_up_by_its_95_percent_bound():
    boards = {}
    for played in play(Match(RULESETS["seven_up"]), [GREEDY, RANDOM], games=300, seed="strength"):
        boards.setdefault(played.board, []).append(played.game.places[played.players.index(0)] == 1)
    wins = t_interval([sum(won) / len(won) for won in boards.values()])
    assert wins.low >= 0.60


def test_greedy_beats_random_at_river_by_20_points_a_game():
    boards = {}
    for played in play(Match(RULESETS["river"]), [GREEDY, RANDOM, RANDOM, RANDOM], games=24, seed="strength"):
        totals = played.game.state.totals
        own = totals[played.players.index(0)]
        boards.setdefault(played.board, []).append(own - (sum(totals) - own) / 3)
    margin = t_interval([sum(margins) / len(margins) for margins in boards.values()])
    assert margin.low >= 20


@pytest.mark.parametrize("name", [name for name in HOUSE if name not in THINKING])
def test_bots_that_run_in_the_worker_decide_in_well_under_five_milliseconds(name):
    for ruleset, phase in ((each, phase) for each in RULESETS for phase in RULESETS[each].phases):
        asked = positions(ruleset, phase, 10, "t")
        house(name).answer(asked[0])  # tables are read once
        start = time.process_time()
        for decision in asked:
            house(name).answer(decision)
        assert (time.process_time() - start) / len(asked) < 0.005
