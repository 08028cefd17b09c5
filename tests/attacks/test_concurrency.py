"""Whatever happens at the same moment, exactly one of it happens: row 5 of the attacks, over real processes."""

from __future__ import annotations

import functools
import itertools
import threading
import time
from collections import Counter

import pytest

from bot_sdk.client import Arena as Client
from bot_sdk.events import Decided, Outcome
from bot_sdk.games.record import read, verify
from bot_sdk.results.values import GameState
from service.arena.games import Games, Policy
from service.arena.minting import Mint
from service.config import Settings
from service.jobs import BrokerQueue, open_broker
from service.referee.table import Table
from service.services import now_ms
from service.store.idempotency import IN_FLIGHT_MS
from tests.attacks.at_once import BROKEN, at_once, call
from tests.faults.proxy import Proxy
from tests.faults.traps import UP
from tests.integration.arena import OWNER, PATIENT_LIMITS, Api, Arena, wait_until
from tests.integration.hostile_bots import HostileBot, answer
from tests.service.outbound.hostile import reply

PEOPLE = {"ruleset": "seven_up", "seats": [{"kind": "human", "name": "ann"}, {"kind": "human", "name": "bea"}]}
BIDDERS = {
    "ruleset": "river",
    "options": {"start_cards": 3, "bidding": "simultaneous"},
    "seats": [{"kind": "human", "name": f"p{number}"} for number in range(4)],
}
QUIET = {"SLAGVELD_LEASE_MS": "15000", "SLAGVELD_RENEW_MS": "5000", "SLAGVELD_ACCOUNTS": "open"}
PLAYS = 50


@pytest.fixture(scope="module")
def arena(tmp_path_factory):
    """Give an arena with two processes that serve its API, and a worker."""
    folder = tmp_path_factory.mktemp("at_once") / "arena"
    rates = {"SLAGVELD_RATE_NEW_ACCOUNTS": "1000 per hour"}
    with Arena(folder, bots=["house:greedy"] * 2, **QUIET, **rates) as arena:
        arena.start_api()
        arena.second = arena._own(Api(arena.environment, folder / "api-2.log"))
        arena.start_worker()
        yield arena


@pytest.fixture
def urls(arena):
    """Give the addresses of both processes that serve the API."""
    return [arena.api.address, arena.second.address]


@pytest.fixture(scope="module")
def host(arena):
    """Give the token of an account that makes games."""
    return call("POST", f"{arena.api.address}/v1/accounts", {"name": "host"}).body["token"]


class Sitting:
    """A game whose seats are all ours, made by the account of a token."""

    def __init__(self, url, host, order):
        self._host = host
        made = call("POST", f"{url}/v1/games", order, host)
        assert made.status == 201, made
        self.id = made.body["id"]
        self.tokens = [seat["token"] for seat in made.body["seats"]]
        self.url = url

    def view(self, seat):
        return call("GET", f"{self.url}/v1/games/{self.id}/seats/{seat}", token=self.tokens[seat]).body

    def owed(self):
        """Give the seats that owe a decision, each with what it owes."""
        views = [self.view(seat) for seat in range(len(self.tokens))]
        return {seat: view for seat, view in enumerate(views) if view["decision_id"] is not None}

    def act(self, seat, decision_id, action, url=None):
        path = f"{url or self.url}/v1/games/{self.id}/seats/{seat}/actions"
        return call("POST", path, {"decision_id": decision_id, "action": action}, self.tokens[seat])

    def cancel(self, url=None):
        return call("PUT", f"{url or self.url}/v1/games/{self.id}/state", {"state": "cancelled"}, self._host)


def decided(arena, game_id, seat):
    events = [event for _, event in arena.store.games.log(game_id)]
    return [event for event in events if isinstance(event, Decided) and event.seat == seat]


