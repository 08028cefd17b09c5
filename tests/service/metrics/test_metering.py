from __future__ import annotations

import shutil

from service.metrics import catalogue
from service.metrics.metering import Metering


def swept(metering):
    return next(cell.values[0] for cell in metering._read() if cell.name == catalogue.SWEEPS.name)


def test_process_works_though_its_folder_is_gone_and_is_read_again(tmp_path, caplog):
    """Tidied away, or on a disk that is full: what is measured goes on all the same."""
    folder = tmp_path / "launch"
    metering = Metering("worker", folder)
    metering.meters.sweeps.add()
    for _ in range(3):
        metering._leave()
    assert [record.levelname for record in caplog.records] == ["WARNING"], "one line, not one each second"
    assert swept(metering) == 1.0
    shutil.rmtree(folder)
    metering._leave()
    assert swept(metering) == 1.0
    assert len(caplog.records) == 2


def test_process_that_ends_makes_no_folder_that_its_launch_has_removed(tmp_path):
    metering = Metering("worker", tmp_path / "launch")
    metering.start()
    metering.stop()
    assert list(tmp_path.iterdir()) == []
