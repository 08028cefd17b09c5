"""Nobody is told a card, a secret or another's doings before he may know: all answers are searched byte by byte.

Who may know what is worked out from the records, not from what the product shows (`knowledge`).
"""

from __future__ import annotations

import dataclasses
import logging

import pytest

from bot_sdk.games.registry import RULESETS
from service.api import stream
from service.store import keys
from tests.attacks.judging import Judge
from tests.attacks.knowledge import CARD
from tests.attacks.watching import ADMIN, Arena
from tests.bot_sdk.tables import values_of
from tests.service.api.conftest import make_app, queue  # noqa: F401 (fixtures)
from tests.service.bench import Desk, Worker
from tests.service.fakes import FakeCalls

MANY = 200
SEVEN_UP = [
    (["human", "bot"], {"target": 2}),
    (["human", "human"], {"gift": True, "turned_jack": "final", "void_play": "free", "first_dealer": 1, "target": 1}),
    (["bot", "bot"], {"pips": "classic", "game_tie": "non_dealer", "target": 2}),
]
RIVER = [
    (["human", "bot", "bot", "house"], {"start_cards": 2}),
    (
        ["human", "human", "bot", "bot"],
        {"start_cards": 3, "schedule": "down", "bidding": "simultaneous", "miss": "zero", "first_dealer": 3},
    ),
    (["bot", "human", "house", "human", "bot"], {"start_cards": 2, "bidding": "simultaneous", "schedule": "up_down"}),
    (["human"] * 8, {"start_cards": 1, "hook": "off"}),
    (["bot"] * 6, {"start_cards": 1, "hook": "not_one"}),
]
TABLES = [*(("seven_up", *table) for table in SEVEN_UP), *(("river", *table) for table in RIVER)]


@pytest.fixture
def arena(make_app, redis, store, monkeypatch):  # noqa: F811 (the fixture)
    monkeypatch.setattr(stream, "HEARTBEAT_S", 0.002)
    monkeypatch.setattr(stream, "LIFE_S", 0.0)
    app = make_app(SLAGVELD_ADMIN_TOKEN=ADMIN)
    return lambda seed: Arena(app, store, seed)


def test_every_option_value_is_looked_at():
    for name, rules in RULESETS.items():
        for option in rules.options_for(rules.min_seats):
            for value in getattr(option, "values", ()):
                asked = [options.get(option.name, option.default) for ruleset, _, options in TABLES if ruleset == name]
                assert value in asked, f"{name}: {option.name} = {value!r}"


@pytest.mark.parametrize("table", TABLES, ids=lambda table: f"{table[0]} {' '.join(map(str, table[2].values()))}")
def test_no_answer_and_no_message_tells_what_its_reader_may_not_know(arena, table):
    ruleset, kinds, options = table
    watch(arena(f"{ruleset} {options}"), ruleset, kinds, options)


@pytest.mark.attack
@pytest.mark.parametrize("name", RULESETS)
def test_no_answer_in_two_hundred_games_tells_what_its_reader_may_not_know(arena, name):
    night = arena(name)
    rules = RULESETS[name]
    quiet = 0
    for _ in range(MANY):
        seats = night.rng.randint(rules.min_seats, rules.max_seats)
        options = {each.name: night.rng.choice(values_of(each)) for each in rules.options_for(seats)}
        if name == "seven_up":
            options["target"] = night.rng.randint(1, 5)
        else:
            options["start_cards"] = min(options["start_cards"], night.rng.choice([1, 1, 2, 2, 3]))
        kinds = [night.rng.choice(["human", "human", "bot", "house"]) for _ in range(seats)]
        quiet += watch(night, name, kinds if set(kinds) != {"house"} else ["bot"] * seats, options)
    assert quiet > 1_000


def watch(night, ruleset, kinds, options):
    """Play a game that everybody watches, judge it, and give how often nothing was told of a sealed decision."""
    is_tournament = set(kinds) == {"bot"}
    game = night.tournament_game(ruleset, len(kinds), options) if is_tournament else night.game(ruleset, kinds, options)
    record = game.play()
    judge = Judge(game, record)
    judge.check()
    return judge.check_equal()


# That these searches find what there is to find


@pytest.fixture
def played(arena):
    """Give a game of River with hidden bids, as it was watched, and its record."""
    ruleset, kinds, options = TABLES[len(SEVEN_UP) + 1]
    game = arena("played").game(ruleset, kinds, options)
    return game, game.play()


def test_the_searches_find_what_is_hidden(played):
    game, record = played
    at = next(at for at, each in enumerate(game.receipts) if each.name == ("seat", "") and each.events > 5)
    receipt = game.receipts[at]
    secret = record["fairness"]["secret"].encode()
    planted = {
        "told to": dataclasses.replace(receipt, audience=1 - receipt.audience),
        "a secret": dataclasses.replace(receipt, raw=receipt.raw + secret),
        "a token": dataclasses.replace(receipt, raw=receipt.raw + game.tokens[0].encode()),
        "decisions of seats": dataclasses.replace(receipt, raw=receipt.raw + f"{game.id}.3.0".encode()),
        "more than there was": dataclasses.replace(receipt, raw=receipt.raw + b" "),
    }
    for complaint, changed in planted.items():
        game.receipts.append(changed)
        with pytest.raises(AssertionError, match=complaint):
            Judge(game, record).check()
        game.receipts.pop()
    assert Judge(game, record).check_equal() > 10


def test_a_game_that_can_not_be_replayed_names_no_card_in_any_log(make_app, store, redis, caplog):  # noqa: F811 (the fixture)
    """What the rules had expected would be somebody's hand."""
    desk = Desk(store)
    game_id = desk.game(*(f"human:{number}" for number in range(4)), id="gam_" + "a" * 26)
    for seat in (1, 2, 3, 0):
        desk.commit(game_id, seat, "bid:1")
    redis.rpush(keys.game_log(game_id), b'12 ["d", 1, "bid:0", "ok", 1.0]')
    assert make_app().test_client().get(f"/v1/games/{game_id}").status_code == 500
    assert Worker(store, FakeCalls()).drive(game_id) == []
    said = "\n".join(logging.Formatter().format(record) for record in caplog.records).encode()
    assert said.count(b"event 4 of game") == 2
    assert said.count(b"can't be replayed") == 1
    assert CARD.findall(said) == []
