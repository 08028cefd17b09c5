"""How the results of matches and checks are shown: tables and lines for people, JSON for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec
from rich.table import Table

from bot_sdk.check import Step, passed
from bot_sdk.plain import plain
from bot_sdk.results.export import Export
from bot_sdk.results.intervals import Interval
from bot_sdk.results.recompute import Difference
from bot_sdk.summary import Comparison, Line


def told_apart(names: Sequence[str]) -> list[str]:
    """Give names that all differ: each that occurs twice is numbered."""
    told = [f"{name} #{names[:at].count(name) + 1}" if names.count(name) > 1 else name for at, name in enumerate(names)]
    return told if len(set(told)) == len(told) else told_apart(told)  # one may be called what another becomes


def line_json(line: Line) -> dict[str, Any]:
    """Give a player's line as JSON."""
    return {
        "name": line.name,
        "games": line.games,
        "seats": line.seats,
        "wins_per_seat": _interval_json(line.wins),
        "points_per_seat": _interval_json(line.points),
        "outcomes": line.outcomes,
        "mean_ms": line.mean_ms,
    }


def pair_json(pair: Comparison) -> dict[str, Any]:
    """Give how two players compare as JSON."""
    return {
        "first": pair.first,
        "second": pair.second,
        "boards": pair.boards,
        "games": pair.games,
        "wins_less_losses": {"mean": pair.mean, "low": pair.low, "high": pair.high},
        "points_ahead": _interval_json(pair.points),
        "superiority": pair.los,
    }


def _interval_json(value: Interval) -> dict[str, float | None]:
    return {"mean": value.mean, "low": value.low, "high": value.high}


def table(lines: Sequence[Line], title: str) -> Table:
    """Show the lines of a match, a row each."""
    shown = Table(title=title)
    shown.add_column("bot")
    for heading in ("seats", "wins a seat", "points a seat", "ms", "faults"):
        shown.add_column(heading, justify="right")
    for line in lines:
        faults = ", ".join(f"{outcome} {count}" for outcome, count in line.outcomes.items() if outcome != "ok")
        means = _shown(line.wins, 3), _shown(line.points, 1), f"{line.mean_ms:.2g}"
        shown.add_row(line.name, str(line.seats), *means, faults or "none")
    return shown


def pairs_table(pairs: Sequence[Comparison]) -> Table:
    """Show how the players of a match compare, a row for each pair."""
    shown = Table(title="who is better, by 95% intervals over boards", caption=_unrotated(pairs))
    shown.add_column("pair")
    for heading in ("boards", "wins less losses", "points ahead", "superiority"):
        shown.add_column(heading, justify="right")
    for pair in pairs:
        balance = interval_text(pair.mean, pair.low, pair.high, 2)
        likely = "-" if pair.los is None else f"{100 * pair.los:.1f}%"
        who = f"{pair.first} over {pair.second}"
        shown.add_row(who, str(pair.boards), balance, _shown(pair.points, 1), likely)
    return shown


def _unrotated(pairs: Sequence[Comparison]) -> str | None:
    few = any(pair.boards < 2 for pair in pairs)
    return "only boards that were played with every rotation count: two at least" if few else None


def _shown(value: Interval, digits: int) -> str:
    return interval_text(value.mean, value.low, value.high, digits)


def interval_text(mean: float | None, low: float | None, high: float | None, digits: int) -> str:
    """Show a mean with its interval, as far as there are any: by ± where it reaches as far to both sides."""
    if mean is None:
        return "-"
    if low is None or high is None:
        return f"{mean:.{digits}f}"
    if abs(low + high - 2 * mean) < 10**-digits:
        return f"{mean:.{digits}f} ± {(high - low) / 2:.{digits}f}"
    return f"{mean:.{digits}f} [{low:.{digits}f}, {high:.{digits}f}]"


def step_text(step: Step, before: Sequence[Step] = ()) -> str:
    """Show a step of a check in a line; beneath it where the fault is and what to do, unless a step before said so."""
    mark = "FAIL" if not step.ok else "warn" if step.warning else "ok  "
    line = f"{mark} {step.name:<22} {step.ms:7.1f} ms  {plain(step.detail)}"
    if not step.fault:
        return line
    if any((other.fault, other.where) == (step.fault, step.where) for other in before):
        return f"{line}\n{'':>7}{step.fault}, as above"
    where = f"{step.fault}: {plain(step.where)}" if step.where else step.fault
    return f"{line}\n{'':>7}{where}\n{'':>7}what to do: {plain(step.advice or '')}"


def steps_text(steps: Sequence[Step]) -> str:
    """Show the steps of a check."""
    return "\n".join(step_text(step, steps[:at]) for at, step in enumerate(steps))


def verdict_text(steps: Sequence[Step]) -> str:
    """Sum a check up, and say where the words of its faults are explained."""
    failed, warned = (sum(found) for found in zip(*((not step.ok, step.warning) for step in steps), strict=True))
    counts = [f"{failed} of {len(steps)} steps failed"] * bool(failed)
    counts += [f"{warned} warning{'s' if warned > 1 else ''}"] * bool(warned)
    verdict = ": ".join(["passed" if passed(steps) else "failed", *([", ".join(counts)] if counts else [])])
    return f"{verdict} (docs/faq.md explains each fault by its name)" if counts else verdict


def recomputed_json(export: Export, differences: Sequence[Difference]) -> dict[str, Any]:
    """Give what recomputing an export found as JSON."""
    return {
        "tournament_id": export.tournament.id,
        "agrees": not differences,
        "entries": len(export.entries),
        "results": len(export.results),
        "ratings": len(export.ratings),
        "differences": msgspec.to_builtins(differences),
    }


def recomputed_text(export: Export, differences: Sequence[Difference]) -> str:
    """Show what recomputing an export found: a line for each difference, and a last one that sums up."""
    names = {entry.bot_id: entry.name for entry in export.entries}
    lines = [
        f"{each.kind} of {names.get(each.bot_id, '?')} ({each.bot_id}{_version(each.version)}): "
        f"expected {each.column} {_cell(each.expected)}, got {_cell(each.got)}"
        for each in differences
    ]
    counts = f"{len(export.entries)} entries, {len(export.results)} results"
    more = "s" if len(differences) > 1 else ""
    compared = "standings and ratings" if export.ratings else "standings"
    verdict = f"{len(differences)} difference{more}" if differences else f"the {compared} agree"
    return "\n".join(map(plain, [*lines, f"{export.tournament.name}: {counts}: {verdict}"]))


def _version(version: str | None) -> str:
    return "" if version is None else f", version {version}"


def _cell(value: Any) -> str:
    """Show a value of a difference; a whole row is only said to be there."""
    return "a row" if isinstance(value, dict) else "none" if value is None else repr(value)
