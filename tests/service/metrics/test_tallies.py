from __future__ import annotations

import threading

from service.metrics import catalogue
from service.metrics.meters import Meters, silent
from service.metrics.tallies import Cell, Count, Spread, merged

CHECKS, DECISIONS, STREAMS = catalogue.CHECKS, catalogue.DECISIONS, catalogue.STREAMS


def values_of(tally):
    return {cell.labels: cell.values for cell in tally.cells()}


def test_what_has_labels_is_shown_once_it_was_counted():
    count = Count(CHECKS)
    assert values_of(count) == {}
    count.add("passed")
    count.add("failed", by=2)
    count.add("passed")
    assert values_of(count) == {("passed",): [2.0], ("failed",): [2.0]}


def test_what_an_alert_waits_for_is_shown_before_it_happens():
    """Or the first game that is aborted would begin at 1, which to Prometheus is no growth."""
    count = Count(catalogue.ENDED)
    assert values_of(count)["aborted",] == [0.0]
    count.add("aborted")
    assert values_of(count) == {(state,): [float(state == "aborted")] for state in catalogue.ENDED.known}


def test_what_has_none_is_shown_from_the_beginning():
    assert values_of(Count(STREAMS)) == {(): [0.0]}
    assert values_of(Spread(catalogue.BATCHES)) == {(): [0.0] * catalogue.BATCHES.size}


def test_value_lies_in_the_class_whose_upper_end_it_is():
    spread = Spread(DECISIONS)
    for value in (DECISIONS.bounds[2], DECISIONS.bounds[-1] * 2, 0.0):
        spread.note(value, "http", "ok")
    ((labels, values),) = values_of(spread).items()
    assert labels == ("http", "ok")
    assert values == [
        1.0,
        0.0,
        1.0,
        *[0.0] * (len(DECISIONS.bounds) - 3),
        1.0,
        DECISIONS.bounds[2] + DECISIONS.bounds[-1] * 2,
    ]


def test_nothing_is_lost_between_threads():
    count, spread = Count(CHECKS), Spread(DECISIONS)

    def work():
        for _ in range(20_000):
            count.add("finished")
            spread.note_many([(0.5, ("http", "ok")), (1.5, ("http", "late"))])

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert values_of(count) == {("finished",): [80_000.0]}
    assert {labels: sum(values[:-1]) for labels, values in values_of(spread).items()} == {
        ("http", "ok"): 80_000.0,
        ("http", "late"): 80_000.0,
    }


def test_what_processes_counted_is_added_up_by_labels():
    cells = [
        Cell(CHECKS.name, ("void",), [1.0]),
        Cell(CHECKS.name, ("void",), [2.0]),
        Cell(CHECKS.name, ("finished",), [4.0]),
    ]
    assert merged(cells) == [Cell(CHECKS.name, ("void",), [3.0]), Cell(CHECKS.name, ("finished",), [4.0])]


def test_what_fits_no_metric_of_this_release_is_left_out():
    strange = [
        Cell("slagveld_of_another_release", (), [1.0]),
        Cell(CHECKS.name, ("void", "more"), [1.0]),
        Cell(DECISIONS.name, ("http", "ok"), [1.0]),
    ]
    assert merged([*strange, Cell(CHECKS.name, ("void",), [1.0])]) == [Cell(CHECKS.name, ("void",), [1.0])]


def test_meters_have_every_metric_that_no_store_tells():
    meters = Meters()
    own = {each.metric for each in vars(meters).values() if isinstance(each, Count | Spread)}
    assert own == {each for each in catalogue.METRICS if not each.is_arena}


def test_gauges_are_set_before_each_reading():
    meters = Meters()
    seen = iter((3, 5))
    meters.look_at(lambda: meters.calls_waiting.set(next(seen)))
    for expected in (3.0, 5.0):
        assert Cell(catalogue.CALLS_WAITING.name, (), [expected]) in meters.cells()


def test_silent_meters_take_everything_and_keep_nothing():
    meters = silent()
    meters.ended.add("finished")
    meters.decisions.note(1.0, "http", "ok")
    meters.decisions.note_many([(1.0, ("http", "ok"))])
    meters.streams.set(4)
    assert not meters.is_on
    assert meters.cells() == []
    assert {value for cell in meters.ended.cells() for value in cell.values} == {0.0}
    assert meters.decisions.cells() == []
