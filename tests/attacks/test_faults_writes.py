"""A store that takes no writes: every operation that writes says 503 and when to ask again, and has done nothing."""

from __future__ import annotations

import dataclasses
import itertools
from contextlib import ExitStack

import pytest

from service.launch.valkey import EmbeddedValkey
from service.store import keys
from tests.faults import troubles
from tests.faults.world import WRITING, World
from tests.service.api.answers import problem

FREEING = ("revoke_token", "delete_bot", "delete_dead_letter", "set_maintenance", "post_actions")
"""What takes away needs no memory, and works without; a bot's answers take its calls away."""
READS = (
    "/health/live",
    "/v1/rulesets",
    "/v1/bots",
    "/v1/games",
    "/v1/tournaments",
    "/v1/leaderboards/river",
)


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    folder = tmp_path_factory.mktemp("store")
    with EmbeddedValkey(folder, program=troubles.large_files_fail(folder)) as started:
        yield started


@pytest.fixture
def world(server):
    with troubles.asked(server) as client:
        client.flushall()
        client.set("ballast", "x" * 100_000)  # the log of the server is shorter than its data
    made = World(server.url)
    yield made
    made.close()


def held(world):
    """Give all that is kept, but for counts of requests, lines of the audit log, and what the test itself puts there.

    An act has its line before it is done; one that was refused since the store takes nothing stands there as such.
    """
    redis, apart = world.store._redis, (b"rate", b"LIMIT", b"audit:", troubles.PROBE.encode())
    names = sorted(name for name in redis.scan_iter() if not any(each in name for each in apart))
    return {name: redis.dump(name) for name in names}


def test_every_operation_that_writes_has_a_request_here(world):
    assert world.requests().keys() == world.operations(), "say in tests/faults/world.py how to ask for it"


@pytest.mark.parametrize("trouble", troubles.REFUSING, ids=lambda trouble: trouble.__name__)
def test_operations_that_write_are_refused_do_nothing_and_work_again_by_themselves(world, server, trouble):
    requests = {name: make() for name, make in world.requests().items()}
    freeing = [requests.pop(name) for name in (FREEING if trouble is troubles.out_of_memory else ())]
    before = held(world)
    with trouble(server):
        for request in requests.values():
            answer = world.ask(request)
            problem(answer, 503, "store_away")
            assert int(answer.headers["Retry-After"]) >= 1
        for path in READS:
            assert world.client.get(path).status_code == 200
        assert held(world) == before
        for request in freeing:
            world.made(request)
    for request in requests.values():
        world.made(request)


@pytest.mark.attack
@pytest.mark.parametrize("name", ["create_account", "create_game", "take_action"])
def test_operations_are_refused_while_the_store_is_gone_and_work_again_by_themselves(world, server, name):
    request, before = world.requests()[name](), held(world)
    with troubles.dead(server):
        problem(world.ask(request), 503, "store_away")
        problem(world.client.get("/v1/games"), 503, "store_away")
        assert world.client.get("/health/live").status_code == 200
    assert held(world) == before
    world.made(request)


# --- in the middle of an operation ------------------------------------------------------------------------------------

CREATING = {"create_account", "create_bot", "create_check", "create_game", "create_tournament"}
AT_ONCE = CREATING - {"create_check"} | {"join_seat", "take_action"}
"""Those whose trouble in the middle the short form looks at."""


class Tripwire:
    """Begins a trouble just before the number-th command that the app sends to its store."""

    def __init__(self, world, monkeypatch):
        pool = world.store._redis.connection_pool
        sends = pool.connection_class.send_packed_command
        timeout = pool.connection_kwargs["socket_timeout"]

        def send(connection, *args, **kwargs):
            if self.left and connection.socket_timeout == timeout:  # not the rate limiter's
                self.left -= 1
                if not self.left:
                    self.begin()
            return sends(connection, *args, **kwargs)

        monkeypatch.setattr(pool.connection_class, "send_packed_command", send)
        self.left = 0
        self.begin = None

    def ask(self, world, request, number, trouble, server):
        """Send a request whose number-th command finds the trouble; give the answer, and whether it came to that."""
        with ExitStack() as stack:
            self.left, self.begin = number, lambda: stack.enter_context(trouble(server))
            answer = world.ask(request)
            tripped, self.left = not self.left, 0
        return answer, tripped


