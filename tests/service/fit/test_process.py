"""The process that fits: what it is given and answers, and that it never outlasts its time."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import msgspec
import pytest

from bot_sdk.results.rated import Rated
from service.arena.ratings import FitError
from service.fit.process import FitProcess
from service.store.leaderboard import Kept
from tests.service.fakes import until

WRITES_ITS_ID = "import os, sys, time; open(sys.argv[1], 'w').write(str(os.getpid())); time.sleep(60)"


@pytest.fixture
def games():
    """Give rated games as the store keeps them: bot_a beats bot_b three times out of four, on a board each."""
    return [
        msgspec.json.encode(
            Kept(
                number,
                Rated(
                    board=f"trn_1/{number}",
                    contenders=(("bot_a", "1"), ("bot_b", "1")),
                    places=(1, 2) if number % 4 else (2, 1),
                ),
            )
        )
        for number in range(40)
    ]


def never():
    return False


def is_gone(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_games_go_in_and_ratings_come_out(games):
    fitted = FitProcess(never)(games)
    first, second = fitted.rows
    assert (first.bot_id, second.bot_id) == ("bot_a", "bot_b")
    assert first.rating > second.rating
    assert (first.games, first.last_at, first.is_provisional) == (40, 39, False)
    (met,) = fitted.opponents["bot_a"]
    assert (met.bot_id, met.games, met.points) == ("bot_b", 40, 30)


def test_no_games_are_no_trouble():
    fitted = FitProcess(never)([])
    assert (fitted.rows, fitted.opponents) == ([], {})


def test_game_that_can_not_be_read_breaks_the_fit_with_its_reason(games):
    with pytest.raises(FitError, match=r"(?s)got 1: Traceback.*Expected"):
        FitProcess(never)([*games, b'{"board":'])


def test_answer_that_is_none_breaks_the_fit(games):
    with pytest.raises(FitError, match="expected ratings of the fit"):
        FitProcess(never, command=("-c", "print('hello')"))(games)


def test_fit_that_is_killed_midway_is_an_error(games):
    killed = FitProcess(never, command=("-c", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"))
    with pytest.raises(FitError, match="status 0, got -9"):
        killed(games)


def test_fit_that_takes_too_long_is_ended(tmp_path, games):
    slow = FitProcess(never, seconds=1, command=("-c", WRITES_ITS_ID, str(tmp_path / "pid")))
    began = time.monotonic()
    with pytest.raises(FitError, match="1 s at most"):
        slow(games)
    assert time.monotonic() - began < 10
    assert is_gone(int((tmp_path / "pid").read_text()))


def test_worker_that_is_to_stop_ends_the_fit_at_once(tmp_path, games):
    stopping, pid = threading.Event(), tmp_path / "pid"
    answers = []
    slow = FitProcess(stopping.is_set, command=("-c", WRITES_ITS_ID, str(pid)))
    thread = threading.Thread(target=lambda: answers.append(slow(games)))
    thread.start()
    until(lambda: pid.exists() and pid.read_text().isdigit(), timeout_s=20)
    stopping.set()
    thread.join(timeout=5)
    assert answers == [None]
    assert is_gone(int(pid.read_text()))


def test_fit_that_nobody_ends_any_more_ends_by_itself():
    """Its worker was killed; here it hangs, since it waits for games that don't come."""
    command = [sys.executable, "-m", "service.fit", "1"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.wait(timeout=20) == -signal.SIGALRM


def test_fit_that_begins_slowly_is_given_all_the_same(games):
    """More than a pipe holds, to a process that reads after it was looked for."""
    slow = 'import sys, time; time.sleep(0.5); sys.stdin.buffer.read(); print(\'{"rows": [], "opponents": {}}\')'
    assert FitProcess(never, command=("-c", slow))(games * 500).rows == []


def test_many_games_pass(games):
    """More than a pipe holds, both ways."""
    fitted = FitProcess(never)(games * 500)
    assert fitted.rows[0].games == 20_000


@pytest.mark.parametrize("module", ["service.wsgi", "service.cli", "service.worker.process", "service.arena.sweep"])
def test_nobody_but_the_fit_loads_numpy(module):
    code = f"import sys, {module}; sys.exit('numpy' in sys.modules or 'scipy' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr.decode()
