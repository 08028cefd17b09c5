"""How a tournament ended, in words for its organiser."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Final

from bot_sdk.events import Outcome
from bot_sdk.results.values import Entry, GameState, Result

_FAULTS: Final = [outcome.value for outcome in Outcome if outcome.is_fault]


def how_it_ended(came_about: str, entries: Sequence[Entry], results: Sequence[Result]) -> str:
    """Add to a clause that says how it came to its end what didn't go as planned on the way."""
    return "; ".join([came_about, *_forfeits(entries, results), *_retirements(entries, results), *_failures(results)])


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


def _retirements(entries: Sequence[Entry], results: Sequence[Result]) -> list[str]:
    """Name who was retired from games that had begun, most first, and what its decisions there came to."""
    games: Counter[str] = Counter()
    faults: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for result in results:
        for seat, bot_id in enumerate(result.bots):
            if result.retired[seat] and seat not in result.forfeited:
                games[bot_id] += 1
                faults[bot_id].update(result.outcomes[seat])
    names = {entry.bot_id: entry.name for entry in entries}
    return [
        f"{names[bot_id]} was retired from {_games(count)}{_blamed(faults[bot_id])}"
        for bot_id, count in sorted(games.items(), key=lambda each: (-each[1], each[0]))
    ]


def _blamed(outcomes: Counter[str]) -> str:
    faults = [f"{outcomes[name]} {name.replace('_', ' ')}" for name in _FAULTS if outcomes[name]]
    return f" (decisions: {', '.join(faults)})" if faults else ""


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