def counts(world):
    """Tell how many things of each kind are listed."""
    store, account = world.store, world.account_id
    lists = [store.accounts.list_all, store.bots.list_all, store.games.list_all, store.tournaments.list_all]
    listed = [len(each(limit=10_000)[0]) for each in lists]
    return [*listed, len(store.accounts.tokens(account))]


def let_in_flight_pass(world):
    """Let what is in flight count as dead, which takes half a minute at most."""
    redis = world.store._redis
    for name in redis.scan_iter(f"{keys.idempotent('')}*"):
        if not redis.hexists(name, "answer"):
            assert 0 < redis.pttl(name) <= 30_000
            redis.delete(name)


def long_but(trouble, names):
    return [
        pytest.param(
            trouble, name, marks=() if name in AT_ONCE else pytest.mark.attack, id=f"{trouble.__name__}-{name}"
        )
        for name in sorted(names)
    ]


OPERATIONS = [
    *sorted(CREATING), "create_token", "revoke_token", "change_bot", "delete_bot", "rotate_secret", "set_game_state",
    "join_seat", "leave_seat", "set_entropy", "take_action", "change_tournament", "set_tournament_state", "enter_bot",
    "withdraw_bot", "set_bot_state", "set_account_state", "erase_me", "erase_account", "set_maintenance",
    "replay_dead_letter", "delete_dead_letter",
]  # fmt: skip


@pytest.mark.parametrize(
    ("trouble", "name"),
    [
        *long_but(troubles.replicas_away, OPERATIONS),
        *[
            pytest.param(troubles.out_of_memory, name, marks=pytest.mark.attack, id=f"out_of_memory-{name}")
            for name in OPERATIONS
        ],
    ],
)
def test_operation_that_is_stopped_in_the_middle_is_whole_when_it_is_asked_for_again(
    world, server, monkeypatch, trouble, name
):
    wire = Tripwire(world, monkeypatch)
    for number in itertools.count(1):
        request = replace_key(world.requests()[name](), f"a-key-for-{name}-{number}")
        before = counts(world)
        answer, tripped = wire.ask(world, request, number, trouble, server)
        assert answer.status_code < 300 or problem(answer, 503, "store_away")
        first = answer if answer.status_code < 300 else None
        again = world.ask(request)
        if again.status_code == 409 and again.get_json()["code"] == "in_flight":
            assert trouble is not troubles.out_of_memory, "there was memory enough to say that it had failed"
            let_in_flight_pass(world)
            again = world.ask(request)
        assert again.status_code < 300 or (name in ENDING and again.status_code in ENDING[name]), again.text
        if first is not None and first.get_data() and name != "take_action":
            assert again.get_json() == first.get_json()
        grown = [now - then for now, then in zip(counts(world), before, strict=True)]
        assert grown == GROWS.get(name, [0, 0, 0, 0, 0]), f"after command {number}"
        if not tripped:
            break
    check_quotas(world)
    assert number > 2, "nothing was in its middle"


GROWS = {
    "create_account": [1, 0, 0, 0, 0],
    "create_bot": [0, 1, 0, 0, 0],
    "delete_bot": [0, -1, 0, 0, 0],
    "create_game": [0, 0, 1, 0, 0],
    "create_tournament": [0, 0, 0, 1, 0],
    "create_token": [0, 0, 0, 0, 1],
    "revoke_token": [0, 0, 0, 0, -1],
}
ENDING = {
    "delete_bot": {404}, "delete_dead_letter": {404}, "erase_me": {401}, "leave_seat": {401}, "revoke_token": {404},
    "withdraw_bot": {404},
}  # fmt: skip
"""What is gone already, by the first try, isn't there for the second."""


def replace_key(request, key):
    return request if request.method not in WRITING else dataclasses.replace(request, headers={"Idempotency-Key": key})


def check_quotas(world):
    """Check that what counts against the account's quota is what it plays."""
    store, owner = world.store, f"account:{world.account_id}"
    store.unfinished.prune(owner, stale_ms=0)
    listed, _ = store.games.list_for_account(world.account_id, limit=10_000)
    assert sorted(store.unfinished.games(owner)) == sorted(game.id for game in listed if not game.state.is_end)
