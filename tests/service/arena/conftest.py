"""The use cases on a real store, with a queue that only remembers and a clock that stands still."""

from __future__ import annotations

import itertools
from urllib.parse import urlsplit

import pytest

from bot_sdk.bots import house
from service.arena.allowance import Allowance
from service.arena.bots import Bots
from service.arena.caller import ALL_SCOPES, Caller
from service.arena.games import Games, Policy
from service.arena.health import Health
from service.arena.minting import Mint
from service.arena.play import Play
from service.arena.ratings import Ratings
from service.arena.running import Running
from service.arena.sweep import Sweep
from service.arena.tournaments import Tournaments
from service.store.entities import TournamentState
from tests.service.fakes import Clock, HeldQueue, HeldResults
from tests.service.rated import EVERY_MS, Season, fit_here

PACK_SECRET = bytes(range(32))
ROOT_SECRET = bytes(range(32, 64))
PATIENCE_MS = 5_000
OPEN_SEAT_MS = 900_000
HEALTH_MS = 60_000
ARENA_KEY = b"k" * 32
ANYBODY = Caller(address="10.0.0.9")


@pytest.fixture
def queue():
    return HeldQueue()


@pytest.fixture
def clock(store):
    """Tell the store's own time, and stand still."""
    return Clock(store.due.now())


@pytest.fixture
def make_games(store, queue, clock):
    def make(*, anonymous_games=True, max_open_games=100):
        policy = Policy(anonymous_games=anonymous_games, max_open_games=max_open_games, open_seat_ms=OPEN_SEAT_MS)
        return Games(store, queue, policy, clock=clock, pack_secret=lambda: PACK_SECRET)

    return make


@pytest.fixture
def games(make_games):
    return make_games()


@pytest.fixture
def play(store, queue, games):
    return Play(store, queue, games)


@pytest.fixture
def tournaments(store, clock):
    return Tournaments(store, max_tournaments=3, clock=clock, root_secret=lambda: ROOT_SECRET, seed=lambda: 7)


@pytest.fixture
def rated():
    return HeldResults()


@pytest.fixture
def running(store, queue, rated, clock):
    return Running(store, queue, rated, clock=clock, patience_ms=PATIENCE_MS)


@pytest.fixture
def make_allowance(store):
    def make(most=100):
        return Allowance(store.challenges, most=most, host_of=lambda url: urlsplit(url).hostname)

    return make


@pytest.fixture
def make_health(store, queue, clock, make_allowance):
    def make(queue=queue, most=100):
        return Health(store, queue, make_allowance(most), clock=clock, pause_ms=HEALTH_MS)

    return make


@pytest.fixture
def health(make_health):
    return make_health()


@pytest.fixture
def make_bots(store, queue, clock, make_allowance):
    def make(most=100):
        return Bots(
            store.bots,
            store.ledger,
            queue,
            guard=lambda _url: None,
            houses=[],
            max_bots=5,
            clock=clock,
            busy=lambda _bot: False,
            allowance=make_allowance(most),
        )

    return make


@pytest.fixture
def bots(make_bots):
    return make_bots()


@pytest.fixture
def make_sweep(store, queue, running, ratings, health):
    def make(token="one", running=running, every_ms=1_000, queue=queue, meters=None):
        return Sweep(
            store,
            queue,
            running,
            ratings,
            health,
            token=token,
            every_ms=every_ms,
            patience_ms=PATIENCE_MS,
            open_seat_ms=OPEN_SEAT_MS,
            meters=meters,
        )

    return make


@pytest.fixture
def sweep(make_sweep):
    return make_sweep()


@pytest.fixture
def make_ratings(store, queue, clock):
    """Make the use cases of ratings; without another fit they fit in this process."""
    ids = map("fit {}".format, itertools.count())

    def make(fit=fit_here):
        return Ratings(store, queue, fit, clock=clock, new_id=ids.__next__, every_ms=EVERY_MS)

    return make


@pytest.fixture
def ratings(make_ratings):
    return make_ratings()


@pytest.fixture
def season(store, ratings):
    return Season(store, ratings)


@pytest.fixture
def mint():
    """Make mints: a new one each time, or the one of a seed again."""
    fresh = map("seed {}".format, itertools.count())
    return lambda seed=None: Mint(ARENA_KEY, (seed or next(fresh)).encode())


@pytest.fixture
def account():
    """Make callers with an account."""

    def make(account_id="acc_1"):
        return Caller(address="127.0.0.1", account_id=account_id, scopes=frozenset(ALL_SCOPES))

    return make


@pytest.fixture
def owner(account):
    return account()


@pytest.fixture
def stranger(account):
    return account("acc_2")


@pytest.fixture
def operator():
    return Caller(address="127.0.0.1", is_operator=True)


@pytest.fixture
def anybody():
    return ANYBODY


@pytest.fixture
def holder(store):
    """Make callers that hold the token of a seat, as it is now."""

    def make(game_id, seat):
        held = store.games.tokens(game_id).get(seat)
        return Caller(address="127.0.0.1", game_id=game_id, seat=seat, seat_hash=held)

    return make


@pytest.fixture
def order():
    """Make orders for games: Seven Up to 1 for two, a River of one round for more."""

    def make(*who, options=None, start="auto", limits=None):
        short = {"target": 1} if len(who) == 2 else {"start_cards": 1}
        return {
            "ruleset": "seven_up" if len(who) == 2 else "river",
            "options": short | (options or {}),
            "seats": [_ordered(each) for each in who],
            "limits": limits or {},
            "start": start,
        }

    return make


def _ordered(who):
    kind, _, name = who.partition(":")
    if kind == "open":
        return {"kind": "open"}
    if kind in {"human", "house"}:
        return {"kind": kind, "name": name}
    return {"kind": "bot", "bot_id": who}


@pytest.fixture
def tournament_order():
    def make(**changes):
        return {
            "name": "night",
            "ruleset": "seven_up",
            "options": {"target": 1},
            "format": "round_robin",
            "deals": "fresh",
            "table_size": None,
            "limits": {},
        } | changes

    return make


@pytest.fixture
def start(tournaments, desk, owner, mint, tournament_order):
    """Start a tournament of the owner's with these bots, which are made as they come; give its id."""

    def begin(*bots, **changes):
        tournament_id = tournaments.create(owner, tournament_order(**changes), mint()).id
        for bot in bots:
            if not bot.startswith("house:") and desk.store.bots.get(bot) is None:
                desk.bot(bot)
            tournaments.enter(owner, tournament_id, bot, None)
        tournaments.set_state(owner, tournament_id, TournamentState.RUNNING)
        return tournament_id

    return begin


@pytest.fixture
def version():
    return house("house:greedy").card().version
