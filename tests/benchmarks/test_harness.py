import json
import os
import subprocess
import sys
import time

import pytest

from benchmarks import __main__ as command
from benchmarks.harness import SMOKE, Row, Skipped, at_least, at_most, cpu_us, interleave, own_cpu_us, ratio_row


class Subject:
    def __init__(self, *lines):
        self.lines = lines

    def rows(self, effort):
        assert effort is SMOKE
        yield from self.lines


def run(monkeypatch, tmp_path, *lines):
    """Run the command over a subject of these rows; give its exit status and what it wrote."""
    monkeypatch.setattr(command, "SUBJECTS", ("made",))
    monkeypatch.setitem(sys.modules, "benchmarks.made", Subject(*lines))
    status = command.main([], SMOKE, tmp_path / "results.json")
    return status, json.loads((tmp_path / "results.json").read_text())


BURNS = """
import threading, time

def burn():
    while time.thread_time() < 0.05:
        pass

thread = threading.Thread(target=burn)
thread.start()
thread.join()
print(flush=True)
input()
"""
MET = Row("good", (3.0, 2.0, 1.0), at_least(2))
MISSED = Row("bad", (1.0, 3.0, 2.0), at_most(1.9), unit="ms")


def test_exit_status_is_1_when_a_target_is_missed(monkeypatch, tmp_path):
    assert run(monkeypatch, tmp_path, MET, MISSED)[0] == 1


def test_exit_status_is_0_when_all_that_has_a_target_meets_it(monkeypatch, tmp_path):
    assert run(monkeypatch, tmp_path, MET, Row("reported", (9.0,)), Skipped("left out", "it isn't installed"))[0] == 0


def test_results_say_ratio_target_and_whether_it_is_met(monkeypatch, tmp_path):
    _, told = run(monkeypatch, tmp_path, MET, MISSED, Row("reported", (9.0,)), Skipped("left out", "no such thing"))
    assert set(told["machine"]) == {"processor", "processors", "system", "python"}
    good, bad, reported, skipped = told["rows"]
    assert good | {"detail": ""} == {
        "subject": "made",
        "name": "good",
        "ratio": 2.0,
        "unit": "ratio",
        "min": 1.0,
        "max": 3.0,
        "rounds": 3,
        "target": {"kind": "at least", "value": 2},
        "met": True,
        "detail": "",
    }
    assert (bad["met"], bad["target"], bad["unit"]) == (False, {"kind": "at most", "value": 1.9}, "ms")
    assert (reported["met"], reported["target"]) == (None, None)
    assert (skipped["name"], skipped["met"], skipped["skipped"]) == ("left out", None, "no such thing")


def test_no_such_subject_is_said_with_exit_status_2(capsys, tmp_path):
    assert command.main(["wrong"], SMOKE, tmp_path / "results.json") == 2
    assert "got wrong" in capsys.readouterr().err


def test_the_median_counts_not_the_mean():
    assert Row("one slow round", (1.0, 1.0, 100.0), at_most(1)).is_met
    assert not Row("one fast round", (1.0, 1.0, 100.0), at_least(2)).is_met


def test_sides_take_turns():
    called = []
    measured = interleave(2, lambda: called.append("a") or 6.0, lambda: called.append("b") or 3.0)
    assert called == ["a", "b", "a", "b"]
    assert ratio_row("twice", *measured).values == (2.0, 2.0)


def test_processor_time_of_another_process_counts_its_threads_and_not_its_waiting():
    with subprocess.Popen(
        [sys.executable, "-c", BURNS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        process.stdout.readline()
        used = cpu_us(process.pid)
        process.communicate(b"\n")
    assert used >= 50_000


def test_processor_time_of_this_process_is_the_same_by_both_clocks():
    before = own_cpu_us(), cpu_us(os.getpid())
    ends = time.process_time() + 0.02
    while time.process_time() < ends:
        pass
    after = own_cpu_us(), cpu_us(os.getpid())
    assert after[0] - before[0] == pytest.approx(after[1] - before[1], rel=0.2)
