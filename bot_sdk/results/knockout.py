"""What a knockout's results say: who is ahead at a table, and how far everybody came."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

from bot_sdk.results.attendance import Rounds, legs_of
from bot_sdk.results.tally import Tally, tally
from bot_sdk.results.values import GameState, Result


def table_ranking(results: Iterable[Result], ruleset: str, seeding: Sequence[str]) -> list[str]:
    """Return the entries of one table, best first, by all the legs that it has played.

    `seeding` names at least the table's entries, the best seed first. Seven Up: match points, net points,
    wins, then the seeding. River: who retired or forfeited in fewer legs, points, wins, then the seeding.
    Void and aborted legs bring nothing, so when all are such the seeding stands. Without any result nobody
    is known to sit there. Raises KeyError for an unknown ruleset.
    """
    legs = list(results)
    seated = {bot_id for leg in legs for bot_id in leg.bots}
    tallies = tally(legs, ruleset)
    outs = _outs(legs) if ruleset == "river" else Counter[str]()

    def rank(bot_id: str) -> tuple[int, float, int, int]:
        sums = tallies.get(bot_id, Tally())
        return outs[bot_id], -sums.points, -sums.net_points, -sums.wins

    return sorted((bot_id for bot_id in seeding if bot_id in seated), key=rank)


def _outs(legs: Iterable[Result]) -> Counter[str]:
    """Count the legs that each bot retired from or forfeited, those that were void for everybody left out."""
    return Counter(
        bot_id
        for leg in legs
        if leg.state is GameState.FINISHED
        for seat, bot_id in enumerate(leg.bots)
        if leg.retired[seat] or seat in leg.forfeited
    )


def final_ranking(
    rounds: Rounds,
    results: Iterable[Result],
    ruleset: str,
    *,
    deals: str,
    seeding: Sequence[str],
    gone: Collection[str],
) -> list[str]:
    """Return the entries of the deciding table, the winner first; none before each of its legs has a result.

    The last round decides if it has one table and no bye. At two seats it also does if but one is left to go
    on from it, since all others who could have `gone` home: then there is only the winner. `seeding` names
    all entries, the best seed first.
    """
    if not rounds:
        return []
    last = max(rounds)
    tables, byes = rounds[last].tables, rounds[last].byes
    by_table = _by_table(last, results)
    if any(len(by_table[at]) < legs_of(len(table), deals) for at, table in enumerate(tables, 1)):
        return []
    rankings = [table_ranking(by_table[at], ruleset, seeding) for at in range(1, len(tables) + 1)]
    if len(tables) == 1 and not byes:
        return rankings[0]
    if any(len(table) > 2 for table in tables):
        return []
    return _left_alone([*rankings, *([bot_id] for bot_id in byes)], gone)


def _left_alone(companies: Iterable[Sequence[str]], gone: Collection[str]) -> list[str]:
    """Return the one to go on, if only one of the companies, each best first, has anybody who can."""
    present = [[bot_id for bot_id in company if bot_id not in gone] for company in companies]
    left = [company[0] for company in present if company]
    return left if len(left) == 1 else []


def _by_table(number: int, results: Iterable[Result]) -> Mapping[int, list[Result]]:
    by_table: dict[int, list[Result]] = defaultdict(list)
    for result in results:
        if result.slot.round == number:
            by_table[result.slot.table].append(result)
    return by_table


def reached(rounds: Rounds, final: Sequence[str]) -> dict[str, int]:
    """Return how far each entry came: the last round in which it sat at a table or had a bye.

    For the winner, the first of the `final_ranking`, it is one more.
    """
    last = {
        bot_id: number
        for number, drawn in sorted(rounds.items())
        for table in (*drawn.tables, drawn.byes)
        for bot_id in table
    }
    return last | {bot_id: last[bot_id] + 1 for bot_id in final[:1]}
