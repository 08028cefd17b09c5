"""Matches in processes, with bots that take them down."""

from __future__ import annotations

import sys

import pytest

from bot_sdk.events import Decided, Outcome
from bot_sdk.games import record
from bot_sdk.games.options import OptionError
from bot_sdk.games.packs import FairnessError
from bot_sdk.games.registry import RULESETS
from bot_sdk.loading import load_player
from bot_sdk.local import Match, MatchError, play, seated
from bot_sdk.parallel import pool as pooling
from bot_sdk.parallel.pool import LostError, opened
from tests.bot_sdk.parallel.made import Line, bot_file, untimed


@pytest.fixture(autouse=True)
def here(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)


RIVER = Match(RULESETS["river"], {"start_cards": 2})
THIRD = "decision.id == 'offline:s/0.1.2.3'"
"""The fourth decision of seat 2 in the second game, which the first player takes."""


def played(bots, *, jobs=1, games=3, match=RIVER, told=None, **more):
    tell = (lambda _text: None) if told is None else told.append
    with opened(match, bots, seats=4, seed="s", jobs=jobs, tell=tell, **more) as pool:
        return list(pool.play(games))


def outcomes(one, seat):
    return [event.outcome for event in one.game.log if isinstance(event, Decided) and event.seat == seat]


@pytest.mark.parametrize("jobs", [1, 3])
def test_the_games_are_the_same_by_any_number_of_processes(jobs):
    names = ["house:random", "house:greedy"]
    here = [load_player(name, "river") for name in names]
    expected = list(play(RIVER, seated(here, 4), games=6, seed="s"))
    got = played(names, jobs=jobs, games=6)
    assert [untimed(one.record) for one in got] == [untimed(one.record) for one in expected]
    assert [(one.board, one.leg, one.players) for one in got] == [(one.board, one.leg, one.players) for one in expected]


def test_games_come_in_their_order_however_long_they_take(tmp_path):
    slow = bot_file(tmp_path, "time.sleep(0.05)", "decision.game.id == 'offline:s/0.0'")
    assert [one.leg for one in played([slow, "house:random"], jobs=3, games=4)] == [0, 1, 2, 3]


def test_a_death_that_happens_once_changes_nothing(tmp_path):
    told = []
    bot = bot_file(tmp_path, "open('died', 'x').close(); os.kill(os.getpid(), signal.SIGKILL)",
                   f"{THIRD} and not os.path.exists('died')")  # fmt: skip
    expected = [untimed(one.record) for one in played([bot_file(tmp_path, name="other"), "house:random"])]
    got = [untimed(one.record) for one in played([bot, "house:random"], jobs=2, told=told)]
    assert [one["deals"] for one in got] == [one["deals"] for one in expected]
    assert told == ["a process ended by signal 9 in decision offline:s/0.1.2.3: the game is begun again"]


def test_a_bot_that_ends_its_process_is_unreachable_where_it_does(tmp_path):
    told = []
    games = played([bot_file(tmp_path, "os._exit(7)", THIRD), "house:random"], told=told)
    assert len(games) == 3
    assert outcomes(games[1], 2)[3] is Outcome.UNREACHABLE
    assert sum(outcomes(one, seat).count(Outcome.UNREACHABLE) for one in games for seat in range(4)) == 1
    assert told[1] == "made is unreachable: its process ended with status 7 in decision offline:s/0.1.2.3"


def test_a_bot_that_always_ends_its_process_is_retired_like_any_other(tmp_path):
    (one,) = played([bot_file(tmp_path, "os._exit(1)"), *["house:random"] * 3], games=1)
    assert outcomes(one, 0).count(Outcome.UNREACHABLE) == 5
    assert one.record.seats[0].retired


@pytest.mark.parametrize(
    "what",
    ["time.sleep(1000)", "re.match('(a+)+$', 'a' * 64 + 'b')"],
    ids=["asleep", "holds the interpreter"],
)
def test_a_bot_that_hangs_is_late_and_shows_where(tmp_path, monkeypatch, capfd, what):
    monkeypatch.setattr(pooling, "GRACE_S", 0.2)
    told = []
    games = played([bot_file(tmp_path, what, THIRD), "house:random"], told=told)
    late = next(event for event in games[1].game.log if event.seat == 2 and event.outcome is Outcome.LATE)
    assert late.ms >= 1000
    assert told == ["made is late: its process was killed, being silent, in decision offline:s/0.1.2.3"]
    if sys.platform != "win32":
        assert 'made.py", line 10 in decide' in capfd.readouterr().err


