"""Tables of what the API says about tournaments and ratings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from rich import box
from rich.console import Group, JustifyMethod
from rich.table import Table

from service.launch.report import interval
from service.organising import words

Json = Mapping[str, Any]

_SPECIAL: Final = {
    "reached": "reached",
    "faults": "faults",
    "byes": "byes",
    "forfeits": "forfeits",
    "forfeit_wins": "forfeit\nwins",
    "retirements": "retired",
    "voids": "void",
    "aborted": "aborted",
    "missing": "missing",
}
"""Columns of the standings that are shown where there is something in them."""
_NO_FAULTS: Final = ("ok", "retired", "our_fault")
"""Outcomes that aren't held against a bot."""
_TEXTS: Final = ("bot", "id", "name", "format", "state")
_WRAPPED: Final = ("bot", "name", "format", "made")
"""Columns that give way where the terminal is narrow."""
_LEAST: Final = {"format": len("round_robin"), "made": len("2026-01-01")}
"""Columns that give way between words only."""
_SETTINGS: Final = ("rounds", "challenger", "advance", "max_games", "entries_per_account", "seed")


def standings(title: str, shown: Json) -> Group:
    """Show standings, and below them how they come about."""
    rows = [{**row, "faults": _faults(row["outcomes"])} for row in shown["items"]]
    special = {key: heading for key, heading in _SPECIAL.items() if any(row.get(key) for row in rows)}
    table = _table(title, "", "bot", "games", "points", "mean\na game", "wins", *special.values())
    for row in rows:
        name = f"{row['name']} (withdrawn)" if row.get("is_withdrawn") else row["name"]
        played = (row["place"], name, row["games"], f"{row['points']:g}", interval(row["mean"]), row["wins"])
        table.add_row(*map(str, played), *(str(row[key]) for key in special))
    method = shown["method"]
    return Group(
        table,
        f"{'final' if shown['is_final'] else 'so far'}, from {words.counted(shown['results'], 'result')}",
        f"ranked by {method['score']}; then {', '.join(method['tiebreaks'])}",
        f"mean: {method['mean']}; interval: {method['interval']}",
    )


def _faults(outcomes: Mapping[str, int]) -> int:
    return sum(times for outcome, times in outcomes.items() if outcome not in _NO_FAULTS)


def crosstable(title: str, shown: Json) -> Group:
    """Show what each made of its games against each other: points/games, and how likely it is the better one."""
    rows = shown["items"]
    table = _table(title, "", "bot", *(str(at + 1) for at in range(len(rows))))
    for at, row in enumerate(rows):
        table.add_row(str(at + 1), row["name"], *(_cell(cell) for cell in row["cells"]))
    return Group(table, "points/games against each; below, how likely who stands in the row is the better one")


def _cell(cell: Json | None) -> str:
    if cell is None:
        return ""
    likely = cell["superiority"]
    return f"{cell['points']:g}/{cell['games']}" + ("" if likely is None else f"\n{_percent(likely)}")


def _percent(share: float) -> str:
    """Round to whole percents, but nothing to the certainties."""
    if 0 < share < 0.01:
        return "<1%"
    return ">99%" if 0.99 < share < 1 else f"{share:.0%}"


def leaderboard(title: str, shown: Json) -> Group:
    """Show ratings, best first, and below them how they come about."""
    table = _table(title, "", "bot", "version", "rating", "games")
    for row in shown["items"]:
        rating = interval({"mean": row["rating"], "low": row["low"], "high": row["high"]}, digits=0)
        rank = "" if row["rank"] is None else str(row["rank"])
        table.add_row(rank, row["name"] or row["bot_id"], row["version"], rating, str(row["games"]))
    method, at = shown["method"], shown["computed_at"]
    computed = "not computed yet" if at is None else f"computed {moment(at)}"
    return Group(
        table,
        f"{computed}, from {words.counted(shown['results'], 'rated result')}",
        f"rating: {method['rating']}; interval: {method['interval']}",
        f"rated: {method['rated']}",
        f"ranked {method['rank']}",
    )


def tournaments(items: Sequence[Json]) -> Table:
    """Show tournaments, a row each."""
    table = _table(None, "id", "name", "format", "state", "made")
    for each in items:
        kind = f"{each['format']} of {each['ruleset']}"
        table.add_row(each["id"], each["name"], kind, each["state"], moment(each["created_at"]))
    return table


def tournament(shown: Json, entries: Sequence[Json]) -> Table:
    """Show one tournament: its settings, how far it is, who takes part."""
    names = {entry["bot_id"]: entry["name"] for entry in entries}
    table = Table(show_header=False, box=None, padding=(0, 2, 0, 0))
    for label, value in (
        ("name", shown["name"]),
        ("id", shown["id"]),
        ("state", words.progress({**shown["progress"], "state": shown["state"]})),
        ("reason", shown["reason"]),
        ("test", shown["test"] and words.test(shown["test"], names)),
        ("ruleset", f"{shown['ruleset']}: {_pairs(shown['options'])}"),
        ("format", f"{shown['format']}, tables of {shown['table_size']}, {shown['deals']} deals"),
        ("settings", _pairs({name: shown[name] for name in _SETTINGS if shown[name] is not None})),
        ("sprt", shown["sprt"] and _pairs(shown["sprt"])),
        ("limits", _pairs(shown["limits"])),
        ("invited", shown["invited"] and ", ".join(shown["invited"])),
        ("made", moment(shown["created_at"])),
        ("started", shown["started_at"] and moment(shown["started_at"])),
        ("ended", shown["ended_at"] and moment(shown["ended_at"])),
        ("root", shown["root"]),
        ("secret", shown["secret"]),
        ("entries", "\n".join(_entry(entry) for entry in entries) or "none yet"),
    ):
        if value:
            table.add_row(label, value)
    return table


def _entry(entry: Json) -> str:
    gone = "" if entry["withdrawn_at"] is None else f", withdrawn {moment(entry['withdrawn_at'])}"
    return f"{entry['name']} ({entry['bot_id']}){gone}"


def _pairs(values: Json) -> str:
    return ", ".join(f"{name} {value}" for name, value in values.items())


def moment(milliseconds: int) -> str:
    """Say when, in this machine's time zone."""
    return datetime.fromtimestamp(milliseconds / 1_000, UTC).astimezone().strftime("%Y-%m-%d %H:%M:%S")


def _table(title: str | None, *headings: str) -> Table:
    table = Table(title=title, box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for heading in headings:
        justify: JustifyMethod = "left" if heading in _TEXTS else "right"
        table.add_column(
            heading, justify=justify, overflow="fold", no_wrap=heading not in _WRAPPED, min_width=_LEAST.get(heading)
        )
    return table
