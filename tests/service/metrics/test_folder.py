from __future__ import annotations

import shutil
import signal
import subprocess
import sys

import pytest

from service.metrics import catalogue, folder
from service.metrics.folder import Folder
from service.metrics.tallies import Cell

COUNTER, GAUGE, SPREAD = catalogue.SWEEPS.name, catalogue.STREAMS.name, catalogue.BATCHES.name
SIZE = catalogue.BATCHES.size
PROCESS = """
import sys, time
from pathlib import Path
from service.metrics.folder import Folder
from service.metrics.tallies import Cell
mine = Folder(Path(sys.argv[1]), sys.argv[2])
mine.put([Cell(sys.argv[3], (), [7.0]), Cell(sys.argv[4], (), [3.0])])
print("there", flush=True)
time.sleep(60)
"""


def counted(number, gauge=0.0):
    return [Cell(COUNTER, (), [number]), Cell(GAUGE, (), [gauge]), Cell(SPREAD, (), [number] * SIZE)]


def told(reader):
    return {cell.name: cell.values[0] for cell in reader.read()}


def test_what_processes_that_live_have_counted_is_added_up(tmp_path):
    one, two = Folder(tmp_path, "one"), Folder(tmp_path, "two")
    one.put(counted(1.0, gauge=5.0))
    two.put(counted(10.0, gauge=50.0))
    assert told(one) == told(two) == {COUNTER: 11.0, GAUGE: 55.0, SPREAD: 11.0}
    one.put(counted(2.0))
    assert told(two) == {COUNTER: 12.0, GAUGE: 50.0, SPREAD: 12.0}


def test_counts_of_who_has_ended_stay_and_his_gauges_go(tmp_path):
    one, two = Folder(tmp_path, "one"), Folder(tmp_path, "two")
    one.put(counted(1.0, gauge=5.0))
    two.put(counted(10.0, gauge=50.0))
    one.close()
    for _ in range(3):
        assert told(two) == {COUNTER: 11.0, GAUGE: 50.0, SPREAD: 11.0}


def test_a_killed_process_leaves_what_it_counted_and_no_file(tmp_path):
    mine = Folder(tmp_path, "mine")
    mine.put(counted(1.0))
    for number in range(3):
        command = [sys.executable, "-c", PROCESS, str(tmp_path), f"other-{number}", COUNTER, GAUGE]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as other:
            assert other.stdout.readline() == b"there\n"
            assert told(mine)[GAUGE] == 3.0
            other.send_signal(signal.SIGKILL)
            other.wait(timeout=20)
        (tmp_path / f".other-{number}.new").touch()  # as one leaves that is killed while it writes
        assert told(mine) == {COUNTER: 1.0 + 7.0 * (number + 1), GAUGE: 0.0, SPREAD: 1.0}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["door", "ended", "mine.cells", "mine.lock"]


def test_one_that_dies_while_it_folds_counts_nothing_twice(tmp_path, monkeypatch):
    one, two = Folder(tmp_path, "one"), Folder(tmp_path, "two")
    one.put(counted(1.0))
    two.put(counted(10.0))
    one.close()

    def dies(*_args, **_more):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(folder.Path, "unlink", dies)  # after it has added, before the files are gone
        with pytest.raises(KeyboardInterrupt):
            two.read()
    assert (tmp_path / "one.cells").exists()
    for _ in range(2):
        assert told(two)[COUNTER] == 11.0
    assert not (tmp_path / "one.cells").exists()


def test_one_that_has_just_come_is_neither_counted_nor_taken_for_dead(tmp_path):
    one = Folder(tmp_path, "one")
    new = Folder(tmp_path, "new")
    one.put([])
    new.put([])
    assert told(one) == {}
    new.put(counted(4.0, gauge=2.0))
    assert told(one) == {COUNTER: 4.0, GAUGE: 2.0, SPREAD: 4.0}


def test_folder_that_was_tidied_away_is_made_anew_and_all_come_back_to_it(tmp_path):
    place = tmp_path / "launch"
    one, two = Folder(place, "one"), Folder(place, "two")
    one.make()
    one.put(counted(1.0))
    two.put(counted(10.0))
    shutil.rmtree(place)
    with pytest.raises(FileNotFoundError):
        two.put(counted(11.0))
    one.make()
    one.put(counted(2.0))
    two.put(counted(12.0))
    assert told(one)[COUNTER] == 14.0
    (place / "two.lock").unlink()
    two.put(counted(13.0))
    assert told(one)[COUNTER] == 15.0
    two.close()
    assert told(one)[COUNTER] == 15.0
