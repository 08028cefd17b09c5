"""Clocks that are set an hour on or back: nothing stands still, nobody is robbed of his time, or waits for an hour."""

from __future__ import annotations

import time

import pytest

from bot_sdk.client import Arena as Client
from bot_sdk.events import Outcome
from tests.faults.faketime import WallClock, needs_faketime
from tests.integration.arena import PATIENT_LIMITS, Arena, wait_until
from tests.integration.chaos import told_of_failure
from tests.integration.played import check_whole

pytestmark = [needs_faketime, pytest.mark.attack]
"""The short form is tests/service/store/test_clock.py."""
BOTS = ["house:greedy", "house:random", "house:greedy", "house:random"]
NAMES = [f"bot_{number}" for number in range(4)]
PATIENT = {"SLAGVELD_LEASE_MS": "3000", "SLAGVELD_RENEW_MS": "300"}
"""A busy machine isn't to be taken for a dead worker: who reads a faked clock reads a file each time."""
BRIEF_S = 5
"""The shortest time that a person may be given."""


@pytest.fixture
def clock(tmp_path):
    return WallClock(tmp_path)


@pytest.fixture
def arena(tmp_path, clock):
    """An arena whose store has a clock of the test's."""
    made = Arena(tmp_path / "arena", bots=BOTS, think_ms=5, **PATIENT)
    made.valkey._program = clock.program
    with made:
        yield made


@pytest.fixture
def far(tmp_path, clock):
    """An arena whose workers and API have a clock of the test's."""
    with Arena(tmp_path / "arena", bots=BOTS, think_ms=5, **PATIENT) as made:
        made.environment |= clock.environment
        yield made


class Waiting:
    """A game of two people that waits for one of them."""

    def __init__(self, client: Client, budget_ms: int) -> None:
        self._client = client
        people = [{"kind": "human", "name": name} for name in ("ann", "bea")]
        game = client.create_game("seven_up", people, human_budget_ms=budget_ms)
        self.id, self.since = game["id"], time.monotonic()
        views = [
            (number, seat["token"], self._view(number, seat["token"])) for number, seat in enumerate(game["seats"])
        ]
        self._number, self._token, self.view = next(each for each in views if each[2]["decision_id"] is not None)

    def _view(self, number: int, token: str):
        return self._client.seat(self.id, number, token)

    def look(self):
        return self._view(self._number, self._token)

    def act(self):
        return self._client.act(
            self.id, self._number, self.view["decision_id"], self.view["legal_actions"][0], self._token
        )


def play_over(arena, jump, deaths):
    """Play a tournament, and two games of people, while the clock jumps and then some of two workers die."""
    with told_of_failure(arena):
        arena.start_api()
        for _ in range(2):
            arena.start_worker()
        tournament = arena.launch("river", "river", 4, 4, NAMES, PATIENT_LIMITS, {"start_cards": 5})
        wait_until(lambda: arena.bots.journal.count() >= 60, 30, "decisions")
        with Client(arena.api.address) as client:
            patient, brief = Waiting(client, 1_200_000), Waiting(client, BRIEF_S * 1_000)
            jump()
            for _ in range(deaths):
                arena.restart_worker(0)
            length = arena.store.games.length
            wait_until(lambda: length(brief.id) > 0, BRIEF_S + 25, "a fallback", every_s=0.02)
            waited = time.monotonic() - brief.since
            assert waited >= BRIEF_S - 0.001, "it had less than its time"  # which is counted in milliseconds
            assert arena.store.games.log(brief.id)[0][1].outcome is Outcome.LATE
            assert length(patient.id) == 0, "it had less than its time"
            left = patient.look()["deadline"] - arena.store.due.now()
            assert 1_100_000 < left <= 1_200_000
            assert patient.act()["decision_id"] == patient.view["decision_id"]
            ((_, event),) = arena.store.games.log(patient.id)
            assert (event.outcome, event.ms < 60_000) == (Outcome.OK, True)
        wait_until(lambda: arena.is_finished(tournament), 60, "the end", every_s=0.02)
        check_whole(arena.store, tournament, 16)
        outcomes = {
            name for each in arena.store.tournaments.results(tournament) for seat in each.outcomes for name in seat
        }
        assert outcomes == {"ok"}


@pytest.mark.parametrize("hours", [-1, 1])
def test_store_whose_clock_is_set(arena, clock, hours):
    """When it goes back, whoever sweeps and whoever plays die at once: what they hold is good for an hour then.

    That it went on, somebody must live to tell: else it may as well have been a long night.
    """
    play_over(arena, lambda: clock.set(hours), deaths=2 if hours < 0 else 1)


@pytest.mark.parametrize("hours", [1, -1])
def test_processes_whose_clocks_are_set(far, clock, hours):
    """None dies: one that starts with a wrong clock has never known a better one, and signs by it."""
    play_over(far, lambda: clock.set(hours), deaths=0)
