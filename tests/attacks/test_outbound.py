"""Whatever a bot does, plain or over TLS: its call ends in time and in the right outcome, and the next bot is fine."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import pytest

from tests.attacks.hostile_kinds import LATE, OK
from tests.attacks.outbound_world import World, all_hostile, run
from tests.service.outbound.hostile import HostileServer, reply


@pytest.fixture(scope="module")
def world(tmp_path_factory):
    with all_hostile(tmp_path_factory.mktemp("hostile")) as world:
        yield world


@dataclass(frozen=True)
class Thinker:
    """An honest bot that takes 5 ms, and when its answers were out."""

    server: HostileServer
    answered: dict[str, float]

    def false_lates(self, *, budget_ms: float, calls: int, line: bool) -> list[dict[str, Any]]:
        """Call it from a process in which two other threads never rest; tell who is late though its answer was out.

        Whoever doesn't get a processor is late in truth: that isn't told, and 5 ms are left to the network.
        """
        step = {"name": "honest", "url": self.server.url, "sent": 0, "honest": "", "budget_ms": budget_ms}
        steps = [step | {"id": f"msg_{number}"} for number in range(calls)]
        plan = {"steps": steps, "rounds": 1, "at_once": 4, "line": line, "busy": 2, "authority": None, "names": 0}
        taken = run(plan)["taken"]
        assert sum(each["outcome"] == OK for each in taken) > calls / 2
        in_time = (budget_ms - 5) / 1000
        return [
            each
            for each in taken
            if each["outcome"] != OK and self.answered.get(each["id"], math.inf) - each["began"] < in_time
        ]


@pytest.fixture
def thinker():
    answered: dict[str, float] = {}

    def answer(connection, request):
        time.sleep(0.005)  # it thinks
        connection.sendall(reply())
        answered[request.headers["webhook-id"]] = time.monotonic()
        return True

    server = HostileServer(answer)
    yield Thinker(server, answered)
    server.close()


def wrong(world: World, taken: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [each for each in taken if each["outcome"] not in world.outcomes[each["name"]] or each["next"] != OK]


@pytest.fixture(params=[True, False], ids=["line", "threads"])
def line(request):
    """Whether calls go on a line, or each in a thread that waits for it."""
    return request.param


def test_each_ends_in_the_right_outcome_and_the_next_bot_is_fine(world, line):
    told = world.call(budget_ms=400, rounds=2, at_once=16, line=line)
    assert len(told["taken"]) == 2 * len(world.steps)
    assert wrong(world, told["taken"]) == []
    assert max(each["over_ms"] for each in told["taken"]) < 5_000  # a busy machine's; the exact bound is below
    first, last = told["peak_kb"]
    assert last - first < 64_000


@pytest.mark.attack
@pytest.mark.parametrize("only", ["", LATE], ids=["all", "late"])
def test_48_at_once_end_at_their_deadline(world, line, only):
    told = world.call(budget_ms=400, rounds=30, at_once=48, line=line, only=only)
    assert wrong(world, told["taken"]) == []
    assert {each["tries"] for each in told["taken"]} == {1}
    over = sorted(each["over_ms"] for each in told["taken"])
    assert over[math.ceil(len(over) * 0.99) - 1] <= 50


@pytest.mark.attack
def test_memory_stays_flat(world, line):
    told = world.call(budget_ms=400, rounds=30, at_once=48, line=line, bulk=False)
    assert wrong(world, told["taken"]) == []
    assert told["objects"][-1] - told["objects"][9] < 1_000  # of 7,500 calls
    assert told["peak_kb"][-1] - told["peak_kb"][9] < 16_000  # what an allocator keeps of 48 threads' peaks


def test_an_honest_bot_beside_busy_threads_is_not_late(thinker, line):
    assert thinker.false_lates(budget_ms=50, calls=500, line=line) == []


@pytest.mark.attack
def test_an_honest_bot_beside_busy_threads_is_not_late_in_10_000_calls(thinker, line):
    assert thinker.false_lates(budget_ms=50, calls=10_000, line=line) == []
