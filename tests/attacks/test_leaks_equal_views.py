"""What depends on hidden cards alone can't be seen: with others in their place every answer is the same to the byte.

The packs of a game are exchanged in the middle of it for some that its log and the reader could as well have met.
"""

from __future__ import annotations

import itertools
import random
from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from bot_sdk.cards import NAMES, parse_card
from bot_sdk.errors import SdkError
from bot_sdk.games.packs import seeded
from bot_sdk.games.registry import RULESETS
from bot_sdk.results.values import GameState
from service.arena import views
from service.referee import table
from service.store.entities import Seat
from tests.service.api.answers import ITS_OWN
from tests.service.api.conftest import (  # noqa: F401 (fixtures)
    app,
    client,
    host,
    make_app,
    people,
    person,
    person_at,
    queue,
    seated,
)

TABLES = [
    ("seven_up", 2, {"target": 3, "gift": True, "void_play": "free"}),
    ("seven_up", 2, {"target": 3}),
    ("river", 4, {"start_cards": 4, "schedule": "down"}),
    ("river", 5, {"start_cards": 3, "schedule": "down", "bidding": "simultaneous"}),
]
FEW, MANY = (1, 12), (0, 1, 3, 4, 6, 8, 10, 13, 16, 19, 22, 25)
"""After how many actions it is looked."""


@pytest.fixture
def laid(monkeypatch, people):  # noqa: F811 (the fixture)
    """Make games whose packs can be exchanged."""

    def make(ruleset, seats, options, seed=0):
        packs = {}
        dealt = seeded(f"equal views {seed}", seats)
        monkeypatch.setattr(table, "_packs", lambda meta, secret: lambda deal: packs.get(deal) or dealt(deal))
        game, players = people(ruleset, seats, options=options)
        return Laid(game["id"], players, packs, dealt)

    return make


class Laid:
    """A game of people whose packs can be exchanged."""

    def __init__(self, game_id, players, packs, dealt):
        self.id = game_id
        self.players = players
        self.client = players[0].client
        self._packs = packs
        self._dealt = dealt
        self.rng = random.Random(game_id)

    @property
    def play(self):
        return self._games.standing(self.id).table.game

    @property
    def _games(self):
        return self.client.application.extensions["slagveld"].games

    def act(self, times):
        """Have people act at random, but beg when they can."""
        for _ in range(times):
            play = self.play
            if play.is_over:
                return
            seat = self.rng.choice(play.owed())
            legal = play.state.legal_actions(seat)
            taken = self.players[seat].act("beg" if "beg" in legal else self.rng.choice(legal))
            assert taken.status_code == 201, taken.text

    def exchange(self, deal, pack):
        """Put a pack in the place of another; False and nothing changed if the game couldn't have gone on it."""
        before = self._packs.get(deal)
        self._packs[deal] = pack
        self._games.tables.forget(self.id)  # a process that has replayed it would stay with the pack it knows
        try:
            return bool(self.play)
        except SdkError:
            self._packs[deal] = before
            return False

    def pack(self, deal):
        return list(self._packs.get(deal) or self._dealt(deal))

    def read(self, audience):
        """Give all that a seat, or anybody, is told: whole, but for the time of day."""
        path = f"/v1/games/{self.id}"
        answers = [self.client.get(each) for each in (path, f"{path}/events", f"{path}/record", "/v1/games")]
        if audience is not None:
            player = self.players[audience]
            answers += [player("GET"), player("GET", "?wait_for=decision", headers={"Prefer": "wait=0"})]
            named = f"{self.id}.{audience}.{self.play.decisions[audience]}"
            answers += [player.act(action, named) for action in ("bid:99", "play:??", "no action")]
        return [
            (each.status_code, sorted((k, v) for k, v in each.headers if k not in ITS_OWN), each.data)
            for each in answers
        ]


