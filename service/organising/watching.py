"""`slagveld tournament watch`: follows a tournament to its end."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, Protocol

import click
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn

from bot_sdk.client import Arena
from service.organising import shown, words
from service.organising.asking import asking, plain, screen, show_json, tell

PATIENCE_S: Final = 60.0
LINES: Final = 10
"""Without a terminal, progress is a line for each of so many parts of a tournament."""
AWAY: Final = "the arena is away, trying again"


class _Watcher(Protocol):
    """Shows what comes, and that nothing does."""

    def show(self, message: Mapping[str, Any]) -> None: ...

    def away(self, error: Exception | None) -> None: ...


@click.command()
@click.argument("tournament")
@click.option("--patience", default=PATIENCE_S, show_default=True, type=click.FloatRange(0), metavar="SECONDS",
              help="How long the arena may be away.")  # fmt: skip
@asking
def watch(arena: Arena, tournament: str, patience: float, *, as_json: bool) -> None:
    """Follow a tournament until it ends, then show its standings.

    Ctrl-C leaves it; it goes on by itself. With --json each message of the arena is printed, a line each.
    """
    tournament_id = arena.find_tournament(tournament)
    name = arena.tournament(tournament_id).name
    with _watcher(name, as_json=as_json) as watcher:
        last: Mapping[str, Any] = {}
        for last in arena.follow_tournament(tournament_id, patience_s=patience, away=watcher.away):
            watcher.show(last)
    if not as_json:
        click.echo(f"{name} is {last['state']}: {last['reason']}")
        screen().print(shown.standings(name, plain(arena.standings(tournament_id))))


@contextmanager
def _watcher(name: str, *, as_json: bool) -> Iterator[_Watcher]:
    err = Console(stderr=True, highlight=False, markup=False, emoji=False)
    if as_json or not err.is_terminal:
        yield _Json() if as_json else _Lines(name)
        return
    with Progress(TextColumn("{task.description}", markup=False), BarColumn(), console=err, transient=True) as progress:
        yield _Bar(name, progress)


class _Json:
    """Each message as a line on stdout."""

    def show(self, message: Mapping[str, Any]) -> None:
        show_json(message)

    def away(self, error: Exception | None) -> None:
        if error is not None:
            tell(AWAY)


class _Lines:
    """A line on stderr now and then."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._said: tuple[str, int] | None = None

    def show(self, message: Mapping[str, Any]) -> None:
        planned = message["planned"]
        now = message["state"], message["finished"] * LINES // planned if planned else 0
        if now != self._said:
            self._said = now
            tell(f"{self._name} is {words.progress(message)}")

    def away(self, error: Exception | None) -> None:
        if error is not None:
            tell(AWAY)


class _Bar:
    """A line on the terminal that changes."""

    def __init__(self, name: str, progress: Progress) -> None:
        self._name = name
        self._progress = progress
        self._task: TaskID = progress.add_task(name, total=None)
        self._sentence = name

    def show(self, message: Mapping[str, Any]) -> None:
        self._sentence = f"{self._name} is {words.progress(message)}"
        self._progress.update(
            self._task, description=self._sentence, completed=message["finished"], total=message["planned"] or None
        )

    def away(self, error: Exception | None) -> None:
        self._progress.update(self._task, description=self._sentence if error is None else AWAY)
