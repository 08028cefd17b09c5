"""The store's clock is set to another time: who reads it notices, once, and nothing waits for a time that has moved."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.store import due, keys
from service.store.clock import MARGIN_MS, TOLERANCE_MS, Agreed, Clock, Jump, Moment

HOUR = 3_600_000
MINUTE = 60_000


class Ours:
    """Our own monotonic clock, in seconds; an hour that it gains is one that the store's clock lost."""

    def __init__(self):
        self.seconds = 1_000.0

    def __call__(self):
        return self.seconds

    def gain(self, ms):
        self.seconds += ms / 1000


@pytest.fixture
def ours():
    return Ours()


@pytest.fixture
def clock(redis, ours):
    return Clock(redis, monotonic=ours)


def is_about(ms, expected, within=30_000):
    return abs(ms - expected) < within


# --- noticing ---------------------------------------------------------------------------------------------------------


def test_clock_that_goes_on_as_ours_does_has_not_jumped(clock, redis, store):
    assert clock.read().jumps == ()
    assert clock.read().jumps == ()
    assert is_about(clock.read().now, store.due.now(), 1_000)
    assert not clock.mend()
    assert redis.get(keys.CLOCK) is None


@pytest.mark.parametrize("back", [HOUR, -HOUR, 2 * TOLERANCE_MS, -2 * TOLERANCE_MS])
def test_jump_is_noticed_and_noted_once(clock, ours, back):
    clock.read()
    ours.gain(back)
    moment = clock.read()
    (jump,) = moment.jumps
    assert is_about(jump.before - jump.after, back, 5_000)
    assert is_about(jump.after, moment.now, 5_000)
    assert clock.read().jumps == (jump,)


def test_damaged_note_counts_as_none_and_the_next_one_takes_its_place(clock, ours, redis):
    redis.set(keys.CLOCK, "0123456789abcdef {never")
    assert clock.read().jumps == ()
    ours.gain(HOUR)
    assert len(clock.read().jumps) == 1


