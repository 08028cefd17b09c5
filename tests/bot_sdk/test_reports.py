"""How checks are shown."""

from __future__ import annotations

from bot_sdk.check import Step
from bot_sdk.reports import step_text, steps_text, told_apart, verdict_text

GOOD = Step("card", ok=True, detail="lowball 1 plays river", ms=1.0)
WARNED = Step(
    "stalls", ok=True, detail="a Nagle stall", ms=44.0, warning=True, fault="stalls", advice="set TCP_NODELAY"
)
BAD = Step("river bid", ok=False, detail="got 'x'", ms=2.0, fault="illegal", where="b.py:3, in bid", advice="choose")


def test_a_fault_is_shown_with_its_place_and_what_to_do():
    line, where, advice = step_text(BAD).splitlines()
    assert line.startswith("FAIL river bid")
    assert (where.strip(), advice.strip()) == ("illegal: b.py:3, in bid", "what to do: choose")
    assert step_text(WARNED).splitlines()[1].strip() == "stalls"
    assert len(step_text(GOOD).splitlines()) == 1


def test_names_are_told_apart_also_from_what_others_become():
    assert told_apart(["a", "b", "a"]) == ["a #1", "b", "a #2"]
    assert len(set(told_apart(["a", "a", "a #1", "a #2"]))) == 4


def test_the_same_fault_in_the_same_place_is_explained_once():
    assert steps_text([BAD, GOOD, BAD]).count("what to do") == 1
    assert "illegal, as above" in step_text(BAD, [BAD])


def test_what_a_stranger_writes_does_not_steer_the_terminal():
    step = Step(
        "card", ok=False, detail="status 500: \x1b[2Jgone\r\n", ms=1.0, fault="raised", where="\x07", advice="x"
    )
    assert not {"\x1b", "\r", "\x07"} & set(step_text(step))


def test_the_verdict_counts_and_points_to_the_page():
    assert verdict_text([GOOD]) == "passed"
    assert verdict_text([GOOD, WARNED]).startswith("passed: 1 warning (docs/faq.md")
    assert verdict_text([GOOD, WARNED, BAD]).startswith("failed: 1 of 3 steps failed, 1 warning")
