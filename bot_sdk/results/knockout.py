"""What a knockout's results say: who is ahead at a table, and how far everybody came."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

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
    rounds: Rounds, results: Iterable[Result], ruleset: str, *, deals: str, seeding: Sequence[str]
) -> list[str]:
    """Return the entries of the deciding table, the winner first; none before each of its legs has a result.

    The last round decides if it has one table and no bye. `seeding` names all entries, the best seed first.
    """
    last = max(rounds, default=0)
    if last == 0 or rounds[last].byes or len(rounds[last].tables) != 1:
        return []
    (table,) = rounds[last].tables
    legs = [result for result in results if result.slot.round == last]
    if len(legs) < legs_of(len(table), deals):
        return []
    return table_ranking(legs, ruleset, seeding)


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
