"""What counts of a tournament now: the one place that says so, for standings, exports and its own ratings."""

from __future__ import annotations

from typing import NamedTuple

from bot_sdk.results.values import Entry, Result, Round
from service.store.entities import Tournament
from service.store.store import Store
from service.tournaments.pairs import Test, test_of


class Counted(NamedTuple):
    """What standings are made from. `results` are by round, table and leg."""

    entries: list[Entry]
    rounds: dict[int, Round]
    results: list[Result]


def counted(store: Store, tournament: Tournament) -> Counted:
    """Give what counts now: results of open boards don't yet, what follows the end of a test never will."""
    shown, test = judged(store, tournament)
    if test is None:
        return shown
    return shown._replace(
        rounds={number: each for number, each in shown.rounds.items() if number <= test.judged},
        results=[result for result in shown.results if result.slot.round <= test.judged],
    )


def judged(store: Store, tournament: Tournament) -> tuple[Counted, Test | None]:
    """Give all that may be shown, and how the test of a match stands by it."""
    tournaments = store.tournaments
    results = tournaments.results(tournament.id)
    readable = tournaments.are_readable([result.slot for result in results])
    shown = [result for result, is_readable in zip(results, readable, strict=True) if is_readable]
    found = Counted(tournaments.entries(tournament.id), tournaments.rounds(tournament.id), shown)
    return found, test_of(tournament, found.entries, shown)
