"""Standings of a tournament, always computed from its results and nothing else.

How places come about: bots are ranked by their score; those still level are ranked among themselves by the
first tie-break, those still level after it by the next, and so on. Seven Up: points (one for each game won,
by forfeit too), then direct encounter, Sonneborn-Berger, net points per deal, wins at the table. River:
mean score over boards, then head-to-head, wins, exact-bid rate. Bots that no tie-break separates share a
place (1, 1, 3); the order in which they are listed is drawn by lot. Results whose boards are still open are
the caller's to leave out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from itertools import combinations, groupby
from typing import TypeAlias

import msgspec

from bot_sdk.results.intervals import Interval, t_interval
from bot_sdk.results.lots import lot
from bot_sdk.results.tally import Tallies, Tally, tally
from bot_sdk.results.values import Entry, Result


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """One bot's row.

    `games` were played to their end, void ones included; forfeited games of Seven Up weren't. `points` are
    match points in Seven Up, the sum of all scores in River. `mean` is the score of a game, with its 95%
    interval over boards. `wins` were won at the table, shared first places of River among them. `outcomes`
    counts the bot's decisions. `tiebreaks` holds each tie-break by name, in the order of their use;
    encounters are those with the bots on the same score, None if there are none or if two of them haven't
    met.
    """

    place: int
    bot_id: str
    name: str
    games: int
    points: float
    mean: Interval
    wins: int
    forfeits: int
    forfeit_wins: int
    voids: int
    aborted: int
    outcomes: dict[str, int]
    tiebreaks: dict[str, float | None]


Measure: TypeAlias = Callable[[str, Sequence[str], Tallies], float | Fraction | None]
"""(bot, the bots it is level with, all tallies) -> its value: more is better, None is below everything."""


def standings(entries: Iterable[Entry], results: Iterable[Result], ruleset: str, *, seed: int) -> list[Standing]:
    """Return a row for each entry, best first; entries without a game are listed too.

    `ruleset` is `seven_up` or `river` (KeyError else); `seed` is the tournament's, for the lots. Bots in
    the results that are no entries have no row, yet count as opponents.
    """
    names = {entry.bot_id: entry.name for entry in entries}
    tallies = tally(results, ruleset)
    for bot_id in names:
        tallies.setdefault(bot_id, Tally())
    score, tiebreaks = _CRITERIA[ruleset]
    rows: list[Standing] = []
    for level in _parted(list(names), score, tallies):
        for tied in _ranked(level, list(tiebreaks.values()), tallies):
            place = len(rows) + 1
            for bot_id in sorted(tied, key=lambda bot_id: lot(seed, bot_id)):
                values = {name: measure(bot_id, level, tallies) for name, measure in tiebreaks.items()}
                rows.append(_row(place, bot_id, names[bot_id], tallies[bot_id], values))
    return rows


def _row(place: int, bot_id: str, name: str, sums: Tally, tiebreaks: Mapping[str, float | Fraction | None]) -> Standing:
    return Standing(
        place=place,
        bot_id=bot_id,
        name=name,
        games=sums.games,
        points=float(sums.points),
        mean=t_interval([float(mean) for mean in sums.board_means()]),
        wins=sums.wins,
        forfeits=sums.forfeits,
        forfeit_wins=sums.forfeit_wins,
        voids=sums.voids,
        aborted=sums.aborted,
        outcomes=dict(sums.outcomes),
        tiebreaks={key: None if value is None else float(value) for key, value in tiebreaks.items()},
    )


def _ranked(level: list[str], criteria: Sequence[Measure], tallies: Tallies) -> list[list[str]]:
    """Split level bots into groups that share a place, best first.

    A criterion that separated some is asked again about those it left level: among fewer, encounters may
    tell more.
    """
    if len(level) == 1 or not criteria:
        return [level]
    parts = _parted(level, criteria[0], tallies)
    rest = criteria if len(parts) > 1 else criteria[1:]
    return [tied for part in parts for tied in _ranked(part, rest, tallies)]


def _parted(level: list[str], measure: Measure, tallies: Tallies) -> list[list[str]]:
    """Group bots by a measure, best first. Values are exact, so level means equal."""
    values = {bot_id: measure(bot_id, level, tallies) for bot_id in level}

    def height(bot_id: str) -> tuple[bool, float | Fraction]:
        value = values[bot_id]
        return value is not None, value or 0

    return [list(part) for _, part in groupby(sorted(level, key=height, reverse=True), key=height)]


def _points(bot_id: str, _level: Sequence[str], tallies: Tallies) -> float:
    return tallies[bot_id].points


def _mean_score(bot_id: str, _level: Sequence[str], tallies: Tallies) -> Fraction | None:
    means = tallies[bot_id].board_means()
    return sum(means, Fraction(0)) / len(means) if means else None


def _encounters(bot_id: str, level: Sequence[str], tallies: Tallies) -> float | None:
    """Return the mean result against the other level bots, None unless all of them have met each other."""
    if any(other not in tallies[one].against for one, other in combinations(level, 2)):
        return None
    met = [tallies[bot_id].against[other] for other in level if other != bot_id]
    games = sum(encounters.games for encounters in met)
    return sum(encounters.points for encounters in met) / games if games else None


def _sonneborn_berger(bot_id: str, _level: Sequence[str], tallies: Tallies) -> float:
    """Return the sum over its games of own result x points of the opponent."""
    against = tallies[bot_id].against
    return sum(encounters.points * tallies[other].points for other, encounters in against.items())


def _net_points_per_deal(bot_id: str, _level: Sequence[str], tallies: Tallies) -> float | None:
    sums = tallies[bot_id]
    return sums.net_points / sums.deals if sums.deals else None


def _wins(bot_id: str, _level: Sequence[str], tallies: Tallies) -> float:
    return tallies[bot_id].wins


def _exact_bid_rate(bot_id: str, _level: Sequence[str], tallies: Tallies) -> float | None:
    sums = tallies[bot_id]
    return sums.exact_bids / sums.deals if sums.deals else None


_CRITERIA: dict[str, tuple[Measure, dict[str, Measure]]] = {
    "seven_up": (
        _points,
        {
            "direct_encounter": _encounters,
            "sonneborn_berger": _sonneborn_berger,
            "net_points_per_deal": _net_points_per_deal,
            "wins": _wins,
        },
    ),
    "river": (_mean_score, {"head_to_head": _encounters, "wins": _wins, "exact_bid_rate": _exact_bid_rate}),
}