def owner_by_index(state):
    """Tell of each index of the pack which seat it was dealt to, `open` for an upcard and None for the stock."""
    upcards = [NAMES[card] for card in getattr(state, "upcards", None) or [state.upcard]]
    held = {card: seat for seat in range(state.seats) for card in cards_of(state, seat)}
    return ["open" if NAMES[card] in upcards else held.get(card) for card in state.pack]


def cards_of(state, seat):
    """List the cards dealt to a seat, from where they are now."""
    masks = [state.hands[seat], state.discards[seat] if hasattr(state, "discards") else 0]
    cards = [card for card in range(52) if any(mask >> card & 1 for mask in masks)]
    tricks = [*state.tricks, state.trick]
    return cards + [
        card for trick in tricks for at, card in enumerate(trick.cards) if (trick.leader + at) % state.seats == seat
    ]


def acted(game):
    """List the cards that somebody has played or discarded."""
    actions = [event.action for event in game.log if ":" in getattr(event, "action", "")]
    return {parse_card(action.split(":")[1]) for action in actions if not action.startswith("bid")}


each_table = pytest.mark.parametrize(("ruleset", "seats", "options"), TABLES)


@each_table
def test_a_view_is_the_same_with_other_cards_where_the_reader_can_not_see_them(laid, ruleset, seats, options):
    assert check_exchanges(laid, ruleset, seats, options, FEW, 1) > 3


@pytest.mark.attack
@each_table
def test_a_view_is_the_same_with_any_other_cards_where_the_reader_can_not_see_them(laid, ruleset, seats, options):
    assert check_exchanges(laid, ruleset, seats, options, MANY, 10) > 100


def check_exchanges(laid, ruleset, seats, options, positions, most):
    """Exchange two hidden cards for each reader, up to so many times at each position; give how often it could be."""
    exchanged = 0
    for seed, actions in enumerate(positions):
        game = laid(ruleset, seats, options, seed)
        game.act(actions)
        state = game.play.state
        owners, fixed, deal = owner_by_index(state), acted(game.play), state.deal_number
        for audience in (None, *range(seats)):
            before = game.read(audience)
            hidden = [
                at for at, owner in enumerate(owners)
                if owner != "open" and (owner is None or owner != audience) and state.pack[at] not in fixed
            ]  # fmt: skip
            pack = game.pack(deal)
            pairs = [(a, b) for a, b in itertools.combinations(hidden, 2) if owners[a] != owners[b]]
            left = most
            for one, other in game.rng.sample(pairs, len(pairs)):
                swapped = list(pack)
                swapped[one], swapped[other] = pack[other], pack[one]
                if left > 0 and game.exchange(deal, swapped):
                    left -= 1
                    assert game.read(audience) == before
            exchanged += most - left
            game.exchange(deal, pack)
    return exchanged


@each_table
def test_another_hand_is_seen_by_who_holds_it(laid, ruleset, seats, options):
    """The exchange of packs is real: else nothing above could fail."""
    game = laid(ruleset, seats, options)
    before = [game.read(audience) for audience in (None, *range(seats))]
    pack = game.pack(0)
    pack[0], pack[51] = pack[51], pack[0]
    assert game.exchange(0, pack)
    eldest = 1
    differing = [at for at, told in enumerate(before) if game.read(at - 1 if at else None) != told]
    assert differing == [1 + eldest]


@each_table
def test_a_hand_and_its_legal_actions_are_the_same_in_whatever_order_it_was_dealt(laid, ruleset, seats, options):
    for seed, actions in enumerate(FEW):
        game = laid(ruleset, seats, options, seed)
        game.act(actions)
        state = game.play.state
        before = [game.read(audience) for audience in (None, *range(seats))]
        owners, pack = owner_by_index(state), game.pack(state.deal_number)
        shuffled = list(pack)
        for seat in (None, *range(seats)):
            places = [at for at, owner in enumerate(owners) if owner == seat]
            moved = game.rng.sample(places, len(places))
            for at, other in zip(places, moved, strict=True):
                shuffled[at] = pack[other]
        assert shuffled != pack
        assert game.exchange(state.deal_number, shuffled)
        assert [game.read(audience) for audience in (None, *range(seats))] == before


