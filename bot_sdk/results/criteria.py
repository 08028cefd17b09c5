"""By what bots are ranked: the scores and tie-breaks of each ruleset and format, in the order of their use."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from typing import TypeAlias

from bot_sdk.results.facts import Facts
from bot_sdk.results.intervals import Interval, share_interval, t_interval

Value: TypeAlias = float | Fraction | None
Measure: TypeAlias = Callable[[str, Sequence[str], Facts], Value]
"""(bot, the bots it is level with, all facts) -> its value: more is better, None is below everything."""


@dataclass(frozen=True, slots=True)
class Criteria:
    """What ranks bots: scores one after another, then among those level in all of them the tie-breaks.

    `score` and `mean` say in words what bots are ranked by, and what their mean is the mean of. `interval` gives that
    mean with its interval.
    """

    scores: Sequence[Measure]
    tiebreaks: Mapping[str, Measure]
    score: str
    mean: str
    interval: Callable[[Sequence[float]], Interval]


def criteria(ruleset: str, tournament_format: str) -> Criteria:
    """Return what ranks the bots of a tournament; raises KeyError for an unknown ruleset.

    Formats but `swiss` and `knockout` rank alike.
    """
    found = _CRITERIA[ruleset]
    return found.get(tournament_format, found["round_robin"])


def _points(bot_id: str, _level: Sequence[str], facts: Facts) -> float:
    return facts.tallies[bot_id].points


def _mean_score(bot_id: str, _level: Sequence[str], facts: Facts) -> Fraction | None:
    return facts.tallies[bot_id].mean_of_boards()


def _stayed(bot_id: str, _level: Sequence[str], facts: Facts) -> float:
    """Tell who was there in every round: a mean over fewer rounds must not pay."""
    return not facts.attendances[bot_id].absences


def _reached(bot_id: str, _level: Sequence[str], facts: Facts) -> float:
    return facts.reached.get(bot_id, 0)


def _final(bot_id: str, _level: Sequence[str], facts: Facts) -> float | None:
    """Rank those of the deciding table as they ended there; the others never are level with them."""
    return -facts.final.index(bot_id) if bot_id in facts.final else None


def _encounters(bot_id: str, level: Sequence[str], facts: Facts) -> float | None:
    """Return the mean result against the other level bots, None unless all of them have met each other."""
    tallies = facts.tallies
    if any(other not in tallies[one].against for one, other in combinations(level, 2)):
        return None
    met = [tallies[bot_id].against[other] for other in level if other != bot_id]
    games = sum(encounters.games for encounters in met)
    return sum(encounters.points for encounters in met) / games if games else None


def _buchholz_cut_1(bot_id: str, _level: Sequence[str], facts: Facts) -> float:
    return facts.buchholz.sum(bot_id, cut=1)


def _buchholz(bot_id: str, _level: Sequence[str], facts: Facts) -> float:
    return facts.buchholz.sum(bot_id)


def _swiss_sonneborn_berger(bot_id: str, _level: Sequence[str], facts: Facts) -> float:
    return facts.buchholz.sonneborn_berger(bot_id)


def _sonneborn_berger(bot_id: str, _level: Sequence[str], facts: Facts) -> float:
    """Return the sum over its games of own result x points of the opponent."""
    against = facts.tallies[bot_id].against
    return sum(encounters.points * facts.tallies[other].points for other, encounters in against.items())


def _net_points_per_deal(bot_id: str, _level: Sequence[str], facts: Facts) -> float | None:
    sums = facts.tallies[bot_id]
    return sums.net_points / sums.deals if sums.deals else None


def _wins(bot_id: str, _level: Sequence[str], facts: Facts) -> float:
    return facts.tallies[bot_id].wins


def _exact_bid_rate(bot_id: str, _level: Sequence[str], facts: Facts) -> float | None:
    sums = facts.tallies[bot_id]
    return sums.exact_bids / sums.deals if sums.deals else None


_GAME = "points of a game that was played"
_SCORE = "points of a game, 0 for one that was forfeited or from which the seat was retired"
_FURTHEST = "how far it came; those of the deciding table by their ranking there; then "
_POINTS = "points: 1 for each game won, by forfeit too"
_MEAN = "mean: the mean over boards of what a game brought"

_SEVEN_UP: dict[str, Measure] = {
    "direct_encounter": _encounters,
    "sonneborn_berger": _sonneborn_berger,
    "net_points_per_deal": _net_points_per_deal,
    "wins": _wins,
}
_SEVEN_UP_SWISS: dict[str, Measure] = {
    "direct_encounter": _encounters,
    "buchholz_cut_1": _buchholz_cut_1,
    "buchholz": _buchholz,
    "sonneborn_berger": _swiss_sonneborn_berger,
    "net_points_per_deal": _net_points_per_deal,
    "wins": _wins,
}
_RIVER: dict[str, Measure] = {"head_to_head": _encounters, "wins": _wins, "exact_bid_rate": _exact_bid_rate}

_CRITERIA: dict[str, dict[str, Criteria]] = {
    "seven_up": {
        "round_robin": Criteria([_points], _SEVEN_UP, _POINTS, _GAME, share_interval),
        "swiss": Criteria([_points], _SEVEN_UP_SWISS, f"{_POINTS}, and for a bye", _GAME, share_interval),
        "knockout": Criteria([_reached, _final, _points], _SEVEN_UP, _FURTHEST + _POINTS, _GAME, share_interval),
    },
    "river": {
        "round_robin": Criteria([_mean_score], _RIVER, _MEAN, _SCORE, t_interval),
        "swiss": Criteria(
            [_stayed, _mean_score],
            _RIVER,
            f"{_MEAN}; behind all others who withdrew before the last round",
            _SCORE,
            t_interval,
        ),
        "knockout": Criteria([_reached, _final, _mean_score], _RIVER, _FURTHEST + _MEAN, _SCORE, t_interval),
    },
}
