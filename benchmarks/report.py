"""Tells what was measured: a table for the terminal, and JSON for whoever compares."""

from __future__ import annotations

import json
import os
import platform
import sys
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from rich import box
from rich import table as rich_table
from rich.console import Console
from rich.live import Live

from benchmarks.harness import Line, Row, Skipped

PLAIN_WIDTH: Final = 150
"""Columns where there is no terminal to ask."""


class Table:
    """A table on the terminal that grows row by row; use it in a ``with``."""

    def __init__(self, console: Console | None = None) -> None:
        """Print on stdout, or where `console` does."""
        self._table = rich_table.Table(box=box.SIMPLE_HEAD, caption=_caption(), caption_justify="left")
        self._table.add_column("subject", no_wrap=True)
        self._table.add_column("what")
        for title in ("median", "min–max", "target"):
            self._table.add_column(title, justify="right", no_wrap=True)
        self._table.add_column()
        console = console or Console(width=None if sys.stdout.isatty() else PLAIN_WIDTH)
        self._live = Live(self._table, console=console, auto_refresh=False, vertical_overflow="visible")

    def __enter__(self) -> Self:
        self._live.start(refresh=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()

    def add(self, subject: str, line: Line) -> None:
        """Show another row."""
        if isinstance(line, Skipped):
            self._table.add_row(subject, line.name, "", "", "", f"skipped: {line.why}")
        else:
            self._table.add_row(subject, *_cells(line))
        self._live.refresh()


def as_json(lines: list[tuple[str, Line]]) -> str:
    """Give the rows, with the machine and the time they were measured on."""
    rows = [
        {"subject": subject} | (_measured(line) if isinstance(line, Row) else _skipped(line)) for subject, line in lines
    ]
    taken = datetime.now(UTC).isoformat(timespec="seconds")
    return json.dumps({"taken": taken, "machine": machine(), "rows": rows}, indent=2, ensure_ascii=False) + "\n"


def machine() -> dict[str, Any]:
    """Tell what this machine is, as far as figures depend on it."""
    return {
        "processor": _processor(),
        "processors": os.cpu_count(),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
    }


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")


def _caption() -> str:
    facts = machine()
    return f"{facts['processors']} × {facts['processor']}, {facts['system']}, Python {facts['python']}"


def _measured(row: Row) -> dict[str, Any]:
    return {
        "name": row.name,
        "ratio": row.median,
        "unit": row.unit,
        "min": min(row.values),
        "max": max(row.values),
        "rounds": len(row.values),
        "target": None if row.target is None else {"kind": row.target.kind, "value": row.target.value},
        "met": row.is_met,
        "detail": row.detail,
    }


def _skipped(line: Skipped) -> dict[str, Any]:
    return {"name": line.name, "ratio": None, "target": None, "met": None, "skipped": line.why}


def _cells(row: Row) -> tuple[str, str, str, str, str]:
    unit = "" if row.unit == "ratio" else f" {row.unit}"
    what = f"{row.name}\n[dim]{row.detail}[/dim]" if row.detail else row.name
    spread = f"{_number(min(row.values))}–{_number(max(row.values))}"
    sign = {"at least": "≥", "at most": "≤"}
    target = "" if row.target is None else f"{sign[row.target.kind]} {row.target.value:,g}{unit}"
    met = {True: "[green]met[/green]", False: "[bold red]missed[/bold red]", None: "[dim]reported[/dim]"}
    return what, f"{_number(row.median)}{unit}", spread, target, met[row.is_met]


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
