"""Each process killed with SIGKILL at each step of a decision: everything goes on, and every decision stands once."""

from __future__ import annotations

import pytest

from bot_sdk.events import Outcome
from tests.faults.behind import Behind, asks, decision_ids, script
from tests.faults.traps import UP
from tests.integration.arena import PATIENT_LIMITS, wait_until

BEFORE_SEND, AFTER_SEND, BEFORE_COMMIT, AFTER_COMMIT = (
    "before send",
    "after send",
    "before commit",
    "after commit",
)
ASKED = {BEFORE_SEND: 1, AFTER_SEND: 2, BEFORE_COMMIT: 2, AFTER_COMMIT: 1}
"""How often a bot hears a decision when the worker dies there: what it answered is lost until it is committed."""


@pytest.fixture
def behind(tmp_path):
    with Behind(tmp_path / "arena") as made:
        yield made


def lay(behind, step, game_id):
    """Lay a trap for the next decision of seat 0 to come to a step."""
    return {
        BEFORE_SEND: lambda: behind.to_bots[0].catch(UP, asks(game_id)),
        AFTER_SEND: lambda: behind.to_bots[0].catch_reply(asks(game_id)),
        BEFORE_COMMIT: lambda: behind.to_store.catch(UP, script("commit")),
        AFTER_COMMIT: lambda: behind.to_store.catch_reply(script("commit")),
    }[step]()


def long(*cases):
    """Mark cases that only `make attack` runs."""
    return [pytest.param(case, marks=pytest.mark.attack) for case in cases]


def begin(behind, step):
    """Start a game and a worker; return when the first decision of seat 0 is held at a step."""
    game_id = behind.arena.start_game("seven_up", ["far_0", "far_1"], PATIENT_LIMITS)
    trap = lay(behind, step, game_id)
    behind.arena.start_worker()
    return game_id, trap.wait()


def check_whole(behind, game_id, outcomes=(Outcome.OK,)):
    """Check that the game has come to its end, each decision stands in its log once, and no other was asked for."""
    table = behind.finish(game_id)
    names = decision_ids(table)
    assert table.game.is_over
    assert len(set(names)) == len(names)
    assert {event.outcome for event in table.game.log} == set(outcomes)
    return table, names


# --- a worker ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", [BEFORE_COMMIT, *long(BEFORE_SEND, AFTER_SEND, AFTER_COMMIT)])
def test_worker_killed(behind, step):
    game_id, trap = begin(behind, step)
    behind.restart("worker")
    trap.cut()
    _, names = check_whole(behind, game_id)
    asked = behind.asked(game_id)
    assert set(asked) == set(names)
    *others, most = sorted(asked.values())
    assert (set(others), most) == ({1}, ASKED[step])


@pytest.mark.attack
def test_what_a_dead_worker_had_sent_may_still_arrive(behind):
    """Its commit is on the way when it dies, and comes when another already plays: its lease has run out by then."""
    game_id, trap = begin(behind, BEFORE_COMMIT)
    behind.restart("worker")
    arena = behind.arena
    wait_until(lambda: arena.store.games.length(game_id) >= 3, 20, "another worker that goes on")
    trap.release()
    check_whole(behind, game_id)


# --- the store --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", [AFTER_COMMIT, *long(BEFORE_SEND, AFTER_SEND, BEFORE_COMMIT)])
def test_store_killed(behind, step):
    """Bots have answered, or do meanwhile, and their answers are committed when it is back: nobody is asked twice."""
    game_id, trap = begin(behind, step)
    behind.restart("valkey")
    trap.release()
    _, names = check_whole(behind, game_id)
    assert behind.asked(game_id) == dict.fromkeys(names, 1)


# --- a bot ------------------------------------------------------------------------------------------------------------


@pytest.mark.attack
@pytest.mark.parametrize(("step", "heard"), [(BEFORE_SEND, 1), (AFTER_SEND, 2), (BEFORE_COMMIT, 1), (AFTER_COMMIT, 1)])
def test_bot_killed_and_back_within_its_time(behind, step, heard):
    """A connection that ends before the first byte of an answer is tried once more; that one waits until it is back."""
    game_id, trap = begin(behind, step)
    for proxy in behind.to_bots:
        proxy.hang()
    behind.restart("bot")
    trap.cut()
    for proxy in behind.to_bots:
        proxy.heal()
    _, names = check_whole(behind, game_id)
    asked = behind.asked(game_id)
    assert set(asked) == set(names)
    assert max(asked.values()) == heard


@pytest.mark.attack
@pytest.mark.parametrize("step", [BEFORE_SEND, AFTER_SEND])
def test_bot_killed_and_gone_for_a_decision(behind, step):
    """Then that decision is the bot's fault, once; what it had answered, nobody has seen."""
    game_id, trap = begin(behind, step)
    behind.arena.bots.kill()
    fallback = behind.to_store.catch(UP, script("commit"))
    trap.cut()
    fallback.wait()
    behind.start_bots()
    fallback.release()
    table, _ = check_whole(behind, game_id, (Outcome.OK, Outcome.UNREACHABLE))
    assert [event.outcome for event in table.game.log].count(Outcome.UNREACHABLE) == 1