# Refusals


@each_table
def test_a_refusal_has_one_shape_wherever_the_card_is(laid, ruleset, seats, options):
    check_refusals(laid, ruleset, seats, options, (16,), 2)


@pytest.mark.attack
@each_table
def test_a_refusal_has_one_shape_for_every_card_wherever_it_is(laid, ruleset, seats, options):
    check_refusals(laid, ruleset, seats, options, MANY, 52)


def check_refusals(laid, ruleset, seats, options, positions, cards):
    """Try so many cards from every place as every seat; what the answers say but for the card itself is the same."""
    for seed, actions in enumerate(positions):
        game = laid(ruleset, seats, options, seed)
        game.act(actions)
        play = game.play
        places = {None: [], "open": []} | {seat: [] for seat in range(seats)}
        for owner, card in zip(owner_by_index(play.state), play.state.pack, strict=True):
            places[owner].append(NAMES[card])
        tried = ["ZZ", *itertools.chain.from_iterable(each[:cards] for each in places.values())]
        for seat, player in game.players.items():
            named, legal = f"{game.id}.{seat}.{play.decisions[seat]}", player.view()["legal_actions"]
            for kind in ("play", "discard"):
                illegal = {f"{kind}:{card}" for card in tried} - set(legal)
                assert len({refusal(player, named, action) for action in illegal}) == 1


def refusal(player, named, action):
    """Try what isn't legal; give the answer whole, with the action's own words taken out."""
    answer = player.act(action, named)
    assert answer.status_code in {409, 422}
    headers = tuple(sorted((name, value) for name, value in answer.headers if name not in ITS_OWN))
    return answer.status_code, headers, answer.data.replace(action.encode(), b"*")


# Names of what is seen


def test_the_tag_of_a_game_is_made_of_what_it_shows():
    """A bot's address and owner aren't shown with its seat."""
    meta = SimpleNamespace(state=GameState.OPEN)
    shown = Seat(kind="bot", name="lowball", bot_id="bot_1", version="1", url="http://one", account_id="acc_1")
    tags = set()
    for seat in (shown, replace(shown, url="http://other"), replace(shown, account_id="acc_2", max_batch=7)):
        meta.seats = [seat]
        tags.add(views.tag(meta, None, None))
    assert len(tags) == 1
    meta.seats = [replace(shown, name="highball")]
    assert views.tag(meta, None, None) not in tags


@pytest.mark.parametrize("name", RULESETS)
def test_ids_and_tags_do_not_depend_on_the_secret_of_the_packs(make_app, redis, name):  # noqa: F811 (the fixture)
    """The same order under the same key, on packs of another secret: all but commitment and times is the same."""
    made = []
    for _ in range(2):
        redis.flushall()
        asking = make_app(SLAGVELD_KEY="6b" * 32).test_client()
        account = asking.post(
            "/v1/accounts", json={"name": "host"}, headers={"Idempotency-Key": "the-same-account-again"}
        ).get_json()
        seats = [{"kind": "human", "name": "p"}] * RULESETS[name].min_seats
        keys = {"Authorization": f"Bearer {account['token']}", "Idempotency-Key": "the-same-game-again"}
        order = {"ruleset": name, "seats": seats, "start": "manual"}
        game = asking.post("/v1/games", json=order, headers=keys).get_json()
        view = asking.get(f"/v1/games/{game['id']}")
        secret = asking.application.extensions["slagveld"].store.games.secret(game["id"])
        untold = {"commitment", "created_at"}
        told = {key: value for key, value in game.items() if key not in untold}
        made.append((secret, told, view.headers["ETag"], view.headers["Content-Length"]))
    assert made[0][0] != made[1][0]
    assert made[0][1:] == made[1][1:]
