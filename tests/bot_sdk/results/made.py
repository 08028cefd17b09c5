"""Results of tournament games as tests make them: bots are single letters, seated as they are written."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count

from bot_sdk.results.values import Entry, GameState, Result, Round, Slot

_tables = count()


def game(bots: str, totals: Sequence[int], **changes) -> Result:
    """Make the result of a game of one-letter bots, by seat: each on a board of its own, in 8 deals, unless changed.

    `at` is (round, table, leg): by default a table of its own in round 0.
    """
    number = next(_tables)
    at_round, table, leg = changes.pop("at", (0, number, 0))
    retired = changes.pop("retired", "")
    forfeited = [bots.index(bot) for bot in changes.pop("forfeited", "")]
    board = changes.pop("board", f"0.{number}")
    out = [bot in retired or seat in forfeited for seat, bot in enumerate(bots)]
    ranks = list(zip(out, [-total for total in totals], strict=True))
    ended_well = changes.get("state", GameState.FINISHED) is GameState.FINISHED
    fields = {
        "game_id": f"gam_{number}",
        "state": GameState.FINISHED,
        "slot": Slot(tournament_id="trn_1", round=at_round, table=table, leg=leg, board=board),
        "bots": list(bots),
        "versions": ["1" for _ in bots],
        "totals": list(totals),
        "places": [1 + sum(other < own for other in ranks) for own in ranks] if ended_well else None,
        "retired": [bot in retired for bot in bots],
        "forfeited": forfeited,
        "deals": 8,
        "outcomes": [{"ok": 10} for _ in bots],
        "ended_at": 0,
    }
    return Result(**fields | changes)


def wins(pairs: str) -> list[Result]:
    """Make games of Seven Up from `ab` for each one that a won against b, 7-3."""
    return [game(pair, [7, 3]) for pair in pairs.split()]


def entered(bots: str, withdrawn: str = "") -> list[Entry]:
    """Enter one-letter bots."""
    return [
        Entry(bot_id=bot, name=bot.upper(), account_id=None, entered_at=0, withdrawn_at=1 if bot in withdrawn else None)
        for bot in bots
    ]


def drawn(*rounds: str) -> dict[int, Round]:
    """Draw rounds, each from its tables and, after a slash, its byes: `ab cd / e`."""
    halves = [text.partition("/") for text in rounds]
    return {
        number: Round(tuple(tuple(table) for table in tables.split()), tuple(byes.split()))
        for number, (tables, _, byes) in enumerate(halves, 1)
    }


def won(rounds: dict[int, Round]) -> list[Result]:
    """Play rounds of Seven Up in which the first of each pair wins, 7-3."""
    return [
        game("".join(table), [7, 3], at=(number, at, 0))
        for number, each in rounds.items()
        for at, table in enumerate(each.tables, 1)
    ]
