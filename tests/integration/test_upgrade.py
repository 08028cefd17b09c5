"""An older release and a newer one side by side on one store, amid a tournament; then the older one goes."""

from __future__ import annotations

import pytest
import requests

from bot_sdk.games import record
from bot_sdk.games.record import RecordError
from bot_sdk.results.values import GameState
from service.referee.held import RULES
from service.store.entities import TournamentState
from tests.integration.arena import OWNER, PATIENT_LIMITS, Api, Arena, Process, wait_until
from tests.integration.played import check_whole, is_settled

RELEASED = "tests.integration.released"


class NewerApi(Api):
    """The API of a release whose games are of the second version of their rules."""

    def __init__(self, environment, log):
        self._from = 0
        command = ["-m", "gunicorn", "-c", "python:service.launch.gunicorn_conf", "--bind", "127.0.0.1:0"]
        Process.__init__(self, "newer API", [*command, f"{RELEASED}:application(2)"], environment, log)


def worker(arena, version, folder):
    log = folder / f"worker-{version}.log"
    return arena._own(Process(f"worker {version}", ["-m", RELEASED, str(version)], arena.environment, log))


def game_of_house_bots(address):
    order = {
        "ruleset": "seven_up",
        "seats": [{"kind": "house", "name": "greedy"}, {"kind": "house", "name": "random"}],
    }
    answer = requests.post(f"{address}/v1/games", json=order, timeout=20)
    answer.raise_for_status()
    return answer.json()["id"]


def test_a_tournament_goes_on_while_releases_change_under_it(tmp_path):
    bots = ["house:greedy", "house:random", "house:greedy"]
    with Arena(tmp_path / "arena", bots=bots, think_ms=5) as arena:
        store = arena.store
        older = worker(arena, 1, tmp_path)
        api = arena._own(NewerApi(arena.environment, tmp_path / "api.log"))
        short = {"target": 1}
        trn = arena.launch("upgrade", "seven_up", 2, None, arena.bot_ids, PATIENT_LIMITS, short, format="ladder")
        wait_until(lambda: store.tournaments.count_results(trn) >= 2, 60, f"first results: {arena.said()}")

        waiting = [game_of_house_bots(api.address) for _ in range(3)]
        wait_until(lambda: RULES in alarms(api), 30, "the alarm of games nobody plays", every_s=0.2)
        assert {store.games.get(game).state for game in waiting} == {GameState.RUNNING}
        assert {store.games.length(game) for game in waiting} == {0}

        newer = worker(arena, 2, tmp_path)
        wait_until(
            lambda: all(store.games.get(game).state is GameState.FINISHED for game in waiting),
            60,
            f"the newer worker to play them beside the older: {arena.said()}",
        )
        assert older.is_alive
        assert set(versions(store, trn).values()) == {1}
        older.terminate()
        wait_until(lambda: 2 in versions(store, trn).values(), 60, f"the newer worker's own games: {arena.said()}")
        arena.tournaments.set_state(OWNER, trn, TournamentState.FINISHED)
        wait_until(lambda: is_settled(store, arena.bot_ids), 60, arena.left())
        assert newer.is_alive

        results = store.tournaments.results(trn)
        check_whole(store, trn, len(results))
        assert {outcome for result in results for seat in result.outcomes for outcome in seat} == {"ok"}
        for game_id, version in versions(store, trn).items():
            check_record(api.address, game_id, version)


def versions(store, tournament_id):
    games, _ = store.games.list_for_tournament(tournament_id, limit=1_000)
    return {game.id: game.rules for game in games}


def alarms(api):
    return {each["alarm"] for each in requests.get(f"{api.address}/health/ready", timeout=20).json()["alarms"]}


def check_record(address, game_id, version):
    shown = record.read(requests.get(f"{address}/v1/games/{game_id}/record", timeout=20).content)
    assert shown.rules == version
    if version == 1:
        record.verify(shown)
    else:
        with pytest.raises(RecordError, match="expected the rules seven_up 1"):
            record.verify(shown)
