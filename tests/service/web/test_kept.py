"""What was worked out is shown again: how long, to whom, and when it is worked out anew."""

from __future__ import annotations

import itertools
import threading

import pytest

from service.web.kept import CHEAP_S, MOST_S, SHARE, Kept
from tests.service.bench import Background
from tests.service.fakes import until


class Clock:
    def __init__(self):
        self.now = 1_000.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def kept(clock):
    return Kept(most=2, clock=clock)


@pytest.fixture
def make(clock):
    """Make makers of numbers from 1 on, each taking so many seconds."""
    numbers = itertools.count(1)

    def after(cost=0.0):
        def made():
            clock.now += cost
            return next(numbers)

        return made

    return after


def test_it_is_made_once_while_nothing_changes(kept, make, clock):
    assert kept.get("a", 1, make()) == 1
    clock.now += MOST_S - 1
    assert kept.get("a", 1, make()) == 1
    assert kept.get("b", 1, make()) == 2


def test_change_makes_it_anew(kept, make, clock):
    kept.get("a", 1, make())
    clock.now += 0.001
    assert kept.get("a", 2, make()) == 2


def test_what_was_dear_outlasts_changes_in_proportion(kept, make, clock):
    kept.get("a", 1, make(2.0))
    clock.now += 2.0 * SHARE - 0.1
    assert kept.get("a", 2, make()) == 1
    clock.now += 0.2
    assert kept.get("a", 2, make()) == 2


def test_without_a_mark_only_what_was_dear_is_shown_again(kept, make, clock):
    assert kept.lately("a", make(CHEAP_S / 2)) == 1
    assert kept.lately("a", make(CHEAP_S)) == 2
    clock.now += CHEAP_S * SHARE - 0.01
    assert kept.lately("a", make()) == 2
    clock.now += 0.02
    assert kept.lately("a", make()) == 3


def test_nothing_is_kept_for_ever(kept, make, clock):
    kept.get("a", 1, make(1_000.0))
    clock.now += MOST_S
    assert kept.get("a", 1, make()) == 2


def test_those_asked_for_last_are_kept(kept, make):
    for name in "aba":
        kept.get(name, 1, make())
    kept.get("c", 1, make())
    assert kept.get("a", 1, make()) == 1
    assert kept.get("b", 1, make()) > 2


def test_error_is_passed_on_and_not_kept(kept, make):
    with pytest.raises(ZeroDivisionError):
        kept.get("a", 1, lambda: 1 // 0)
    assert kept.get("a", 1, make()) == 1


def test_one_makes_it_and_others_are_given_what_there_was(kept, make, clock):
    kept.get("a", 1, make())
    clock.now += 1.0
    begun, go_on = threading.Event(), threading.Event()

    def slow():
        begun.set()
        assert go_on.wait(10)
        return "new"

    first = Background(lambda: kept.get("a", 2, slow))
    assert begun.wait(10)
    assert kept.get("a", 2, make()) == 1
    go_on.set()
    assert first.result() == "new"
    assert kept.get("a", 2, make()) == "new"


def test_nobody_is_given_what_is_too_old_while_it_is_made_anew(kept, make, clock):
    kept.get("a", 1, make())
    clock.now += MOST_S
    begun, go_on = threading.Event(), threading.Event()

    def slow():
        begun.set()
        assert go_on.wait(10)
        return "new"

    first = Background(lambda: kept.get("a", 2, slow))
    assert begun.wait(10)
    second = Background(lambda: kept.get("a", 2, make()))
    second._thread.join(0.2)  # time enough to be given what there was
    go_on.set()
    assert [first.result(), second.result()] == ["new", "new"]


def test_who_comes_while_it_is_made_for_the_first_time_waits_for_it(kept):
    begun, go_on = threading.Event(), threading.Event()
    made = []

    def slow():
        made.append(1)
        begun.set()
        assert go_on.wait(10)
        return "new"

    both = [Background(lambda: kept.get("a", 1, slow)) for _ in range(2)]
    assert begun.wait(10)
    until(lambda: all(each._thread.is_alive() for each in both))
    go_on.set()
    assert [each.result() for each in both] == ["new", "new"]
    assert made == [1]
