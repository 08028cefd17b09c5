"""How a tournament ended, in words for its organiser."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from bot_sdk.results.values import Entry, GameState, Result


def how_it_ended(came_about: str, entries: Sequence[Entry], results: Sequence[Result]) -> str:
    """Add to a clause that says how it came to its end what didn't go as planned on the way."""
    return "; ".join([came_about, *_forfeits(entries, results), *_failures(results)])


def all_played(games: int) -> str:
    """Say that a schedule was worked off."""
    return "its one game is over" if games == 1 else f"all its {games} games are over"


def _forfeits(entries: Sequence[Entry], results: Sequence[Result]) -> list[str]:
    """Name who forfeited, most first; who withdrew is named even without a forfeit."""
    forfeited = Counter(result.bots[seat] for result in results for seat in result.forfeited)
    told = []
    for entry in sorted(entries, key=lambda entry: (-forfeited[entry.bot_id], entry.bot_id)):
        count, withdrew = forfeited[entry.bot_id], entry.withdrawn_at is not None
        if count:
            told.append(f"{entry.name} {'withdrew and ' if withdrew else ''}forfeited {_games(count)}")
        elif withdrew:
            told.append(f"{entry.name} withdrew")
    return told


def _failures(results: Sequence[Result]) -> list[str]:
    states = Counter(result.state for result in results)
    told = []
    if states[GameState.ABORTED]:
        told.append(f"{_games(states[GameState.ABORTED])} could not be played in three attempts, no bot to blame")
    if states[GameState.VOID]:
        told.append(f"{_games(states[GameState.VOID])} came to nothing since no bot at the table answered")
    return told


def _games(count: int) -> str:
    return "1 game" if count == 1 else f"{count} games"
