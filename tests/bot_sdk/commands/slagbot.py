"""The commands, run in this process or as a user would run them."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

from click.testing import CliRunner

from bot_sdk.cli import main

ROOT = Path(__file__).parents[3]


def slagbot(*arguments, status=0):
    """Run a command here; fail unless it ends with this status."""
    ran = CliRunner().invoke(main, [str(argument) for argument in arguments], catch_exceptions=False)
    assert ran.exit_code == status, ran.output
    return ran


@contextmanager
def started(*arguments, **more):
    """Start a command as a process, whose group is its own as a terminal's job is; it doesn't outlive the test."""
    with subprocess.Popen(
        [sys.executable, "-c", "from bot_sdk.cli import main; main()", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": str(ROOT), "NO_COLOR": "1"},
        process_group=0,
        **more,
    ) as process:
        try:
            yield process
        finally:
            process.kill()
