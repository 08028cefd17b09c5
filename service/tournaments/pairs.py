"""The pairs of a match: both legs of a board, and what a sequential test makes of them, in their order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from bot_sdk.results.encounters import decided
from bot_sdk.results.values import Entry, Result
from service.store.entities import Sprt, Tournament
from service.tournaments.sprt import SprtState, course, judge

PAIRS_AT_ONCE: Final = 8
"""How many unfinished pairs of a test are played side by side: those after its end are for nothing."""


@dataclass(frozen=True, slots=True)
class Test:
    """How the test of a match stands after the pairs of rounds 1 to `judged`."""

    challenger: str
    opponent: str
    judged: int
    sprt: Sprt
    state: SprtState

    @property
    def is_decided(self) -> bool:
        """Whether a bound has been crossed."""
        return self.state.verdict is not None

    @property
    def shown(self) -> dict[str, Any]:
        """What readers see of it."""
        state = self.state
        return {
            "challenger": self.challenger,
            "opponent": self.opponent,
            "pairs": state.pairs,
            "llr": state.llr,
            "lower": state.lower,
            "upper": state.upper,
            "verdict": state.verdict,
        }

    @property
    def sentence(self) -> str:
        """Say which hypothesis holds."""
        sprt, after = self.sprt, f"after {self.state.pairs} pairs (log-likelihood ratio {self.state.llr:.2f})"
        if self.state.verdict is None:
            return f"neither hypothesis was refuted {after}: more pairs would be needed"
        likely, other = (sprt.elo0, sprt.elo1) if self.state.verdict == "H0" else (sprt.elo1, sprt.elo0)
        return f"{self.state.verdict} holds {after}: {likely:g} Elo stronger fits the challenger better than {other:g}"


def test_of(tournament: Tournament, entries: Sequence[Entry], results: Sequence[Result]) -> Test | None:
    """Judge the complete pairs in order, up to the first that isn't; None for a tournament without a test."""
    if tournament.sprt is None or len(entries) != 2:
        return None
    challenger, opponent = contenders(tournament, entries)
    scores = pair_scores(results, challenger)
    state = judge(tournament.sprt, scores)
    judged = len(scores) if state.crossing is None else state.crossing + 1
    return Test(challenger, opponent, judged, tournament.sprt, state)


def course_of(tournament: Tournament, entries: Sequence[Entry], results: Sequence[Result]) -> list[float]:
    """Give the test's log-likelihood ratio after each pair it has judged; nothing for a tournament without a test."""
    if tournament.sprt is None or len(entries) != 2:
        return []
    challenger, _ = contenders(tournament, entries)
    return course(tournament.sprt, pair_scores(results, challenger))


def contenders(tournament: Tournament, entries: Sequence[Entry]) -> tuple[str, str]:
    """Give the challenger and the other; without a word, who entered first is the challenger."""
    first, second = sorted(entries, key=lambda entry: (entry.entered_at, entry.bot_id))
    if tournament.challenger == second.bot_id:
        return second.bot_id, first.bot_id
    return first.bot_id, second.bot_id


def pair_scores(results: Sequence[Result], challenger: str) -> list[float | None]:
    """Give the challenger's points of each pair in order, up to the first that lacks a game.

    None stands for a pair that doesn't count: a game of it was void, aborted or forfeited.
    """
    by_round: dict[int, list[Result]] = defaultdict(list)
    for result in results:
        by_round[result.slot.round].append(result)
    scores: list[float | None] = []
    while len(pair := by_round.get(len(scores) + 1, [])) == 2:
        scores.append(_score(pair, challenger))
    return scores


def _score(pair: Sequence[Result], challenger: str) -> float | None:
    points = 0.0
    for result in pair:
        encounters = list(decided(result))
        if not encounters:
            return None
        ((one, _, score),) = encounters
        points += score if one == challenger else 1 - score
    return points
