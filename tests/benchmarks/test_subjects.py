"""Each subject still runs: a tiny round, whose figures mean nothing."""

import importlib
import math

import pytest

from benchmarks import ground
from benchmarks.__main__ import SUBJECTS
from benchmarks.harness import SMOKE, Row

DIFFERENCES = ("a bot always at its deadline: ", "a late decision by itself, ", "a reader of a stream: ")
"""Rows so named have something taken off that was measured apart: in a round as tiny as this, noise may be larger."""


@pytest.mark.parametrize("name", SUBJECTS)
def test_subject_measures_what_it_says(name, monkeypatch):
    monkeypatch.setenv("SLAGVELD_SWEEP_MS", "50")  # tiny tournaments wait for the sweeper more than they play
    for ruleset, short in {"river": {"start_cards": 2}, "seven_up": {"target": 3}}.items():
        monkeypatch.setitem(ground.OPTIONS, ruleset, short)
    lines = list(importlib.import_module(f"benchmarks.{name}").rows(SMOKE))
    assert lines
    assert len({line.name for line in lines}) == len(lines)
    for line in lines:
        if isinstance(line, Row):
            assert len(line.values) == SMOKE.rounds
            assert all(map(math.isfinite, line.values)), line
            assert all(value > 0 for value in line.values) or line.name.startswith(DIFFERENCES), line
        else:
            assert line.why
