"""`slagveld doctor` beside an arena that plays: no false alarm, and what is said to heal by itself does."""

from __future__ import annotations

import json
import os
import re

import pytest
from click.testing import CliRunner

from service.cli import main
from service.doctor.kinds import ADVICE
from service.store import due, keys
from tests.integration.arena import PATIENT_LIMITS, SECRET, Arena, wait_until
from tests.integration.played import to_do
from tests.integration.running import Up

CARD = re.compile(r"\b[2-9TJQKA][CDHS]\b")
PLAY_S = 90.0
GAMES = {"ruleset": "seven_up", "size": 2, "limits": PATIENT_LIMITS, "options": {"target": 2}}


def doctor(environment, *options, status=None):
    """Give what it says in JSON; or all that it said, if an exit status is expected."""
    unset = dict.fromkeys(name for name in os.environ if name.startswith(("SLAGVELD_", "REDIS_URL")))
    ran = CliRunner().invoke(main, ["doctor", *options], env=unset | environment)
    if status is not None:
        assert ran.exit_code == status, ran.output
        return ran.output
    assert ran.stderr == ""
    told = json.loads(ran.stdout)
    assert ran.exit_code == (0 if told["is_well"] else 1)
    return told


def found(told):
    return {each["code"]: each["where"] for each in told["findings"]}


def is_over(arena, tournament_id):
    return arena.is_finished(tournament_id) and not to_do(arena.store)


@pytest.fixture
def make_arena(tmp_path):
    """Make an arena whose bots take their time, so that there is a middle."""

    def make(**more):
        return Arena(tmp_path / "arena", bots=["house:greedy", "house:random"] * 2, think_ms=5, **more)

    return make


def begin(arena, rounds, **more):
    return arena.launch("doctored", rounds=rounds, entries=arena.bot_ids, **GAMES, **more)


def test_all_is_well_amid_a_tournament_and_once_it_is_over_whatever_was_killed(make_arena):
    with make_arena() as arena:
        tournament = begin(arena, 12, deals="field")
        arena.start_api()
        for _ in range(2):
            arena.start_worker()
        results = lambda: arena.store.tournaments.count_results(tournament)  # noqa: E731 - a number to be waited for
        wait_until(lambda: results() > 2, PLAY_S, "some results")
        amid = doctor(arena.environment, "--json")
        assert amid["findings"] == []
        assert amid["keys"] > 50
        arena.restart_worker(0)
        arena.restart_api()
        arena.restart_valkey()
        arena.restart_worker(1)
        wait_until(lambda: is_over(arena, tournament), PLAY_S, "the end of the tournament", every_s=0.05)
        assert doctor(arena.environment, "--json")["findings"] == []
        assert "all is well" in doctor(arena.environment, status=0)


def test_what_is_said_to_heal_by_itself_heals_once_a_worker_is_there(make_arena):
    with make_arena() as arena:
        store, redis = arena.store, arena.store._redis
        tournament = begin(arena, 6)
        worker = arena.start_worker()
        lengths = lambda: arena.lengths([tournament])  # noqa: E731 - numbers to be waited for
        wait_until(lambda: sum(length >= 6 for length in lengths().values()) >= 7, PLAY_S, "seven games under way")
        worker.kill()
        games = [game_id for game_id, length in lengths().items() if length >= 6]
        short, torn, secret, late, missing, tried, uncounted = games[:7]
        now = store.due.now()
        for game_id in games:  # so that no lease that runs out now is late besides
            redis.delete(keys.game_lease(game_id))
            store.due.add(due.game(game_id), now + 60_000)
        store.games.stall(short, store.games.length(short))
        redis.delete(keys.game_log(short))
        redis.lset(keys.game_log(torn), 3, b"1 nothing")
        redis.delete(keys.game_secret(secret))
        store.due.add(due.game(late), now - 3_600_000)
        store.retention.drop_games([store.games.get(missing)])
        for _ in range(2):
            store.games.stall(tried, store.games.length(tried))
        owner = next(seat.bot_id for seat in store.games.get(uncounted).seats)
        store.unfinished.drop(f"bot:{owner}", uncounted)
        store.due.add("game:gam_never", now - 3_600_000)
        told = doctor(arena.environment, "--json")
        assert found(told) == {
            "overdue": [due.game(late)],
            "due_of_nothing": ["game:gam_never"],
            "game_secret_missing": [secret],
            "log_torn": [torn],
            "log_short": [short],
            "game_tried": [tried],
            "game_missing": [f"{missing} of {tournament}"],
            "counter_missing": [f"{uncounted} of bot:{owner}"],
        }
        assert all(each["heals"] for each in told["findings"])
        check_says_no_secret(arena, doctor(arena.environment, status=1), [*games, "gam_never"])
        for game_id in games:
            store.due.move({due.game(game_id): now})
        arena.start_worker()
        wait_until(lambda: is_over(arena, tournament), PLAY_S, "the end of the tournament", every_s=0.05)
        assert doctor(arena.environment, "--json")["findings"] == []
        assert store.tournaments.count_results(tournament) == 12


def check_says_no_secret(arena, said, games):
    """Check that nothing is said that somebody mustn't know."""
    assert not CARD.search(said), said
    assert SECRET not in said
    for game_id in games:
        secret = arena.store._redis.get(keys.game_secret(game_id))
        assert secret is None or secret.hex() not in said
    for code in ("log_torn", "game_secret_missing"):
        assert ADVICE[code].heals in said


def snapshot(data):
    """Give every file below a folder: its bytes, and when it was changed."""
    files = (path for path in sorted(data.rglob("*")) if path.is_file())
    return {path.relative_to(data): (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


def test_a_folder_is_looked_at_whether_its_arena_runs_or_not(tmp_path, start, play):
    data = tmp_path / "data"
    up: Up = start(data, "--workers", "1")
    play(up.ready())
    options = ("--data", str(data), "--json")
    beside = doctor({}, *options)
    assert beside["findings"] == []
    up.stop()
    before = snapshot(data)
    alone = doctor({}, *options)
    assert alone["findings"] == []
    assert snapshot(data) == before
    assert "nothing runs on these data" in doctor({}, *options[:2], status=0)


def test_where_it_cant_look_it_says_so(tmp_path):
    assert "there is none in" in doctor({}, "--data", str(tmp_path), status=2)
    assert "got both" in doctor({"REDIS_URL": "redis://127.0.0.1:1"}, "--data", str(tmp_path), status=2)
    assert "can't be looked at" in doctor({"REDIS_URL": "redis://127.0.0.1:1"}, status=2)
    assert "set SLAGVELD_CALLS right" in doctor({"SLAGVELD_CALLS": "no"}, "--data", str(tmp_path), status=2)
