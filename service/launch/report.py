"""What the demo shows: progress on stderr while it plays, tables on stdout at the end."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from statistics import median
from typing import Any, Final

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from bot_sdk.answers import StandingView
from bot_sdk.events import Outcome
from bot_sdk.games import record
from bot_sdk.reports import interval_text
from service.launch import local

LINE_EVERY: Final = 10
"""Without a terminal, progress is a line for every so many percent."""
USUAL_URL: Final = "http://127.0.0.1:8000"

Show = Callable[[int, int, int], None]
"""Takes the number of a tournament, its games that ended, and all of its games."""


class Report:
    """What the records of the night tell, each verified as it comes in."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self.verified = 0
        self.refused: list[str] = []
        self.outcomes: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.times_ms: defaultdict[str, list[float]] = defaultdict(list)

    @property
    def is_fine(self) -> bool:
        """Whether there were records and all of them hold."""
        return self.verified > 0 and not self.refused

    @property
    def decisions(self) -> int:
        """How many decisions bots were asked for over HTTP."""
        return sum(sum(counts.values()) for counts in self.outcomes.values())

    def take(self, lines: Iterable[bytes]) -> None:
        """Verify records and count what they hold."""
        for line in lines:
            read = record.read(line)
            try:
                record.verify(read)
            except record.RecordError as error:
                self.refused.append(f"{read.game_id}: {error}")
            else:
                self.verified += 1
            self._count(read)

    def _count(self, read: record.Record) -> None:
        for deal in read.deals:
            for event in deal.events:
                if event.get("outcome", Outcome.RETIRED) != Outcome.RETIRED:  # a retired seat isn't asked
                    name = read.seats[event["seat"]].name
                    self.outcomes[name][event["outcome"]] += 1
                    self.times_ms[name].append(event["ms"])


class Screen:
    """Where the demo speaks."""

    def __init__(self, out: Console, err: Console) -> None:
        """Show tables on `out`, what happens on `err`."""
        self._out = out
        self._err = err

    def say(self, sentence: str) -> None:
        """Tell what happens."""
        self._err.print(sentence, markup=False, highlight=False, soft_wrap=True)

    @contextmanager
    def progress(self, titles: Sequence[str]) -> Iterator[Show]:
        """Show bars, one for each title, or plain lines where there is no terminal."""
        if not self._err.is_terminal:
            yield self._lines(titles)
            return
        columns = (TextColumn("{task.description:>10}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        with Progress(*columns, console=self._err) as bars:
            tasks = [bars.add_task(title, total=None) for title in titles]
            yield lambda number, done, total: bars.update(tasks[number], completed=done, total=total or None)

    def _lines(self, titles: Sequence[str]) -> Show:
        said: dict[int, int] = {}

        def show(number: int, done: int, total: int) -> None:
            tenth = 100 * done // total // LINE_EVERY if total else 0
            if said.get(number, 0) < tenth:
                said[number] = tenth
                self.say(f"{titles[number]}: {done} of {total} games")

        return show

    def standings(self, title: str, rows: Sequence[StandingView]) -> None:
        """Show the standings of a tournament."""
        table = Table(title=title)
        for heading in ("", "bot", "games", "points", "mean a game", "wins"):
            table.add_column(heading, justify="left" if heading == "bot" else "right")
        for row in rows:
            mean = interval_text(row.mean.mean, row.mean.low, row.mean.high, 2)
            cells = (row.place, row.name, row.games, f"{row.points:g}", mean, row.wins)
            table.add_row(*map(str, cells))
        self._out.print(table)

    def outcomes(self, report: Report) -> None:
        """Show how the bots answered."""
        kinds = [kind for kind in Outcome if any(counts[kind] for counts in report.outcomes.values())]
        table = Table(title="Decisions by outcome")
        table.add_column("bot")
        for heading in (*kinds, "median ms"):
            table.add_column(heading, justify="right")
        for name, counts in sorted(report.outcomes.items()):
            table.add_row(name, *(str(counts[kind]) for kind in kinds), f"{median(report.times_ms[name]):.1f}")
        self._out.print(table)

    def verdict(self, report: Report, took_s: float) -> None:
        """Say how much was played how fast, whether the records hold, and how to play oneself."""
        games = report.verified + len(report.refused)
        pace = f"{report.decisions / took_s:,.0f} decisions per second"
        lines = [f"{games} games, {report.decisions:,} decisions over HTTP in {took_s:.1f} s: {pace}"]
        if report.refused:
            lines += [f"{len(report.refused)} of {games} records don't verify:", *report.refused]
        else:
            lines.append(f"all {games} records verified: packs, legality, points and places")
        lines += ["", "now you: start an arena by `slagveld up`, then", local.curl_lines(USUAL_URL)]
        self._out.print("\n".join(lines), markup=False, highlight=False, soft_wrap=True)


def interval(shown: Mapping[str, Any], digits: int = 2) -> str:
    """Show a mean and its interval, as far as there are any."""
    return interval_text(shown["mean"], shown["low"], shown["high"], digits)
