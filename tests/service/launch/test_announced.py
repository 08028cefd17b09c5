from __future__ import annotations

import os
import sys
import time

import pytest

from service.launch.announced import Announced, AnnounceError

SERVER = 'import time; print(\'{"url": "here"}\', flush=True); time.sleep(60)'
STUBBORN = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN);" + SERVER


def python(code):
    return [sys.executable, "-c", code]


def test_process_announces_itself_and_is_stopped(tmp_path):
    with Announced(tmp_path) as processes:
        assert processes.start("server", python(SERVER), os.environ).wait(20) == {"url": "here"}
        assert processes.stop()


def test_process_that_does_not_stop_is_killed(tmp_path):
    with Announced(tmp_path) as processes:
        processes.start("stubborn", python(STUBBORN), os.environ).wait(20)
        assert not processes.stop(within_s=0.1)


def test_process_that_ends_instead_has_its_last_words_told(tmp_path):
    with Announced(tmp_path) as processes:
        starting = processes.start("broken", python("raise SystemExit('no cards')"), os.environ)
        with pytest.raises(AnnounceError, match="broken didn't start: no cards"):
            starting.wait(20)


def test_process_that_stays_silent_is_not_waited_for(tmp_path):
    with Announced(tmp_path) as processes:
        starting = processes.start("silent", python("import time; time.sleep(60)"), os.environ)
        began = time.monotonic()
        with pytest.raises(AnnounceError, match="silent didn't start: it said nothing"):
            starting.wait(0.1)
        assert time.monotonic() - began < 10


def test_process_that_announces_nonsense_did_not_start(tmp_path):
    with Announced(tmp_path) as processes:
        starting = processes.start("odd", python("print('hello'); import time; time.sleep(60)"), os.environ)
        with pytest.raises(AnnounceError, match="odd didn't start"):
            starting.wait(20)