@pytest.mark.parametrize("what", ["raise RuntimeError('by hand')", "sys.exit('by hand')"])
def test_a_bot_that_raises_is_bad_status_and_its_traceback_is_shown(tmp_path, capfd, what):
    games = played([bot_file(tmp_path, what, THIRD), "house:random"])
    assert outcomes(games[1], 2)[3] is Outcome.BAD_STATUS
    assert "by hand" in capfd.readouterr().err


def test_what_bots_print_goes_to_stderr_and_they_read_nothing(tmp_path, capfd):
    what = "print('hello'); os.write(1, b'there'); decision.legal.append(repr(sys.stdin.read()))"
    (one,) = played([bot_file(tmp_path, what, "decision.id == 'offline:s/0.0.0.0'"), "house:random"], games=1)
    assert outcomes(one, 0)[0] is Outcome.ILLEGAL
    written = capfd.readouterr()
    assert written.out == ""
    assert "hello" in written.err
    assert "there" in written.err


def test_processes_that_die_where_no_bot_decides_end_the_match(tmp_path):
    file = tmp_path / "b.py"
    file.write_text(
        "import os\nfrom bot_sdk.bot import Bot\nbot = Bot('b')\nbot.on('river')(lambda decision: decision.legal[0])\n"
        "bot.on_game_started(lambda started: os._exit(3))\n"
    )
    with pytest.raises(LostError, match=r"ended with status 3 twice in game offline:s/0\.0"):
        played([str(file), "house:random"], games=1)
    file.write_text("import os\nos._exit(4)\n")
    with pytest.raises(LostError, match="status 4 while it loaded"):
        played([str(file), "house:random"], games=1)


def test_what_cannot_be_is_told_before_a_game():
    with pytest.raises(MatchError, match="expected a house bot among"):
        played(["house:perfect"])
    with pytest.raises(MatchError, match="expected 1 to 4 players for 4 seats, got 5"):
        played(["house:random"] * 5)
    with pytest.raises(MatchError, match="expected a seat from 0 to 3 to look into, got 4"):
        played(["house:random"], debug_seat=4)
    with pytest.raises(OptionError):
        played(["house:random"], match=Match(RULESETS["river"], {"start_cards": 99}))
    with pytest.raises(FairnessError), opened(RIVER, ["house:random"], seats=4, seed="\udcff", jobs=1):
        pass


def test_no_process_is_left_when_nobody_wants_the_games_any_more(tmp_path):
    with Line() as line:
        bot = bot_file(tmp_path, line.call, "decision.id == 'offline:s/0.0.0.0'")
        with opened(RIVER, [bot], seats=4, seed="s", jobs=1) as pool:
            next(pool.play(1000))
            call = line.wait_for_call()
        assert call.recv(1) == b""
        call.close()


def test_no_process_is_left_of_a_bot_that_hangs_when_the_match_fails(tmp_path):
    with Line() as line:
        bot = bot_file(tmp_path, f"{line.call}; time.sleep(1000)", "decision.id == 'offline:s/0.1.2.3'")
        quick = bot_file(tmp_path, name="quick")
        calls = []

        def fail():
            with opened(RIVER, [bot, quick], seats=4, seed="s", jobs=2) as pool:
                for _ in pool.play(2):
                    calls.append(line.wait_for_call())
                    raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            fail()
        assert calls[0].recv(1) == b""
        calls[0].close()


def test_a_looked_into_seat_tells_what_it_answered(tmp_path):
    bot = bot_file(tmp_path, "return 'play:ZZ', 'note'", THIRD)
    games = played([bot, "house:random"], debug_seat=2)
    assert [len(one.answers) for one in games] == [len(outcomes(one, 2)) for one in games]
    assert (games[1].answers[3].action, games[1].answers[3].note) == ("play:ZZ", "note")
    assert games[0].answers[3].outcome is Outcome.OK


def test_records_of_games_that_were_begun_again_verify(tmp_path):
    for one in played([bot_file(tmp_path, "os._exit(1)", THIRD), "house:greedy"], jobs=2):
        assert record.verify(one.record).places == one.record.places
