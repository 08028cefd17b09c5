"""What went wrong: faults, retirements and forfeits of each bot, and in which games."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from bot_sdk.results.standings import Standing
from bot_sdk.results.values import GameState, Result
from service.arena.overviews import FAULTS, Overview
from service.web.tournament.standings import faults
from service.web.writing import count

BOTS: Final = 64
"""Those who had most trouble, on the page."""
OUTCOMES: Final[Mapping[str, str]] = {
    "late": "late",
    "unreachable": "unreachable",
    "bad_status": "bad status",
    "bad_reply": "bad reply",
    "illegal": "illegal",
}


@dataclass(frozen=True, slots=True)
class Charge:
    """What a bot is charged with: its faults by outcome, and why it can't play now, if so."""

    row: Standing
    faults: list[int]
    why: str


@dataclass(frozen=True, slots=True)
class Incident:
    """A game in which something went wrong: what each seat had to do with it, and what it came to."""

    game_id: str
    round: int
    table: int
    ended_at: int
    seats: list[tuple[str, str, str]]
    came_to: str


@dataclass(frozen=True, slots=True)
class Troubles:
    """All of it: `kinds` are the heads of the faults' columns."""

    kinds: list[str]
    charges: list[Charge]
    incidents: list[Incident]
    in_all: int


def troubles(shown: Overview) -> Troubles:
    """Gather what went wrong, who had most of it first."""
    kinds = [kind for kind in OUTCOMES if any(row.outcomes.get(kind) for row in shown.standings)]
    charged = [row for row in shown.standings if faults(row) or row.retirements or row.forfeits or row.is_withdrawn]
    charged.sort(key=lambda row: (-row.forfeits - row.retirements, -faults(row)))
    charges = [
        Charge(row, [row.outcomes.get(kind, 0) for kind in kinds], _why(row, shown.absent)) for row in charged[:BOTS]
    ]
    names = {entry.bot_id: entry.name for entry in shown.entries}
    incidents = [_incident(result, names) for result in shown.wrong]
    return Troubles([OUTCOMES[kind] for kind in kinds], charges, incidents, shown.wrong_in_all)


def _why(row: Standing, absent: Mapping[str, str]) -> str:
    return ", ".join([*(["withdrawn"] if row.is_withdrawn else []), *filter(None, [absent.get(row.bot_id)])])


def _incident(result: Result, names: Mapping[str, str]) -> Incident:
    told = [(bot_id, names.get(bot_id, bot_id), _did(result, seat)) for seat, bot_id in enumerate(result.bots)]
    return Incident(
        game_id=result.game_id,
        round=result.slot.round,
        table=result.slot.table,
        ended_at=result.ended_at,
        seats=[each for each in told if each[2]],
        came_to=_came_to(result),
    )


def _came_to(result: Result) -> str:
    """Say that a game came to nothing, and why; nothing of another."""
    if result.state is GameState.ABORTED:
        return "aborted: it couldn't be played, through no bot's fault"
    if result.state is GameState.VOID:
        return "void: not played" if len(result.forfeited) == len(result.bots) else "void: nobody was left who answered"
    return ""


def _did(result: Result, seat: int) -> str:
    """Say in a clause what a seat had to do with it; nothing if nothing."""
    if seat in result.forfeited:
        return "forfeited"
    faulty = {outcome: times for outcome, times in result.outcomes[seat].items() if outcome in FAULTS}
    most_first = sorted(faulty.items(), key=lambda each: -each[1])
    listed = ", ".join(f"{times} {OUTCOMES[outcome]}" for outcome, times in most_first)
    if result.retired[seat]:
        return f"retired after {listed}" if listed else "retired"
    return f"{count(sum(faulty.values()), 'fault')}: {listed}" if listed else ""