@pytest.mark.parametrize("back", [TOLERANCE_MS // 2, -TOLERANCE_MS // 2])
def test_clock_that_is_set_by_a_little_has_not_jumped(clock, ours, back):
    clock.read()
    ours.gain(back)
    assert clock.read().jumps == ()


def test_of_many_who_notice_one_notes_it(redis):
    everybody = [(Clock(redis, monotonic=mine), mine) for mine in (Ours(), Ours(), Ours())]
    for clock, _ in everybody:
        clock.read()
    for clock, mine in everybody:
        mine.gain(HOUR)
        clock.read()
    assert {clock.read().jumps for clock, _ in everybody} == {everybody[0][0].read().jumps}
    assert len(everybody[0][0].read().jumps) == 1


def test_who_was_asked_for_a_while_tells_no_jump_by_it(redis, ours):
    """Between question and answer a store may stand still for as long as it likes."""
    steps = iter([0.0, 0.0, 1.0, 61.0])
    clock = Clock(redis, monotonic=lambda: next(steps))
    clock.read()
    assert clock.read().jumps == ()


def test_process_that_starts_after_the_clock_went_back_knows_by_those_who_were_there(redis, store):
    redis.zadd(keys.WORKERS, {"dead": store.due.now() + HOUR})
    (jump,) = Clock(redis).read().jumps
    assert is_about(jump.before - jump.after, HOUR, 5_000)
    assert Clock(redis).read().jumps == (jump,)
    assert Clock(redis).mend()
    assert Clock(redis).read().jumps == (jump,)


def test_process_that_starts_after_a_pause_knows_of_no_jump(redis, store):
    redis.zadd(keys.WORKERS, {"dead": store.due.now() - HOUR})
    assert Clock(redis).read().jumps == ()


# --- mending ----------------------------------------------------------------------------------------------------------


def test_when_it_went_back_all_that_is_due_later_is_due_now(clock, ours, store):
    now = store.due.now()
    store.due.add(due.game("gam_past"), now - 5_000)
    names = [due.game(f"gam_{number}") for number in range(1_200)]
    for name in names:
        store.due.add(name, now + HOUR)
    clock.read()
    ours.gain(HOUR)
    assert clock.mend()
    later = store.due.now()
    assert {name for name, _ in store.due.peek(later, 10_000)} == {*names, due.game("gam_past")}
    assert store.due.at(due.game("gam_past")) == now - 5_000
    assert not clock.mend()


def test_when_it_went_back_what_expires_does_so_in_its_time(clock, ours, redis):
    redis.set("lease", "somebody", px=HOUR + 15_000)
    redis.set("dead for a while", "somebody", px=HOUR - 15_000)
    redis.set("taken since", "somebody", px=15_000)
    redis.set("for ever", "1")
    redis.set("for a day", "1", px=24 * HOUR)
    clock.read()
    ours.gain(HOUR)
    clock.mend()
    assert is_about(redis.pttl("lease"), 15_000, 5_000)
    assert redis.pttl("dead for a while") <= 1
    assert is_about(redis.pttl("taken since"), 15_000, 5_000)
    assert redis.pttl("for ever") == -1
    assert is_about(redis.pttl("for a day"), 23 * HOUR)


def test_when_it_went_forward_nothing_is_moved(clock, ours, store, redis):
    store.due.add("game:gam_1", at := store.due.now() + HOUR)
    redis.set("lease", "somebody", px=15_000)
    clock.read()
    ours.gain(-HOUR)
    assert clock.mend()
    assert store.due.at("game:gam_1") == at
    assert is_about(redis.pttl("lease"), 15_000, 5_000)


# --- the time that is signed ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("wall", "store", "expected"), [(0, 0, 0), (HOUR, 0, 0), (0, HOUR, 0), (-HOUR, 0, 0), (HOUR, HOUR, HOUR)]
)
def test_a_clock_that_is_set_alone_is_outvoted(redis, ours, wall, store, expected):
    began = redis.time()[0]
    shown = [float(began)]
    clock = Clock(redis, monotonic=ours)
    agreed = Agreed(clock, wall=lambda: shown[0], monotonic=lambda: 0.0)
    assert agreed() == began, "alone until the store's is known"
    clock.read()
    ours.gain(store)
    shown[0] += wall / 1000
    assert is_about((agreed() - began) * 1000, expected)


# --- stamps -----------------------------------------------------------------------------------------------------------


class Timeline:
    """A clock as it shows real time (ms), with the jumps it makes."""

    def __init__(self, jumps):
        self.jumps = sorted(jumps)

    def shows(self, real):
        return 10**12 + real + sum(by for at, by in self.jumps if at <= real)

    def moment(self, real):
        noted = []
        offset = 10**12
        for at, by in self.jumps:
            if at <= real:
                noted.append(Jump(at + offset, at + offset + by))
                offset += by
        return Moment(self.shows(real), tuple(noted))


@given(
    by=st.sampled_from([HOUR, -HOUR, 6 * HOUR, -6 * HOUR]),
    ago=st.integers(0, 50 * MINUTE),
    age=st.integers(0, 9 * MINUTE),
)
def test_stamp_is_as_old_as_it_is_whatever_the_clock_did_since(by, ago, age):
    """A stamp of up to nine minutes before a jump, looked at up to fifty minutes after it."""
    line = Timeline([(HOUR, by)])
    now = HOUR + ago
    moment = line.moment(now)
    real = HOUR - age - 1
    assert moment.now - moment.adjusted(line.shows(real)) == now - real


@given(by=st.sampled_from([HOUR, -HOUR]), ago=st.integers(0, 3 * HOUR), since=st.integers(0, 3 * HOUR))
def test_stamp_of_after_a_jump_is_taken_as_it_is(by, ago, since):
    line = Timeline([(HOUR, by)])
    now = HOUR + max(ago, since)
    moment = line.moment(now)
    stamp = line.shows(HOUR + min(ago, since))
    assert moment.adjusted(stamp) == stamp


@given(by=st.sampled_from([HOUR, -HOUR]), gap=st.integers(2 * MINUTE, 50 * MINUTE), ago=st.integers(0, 9 * MINUTE))
def test_a_clock_that_is_set_and_set_back_costs_nothing(by, gap, ago):
    line = Timeline([(HOUR, by), (HOUR + gap, -by)])
    now = HOUR + gap + ago
    moment = line.moment(now)
    for real in (HOUR - MINUTE, HOUR + 1, HOUR + gap - 1, now):
        assert moment.now - moment.adjusted(line.shows(real)) == now - real


def test_whoever_knows_an_old_now_takes_a_new_stamp_as_it_is():
    moment = Moment(10**12, (Jump(10**12 + HOUR, 10**12),))
    assert moment.adjusted(10**12 + MARGIN_MS) == 10**12 + MARGIN_MS
