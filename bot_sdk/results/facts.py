"""All that is worked out of a tournament before bots are ranked."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bot_sdk.results.attendance import Attendance, Rounds, attendance
from bot_sdk.results.buchholz import Buchholz
from bot_sdk.results.knockout import final_ranking, reached
from bot_sdk.results.lots import lot
from bot_sdk.results.tally import Tallies, tally
from bot_sdk.results.values import Entry, Result


@dataclass(frozen=True, slots=True)
class Facts:
    """What the results and rounds say of each bot.

    `tallies` also hold the bots of the results that are no entries; in a Swiss of two seats the points
    include those for byes, and only there `buchholz` knows anything. Only in a knockout `reached` and
    `final` do: the entries of the deciding table, the winner first.
    """

    tallies: Tallies
    attendances: Mapping[str, Attendance]
    buchholz: Buchholz
    reached: Mapping[str, int]
    final: Sequence[str]


def gathered(
    entries: Iterable[Entry],
    results: Iterable[Result],
    ruleset: str,
    *,
    seed: int,
    tournament_format: str,
    deals: str,
    rounds: Rounds,
) -> Facts:
    """Work out the facts of these entries; raises KeyError for an unknown ruleset."""
    entries, results = list(entries), list(results)
    bots = [entry.bot_id for entry in entries]
    tallies = tally(results, ruleset)
    attendances = attendance(bots, rounds, results, deals=deals, is_swiss=tournament_format == "swiss")
    is_two_seat_swiss = (ruleset, tournament_format) == ("seven_up", "swiss")
    for bot_id in bots:
        tallies[bot_id].points += attendances[bot_id].byes if is_two_seat_swiss else 0
    final: list[str] = []
    if tournament_format == "knockout":
        seeding = sorted(bots, key=lambda bot_id: lot(seed, bot_id))
        gone = {entry.bot_id for entry in entries if entry.withdrawn_at is not None}
        final = final_ranking(rounds, results, ruleset, deals=deals, seeding=seeding, gone=gone)
    return Facts(
        tallies=tallies,
        attendances=attendances,
        buchholz=Buchholz(
            *((rounds, results) if is_two_seat_swiss else ({}, [])),
            points={bot_id: sums.points for bot_id, sums in tallies.items()},
            attendances=attendances,
            deals=deals,
        ),
        reached=reached(rounds, final) if tournament_format == "knockout" else {},
        final=final,
    )
