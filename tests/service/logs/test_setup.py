"""How a process logs, tried in processes of its own."""

from __future__ import annotations

import fcntl
import json
import logging
import os
import subprocess
import sys
from textwrap import dedent

import pytest

from service.logs import lines, setup

PATIENCE_S = 60


def said_by(script, *, status=0):
    """Give what a process says that logs in JSON, line by line."""
    begun = "from service.logs import setup\nsetup.begin('trial', 'json', 'info')\n"
    ran = subprocess.run(
        [sys.executable, "-c", begun + dedent(script)], stderr=subprocess.PIPE, timeout=PATIENCE_S, check=False
    )
    assert ran.returncode == status, ran.stderr
    return [json.loads(line) for line in ran.stderr.decode().splitlines()]


def test_settings_are_what_logging_takes():
    root = logging.getLogger()
    before = root.level, root.handlers[:]
    try:
        logging.config.dictConfig(setup.settings("api", "json", "warning"))
        assert root.level == logging.WARNING
        assert isinstance(root.handlers[0].formatter, lines.JsonLine)
        assert not logging.getLogger("dramatiq.worker").isEnabledFor(logging.INFO)
    finally:
        root.level, root.handlers[:] = before
        for name in setup.TALKATIVE:
            logging.getLogger(name).setLevel(logging.NOTSET)


@pytest.mark.parametrize(
    ("script", "message", "error", "status"),
    [
        ("raise ValueError('why')", "the process broke", "ValueError: why", 1),
        (
            "import threading\nt = threading.Thread(target=int, args=('x',), name='digger')\nt.start(); t.join()",
            "the thread digger broke",
            "ValueError: invalid literal",
            0,
        ),
        (
            "class Left:\n    def __del__(self):\n        raise ValueError('why')\nLeft()",
            "an exception was ignored",
            "ValueError: why",
            0,
        ),
        ("import warnings\nwarnings.warn('old')", "UserWarning: old", None, 0),
        ("import logging\nlogging.getLogger('x').error('%d', 'one')", "a line of <string>:4 can't be written", None, 0),
    ],
)
def test_what_python_would_print_is_a_line_like_all_others(script, message, error, status):
    (line,) = said_by(script, status=status)
    assert message in line["message"]
    assert error is None or error in line["error"]
    assert line["process"] == "trial"


def test_a_process_outlives_a_stderr_that_takes_nothing():
    assert said_by("import logging, os\nos.close(2)\nlogging.error('nobody hears')") == []


def test_lines_of_many_processes_never_mix():
    """They share a pipe that is full most of the time, and each has more to say than a line takes."""
    script = dedent("""
        import logging, os
        from service.logs import setup
        setup.begin('trial', 'json', 'info')
        children = []
        for number in range(4):
            if not (child := os.fork()):
                for count in range(100):
                    logging.info('%d %d %s', number, count, 'x' * (count * 100))
                os._exit(0)
            children.append(child)
        for child in children:
            os.waitpid(child, 0)
    """)
    with subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE, bufsize=0) as process:
        if sys.platform == "linux":
            fcntl.fcntl(process.stderr.fileno(), fcntl.F_SETPIPE_SZ, 4_096)  # it is full after a line
        heard = bytearray()
        while chunk := os.read(process.stderr.fileno(), 1_000):
            heard += chunk
    messages = [json.loads(line)["message"].split()[:2] for line in heard.splitlines()]
    for number in range(4):
        assert [int(count) for whose, count in messages if whose == str(number)] == list(range(100))
