"""A bot that breaks is suspended, forfeits what waits, is checked by the arena, and is back when it is well again."""

from __future__ import annotations

import json
import socket
import threading

import pytest

from bot_sdk.bot import Bot, Decision
from bot_sdk.hosting import respond
from service.store.entities import AskedBy, BotState
from tests.integration.arena import PATIENT_LIMITS, SECRET, Arena, wait_until
from tests.service.outbound.hostile import HostileServer, Request, reply

HEALTH_MS = 200
SETTINGS = {"SLAGVELD_HEALTH_MS": str(HEALTH_MS), "SLAGVELD_LEASE_MS": "15000", "SLAGVELD_RENEW_MS": "5000"}
SHORT_RIVER = {"start_cards": 2}


class Obedient(Bot):
    """Plays the first of the legal actions."""

    rulesets = ("seven_up", "river")

    def decide(self, decision: Decision) -> str:
        return decision.legal[0]


class Patient:
    """A bot whose server answers with a status of ours while it is ill, and counts its calls by what they are."""

    def __init__(self):
        self.status: str | None = None
        self.calls: list[str] = []
        self._bot = Obedient("patient", secret=SECRET)
        self._lock = threading.Lock()
        self.server = HostileServer(self._behave)

    def _behave(self, connection: socket.socket, request: Request) -> bool:
        kind = json.loads(request.body)["type"] if request.body else "card"
        with self._lock:
            self.calls.append(kind)
        if self.status is not None:
            connection.sendall(reply(b"{}", status=self.status))
            return True
        told = respond(self._bot, request.line.partition(" ")[0], request.headers, request.body)
        connection.sendall(reply(told.body, status=f"{told.status.value} Told"))
        return True


@pytest.fixture
def patient():
    made = Patient()
    yield made
    made.server.close()


@pytest.fixture
def arena(tmp_path, patient):
    with Arena(tmp_path / "arena", bots=["house:greedy"] * 3, **SETTINGS) as arena:
        arena.register("bot_ill", "ill", patient.server.url, max_games=1)
        yield arena


def results_of(arena, tournament_id, bot_id="bot_ill"):
    """Give the results of a bot's games in the order of their rounds, each with its seat."""
    results = sorted(arena.store.tournaments.results(tournament_id), key=lambda result: result.slot.round)
    return [(result, result.bots.index(bot_id)) for result in results if bot_id in result.bots]


def state_of(arena, bot_id="bot_ill"):
    return arena.store.bots.get(bot_id).state


def checks_of(arena):
    """Give the latest checks of the bot, newest first."""
    return arena.store.bots.list_checks("bot_ill", limit=100)[0]


def test_ill_bot_is_suspended_after_three_games_forfeits_the_rest_and_comes_back(arena, patient):
    patient.status = "503 Ill"
    name = arena.launch("pairs", "seven_up", 2, 6, ["bot_ill", "bot_0"], PATIENT_LIMITS)
    arena.start_worker()
    wait_until(lambda: arena.is_finished(name), 30, "the end of the tournament")
    played = results_of(arena, name)
    assert [result.retired[seat] for result, seat in played[:3]] == [True] * 3
    for result, seat in played[3:]:
        assert (result.forfeited, result.ended_by, result.deals) == ([seat], "forfeit", 0)
        assert (result.places[seat], result.places[1 - seat]) == (2, 1)
    bot = arena.store.bots.get("bot_ill")
    assert (bot.state, len(bot.suspension.games)) == (BotState.SUSPENDED, 3)
    assert set(bot.suspension.games) == {result.game_id for result, _ in played[:3]}
    wait_until(lambda: arena.store.bots.get("bot_ill").suspension.checks >= 2, 30, "checks that fail")
    patient.status = None
    wait_until(lambda: state_of(arena) is BotState.ACTIVE, 30, "a bot that is well again")
    wait_until(lambda: all(check.ended_at for check in checks_of(arena)), 10, "the end of the last check")
    checks = checks_of(arena)
    assert {check.asked_by for check in checks} == {AskedBy.ARENA}
    assert [check.state for check in checks[:3]] == ["passed", "passed", "failed"]
    wait_until(lambda: arena.store.due.at("health:bot_ill") is None, 10, "a bot that leaves what is due")
    again = arena.launch("again", "seven_up", 2, 2, ["bot_ill", "bot_0"], PATIENT_LIMITS)
    wait_until(lambda: arena.is_finished(again), 30, "the end of another tournament")
    assert [(result.retired[seat], result.forfeited) for result, seat in results_of(arena, again)] == [(False, [])] * 2


@pytest.mark.attack
def test_suspended_bot_plays_river_by_fallbacks_from_the_first_decision(arena, patient):
    patient.status = "503 Ill"
    entries = ["bot_ill", "bot_0", "bot_1", "bot_2"]
    name = arena.launch("tables", "river", 4, 5, entries, PATIENT_LIMITS, SHORT_RIVER)
    arena.start_worker()
    wait_until(lambda: arena.is_finished(name), 60, "the end of the tournament")
    played = results_of(arena, name)
    assert [(result.retired[seat], result.forfeited) for result, seat in played[:3]] == [(True, [])] * 3
    for result, seat in played[3:]:
        assert (result.forfeited, result.ended_by, result.places[seat]) == ([seat], "forfeit", 4)
        assert result.outcomes[seat].keys() == {"retired"}
        assert {key for other in range(4) if other != seat for key in result.outcomes[other]} == {"ok"}
    assert state_of(arena) is BotState.SUSPENDED


def test_bot_that_answers_410_is_called_by_nothing_any_more_until_its_owner_asks(arena, patient):
    patient.status = "410 Gone"
    name = arena.launch("pairs", "seven_up", 2, 3, ["bot_ill", "bot_0"], PATIENT_LIMITS)
    arena.start_worker()
    wait_until(lambda: arena.is_finished(name), 30, "the end of the tournament")
    assert patient.calls.count("decision") == 1
    assert "game_ended" not in patient.calls
    assert arena.store.bots.get("bot_ill").suspension.is_gone
    assert arena.store.due.at("health:bot_ill") is None
    calls = list(patient.calls)
    other = arena.start_game("seven_up", ["bot_0", "bot_1"], PATIENT_LIMITS)
    wait_until(lambda: arena.store.games.get(other).state.is_end, 30, "the end of a game of others")
    wait_until(lambda: arena.store.due.count() == 0, 30, "nothing left to do")
    assert patient.calls == calls


@pytest.mark.attack
def test_workers_killed_on_the_way_lose_no_suspended_bot(arena, patient):
    patient.status = "503 Ill"
    name = arena.launch("pairs", "seven_up", 2, 4, ["bot_ill", "bot_0"], PATIENT_LIMITS)
    arena.environment |= {"SLAGVELD_LEASE_MS": "600", "SLAGVELD_RENEW_MS": "150"}
    for _ in range(2):
        arena.start_worker()
    wait_until(lambda: len(arena.store.ledger.endings("bot_ill", limit=9)) >= 2, 30, "the end of two games")
    arena.restart_worker(0)
    wait_until(lambda: state_of(arena) is BotState.SUSPENDED, 30, "a suspension")
    patient.status = None
    arena.restart_worker(0)
    wait_until(lambda: state_of(arena) is BotState.ACTIVE, 60, "a bot that is well again")
    wait_until(lambda: arena.is_finished(name), 30, "the end of the tournament")
