"""Standings of a tournament, always computed from its rounds and results and nothing else.

How places come about: bots are ranked by their score; those still level are ranked among themselves by the
first tie-break, those still level after it by the next, and so on. Seven Up: points (one for each game won,
by forfeit too, and in a Swiss for a bye), then direct encounter, in a Swiss Buchholz cut 1 and Buchholz,
then Sonneborn-Berger, net points per deal, wins at the table. River: mean score over boards, then
head-to-head, wins, exact-bid rate. In a knockout, how far a bot came goes before all that. Bots that no
tie-break separates share a place (1, 1, 3); the order in which they are listed is drawn by lot.

Results whose boards are still open are the caller's to leave out, and of a match that was decided early
everything after the decision, its rounds too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import groupby
from typing import Final

import msgspec

from bot_sdk.results.criteria import Criteria, Measure, Value, criteria
from bot_sdk.results.facts import Facts, gathered
from bot_sdk.results.intervals import Interval, share_interval, t_interval
from bot_sdk.results.lots import lot
from bot_sdk.results.values import Entry, Result, Round


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """One bot's row.

    `games` were played to their end, void ones included; forfeited games of Seven Up weren't. `points` are
    match points in Seven Up, the sum of all scores in River. `mean` is the score of a game, with its 95%
    interval over boards. `wins` were won at the table, shared first places of River among them. `outcomes`
    counts the bot's decisions, `retirements` the games from which it was retired. `tiebreaks` holds each
    tie-break by name, in the order of their use; encounters are those with the bots on the same score, None if
    there are none or if two of them haven't met.

    `byes` are the rounds it sat out. `is_withdrawn` and `missing` tell of incomplete entries: `missing`
    counts the games of its rounds that weren't played to an end (they wait, run, were `aborted` or
    cancelled), and in a Swiss those of the rounds drawn after it withdrew. `reached` is how far it came in a
    knockout: its last round, for the winner one more; None in other formats.
    """

    place: int
    bot_id: str
    name: str
    games: int
    points: float
    mean: Interval
    wins: int
    byes: int
    forfeits: int
    forfeit_wins: int
    retirements: int
    voids: int
    aborted: int
    missing: int
    is_withdrawn: bool
    reached: int | None = None
    outcomes: dict[str, int]
    tiebreaks: dict[str, float | None]


_INTERVALS: Final[dict[Callable[[Sequence[float]], Interval], str]] = {
    t_interval: "Student's t at 95% over the means of boards; none under two boards",
    share_interval: "Student's t at 95% over the means of boards and one of 0 and one of 1 more; none under two boards",
}


class Method(msgspec.Struct, frozen=True):
    """How standings are computed: by what bots are ranked and what `mean` is, in words; the tie-breaks by name."""

    score: str
    mean: str
    tiebreaks: list[str]
    interval: str


def method(ruleset: str, format: str) -> Method:  # noqa: A002 - the word for it
    """Return how the standings of a tournament are computed; raises KeyError for an unknown ruleset."""
    ranked_by = criteria(ruleset, format)
    return Method(ranked_by.score, ranked_by.mean, list(ranked_by.tiebreaks), _INTERVALS[ranked_by.interval])


def standings(
    entries: Iterable[Entry],
    results: Iterable[Result],
    ruleset: str,
    *,
    seed: int,
    format: str = "round_robin",  # noqa: A002 - the word for it
    deals: str = "field",
    rounds: Mapping[int, Round] | None = None,
) -> list[Standing]:
    """Return a row for each entry, best first; entries without a game are listed too.

    `ruleset` is `seven_up` or `river` (KeyError else); `seed` is the tournament's, for the lots. `rounds`
    are those drawn so far, by number; without them nothing is known of byes, missing games and how far a
    knockout went. Bots in the results that are no entries have no row, yet count as opponents.
    """
    entered = {entry.bot_id: entry for entry in entries}
    facts = gathered(
        entered.values(), results, ruleset, seed=seed, tournament_format=format, deals=deals, rounds=rounds or {}
    )
    ranked_by = criteria(ruleset, format)
    rows: list[Standing] = []
    for level in _levels(list(entered), ranked_by.scores, facts):
        for tied in _ranked(level, list(ranked_by.tiebreaks.values()), facts):
            place = len(rows) + 1
            for bot_id in sorted(tied, key=lambda bot_id: lot(seed, bot_id)):
                values = {name: measure(bot_id, level, facts) for name, measure in ranked_by.tiebreaks.items()}
                rows.append(_row(place, entered[bot_id], facts, ranked_by, values))
    return rows


def _row(place: int, entry: Entry, facts: Facts, ranked_by: Criteria, tiebreaks: Mapping[str, Value]) -> Standing:
    sums, held = facts.tallies[entry.bot_id], facts.attendances[entry.bot_id]
    return Standing(
        place=place,
        bot_id=entry.bot_id,
        name=entry.name,
        games=sums.games,
        points=float(sums.points),
        mean=ranked_by.interval(sums.board_means()),
        wins=sums.wins,
        byes=held.byes,
        forfeits=sums.forfeits,
        forfeit_wins=sums.forfeit_wins,
        retirements=sums.retirements,
        voids=sums.voids,
        aborted=sums.aborted,
        missing=held.missing,
        is_withdrawn=entry.withdrawn_at is not None,
        reached=facts.reached.get(entry.bot_id),
        outcomes=dict(sums.outcomes),
        tiebreaks={key: None if value is None else float(value) for key, value in tiebreaks.items()},
    )


def _levels(bots: list[str], scores: Sequence[Measure], facts: Facts) -> list[list[str]]:
    """Group bots that are level in every score, best first."""
    levels = [bots] if bots else []
    for score in scores:
        levels = [part for level in levels for part in _parted(level, score, facts)]
    return levels


def _ranked(level: list[str], tiebreaks: Sequence[Measure], facts: Facts) -> list[list[str]]:
    """Split level bots into groups that share a place, best first.

    A tie-break that separated some is asked again about those it left level: among fewer, encounters may
    tell more.
    """
    if len(level) == 1 or not tiebreaks:
        return [level]
    parts = _parted(level, tiebreaks[0], facts)
    rest = tiebreaks if len(parts) > 1 else tiebreaks[1:]
    return [tied for part in parts for tied in _ranked(part, rest, facts)]


def _parted(level: list[str], measure: Measure, facts: Facts) -> list[list[str]]:
    """Group bots by a measure, best first. Values are exact, so level means equal."""
    values = {bot_id: measure(bot_id, level, facts) for bot_id in level}

    def height(bot_id: str) -> tuple[bool, float | Fraction]:
        value = values[bot_id]
        return value is not None, value or 0

    return [list(part) for _, part in groupby(sorted(level, key=height, reverse=True), key=height)]
