"""How a tournament ended, in words for its organiser."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from bot_sdk.results.values import Entry, GameState, Result
from service.store.entities import BotState

MOST_NAMED: Final = 12
"""So many entries are told of one by one; of the others the standings tell."""
_NO_FAULTS: Final = {"ok", "retired"}
ABSENT: Final[Mapping[BotState | None, str]] = {
    None: "deleted by its owner",
    BotState.PENDING: "waiting for a check",
    BotState.PAUSED: "paused by its owner",
    BotState.SUSPENDED: "suspended",
    BotState.DISABLED: "disabled by the operator",
}
"""Why a bot can't play now. The operator's or the arena's own reason is for its owner, not for everybody."""


def how_it_ended(
    came_about: str, entries: Sequence[Entry], results: Sequence[Result], states: Mapping[str, BotState | None]
) -> str:
    """Add to a clause that says how it came to its end what didn't go as planned on the way.

    `states` are those of the registered bots now, by their ids; None for one that was deleted.
    """
    absent = {bot_id: ABSENT[state] for bot_id, state in states.items() if state in ABSENT}
    return "; ".join([came_about, *_absences(entries, results, absent), *_failures(results)])


def renamed(reason: str, old: str, new: str) -> str:
    """Put a new name into what `how_it_ended` said of the entry that had the old one."""
    return re.sub(rf"(?<=; ){re.escape(old)}(?= \(| withdrew| forfeited| was retired)", lambda _: new, reason)


def all_played(games: int) -> str:
    """Say that a schedule was worked off."""
    return "its one game is over" if games == 1 else f"all its {games} games are over"


def _absences(entries: Sequence[Entry], results: Sequence[Result], absent: Mapping[str, str]) -> list[str]:
    """Tell who withdrew, forfeited or was retired; who missed most first."""
    forfeited = Counter(result.bots[seat] for result in results for seat in result.forfeited)
    retired = Counter(bot_id for result in results for bot_id, is_out in _seats(result) if is_out)
    missed = forfeited + retired
    told = []
    for entry in sorted(entries, key=lambda entry: (-missed[entry.bot_id], entry.bot_id)):
        bot_id = entry.bot_id
        clauses = ["withdrew"] if entry.withdrawn_at is not None else []
        if forfeited[bot_id]:
            clauses.append(f"forfeited {_games(forfeited[bot_id])}")
        if retired[bot_id]:
            clauses.append(f"was retired from {_games(retired[bot_id])}{_after_faults(results, bot_id)}")
        if clauses:
            why = f" ({absent[bot_id]})" if bot_id in absent else ""
            told.append(f"{entry.name}{why} {' and '.join(clauses)}")
    others = len(told) - MOST_NAMED
    return told if others <= 0 else [*told[:MOST_NAMED], f"{others} more withdrew, forfeited or were retired"]


def _seats(result: Result) -> Iterator[tuple[str, bool]]:
    """Give who sat at each seat, and whether it was retired from a game that it had begun."""
    for seat, bot_id in enumerate(result.bots):
        yield bot_id, result.retired[seat] and seat not in result.forfeited


def _after_faults(results: Sequence[Result], bot_id: str) -> str:
    """Count the faults in the games that a bot was retired from; none, if it was for another reason."""
    faults: Counter[str] = Counter()
    for result in results:
        for (name, is_out), outcomes in zip(_seats(result), result.outcomes, strict=True):
            if name == bot_id and is_out:
                faults.update({outcome: times for outcome, times in outcomes.items() if outcome not in _NO_FAULTS})
    counted = ", ".join(f"{times} {outcome.replace('_', ' ')}" for outcome, times in faults.most_common())
    return f" after faults ({counted})" if counted else ""


def _failures(results: Sequence[Result]) -> list[str]:
    aborted = sum(result.state is GameState.ABORTED for result in results)
    void = [result for result in results if result.state is GameState.VOID]
    unplayed = sum(len(result.forfeited) == len(result.bots) for result in void)
    told = []
    if aborted:
        told.append(f"{_games(aborted)} could not be played in three attempts, no bot to blame")
    if unplayed:
        told.append(f"{_games(unplayed)} not played since everybody at the table forfeited")
    if len(void) > unplayed:
        told.append(f"{_games(len(void) - unplayed)} came to nothing since no bot at the table answered")
    return told


def _games(count: int) -> str:
    return "1 game" if count == 1 else f"{count} games"
