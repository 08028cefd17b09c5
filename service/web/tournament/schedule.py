"""The rounds of a tournament, some at a time, with their games and boards; of a knockout the whole bracket."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from service.arena.overviews import Overview

GAMES: Final = 48
"""On one page; but a round isn't parted."""


@dataclass(frozen=True, slots=True)
class Seat:
    """Who sits there, with what total if that may be read; `is_first` of those who took the first place."""

    bot_id: str
    name: str
    total: int | None
    is_first: bool


@dataclass(frozen=True, slots=True)
class Game:
    """A game of the schedule; `told` says where it stands or how it ended, if not in the usual way."""

    table: int
    leg: int
    game_id: str | None
    board: str
    seats: list[Seat]
    told: str


@dataclass(frozen=True, slots=True)
class Shared:
    """How far a board is that several games share: until the last has ended, nothing of them is shown."""

    name: str
    ended: int
    games: int
    is_closed: bool


@dataclass(frozen=True, slots=True)
class Drawn:
    """A round: its games, the names of those who sit out, and the boards that its games share."""

    number: int
    games: list[Game]
    byes: list[Seat]
    boards: list[Shared]


@dataclass(frozen=True, slots=True)
class Pages:
    """Where one is: page `at` of `count`, each with `each` rounds, this one from `first` to `last`."""

    at: int
    count: int
    each: int
    first: int
    last: int

    @property
    def others(self) -> list[tuple[str, int]]:
        """Name the pages that are a link away, near ones and far ones."""
        steps = [("First", 1), *((f"−{step}", self.at - step) for step in (100, 10)), ("Previous", self.at - 1)]
        steps += [("Next", self.at + 1), *((f"+{step}", self.at + step) for step in (10, 100)), ("Last", self.count)]
        return [(name, page) for name, page in steps if 1 <= page <= self.count and page != self.at]


def pages_of(shown: Overview, wanted: int | None) -> Pages:
    """Say which rounds to show: those of the page asked for, or what is being played now."""
    each = max(1, GAMES // max(1, shown.games_per_round))
    count = max(1, -(-shown.drawn // each))
    now = shown.view["progress"]["finished"] // max(1, shown.games_per_round)
    at = min(count, now // each + 1) if wanted is None else min(max(1, wanted), count)
    return Pages(at, count, each, (at - 1) * each + 1, min(shown.drawn, at * each))


def rounds(part: Sequence[Mapping[str, Any]], boards: Sequence[Mapping[str, Any]], shown: Overview) -> list[Drawn]:
    """Shape rounds and boards as `Rounds.part` gives them."""
    names = {entry.bot_id: entry.name for entry in shown.entries}
    closed = {board["board"] for board in boards if board["is_closed"]}
    return [_round(each, closed, names) for each in part]


def _round(drawn: Mapping[str, Any], closed: set[str], names: Mapping[str, str]) -> Drawn:
    played = [(table["table"], game) for table in drawn["tables"] for game in table["games"]]
    games = [_game(table, game, names) for table, game in played]
    by_board: dict[str, list[Mapping[str, Any]]] = {}
    for _, game in played:
        by_board.setdefault(game["board"], []).append(game)
    shared = [_shared(board, found, board in closed) for board, found in by_board.items() if len(found) > 1]
    byes = [Seat(bot_id, names.get(bot_id, bot_id), None, is_first=False) for bot_id in drawn["byes"]]
    return Drawn(drawn["round"], games, byes, shared)


def _shared(board: str, games: Sequence[Mapping[str, Any]], is_closed: bool) -> Shared:  # noqa: FBT001 - a fact of the board
    return Shared(board, sum(game["state"] is not None for game in games), len(games), is_closed)


def _game(table: int, game: Mapping[str, Any], names: Mapping[str, str]) -> Game:
    totals, places = game["totals"] or [None] * len(game["bots"]), game["places"] or [0] * len(game["bots"])
    seats = [
        Seat(bot_id, names.get(bot_id, bot_id), total, is_first=place == 1)
        for bot_id, total, place in zip(game["bots"], totals, places, strict=True)
    ]
    return Game(table, game["leg"], game["game_id"], game["board"], seats, _told(game))


def _told(game: Mapping[str, Any]) -> str:
    if game["state"] is None:
        return "waits" if game["game_id"] is None else "being played"
    if game["state"] != "finished":
        return str(game["state"])
    if game["totals"] is None:
        return "over, board open"
    return {"forfeit": "forfeited", "retirement": "by retirement"}.get(game["ended_by"] or "", "")


# --- bracket ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Node:
    """A box of the bracket: those at one table, or one who has a bye; with the games of its legs."""

    seats: list[Seat]
    goes_on: set[str]
    games: list[Game]


def bracket(drawn: Sequence[Drawn], winner: str | None) -> list[list[Node]]:
    """Arrange a knockout in columns: in each, boxes stand in the order of those that they lead to."""
    columns: list[list[Node]] = []
    following: dict[str, int] = {} if winner is None else {winner: 0}
    for each in reversed(drawn):
        nodes = [*_tables(each.games, following), *(Node([seat], {seat.bot_id}, []) for seat in each.byes)]
        nodes.sort(key=lambda node: min((following.get(seat.bot_id, len(following)) for seat in node.seats), default=0))
        following = {seat.bot_id: at for at, node in enumerate(nodes) for seat in node.seats}
        columns.append(nodes)
    return columns[::-1]


def _tables(games: Iterable[Game], following: Mapping[str, int]) -> list[Node]:
    by_table: dict[int, list[Game]] = {}
    for game in games:
        by_table.setdefault(game.table, []).append(game)
    return [
        Node(_summed(legs), {seat.bot_id for seat in legs[0].seats if seat.bot_id in following}, legs)
        for legs in by_table.values()
    ]


def _summed(legs: Sequence[Game]) -> list[Seat]:
    """Give the seats of a table's first leg with their totals over all legs, where all may be read."""
    if len(legs) == 1:
        return legs[0].seats
    totals: dict[str, int | None] = {}
    for leg in legs:
        for seat in leg.seats:
            before = totals.get(seat.bot_id, 0)
            totals[seat.bot_id] = None if before is None or seat.total is None else before + seat.total
    return [Seat(seat.bot_id, seat.name, totals[seat.bot_id], is_first=False) for seat in legs[0].seats]