# --- plays ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("actions", [1, 2])
def test_of_fifty_plays_of_one_decision_one_is_committed_and_the_others_learn_which(arena, urls, host, actions):
    game = Sitting(urls[0], host, PEOPLE)
    ((seat, view),) = game.owed().items()
    wanted = view["legal_actions"][:actions]
    plays = [
        functools.partial(game.act, seat, view["decision_id"], wanted[n % actions], urls[n // actions % 2])
        for n in range(PLAYS)
    ]
    told = at_once(plays)
    (event,) = decided(arena, game.id, seat)
    assert event.outcome is Outcome.OK
    for n, each in enumerate(told):
        if wanted[n % actions] == event.action:
            assert each.status in {200, 201}
            assert each.body["action"] == event.action
        else:
            assert (each.status, each.code) == (409, "decided")
    assert Counter(each.status for each in told) == {201: 1, 200: PLAYS // actions - 1} | (
        {409: PLAYS // 2} if actions > 1 else {}
    )


def test_of_fifty_sealed_bids_by_four_seats_one_of_each_is_committed(arena, urls, host):
    """They don't overtake each other: whoever finds another's bid before his own lays the table anew."""
    game = Sitting(urls[0], host, BIDDERS)
    owed = game.owed()
    assert len(owed) == 4
    plays = [
        functools.partial(
            game.act, n % 4, owed[n % 4]["decision_id"], owed[n % 4]["legal_actions"][0], urls[n // 4 % 2]
        )
        for n in range(PLAYS)
    ]
    told = at_once(plays)
    assert [len(decided(arena, game.id, seat)) for seat in range(4)] == [1] * 4
    assert Counter(each.status for each in told) == {201: 4, 200: PLAYS - 4}


def test_cancelling_races_playing_and_what_was_acknowledged_stands(arena, urls, host):
    came = Counter()
    for n in range(12):
        game = Sitting(urls[0], host, PEOPLE)
        ((seat, view),) = game.owed().items()
        play = functools.partial(game.act, seat, view["decision_id"], view["legal_actions"][0], urls[n % 2])
        order = [play, functools.partial(game.cancel, urls[1 - n % 2])]
        played, cancelled = at_once(order)
        assert cancelled.status == 200, cancelled
        assert played.status in {201, 409}, played
        assert len(decided(arena, game.id, seat)) == (played.status == 201)
        assert arena.store.games.get(game.id).state is GameState.CANCELLED
        again = game.act(seat, view["decision_id"], view["legal_actions"][0])
        assert again.status == (200 if played.status == 201 else 409)
        came[played.status] += 1
    assert sum(came.values()) == 12


# --- the last action and its timeout ----------------------------------------------------------------------------------

BUDGET_MS = 1_500
RACES = 10


def games_of(arena):
    policy = Policy(anonymous_games=True, max_open_games=1_000, open_seat_ms=60_000)
    queue = BrokerQueue(open_broker(Settings.from_env(arena.environment)))
    return Games(arena.store, queue, policy, clock=now_ms, pack_secret=lambda: bytes(range(32)))


class Endgame:
    """A game of people that is played in this process up to its last decision."""

    def __init__(self, arena, number):
        order = {
            "ruleset": "seven_up",
            "options": {"target": 1},
            "seats": PEOPLE["seats"],
            "limits": {"human_budget_ms": BUDGET_MS},
            "start": "auto",
        }
        self._arena = arena
        made = games_of(arena).create(OWNER, order, Mint(bytes(32), f"endgame {number}".encode()))
        self.id, self._tokens = made.game.id, made.tokens

    def table(self):
        return Table.replayed(*self._arena.store.games.load(self.id))

    def play_to_the_last(self):
        """Play all decisions but the one after which the game is over; give who owes that one, and the game then."""
        while True:
            table = self.table()
            (seat,) = table.game.owed()
            action = table.game.fallback(seat)
            after = table.game.state.copy()
            after.apply(seat, action)
            if after.is_over:
                return table, seat, action
            events = table.game.apply(table.game.judged(seat, action, ms=1.0))
            self._arena.store.games.commit(self.id, events, expected=table.length, lease=None)

    def race(self, url, offset_ms):
        """Take the last action so many ms after its time is over; give what came of it, and the decision."""
        table, seat, action = self.play_to_the_last()
        self._arena.store.due.add(f"game:{self.id}", table.deadline(seat))
        time.sleep(max(0.0, (table.deadline(seat) + offset_ms - self._arena.store.due.now()) / 1000))
        path = f"{url}/v1/games/{self.id}/seats/{seat}/actions"
        body = {"decision_id": table.decision_id(seat), "action": action}
        told = call("POST", path, body, self._tokens[seat])
        return told, lambda: call("POST", path, body, self._tokens[seat]), seat, table.game.decisions[seat]


def test_the_last_action_races_its_timeout_and_one_of_them_ends_the_game(arena, urls):
    made = (Endgame(arena, number) for number in itertools.count())
    undecided = (game for game in made if not game.table().game.is_over)  # a turned Jack may decide it at once
    games = list(itertools.islice(undecided, RACES))
    offsets = [4 * (number - RACES // 2) for number in range(RACES)]
    races = [functools.partial(game.race, urls[number % 2], offsets[number]) for number, game in enumerate(games)]
    came = at_once(races)
    wait_until(lambda: all(arena.store.games.get(game.id).state.is_end for game in games), 20, "the end of all games")
    for game, (told, again, seat, number) in zip(games, came, strict=True):
        events = decided(arena, game.id, seat)
        assert len(events) == number + 1
        assert (told.status, events[-1].outcome) in {(201, Outcome.OK), (409, Outcome.LATE)}
        assert again().status == (200 if told.status == 201 else 409)
        with Client(urls[0]) as client:
            verify(read(client.record(game.id)))


# --- several workers, late bots ---------------------------------------------------------------------------------------


def test_several_workers_sent_to_one_game_ask_for_each_decision_once(arena):
    arena.start_worker()
    wait_until(lambda: arena.store.due.workers(10_000) == 2, 20, "two workers")
    asked = arena.bots.journal.count()
    game_id = arena.start_game("river", ["bot_0", "bot_1", "bot_0", "bot_1"], PATIENT_LIMITS)
    queue = BrokerQueue(open_broker(Settings.from_env(arena.environment)))
    for _ in range(10):
        queue.drive_shard([game_id])
        queue.drive(game_id)
    wait_until(lambda: arena.store.games.get(game_id).state.is_end, 30, "the end of the game")
    outcomes = Counter(event.outcome for seat in range(4) for event in decided(arena, game_id, seat))
    assert outcomes.keys() == {Outcome.OK}
    assert arena.bots.journal.count() - asked == outcomes[Outcome.OK]


class Belated:
    """Answers its first decision only when it is asked for the next, and then well."""

    def __init__(self):
        self._is_asked_again = threading.Event()
        self.late_answers = 0

    def __call__(self, bot, connection, message):
        if message["decision_id"].endswith(".0"):
            assert self._is_asked_again.wait(20)
            connection.sendall(reply(answer(message)))
            self.late_answers += 1
            return True
        self._is_asked_again.set()
        connection.sendall(reply(answer(message)))
        return True


def test_answer_that_comes_after_the_fallback_is_ignored(arena):
    belated = Belated()
    bot = HostileBot(belated)
    try:
        arena.register("bot_belated", "belated", bot.url)
        limits = {"budget_ms": 30_000, "first_budget_ms": 300}
        game_id = arena.start_game("seven_up", ["bot_0", "bot_belated"], limits)
        wait_until(lambda: arena.store.games.get(game_id).state.is_end, 30, "the end of the game")
    finally:
        bot.close()
    late, *others = decided(arena, game_id, 1)
    assert belated.late_answers == 1
    first = bot.decisions[0]
    assert (late.outcome, late.action) == (Outcome.LATE, first["legal_actions"][0])
    assert first["legal_actions"][-1] != late.action
    assert {event.outcome for event in others} == {Outcome.OK}
    assert bot.decisions[1]["last"]["outcome"] == "late"
    assert [each["decision_id"] for each in bot.decisions] == [f"{game_id}.1.{n}" for n in range(len(others) + 1)]


# --- requests that are sent again -------------------------------------------------------------------------------------

HOUSE_GAME = {"ruleset": "seven_up", "seats": [{"kind": "human", "name": "ann"}, {"kind": "house", "name": "greedy"}]}
MOMENTS = {"before it is made": b"{g:gam_", "after it is made": b'"drive"'}


@pytest.fixture
def behind(arena, tmp_path):
    """Give a process that serves the API with a proxy between it and the store, as (proxy, process)."""
    started = []
    with Proxy(arena.valkey.socket_path) as proxy:
        environment = arena.environment | {"REDIS_URL": proxy.redis_url()}

        def start():
            started.append(Api(environment, tmp_path / f"behind-{len(started)}.log"))
            return started[-1]

        yield proxy, start
        for each in started:
            each.close()


@pytest.mark.parametrize("moment", MOMENTS)
def test_request_in_flight_is_refused_to_others_and_free_again_soon_after_a_kill_of_the_api(
    arena, urls, behind, moment
):
    proxy, start = behind
    doomed = start()
    account = call("POST", f"{urls[0]}/v1/accounts", {"name": f"ann {moment}"}).body
    keyed = {"Idempotency-Key": f"key {moment}".replace(" ", "-")}

    def send(url, order=HOUSE_GAME):
        return call("POST", f"{url}/v1/games", order, account["token"], keyed)

    address = doomed.address
    trap = proxy.catch(UP, MOMENTS[moment])
    first = []
    sender = threading.Thread(target=lambda: first.append(send(address)))
    sender.start()
    trap.wait()
    in_flight = at_once([functools.partial(send, url) for url in urls * 5])
    assert {(each.status, each.code) for each in in_flight} == {(409, "in_flight")}
    assert {each.headers["Retry-After"] for each in in_flight} == {"1"}
    assert (other := send(urls[0], PEOPLE)).status in {409, 422}, other
    doomed.kill()
    trap.cut()
    sender.join(30)
    assert first == [BROKEN]
    assert send(urls[0]).code == "in_flight"
    (name,) = [key for key in arena.store._redis.scan_iter("secret:idempotent:*") if is_open(arena, key)]
    assert 0 < arena.store._redis.pttl(name) <= IN_FLIGHT_MS == 30_000
    arena.store._redis.pexpire(name, 1)  # the rest of that half minute
    wait_until(lambda: not arena.store._redis.exists(name), 5, "the end of that half minute")
    told = at_once([functools.partial(send, url) for url in urls * 5])
    made = [each for each in told if each.status == 201]
    assert made
    assert {each.status for each in told} <= {201, 409}
    assert len({each.body["id"] for each in made}) == 1
    last = send(urls[1])
    assert (last.status, last.headers["Idempotency-Replayed"], last.body) == (201, "true", made[0].body)
    games = call("GET", f"{urls[0]}/v1/games?owner=me", token=account["token"]).body["items"]
    assert [game["id"] for game in games] == [last.body["id"]]
    game, token = last.body["id"], last.body["seats"][0]["token"]
    assert call("GET", f"{urls[0]}/v1/games/{game}/seats/0", token=token).status == 200


def is_open(arena, key):
    return not arena.store._redis.hexists(key, "answer")
