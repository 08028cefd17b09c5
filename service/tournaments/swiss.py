"""Swiss tournaments: each round seats together who has done equally well so far and hasn't met yet.

Nobody goes out. A round is drawn when the one before is complete, from the rounds and the scores alone; this
module knows neither results nor boards. Entries with equal scores are ranked by lot, always the same one, so
the first round is drawn by lot alone. Here are the pairs; tables of more seats are in `swiss_tables`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TypeAlias

from bot_sdk.results.lots import lot
from bot_sdk.results.values import Round
from service.tournaments.history import meetings, seat_pair, seats_taken, sit_outs
from service.tournaments.schedule import check_entries
from service.tournaments.swiss_tables import seat_tables

_Pair: TypeAlias = tuple[int, int]  # ranks from 0, the better first; with an odd number the last place means a bye
_Cost: TypeAlias = tuple[int, int, int, int, int]  # see `_costs`

_NEAR = 16  # opponents considered for each entry at first: enough for nearly every round of 64 entries


def swiss_round(
    entries: Sequence[str], rounds: Sequence[Round], scores: Mapping[str, float], *, table_size: int, seed: int
) -> Round:
    """Return the next round, the same for the same entries (in any order), rounds, scores and seed.

    `entries` are those who still play, `rounds` all former rounds; entries that have left may stand in both
    `rounds` and `scores`. A missing score is 0. The first table is that of the leaders.

    Two seats: everybody plays, but one if their number is odd; scores are in points, a bye's included. What
    matters, each before all that follow: nobody has a second bye before everybody has had one; as few rematches
    as can be, and those of who has met least; the bye for the lowest in rank; little distance in scores (the
    sum of squares), then in ranks. Beyond 16 entries the last three are weighed only among each entry's 16 best
    opponents, if these will do, so that a round of 64 takes some 30 ms. Seat 0 goes to who has sat there less,
    then they alternate.

    More seats: as many tables as can be filled; `swiss_tables` says how.

    Raises `ImpossibleScheduleError` for entries that don't fill a table or that come twice.
    """
    check_entries(entries, table_size, None)
    ranked = sorted(entries, key=lambda bot_id: (-scores.get(bot_id, 0), lot(seed, bot_id)))
    if table_size > 2:
        return seat_tables(ranked, rounds, table_size)
    costs = _costs(ranked, rounds, scores)
    pairs = sorted(_matched(costs))
    taken = seats_taken(rounds)
    tables = [(ranked[one], ranked[other]) for one, other in pairs if other < len(ranked)]
    byes = [ranked[one] for one, other in pairs if other == len(ranked)]
    return Round(tuple(seat_pair(table, taken, seed) for table in tables), tuple(byes))


def _costs(ranked: Sequence[str], rounds: Sequence[Round], scores: Mapping[str, float]) -> dict[_Pair, _Cost]:
    """Return what each pair costs: is it a rematch, how often have they met, a bye's height, gap², rank gap.

    Once each has met each, the next cycle begins as if they hadn't. Scores count in half points.
    """
    met = meetings(rounds, {bot_id: place for place, bot_id in enumerate(ranked)})
    pairs = list(combinations(range(len(ranked)), 2))
    fewest = min(met[pair] for pair in pairs)
    halves = [round(2 * scores.get(bot_id, 0)) for bot_id in ranked]
    costs: dict[_Pair, _Cost] = {}
    for one, other in pairs:
        again = met[one, other] - fewest
        costs[one, other] = (int(again > 0), again, 0, (halves[one] - halves[other]) ** 2, other - one)
    if len(ranked) % 2:
        byes = sit_outs(rounds)
        least = min(byes[bot_id] for bot_id in ranked)
        for place, bot_id in enumerate(ranked):
            if byes[bot_id] == least:
                costs[place, len(ranked)] = (0, 0, len(ranked) - place, 0, 0)
    return costs


def _matched(costs: Mapping[_Pair, _Cost]) -> list[_Pair]:
    """Return pairs that leave nobody over, at the least cost.

    What near opponents make of it stands if it has no rematch; else farther ones are taken into account.
    """
    near, everybody = _NEAR, 1 + max(other for _, other in costs)
    while True:
        pairs = _cheapest(_nearest(costs, near))
        if near >= everybody or (2 * len(pairs) == everybody and not any(costs[pair][0] for pair in pairs)):
            return pairs
        near *= 2


def _nearest(costs: Mapping[_Pair, _Cost], near: int) -> dict[_Pair, _Cost]:
    """Keep the pairs that are among the `near` cheapest of either of the two."""
    kept: dict[_Pair, _Cost] = {}
    seen: dict[int, int] = {}
    for pair in sorted(costs, key=lambda pair: (costs[pair], pair)):
        counts = [seen.get(place, 0) for place in pair]
        if min(counts) < near:
            kept[pair] = costs[pair]
        for place, count in zip(pair, counts, strict=True):
            seen[place] = count + 1
    return kept


def _cheapest(costs: Mapping[_Pair, _Cost]) -> list[_Pair]:
    """Return as many disjoint pairs as there can be; if they leave nobody over, the cheapest such."""
    # Loading networkx takes 0.2 s, and most processes that import this module never pair anybody.
    from networkx import Graph, max_weight_matching  # noqa: PLC0415 - see above

    prices = _levelled(_packed(costs))
    most = max(prices.values())
    graph: Graph[int] = Graph()
    graph.add_weighted_edges_from((*pair, most - price) for pair, price in sorted(prices.items()))
    return [(min(pair), max(pair)) for pair in max_weight_matching(graph, maxcardinality=True)]


def _packed(costs: Mapping[_Pair, _Cost]) -> dict[_Pair, int]:
    """Turn costs into numbers whose sums compare as the sums of the costs do.

    Each part of a cost gets digits of its own, enough for its sum over all pairs of a round.
    """
    most_pairs = 1 + max(other for _, other in costs)
    bases = [most_pairs * max(column) + 1 for column in zip(*costs.values(), strict=True)]
    packed = dict.fromkeys(costs, 0)
    for pair, cost in costs.items():
        for part, base in zip(cost, bases, strict=True):
            packed[pair] = packed[pair] * base + part
    return packed


def _levelled(packed: Mapping[_Pair, int]) -> dict[_Pair, int]:
    """Take a share off all pairs of each place, the most that leaves none below 0.

    That takes the same off every pairing in which nobody is left over, so the cheapest stays the cheapest. But
    now many pairs cost nothing, and networkx, which tries the best ones first, is done in half the time.
    """
    opponents: dict[int, list[tuple[int, int]]] = {}
    for (one, other), cost in packed.items():
        opponents.setdefault(one, []).append((other, cost))
        opponents.setdefault(other, []).append((one, cost))
    shares = dict.fromkeys(opponents, 0)
    for place, pairs in opponents.items():
        shares[place] = min(cost - shares[other] for other, cost in pairs)
    return {(one, other): cost - shares[one] - shares[other] for (one, other), cost in packed.items()}
