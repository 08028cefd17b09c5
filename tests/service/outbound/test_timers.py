"""What is due comes in its order, and what was taken off never."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from service.outbound.timers import Timers


@given(st.lists(st.tuples(st.integers(0, 50), st.booleans())), st.integers(0, 50))
def test_exactly_what_is_due_and_still_set_comes_in_order(times, now):
    timers: Timers[int] = Timers()
    numbers = [timers.add(due, at) for at, (due, _) in enumerate(times)]
    for number, (_, taken_off) in zip(numbers, times, strict=True):
        if taken_off:
            timers.discard(number)
    left = sorted((due, at) for at, (due, taken_off) in enumerate(times) if not taken_off)
    assert timers.next() == (left[0][0] if left else None)
    assert list(timers.due(now)) == [at for due, at in left if due <= now]
    assert timers.next() == next((due for due, _ in left if due > now), None)


def test_what_is_taken_off_leaves_nothing_for_long():
    timers: Timers[int] = Timers()
    stays = timers.add(1e9, -1)
    for number in range(10_000):
        timers.discard(timers.add(1e6 + number, number))
    assert len(timers._heap) < 200
    assert timers.next() == 1e9
    timers.discard(stays)
    timers.discard(stays)
    assert timers.next() is None
