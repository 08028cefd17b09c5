"""What is done again, by a second worker, a bot that comes late, a client that repeats itself, is done once."""

from __future__ import annotations

import functools
import threading
from collections import Counter

import pytest

from bot_sdk.events import Outcome
from service.config import Settings
from service.jobs import BrokerQueue, open_broker
from service.store.idempotency import IN_FLIGHT_MS
from tests.attacks.at_once import BROKEN, at_once, call
from tests.attacks.racing import PEOPLE, arena, decided, proxy, start_behind, urls
from tests.faults.traps import UP
from tests.integration.arena import PATIENT_LIMITS, wait_until
from tests.integration.hostile_bots import HostileBot, answer
from tests.service.outbound.hostile import reply

__all__ = ["arena", "proxy", "start_behind", "urls"]  # fixtures


# --- several workers, late bots ---------------------------------------------------------------------------------------


def test_several_workers_sent_to_one_game_ask_for_each_decision_once(arena):
    arena.start_worker()
    wait_until(lambda: arena.store.due.workers(10_000) == 2, 20, "two workers")
    asked = arena.bots.journal.count()
    game_id = arena.start_game("seven_up", ["bot_0", "bot_1"], PATIENT_LIMITS)
    queue = BrokerQueue(open_broker(Settings.from_env(arena.environment)))
    for _ in range(10):
        queue.drive_shard([game_id])
        queue.drive(game_id)
    wait_until(lambda: arena.store.games.get(game_id).state.is_end, 30, "the end of the game")
    outcomes = Counter(event.outcome for seat in range(2) for event in decided(arena, game_id, seat))
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


@pytest.mark.parametrize("moment", ["before it is made", pytest.param("after it is made", marks=pytest.mark.attack)])
def test_request_in_flight_is_refused_to_others_and_free_again_soon_after_a_kill_of_the_api(
    arena, urls, proxy, start_behind, moment
):
    doomed = start_behind()
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
