from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PATIENCE_S = 120


@pytest.fixture
def shell(tmp_path):
    """Give a function that runs a script in a folder of its own, with the commands of this environment."""
    bin_folder = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{bin_folder}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    for variable in [name for name in environment if name.startswith("SLAGVELD_") or name == "REDIS_URL"]:
        del environment[variable]
    started = []

    def run(script, *, in_background=False):
        told = tmp_path / f"out{len(started)}"
        with told.open("w") as out:
            process = subprocess.Popen(
                ["bash", "-euo", "pipefail", "-c", script],
                cwd=tmp_path,
                env=environment,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        started.append(process)
        if in_background:
            return told
        status = process.wait(PATIENCE_S)
        return told.read_text(), status

    run.folder = tmp_path
    yield run
    for process in reversed(started):
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGTERM)
    for process in reversed(started):
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            pytest.fail(f"{process.args} didn't end")
