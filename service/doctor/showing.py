"""Tells what was found, to people or to programs: each kind of finding once, with what it is about."""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from collections.abc import Mapping
from itertools import groupby
from typing import Any, Final

from rich.console import Console
from rich.text import Text

from service.doctor.examination import Findings
from service.doctor.kinds import ADVICE, Severity
from service.doctor.place import Patient

MOST_SHOWN: Final = 10
"""So many things of a kind are named to people."""
LONGEST: Final = 200
_STYLES: Final = {Severity.ERROR: "bold red", Severity.WARNING: "yellow", Severity.NOTE: "cyan"}


def show(console: Console, findings: Findings, mended: Counter[str], patient: Patient) -> None:
    """Print it."""
    for code, count in sorted(mended.items()):
        _line(console, Text(f"mended {count}: {ADVICE[code].what}", "green"))
    for each in told(findings, patient):
        _line(console, Text.assemble((each["severity"], _STYLES[each["severity"]]), f" {each['code']}: {each['what']}"))
        for where in each["where"][:MOST_SHOWN]:
            _line(console, Text(f"    {printable(where)}"))
        if each["count"] > MOST_SHOWN:
            more = each["count"] - MOST_SHOWN
            said = f"{more} more; --json names them all" if each["is_all"] else f"more than {more} more"
            _line(console, Text(f"    and {said}"))
        if each["heals"]:
            _line(console, Text(f"  heals by itself: {each['heals']}"))
        if each["run"]:
            _line(console, Text(f"  {'or run' if each['heals'] else 'run'}: {each['run']}"))
    _line(console, Text(_summary(findings, patient)))


def as_json(findings: Findings, mended: Counter[str], patient: Patient) -> str:
    """Give it as one JSON object."""
    shown = {
        "is_well": not findings.needs_somebody,
        "keys": findings.keys,
        "mended": dict(mended),
        "findings": told(findings, patient),
    }
    return json.dumps(shown, indent=2)


def told(findings: Findings, patient: Patient) -> list[dict[str, Any]]:
    """Give the findings by kind, each with its advice."""
    grouped = groupby(findings.found, key=lambda each: each.code)
    return [
        _told(code, list(dict.fromkeys(each.where for each in group)), patient, is_all=code not in findings.cut)
        for code, group in grouped
    ]


def words(run: str, meaning: Mapping[str, str]) -> str:
    """Put what they mean into the place of the words in an advice."""
    return re.sub(r"\{([a-z]+)\}", lambda found: meaning[found[1]], run)


def printable(where: str) -> str:
    """Give what can steer no terminal and takes little of it, whatever somebody wrote into the store."""
    return (where if where.isprintable() else repr(where)[1:-1])[:LONGEST]


def _told(code: str, where: list[str], patient: Patient, *, is_all: bool) -> dict[str, Any]:
    advice = ADVICE[code]
    run = advice.run and words(advice.run, {**patient.commands, "first": shlex.quote(printable(where[0]))})
    return {
        "code": code,
        "severity": advice.severity,
        "what": advice.what,
        "count": len(where),
        "is_all": is_all,
        "where": where,
        "heals": advice.heals,
        "run": run,
    }


def _summary(findings: Findings, patient: Patient) -> str:
    looked = f"looked at {findings.keys} keys" + (", nothing runs on these data" if patient.is_still else "")
    if not findings.found:
        return f"{looked}; all is well"
    return f"{looked}; {'somebody is needed' if findings.needs_somebody else 'nobody is needed'}"


def _line(console: Console, text: Text) -> None:
    console.print(text, soft_wrap=True)
