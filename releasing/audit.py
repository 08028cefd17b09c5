"""Looks up what is installed among known vulnerabilities: ``python -m releasing.audit [OPTION OF PIP-AUDIT ...]``.

Two sets are looked up: what a deployment pins, and what stands in this environment, the developers' tools included.
pip-audit itself calls a set clean of which it could look up nothing; here that is a status of its own.
"""

from __future__ import annotations

import enum
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import msgspec

OURS: Final = "slagveld"
PINNED: Final = Path(__file__).parents[1] / "deploy" / "requirements.txt"
SETS: Final = {
    "what a deployment pins": ("--requirement", str(PINNED), "--require-hashes", "--disable-pip"),
    "what is installed here": ("--local", "--skip-editable"),
}
PATIENCE_S: Final = 600


class Status(enum.IntEnum):
    """How a look-up ended, as an exit status."""

    CLEAN = 0
    VULNERABLE = 1
    UNKNOWN = 2
    """Some or all of it couldn't be looked up, and what could be is clean."""


class Vulnerability(msgspec.Struct, frozen=True):
    """One of a package's known vulnerabilities, with the versions that are free of it."""

    id: str
    fix_versions: tuple[str, ...] = ()


class Package(msgspec.Struct, frozen=True):
    """A package as pip-audit reports it: with a version, or with the reason why it wasn't looked up."""

    name: str
    version: str = ""
    vulns: tuple[Vulnerability, ...] = ()
    skip_reason: str = ""


class Report(msgspec.Struct, frozen=True):
    """What pip-audit writes as JSON."""

    dependencies: tuple[Package, ...]


def look_up(arguments: Sequence[str]) -> tuple[Status, list[str]]:
    """Run pip-audit with these arguments; give how it ended, and a line for each thing to say."""
    ran = subprocess.run(
        [sys.executable, "-m", "pip_audit", "--format=json", "--progress-spinner=off", *arguments],
        capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    try:
        report = msgspec.json.decode(ran.stdout, type=Report)
    except msgspec.DecodeError:
        last = ran.stderr.strip().rpartition("\n")[2]
        return Status.UNKNOWN, [f"expected a report of pip-audit, got status {ran.returncode}: {last}"]
    return judged(report)


def judged(report: Report) -> tuple[Status, list[str]]:
    """Tell vulnerable packages from those that couldn't be looked up; our own is in no list."""
    packages = [package for package in report.dependencies if package.name != OURS]
    bad = [
        f"{package.name} {package.version}: {each.id}, mended in {', '.join(each.fix_versions) or 'no version'}"
        for package in packages
        for each in package.vulns
    ]
    unknown = [package.name for package in packages if package.skip_reason]
    said = [f"not looked up: {len(unknown)} of {len(packages)}, {', '.join(unknown):.200}"] if unknown else []
    if bad:
        return Status.VULNERABLE, bad + said
    if unknown or not packages:
        return Status.UNKNOWN, said or ["expected packages to look up, got none"]
    return Status.CLEAN, [f"{len(packages)} packages, none with a known vulnerability"]


def main(options: Sequence[str]) -> Status:
    """Look up each set and print what was found; give the worst of the statuses, a vulnerability before ignorance."""
    found = set()
    for name, arguments in SETS.items():
        status, lines = look_up([*arguments, *options])
        found.add(status)
        print(f"{name}: {status.name.lower()}", *lines, sep="\n  ")
    return Status.VULNERABLE if Status.VULNERABLE in found else max(found)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
