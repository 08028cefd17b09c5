"""Pages and command line say the same of the same tournament."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import service.web
from service.organising import words
from tests.web.test_units import NODE

MODULE = Path(service.web.__file__).parent / "static" / "js" / "organise" / "words.js"
ASK = """
const [, module, values, name] = process.argv;
const words = await import(module);
console.log(JSON.stringify(JSON.parse(values).map((each) => words[name](each))));
"""


def page_says(function, values):
    """Call a function of the page's module for each value."""
    command = [NODE, "--input-type=module", "--eval", ASK, MODULE.as_uri(), json.dumps(values), function]
    return json.loads(subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout)


def test_durations_are_told_in_the_same_words():
    seconds = [*range(0, 200, 7), *range(3_500, 8_000, 111), *range(86_000, 300_000, 3_333), 86_399, 86_400, 10**8]
    assert page_says("duration", seconds) == [words.duration(each) for each in seconds]


def test_progress_is_told_in_the_same_words():
    seen = [
        {"state": state, "planned": planned, "finished": finished, "running": running, "seconds_left": left}
        for state in ("running", "paused", "finished")
        for planned, finished, running, left in ((None, 1, 0, None), (1_200, 1_000, 3, 61), (12, 12, 0, 0))
    ]
    views = [{"state": each["state"], "entries": 2, "progress": each} for each in seen]
    assert page_says("progress", views) == [words.progress(each) for each in seen]
