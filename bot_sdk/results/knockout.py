"""How far each entry came in a knockout: what its standings rank by before anything else."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from bot_sdk.results.values import Round


def reached(
    rounds: Sequence[Round], rankings: Sequence[Sequence[Sequence[str]]], gone: Collection[str] = ()
) -> dict[str, int]:
    """Return the round that each entry reached, counted from 1; the winner of the knockout reached one more.

    An entry reaches a round by sitting at one of its tables or by having a bye. `rankings` holds, by round
    and table, the entries best first, of the rounds that are complete; once the last one is, who alone is
    left in it has won: first of the final, or without one, because all others are `gone`.
    """
    last = {
        bot_id: number
        for number, round_ in enumerate(rounds, start=1)
        for company in (round_.byes, *round_.tables)
        for bot_id in company
    }
    if rounds and len(rankings) == len(rounds):
        ranked = [[bot_id for bot_id in table if bot_id not in gone] for table in rankings[-1]]
        left = [table[0] for table in ranked if table] + [bot_id for bot_id in rounds[-1].byes if bot_id not in gone]
        if len(left) == 1:
            last[left[0]] += 1
    return last
